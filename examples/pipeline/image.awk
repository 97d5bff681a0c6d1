# Pictures as awk sees them: lines of grey values from 0 (black) to 255 (white) below a head of three lines.
function write_head(kind, width, height) { printf "%s\n%d %d\n255\n", kind, width, height }
function clamp(value) { return value < 0 ? 0 : value > 255 ? 255 : int(value) }
