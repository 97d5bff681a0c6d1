# Makes up reads: random letters of random length, a few of them N, the same for the same sample and lane.
function random(n) { state = (state * 16807) % 2147483647; return int(n * state / 2147483647) }
BEGIN {
    state = 1 + lane * 104729 + index("kelpmossfern", sample) * 7919
    for (i = 1; i <= 5; i++) random(1)
    for (read = 1; read <= reads; read++) {
        bases = ""
        for (n = 20 + random(60); n > 0; n--) bases = bases substr("ACGTGCN", 1 + random(random(9) ? 6 : 7), 1)
        printf ">%s.%d.%d\n%s\n", sample, lane, read, bases
    }
}
