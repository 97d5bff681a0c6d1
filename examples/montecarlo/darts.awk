# Throws darts at the unit square with a generator of its own: awk's differs from system to system.
function random() {
    state = (state * 16807) % 2147483647        # Park and Miller; every product fits into a double exactly
    return state / 2147483647
}
BEGIN {
    state = 1 + seed * 104729
    for (i = 1; i <= 10; i++) random()          # neighbouring seeds begin alike: leave that behind
    for (i = 1; i <= darts; i++) {
        x = random(); y = random()
        if (x * x + y * y <= 1) hits++
    }
    print seed, hits, darts
}
