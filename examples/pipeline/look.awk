# A colour picture for a terminal: half a character is one pixel, so a line shows two rows of the sheet.
NR == 2 { width = $1; height = $2; step = width / 96 }
NR > 3 { row[NR - 4] = $0 }
END {
    for (y = 0; y + step < height; y += 2 * step) {
        split(row[int(y)], upper, " ")
        split(row[int(y + step)], lower, " ")
        line = ""
        for (x = 0; x < width; x += step) {
            at = 3 * int(x) + 1
            line = line sprintf("\033[38;2;%d;%d;%d;48;2;%d;%d;%dm▀", upper[at], upper[at + 1], upper[at + 2],
                                lower[at], lower[at + 1], lower[at + 2])
        }
        print line "\033[0m"
    }
}
