//! What every store has to do, as cases that any backend can be put through.
//!
//! The store in memory defines the answers; another one is right if nobody who asks can tell the difference. So the cases
//! look at a store only through its verbs, and take one [`Backend`] after the other from whoever runs them:
//!
//! ```
//! use throng_core::store::{Memory, conformance};
//!
//! for case in conformance::cases() {
//!     let outcome = (case.run)(&mut |submission| Box::new(Memory::from(submission)));
//!     assert_eq!(outcome, Ok(()), "{}", case.name);
//! }
//! ```
//!
//! Nearly every verb in them is applied twice: the second answer has to be the first one, and nothing that can be
//! seen may have changed in between. Nodes rely on that whenever an answer is lost.

mod cancelling;
mod completion;
mod copies;
mod deaths;
mod handing_over;
mod inputs;
mod listings;
mod lost_data;
mod members;
mod readers;
mod scene;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Answer, Memory, Owner, Verb};
use crate::ids::{ObjectId, TaskId};
use crate::kin::Kin;
use crate::time::Time;
use crate::workflow::Workflow;

/// A store that has a run.
pub trait Backend {
    /// Carries out one verb; `now` is what the store's clock shows.
    fn apply(&mut self, now: Time, verb: &Verb) -> Answer;
}

/// The run that a backend has to begin with.
#[derive(Clone, Debug)]
pub struct Submission {
    /// What is to be done.
    pub flow: Arc<Workflow>,
    /// Its relations.
    pub kin: Arc<Kin>,
    /// Whose the tasks are that may start at once, in turn by their numbers.
    pub owners: Vec<Owner>,
    /// Objects from outside, their sizes, and with whom they lie, or where all can read them.
    pub brought: Vec<(ObjectId, u64, Option<Owner>)>,
}

impl Submission {
    /// Whose a task is that may start at once.
    pub fn owner_of(&self, task: TaskId) -> Owner {
        self.owners[task.index() % self.owners.len()]
    }
}

/// Makes an empty backend and submits a run to it.
pub type Open<'a> = dyn FnMut(&Submission) -> Box<dyn Backend> + 'a;

/// Nothing, or what was wrong and where.
pub type Outcome = Result<(), String>;

/// One thing that a store has to do.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it has to do.
    pub name: &'static str,
    /// Tries it.
    pub run: fn(&mut Open<'_>) -> Outcome,
}

/// All cases, by what they are about.
pub const GROUPS: &[(&str, &[Case])] = &[
    ("completion", completion::CASES),
    ("handing over", handing_over::CASES),
    ("cancelling", cancelling::CASES),
    ("deaths", deaths::CASES),
    ("lost data", lost_data::CASES),
    ("readers", readers::CASES),
    ("copies", copies::CASES),
    ("inputs", inputs::CASES),
    ("members", members::CASES),
    ("listings", listings::CASES),
];

/// All cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    GROUPS.iter().flat_map(|(_, cases)| cases.iter())
}

impl Backend for Memory {
    fn apply(&mut self, now: Time, verb: &Verb) -> Answer {
        Memory::apply(self, now, verb)
    }
}

impl From<&Submission> for Memory {
    fn from(submission: &Submission) -> Memory {
        let (flow, kin) = (submission.flow.clone(), submission.kin.clone());
        let mut memory = Memory::submit(flow, kin, |task| submission.owner_of(task));
        for (object, bytes, with) in &submission.brought {
            memory.bring(*object, *bytes, *with);
        }
        memory
    }
}

/// Lists functions of a file as cases that have their names.
macro_rules! list_cases {
    ($($function:ident),* $(,)?) => {
        pub(super) const CASES: &[super::Case] =
            &[$(super::Case { name: stringify!($function), run: $function }),*];
    };
}
use list_cases;
