//! What has been seen of a bucket, so that nothing is asked twice while a workflow is read and judged; and what is worth listing.
//!
//! To look at one object and to list a thousand is one request each. So, after some looks into one directory, it is listed; after looks
//! into some directories, what lies below the one that holds them all. As nobody knows how much else is there, lists go on only as long as
//! looks do: they never cost more requests than looks.

use std::collections::HashMap;

use throng_core::fingerprint::Stamp;
use throng_core::workflow::path;

/// After so many objects of a directory, or directories in another, have been looked at one by one, all of it is listed.
const LOOKS_BEFORE_LISTING: u32 = 16;
/// After so many names, nothing more is listed for what lies below it: a million are 100 MB or more.
const DEEP_NAMES: usize = 1_000_000;

/// All in a directory, or with what lies deeper; `.` is the whole storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Extent {
    pub(super) directory: String,
    pub(super) is_deep: bool,
}

/// How to learn what an object is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is known.
    Answer(Stamp),
    /// By a look at it.
    Look,
    /// By a list of no more than so many pages, from where the last one ended; and by a look if it is not there.
    List { extent: Extent, from: Option<String>, pages: u32 },
}

/// How far an extent has been listed.
#[derive(Debug, Default)]
enum Listed {
    #[default]
    NotYet,
    UpTo(String),
    /// Somebody is at it.
    Now,
    /// What has not been found is not there.
    Whole,
    /// It may not be listed.
    Never,
}

#[derive(Debug, Default)]
struct Progress {
    /// Looks since something was listed.
    looks: u32,
    listed: Listed,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    stamps: HashMap<String, Stamp>,
    extents: HashMap<Extent, Progress>,
    /// How many names have come from lists of what lies below a directory.
    deep_names: usize,
}

/// The directories around a directory, the nearest first.
fn around(directory: &str) -> impl Iterator<Item = &str> {
    path::around(directory).skip(1)
}

fn extent(directory: &str, is_deep: bool) -> Extent {
    Extent { directory: directory.to_owned(), is_deep }
}

impl Known {
    /// What an object is, if that is known.
    pub(super) fn answer(&self, name: &str) -> Option<Stamp> {
        if let Some(stamp) = self.stamps.get(name) {
            return Some(*stamp);
        }
        let directory = path::directory(name);
        let of_it = [extent(directory, false), extent(directory, true)];
        let mut covering = of_it.into_iter().chain(around(directory).map(|around| extent(around, true)));
        let is_whole = |extent| self.extents.get(&extent).is_some_and(|it| matches!(it.listed, Listed::Whole));
        covering.any(is_whole).then_some(Stamp::ABSENT)
    }

    /// What is to be done for a name.
    pub(super) fn step(&mut self, name: &str) -> Step {
        if let Some(stamp) = self.answer(name) {
            return Step::Answer(stamp);
        }
        let directory = path::directory(name);
        let own = extent(directory, false);
        let is_new = !self.extents.contains_key(&own);
        let progress = self.extents.entry(own.clone()).or_default();
        progress.looks += 1;
        if let Some(step) = progress.list(own) {
            return step;
        }
        let mut step = None;
        // The nearest is the smallest; a list of it serves those around it as well.
        for around in around(directory).filter(|_| is_new && self.deep_names < DEEP_NAMES) {
            let extent = extent(around, true);
            let progress = self.extents.entry(extent.clone()).or_default();
            match step {
                Some(_) => progress.looks = 0,
                None => {
                    progress.looks += 1;
                    step = progress.list(extent);
                }
            }
        }
        step.unwrap_or(Step::Look)
    }

    /// Notes what an object is.
    pub(super) fn note(&mut self, name: &str, stamp: Stamp) {
        self.stamps.insert(name.to_owned(), stamp);
    }

    /// Notes what a list has brought, and where it goes on if that is not all.
    pub(super) fn note_list(&mut self, extent: Extent, found: Vec<(String, Stamp)>, next: Option<String>) {
        if extent.is_deep {
            self.deep_names += found.len();
        }
        self.stamps.extend(found);
        self.extents.entry(extent).or_default().listed = next.map_or(Listed::Whole, Listed::UpTo);
    }

    /// Notes that a list has failed: for good, or it may be begun again.
    pub(super) fn note_failure(&mut self, extent: Extent, is_for_good: bool) {
        let listed = if is_for_good { Listed::Never } else { Listed::NotYet };
        self.extents.entry(extent).or_default().listed = listed;
    }
}

