# Writes one piece of a text that is always the same for the same name and number.
text=$1
piece=$2
awk -v text="$text" -v piece="$piece" 'BEGIN {
    split("the sea was calm and light lay on water while a boat turned home under birds that knew wind", word, " ")
    state = piece * 7919
    for (i = 1; i <= length(text); i++) state += index("abcdefghijklmnopqrstuvwxyz", substr(text, i, 1)) * i * 131
    for (line = 1; line <= 500; line++) {
        for (i = 1; i <= 8; i++) {
            state = (state * 1103515 + 12345) % 2147483648
            printf "%s%s", word[1 + int(state / 65536) % 18], (i < 8 ? " " : "\n")
        }
    }
}'
