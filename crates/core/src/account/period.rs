//! The time that a report is about: from the first start of a task to the last end of one.
//!
//! What comes before, reading the workflow and looking at files, does not depend on slots and is told apart.

use super::Setup;
use crate::node::{Command, Event};
use crate::time::Time;
use crate::trace::Entry;

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// When the first task was started.
    pub begin: Time,
    /// When the last one ended, or, while some run, the last moment that is known.
    pub end: Time,
}

impl Period {
    /// Finds the period of a run.
    pub fn of(setup: Setup, entries: impl Iterator<Item = (Time, Entry)>) -> Period {
        let mut begin = None;
        let (mut last_end, mut last) = (Time::START, Time::START);
        let mut is_open = vec![false; setup.slots as usize];
        for (now, entry) in entries {
            last = now;
            match entry {
                Entry::Command(Command::Start { slot, .. }) if slot.index() < is_open.len() => {
                    begin.get_or_insert(now);
                    is_open[slot.index()] = true;
                }
                Entry::Event(Event::Finished { slot, .. }) if slot.index() < is_open.len() => {
                    is_open[slot.index()] = false;
                    last_end = now;
                }
                _ => {}
            }
        }
        let Some(begin) = begin else { return Period { begin: last, end: last } };
        let end = if is_open.contains(&true) { last.max(setup.until.unwrap_or(last)) } else { last_end };
        Period { begin, end: end.max(begin) }
    }

    /// How long it is.
    pub fn length_ns(&self) -> u64 {
        self.end.0 - self.begin.0
    }
}
