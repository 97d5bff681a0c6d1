# Pictures that `paste` has laid side by side become one: their rows are joined already, only the head is eightfold.
NR == 1 { pictures = NF; print $1; next }
NR == 2 { print $1 * pictures, $2; next }
NR == 3 { print $1; next }
{ print }
