# Cuts each read at its first N and drops what gets too short; says on standard error how many it kept.
/^>/ { name = $0; next }
{
    total++
    sub(/N.*/, "")
    if (length($0) >= shortest) { kept++; print name; print }
}
END { printf "kept %d of %d reads\n", kept, total > "/dev/stderr" }