impl Progress {
    /// Goes on with the list, if there have been enough looks.
    fn list(&mut self, extent: Extent) -> Option<Step> {
        if self.looks <= LOOKS_BEFORE_LISTING {
            return None;
        }
        let from = match &mut self.listed {
            Listed::NotYet => None,
            Listed::UpTo(token) => Some(std::mem::take(token)),
            Listed::Now | Listed::Whole | Listed::Never => return None,
        };
        self.listed = Listed::Now;
        Some(Step::List { extent, from, pages: std::mem::take(&mut self.looks) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Stamp = Stamp { size: 1, modified_ns: 1 };

    /// Asks for names, each of which is there, and lists nothing in fact; how many were looked at before a list.
    fn looks(known: &mut Known, names: impl Iterator<Item = String>) -> (u32, Option<Step>) {
        for (looks, name) in names.enumerate() {
            match known.step(&name) {
                Step::Look => known.note(&name, HERE),
                step => return (looks as u32, Some(step)),
            }
        }
        (0, None)
    }

    fn list(directory: &str, is_deep: bool) -> Option<Step> {
        Some(Step::List { extent: extent(directory, is_deep), from: None, pages: 17 })
    }

    #[test]
    fn many_in_one_directory_are_listed() {
        let mut known = Known::default();
        assert_eq!(looks(&mut known, (0..100).map(|n| format!("data/{n}"))), (16, list("data", false)));
        assert_eq!(known.step("data/x"), Step::Look, "while another thread lists");
        known.note_list(extent("data", false), vec![("data/y".to_owned(), HERE)], None);
        assert_eq!(known.step("data/y"), Step::Answer(HERE));
        assert_eq!(known.step("data/z"), Step::Answer(Stamp::ABSENT));
        assert_eq!(known.step("data/deeper/z"), Step::Look);
        assert_eq!(looks(&mut known, (0..100).map(|n| n.to_string())), (16, list(".", false)));
    }

    #[test]
    fn many_directories_are_one_list() {
        let mut known = Known::default();
        let names = (0..100_000).map(|n| format!("a/data/{n}/x"));
        assert_eq!(looks(&mut known, names), (16, list("a/data", true)), "and not all of `a`");
        known.note_list(extent("a/data", true), vec![("a/data/70000/x".to_owned(), HERE)], None);
        assert_eq!(known.step("a/data/70000/x"), Step::Answer(HERE));
        assert_eq!(known.step("a/data/70000/b/c/y"), Step::Answer(Stamp::ABSENT));
        assert_eq!(known.step("a/data/y"), Step::Answer(Stamp::ABSENT));
        assert_eq!(known.step("a/y"), Step::Look);
        // Few in each of many.
        let names = (0..100_000).map(|n| format!("b{}/{}/{}", n / 9, n / 3, n));
        assert!(
            matches!(looks(&mut known, names).1, Some(Step::List { extent, .. }) if extent == super::extent(".", true))
        );
    }

    #[test]
    fn lists_cost_no_more_than_looks() {
        let mut known = Known::default();
        let (mut looks, mut pages) = (0, 0);
        for n in 0..100_000 {
            let name = format!("data/{n}/x");
            match known.step(&name) {
                Step::List { extent, from, pages: most } => {
                    assert_eq!(from, (pages > 0).then(|| pages.to_string()));
                    pages += most;
                    // What is found has nothing to do with it, and does not end.
                    let found = (0..1000).map(|number| (format!("other/{}", number % 10), HERE)).collect();
                    known.note_list(extent, found, Some(pages.to_string()));
                }
                step => assert_eq!(step, Step::Look),
            }
            looks += 1;
            known.note(&name, HERE);
            assert!(pages <= looks);
        }
        assert_eq!(pages, 1000 * 17, "until there are a million names");
    }

    #[test]
    fn what_may_not_be_listed_is_looked_at() {
        let mut known = Known::default();
        let names = |from: u32| (from..from + 100).map(|n| format!("data/{n}"));
        assert!(looks(&mut known, names(0)).1.is_some());
        known.note_failure(extent("data", false), true);
        assert_eq!(looks(&mut known, names(100)), (0, None));
        known.note_failure(extent("data", false), false);
        assert!(looks(&mut known, names(200)).1.is_some(), "that was no answer: once more");
    }
}
