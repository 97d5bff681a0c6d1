# A year of made-up but plausible temperatures: a wave over the year, and days that differ from it.
BEGIN {
    split("cairo 22 7 lima 19 -4 oslo 6 11 rome 16 9", climate, " ")
    for (i = 1; i in climate; i += 3) if (climate[i] == city) { mean = climate[i + 1]; swing = climate[i + 2] }
    state = year + length(city) * 7919 + mean * 131
    for (day = 1; day <= 365; day++) {
        state = (state * 16807) % 2147483647
        wave = -cos(6.2831853 * (day - 20) / 365)
        printf "%d,%.1f\n", day, mean + swing * wave + 6 * (state / 2147483647 - 0.5)
    }
}
