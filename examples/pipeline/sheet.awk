# Strips one below the other, each in a colour scale of its own.
FNR == 1 { strips++ }
FNR == 2 { width = $1; height += $2 }
FNR > 3 {
    line = ""
    for (x = 1; x <= NF; x++) {
        v = $x
        if (strips == 1) line = line " " clamp(1.6 * v) " " clamp(v * v / 200) " " clamp(60 + v * 0.7)      # embers
        else if (strips == 2) line = line " " clamp(v * v / 255) " " clamp(v * 1.1) " " clamp(70 + v)       # ice
        else if (strips == 3) line = line " " clamp(v * 0.5) " " clamp(v * 1.3) " " clamp(v * 0.9)          # phosphor
        else line = line " " clamp(v * 1.1) " " clamp(v) " " clamp(v * 0.8)                                 # paper
    }
    rows[++count] = substr(line, 2)
}
END {
    write_head("P3", width, height)
    for (row = 1; row <= count; row++) print rows[row]
}
