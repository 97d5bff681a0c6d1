//! Ranks: how far from the beginning each box stands.

/// Which lines have to be turned round so that the rest closes no circle. Kinds of tasks may depend on each other in
/// circles even though tasks do not.
pub(super) fn turned(count: usize, lines: &[(usize, usize)]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Closed,
    }
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut is_entered = vec![false; count];
    for (number, (from, to)) in lines.iter().enumerate() {
        leaving[*from].push(number);
        is_entered[*to] = true;
    }
    let mut seen = vec![Seen::Not; count];
    let mut is_turned = vec![false; lines.len()];
    // From the beginnings first: then only what leads back is turned.
    let starts = (0..count).filter(|at| !is_entered[*at]).chain((0..count).filter(|at| is_entered[*at]));
    for start in starts {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::Open;
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let Some(&line) = leaving[*at].get(*next) else {
                seen[*at] = Seen::Closed;
                path.pop();
                continue;
            };
            *next += 1;
            let to = lines[line].1;
            match seen[to] {
                Seen::Open => is_turned[line] = true,
                Seen::Closed => {}
                Seen::Not => {
                    seen[to] = Seen::Open;
                    path.push((to, 0));
                }
            }
        }
    }
    is_turned
}

/// The length of the longest way to each box; a box that nothing leads to stands right before its first reader.
pub(super) fn ranks(count: usize, lines: &[(usize, usize)]) -> Vec<usize> {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut open = vec![0; count];
    for (from, to) in lines {
        leaving[*from].push(*to);
        open[*to] += 1;
    }
    let is_start: Vec<bool> = open.iter().map(|open| *open == 0).collect();
    let mut ranks = vec![0; count];
    let mut sorted: Vec<usize> = (0..count).filter(|at| open[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = sorted.get(next) {
        next += 1;
        for &to in &leaving[at] {
            ranks[to] = ranks[to].max(ranks[at] + 1);
            open[to] -= 1;
            if open[to] == 0 {
                sorted.push(to);
            }
        }
    }
    for at in (0..count).filter(|at| is_start[*at]) {
        let first_reader = leaving[at].iter().map(|to| ranks[*to]).min();
        ranks[at] = first_reader.map_or(0, |reader| reader - 1);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leads_back_is_turned() {
        assert_eq!(turned(3, &[(0, 1), (1, 2), (2, 1)]), [false, false, true]);
        assert_eq!(turned(3, &[(0, 1), (1, 2), (2, 0)]), [false, false, true]);
        assert_eq!(turned(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]), [false; 4]);
    }

    #[test]
    fn the_longest_way_counts_and_beginnings_stand_near() {
        // 0 → 1 → 2, 0 → 2, 3 → 2
        assert_eq!(ranks(4, &[(0, 1), (1, 2), (0, 2), (3, 2)]), [0, 1, 2, 1]);
    }
}
