# One line per sample: reads, mean length, percent of G and C.
/^>/ { reads++; next }
{ bases += length($0); gc += gsub(/[GC]/, "") }
END { printf "%s\t%d\t%.1f\t%.2f\n", sample, reads, bases / reads, 100 * gc / bases }
