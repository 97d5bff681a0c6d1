//! What is odd about a trace and does no harm: counted, with one example of each.

/// How often something was found, and the first of it.
#[derive(Default)]
pub(super) struct Tally {
    count: u64,
    first: String,
}

impl Tally {
    /// Counts if it is so.
    pub(super) fn count(&mut self, is_so: bool, name: impl FnOnce() -> String) {
        if !is_so {
            return;
        }
        if self.count == 0 {
            self.first = name();
        }
        self.count += 1;
    }

    /// A sentence about it, if there is anything to say; `words` is told how many of what, and the first.
    pub(super) fn remark(self, words: impl FnOnce(String, &str) -> String, what: &str) -> Option<String> {
        let counted = match (self.count, what.strip_suffix('y')) {
            (0, _) => return None,
            (1, _) => format!("1 {what}"),
            (count, Some(stem)) => format!("{count} {stem}ies"),
            (count, None) => format!("{count} {what}s"),
        };
        Some(words(counted, &self.first))
    }
}
