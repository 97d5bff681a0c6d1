# Reads a picture and writes it filtered: plain, soft, edges or relief.
FNR == 2 { width = $1; height = $2 }
FNR > 3 { for (x = 1; x <= NF; x++) p[FNR - 3, x] = $x }
function at(y, x) { return p[y < 1 ? 1 : y > height ? height : y, x < 1 ? 1 : x > width ? width : x] }
END {
    write_head("P2", width, height)
    for (y = 1; y <= height; y++) {
        line = ""
        for (x = 1; x <= width; x++) {
            if (filter == "plain") {
                value = at(y, x)
            } else if (filter == "soft") {
                value = 0
                for (dy = -2; dy <= 2; dy++) for (dx = -2; dx <= 2; dx++) value += at(y + dy, x + dx)
                value /= 25
            } else {
                right = at(y, x + 1) - at(y, x - 1)
                down = at(y + 1, x) - at(y - 1, x)
                value = filter == "edges" ? 2 * sqrt(right * right + down * down) : 128 + right + down
            }
            line = line " " clamp(value)
        }
        print substr(line, 2)
    }
}
