//! Which word somebody may have meant who wrote another.

/// The word that is most like this one, if it is like it at all: half of its letters may differ if it begins as this one does, else a third.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, nearest) = known.into_iter().map(|known| (distance(word, known), known)).min()?;
    let begins_alike = word.chars().next() == nearest.chars().next();
    (distance <= nearest.len().max(4) / if begins_alike { 2 } else { 3 }).then_some(nearest)
}

/// How many letters have to change to make one word of the other (Levenshtein).
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(256).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, candidate) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *candidate);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let known = ["requests", "fixed", "learn", "weasel"];
        assert_eq!(
            ["lern", "weasle", "fix", "best"].map(|word| nearest(word, known)),
            [Some("learn"), Some("weasel"), Some("fixed"), None]
        );
        assert_eq!((distance("", "abc"), distance("kitten", "sitting")), (3, 3));
    }
}
