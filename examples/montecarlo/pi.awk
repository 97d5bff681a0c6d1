# Lines of seed, hits, darts become an estimate, its standard error and a histogram.
{ estimate = 4 * $2 / $3; sum += estimate; squares += estimate * estimate; n++; bin[int(estimate * 200)]++ }
END {
    mean = sum / n
    spread = sqrt((squares / n - mean * mean) / (n - 1))
    printf "pi is about %.5f, give or take %.5f (from %d throwers)\n\n", mean, spread, n
    for (b in bin) { if (low == "" || b + 0 < low) low = b + 0; if (b + 0 > high) high = b + 0 }
    for (b = low; b <= high; b++) {
        bar = ""
        for (i = 1; i <= bin[b]; i++) bar = bar "*"
        printf "%.3f  %s\n", b / 200, bar
    }
}
