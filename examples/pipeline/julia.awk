# A Julia set of z² + c, where c walks around a circle on which they are at their prettiest.
BEGIN {
    angle = 6.2831853 * (step + 0.37) / 8
    cx = 0.7885 * cos(angle); cy = 0.7885 * sin(angle)
    rounds = 48
    write_head("P2", size, size)
    for (row = 0; row < size; row++) {
        line = ""
        for (column = 0; column < size; column++) {
            x = 3.0 * (column + 0.5) / size - 1.5
            y = 3.0 * (row + 0.5) / size - 1.5
            for (n = 0; n < rounds && x * x + y * y < 16; n++) {
                next_x = x * x - y * y + cx
                y = 2 * x * y + cy
                x = next_x
            }
            # The logarithm hides the edges between whole numbers of rounds.
            shade = n < rounds ? n - log(log(x * x + y * y) / log(16)) / log(2) : 0
            line = line " " clamp(255 * sqrt(shade / rounds))
        }
        print substr(line, 2)
    }
}
