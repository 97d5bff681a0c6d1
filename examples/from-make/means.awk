# One line per city: the mean temperature of each month.
BEGIN { FS = ","; split("31 28 31 30 31 30 31 31 30 31 30 31", days, " "); month = 1; last = days[1] }
$1 > last { last += days[++month] }
{ sum[month] += $2 }
END {
    printf "%-6s", city
    for (m = 1; m <= 12; m++) printf " %5.1f", sum[m] / days[m]
    print ""
}
