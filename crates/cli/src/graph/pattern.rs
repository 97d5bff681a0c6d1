//! How two groups are joined: one to one, all to one, and so on.

use crate::words;

/// How many of one group are joined to how many of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Single links.
    pub links: u64,
    /// Members of the first group that have any.
    pub sources: u64,
    /// Members of the second group that have any.
    pub targets: u64,
}

impl Links {
    /// The pattern in words, given how large the two groups are.
    pub fn pattern(&self, first_size: u64, second_size: u64) -> String {
        let Links { links, sources, targets } = *self;
        let all_or_many = |some: u64, all: u64| if some == all { "all" } else { "many" };
        if links == sources && links == targets {
            "one to one".to_owned()
        } else if targets == 1 {
            format!("{} to one", all_or_many(sources, first_size))
        } else if sources == 1 {
            format!("one to {}", all_or_many(targets, second_size))
        } else if links == sources * targets {
            "all to all".to_owned()
        } else if links == sources {
            format!("{} to one", each(sources, targets))
        } else if links == targets {
            format!("one to {}", each(targets, sources))
        } else {
            format!("{} for each", each(links, targets))
        }
    }

    /// How many links there are, and in which pattern.
    pub fn words(&self, first_size: u64, second_size: u64) -> String {
        match self.links {
            1 => "1".to_owned(),
            links => format!("{} · {}", words::thousands(links), self.pattern(first_size, second_size)),
        }
    }
}

/// How many of these fall to each of those.
fn each(these: u64, those: u64) -> String {
    if these.is_multiple_of(those) {
        words::thousands(these / those)
    } else {
        format!("about {:.1}", these as f64 / those as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let pattern = |links, sources, targets| Links { links, sources, targets }.pattern(100, 50);
        assert_eq!(pattern(40, 40, 40), "one to one");
        assert_eq!(pattern(100, 100, 1), "all to one");
        assert_eq!(pattern(99, 99, 1), "many to one");
        assert_eq!(pattern(50, 1, 50), "one to all");
        assert_eq!(pattern(5000, 100, 50), "all to all");
        assert_eq!(pattern(100, 100, 50), "2 to one");
        assert_eq!(pattern(50, 20, 50), "one to about 2.5");
        assert_eq!(pattern(150, 100, 50), "3 for each");
        assert_eq!(Links { links: 12_000, sources: 12_000, targets: 1 }.words(12_000, 1), "12,000 · all to one");
    }
}
