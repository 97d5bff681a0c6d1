# Lines such as `1001: 7 11 13` become a few facts and a picture of how the primes thin out.
{
    number = $1 + 0
    if (NF == 2) {
        primes++
        of_thousand[int(number / 1000)]++
        if (number - last == 2) twins++
        last = number
    }
    if (NF - 1 > most) { most = NF - 1; richest = $0 }
}
END {
    printf "%d numbers, %d of them prime, %d pairs of twins\n", NR, primes, twins
    printf "the most factors: %s\n", richest
    for (thousand = 1; thousand <= 9; thousand++) {
        bar = ""
        for (i = 1; i <= of_thousand[thousand] / 4; i++) bar = bar "#"
        printf "%d000  %3d  %s\n", thousand, of_thousand[thousand], bar
    }
}
