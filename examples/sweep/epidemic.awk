# An epidemic in its simplest form (SIR): the well fall ill by contact with the ill, and the ill get well.
# Prints one line: place, measure, rate, highest share of people ill at once, its day, share of people ever ill.
BEGIN {
    well = people - ill
    steps = 10                                  # a day is ten steps: fine enough for the curve
    for (day = 1; day <= days; day++) {
        for (step = 1; step <= steps; step++) {
            new = rate * density * contacts * well * ill / people / steps
            healed = recovery * ill / steps
            well -= new
            ill += new - healed
        }
        if (ill > peak) { peak = ill; peak_day = day }
    }
    printf "%s,%s,%s,%.2f,%d,%.2f\n", place, measure, rate, 100 * peak / people, peak_day, 100 * (people - well) / people
}
