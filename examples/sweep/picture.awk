# results.csv as a picture: one block per place, one line per measure, one letter per rate; darker is worse.
BEGIN { FS = ","; shade = " .:-=+*#%@" }
NR > 1 {
    peak[$1, $2, $3] = $4
    if (!($1 in place)) { place[$1]; places[++place_count] = $1 }
    if (!($3 in rate)) { rate[$3]; rates[++rate_count] = $3 }
}
END {
    for (i = 1; i <= rate_count; i++)           # in order of size
        for (j = i + 1; j <= rate_count; j++)
            if (rates[j] < rates[i]) { swap = rates[i]; rates[i] = rates[j]; rates[j] = swap }
    for (i = 1; i <= place_count; i++)
        for (j = i + 1; j <= place_count; j++)
            if (places[j] < places[i]) { swap = places[i]; places[i] = places[j]; places[j] = swap }
    split("none masks lockdown", measures, " ")
    printf "people ill at the peak, in tenths of all, by contagion rate %s to %s\n", rates[1], rates[rate_count]
    for (p = 1; p <= place_count; p++) {
        printf "\n%s\n", places[p]
        for (m = 1; m <= 3; m++) {
            printf "  %-9s|", measures[m]
            for (r = 1; r <= rate_count; r++) {
                letter = substr(shade, 1 + int(peak[places[p], measures[m], rates[r]] / 10), 1)
                printf "%s%s%s", letter, letter, letter
            }
            print "|"
        }
    }
}
