//! What the store holds for a task of a shared run, and the functions that change it.
//!
//! ```text
//!                 last close             start             settle              deliver
//!    Waiting ────────────────▶ Ready ───────────▶ Running ───────▶ Settled ───────────▶ Delivered
//!       │  ▲                   │  ▲ ▲                │               │  ▲                  │
//!       │  └─ await lost data ─┘  │ └── claim after ─┘               │  │                  │
//!       │                         │     its node died                │  │                  │
//!       └── skip, cancel ─────────┼──────────────────────────────────┼──┘                  │
//!                                 └───────── reopen: its data is lost ┴────────────────────┘
//! ```
//!
//! A task that waits again for lost data is ready with whoever claims it: he finds out by himself what is missing. One that
//! is to be tried again may wait or change hands like a ready one, though the store still calls it running.
//!
//! Each function looks at one record only, because tasks live on different shards. Each may be called twice:
//! the second call answers as the first did and changes nothing, so that a lost answer strands nothing. And each names the
//! owner and the generation that it speaks for, so that what comes too late is refused. A backend
//! stores the fields as it likes; these functions are the definition of what it has to do.

use super::{Inputs, Owner, Verdict};
use crate::ids::NodeId;

/// How far a task has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Some parent is open.
    #[default]
    Waiting,
    /// In some node's queue.
    Ready,
    /// Under way, as far as its owner has said so.
    Running,
    /// There is a verdict; its children may not know yet.
    Settled,
    /// All children know.
    Delivered,
}

/// How somebody came to own a task: only who came to it by a close or a reopening hears so again when he asks again.
/// Whoever was given it will be told by whoever gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Began {
    /// It was submitted or claimed.
    #[default]
    Other,
    /// Somebody gave it away.
    Given,
    /// Somebody did not want it any more.
    Cancelled,
    /// By a close.
    Close,
    /// By a reopening.
    Reopen,
}

/// How often a task was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// The last attempt begun, from one.
    pub last: u16,
    /// How many of all attempts do not use up what the task is allowed: their node died, or what they made was lost.
    pub excused: u16,
}

/// The record of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// A bit for each parent that has closed; for tasks with more than [`NARROW`] parents, where those bits begin.
    pub closed: u32,
    /// Who is answerable for the task.
    pub owner: Owner,
    /// How many parents are open.
    pub open: u32,
    /// How that began: the place of the parent whose close it was, the node that gave the task away, or the node that had it when it was
    /// cancelled.
    pub origin: u32,
    /// How often the task had to be done again because what it made was lost.
    pub generation: u16,
    /// How often it was tried.
    pub tries: Tries,
    /// How often the task has changed hands: which tenure this is.
    pub tenure: u16,
    /// How it began.
    pub began: Began,
    /// How many nodes died while they ran it.
    pub deaths: u8,
    /// How far it has come.
    pub phase: Phase,
    /// What became of it, once it is settled.
    pub verdict: Verdict,
}

/// So many parents have their bits in the record itself. A few more would make every record a fifth larger, and most tasks have few.
pub const NARROW: u32 = u32::BITS;

/// How many nodes a task may take with it before nobody else has to try.
pub const DEATHS_ALLOWED: u8 = 3;

/// What became of a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Others are open.
    Open,
    /// That was the last one: the closer owns the task now.
    Ready,
    /// The task will not run: the closer has to tell its children.
    Skipped,
    /// Nothing to do: the task has gone on without.
    Behind,
    /// The task waits for what a later generation of the parent will make.
    TooOld {
        /// The generation that it waits for.
        needs: u16,
    },
}

/// What became of a wish to have a task done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// The asker owns it and has to run it.
    Yours,
    /// Somebody has asked before.
    Already {
        /// The generation that is there or under way.
        generation: u16,
        /// What became of that one, if it is settled: its closes may have come too early for the asker.
        settled: Option<Verdict>,
    },
}

impl Record {
    /// A task with this many open parents, for which `owner` answers as soon as there are none.
    pub fn new(open: u32, owner: Owner) -> Record {
        let phase = if open == 0 { Phase::Ready } else { Phase::Waiting };
        Record { open, owner, phase, ..Record::default() }
    }

    fn is_held_by(&self, owner: Owner, generation: u16) -> bool {
        self.owner == owner && self.generation == generation
    }

    /// An attempt begins. Refused if the task is no longer the caller's.
    pub fn start(&mut self, owner: Owner, generation: u16, attempt: u16) -> bool {
        let fits = matches!(self.phase, Phase::Ready | Phase::Running) && self.is_held_by(owner, generation);
        if fits {
            self.phase = Phase::Running;
            self.tries.last = self.tries.last.max(attempt);
        }
        fits
    }

    /// First step of a completion: there is a verdict. A start that went missing is no obstacle.
    pub fn settle(&mut self, owner: Owner, generation: u16, verdict: Verdict) -> bool {
        if !self.is_held_by(owner, generation) {
            return false;
        }
        match self.phase {
            Phase::Ready | Phase::Running => {
                self.phase = Phase::Settled;
                self.verdict = verdict;
                true
            }
            Phase::Settled | Phase::Delivered => self.verdict == verdict,
            Phase::Waiting => false,
        }
    }

    /// Second step: a parent tells a child. `bits` are those of the parents if there are more than [`NARROW`]; `needs` is the generation of the parent
    /// that the child waits for.
    pub fn close(
        &mut self,
        bits: &mut [u32],
        position: u32,
        generation: u16,
        needs: u16,
        verdict: Verdict,
        closer: Owner,
    ) -> Closed {
        if self.phase == Phase::Waiting {
            let (word, bit) = (word_of(&mut self.closed, bits, position), 1 << (position % NARROW));
            if *word & bit != 0 {
                return Closed::Open;
            }
            if verdict == Verdict::Done && generation < needs {
                return Closed::TooOld { needs };
            }
            if verdict != Verdict::Done {
                (self.phase, self.verdict) = (Phase::Settled, Verdict::Skipped);
                self.give_to(closer, Began::Close, position);
                return Closed::Skipped;
            }
            *word |= bit;
            self.open -= 1;
            if self.open > 0 {
                return Closed::Open;
            }
            self.phase = Phase::Ready;
            self.give_to(closer, Began::Close, position);
            return Closed::Ready;
        }
        let is_repeated = self.began == Began::Close && self.origin == position && self.owner == closer;
        match (self.phase, self.verdict) {
            (Phase::Ready, _) if is_repeated && verdict == Verdict::Done => Closed::Ready,
            (Phase::Settled, Verdict::Skipped) if is_repeated && verdict != Verdict::Done => Closed::Skipped,
            _ => Closed::Behind,
        }
    }

    /// Third step: all children know.
    pub fn deliver(&mut self, owner: Owner, generation: u16) -> bool {
        let fits = self.phase >= Phase::Settled && self.is_held_by(owner, generation);
        if fits {
            self.phase = Phase::Delivered;
        }
        fits
    }

    /// A task that its owner does not run, or not any more, goes to another node. The tenure tells a wish that is repeated
    /// from one that the task has come back since.
    pub fn hand_over(&mut self, from: Owner, to: Owner, tenure: u16) -> bool {
        if !matches!(self.phase, Phase::Ready | Phase::Running) {
            return false;
        }
        if self.owner == from && self.tenure == tenure {
            self.give_to(to, Began::Given, from.node.0);
            self.phase = Phase::Ready;
        }
        self.owner == to && self.tenure == tenure.wrapping_add(1)
    }

    /// Whether a task is in this tenure of a node's.
    pub fn is_held(&self, owner: Owner, tenure: u16) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Running) && self.owner == owner && self.tenure == tenure
    }

    /// Whether its owner may not know of it yet, because whoever gave it to him has died since.
    pub fn is_orphan(&self, is_dead: impl Fn(NodeId) -> bool) -> bool {
        self.phase == Phase::Ready && self.began == Began::Given && is_dead(NodeId(self.origin))
    }

    fn give_to(&mut self, owner: Owner, began: Began, origin: u32) {
        self.owner = owner;
        self.tenure = self.tenure.wrapping_add(1);
        (self.began, self.origin) = (began, origin);
    }

    /// The node that answered for a task is dead, and another one steps in.
    pub fn claim(&mut self, bits: &mut [u32], by: Owner) {
        if self.phase == Phase::Delivered {
            return;
        }
        // It had been ready, and waits for what was lost to be made again; nobody knows whether that has been asked for.
        // As a ready task it will find out.
        if self.phase == Phase::Waiting {
            if bits.is_empty() {
                self.closed = u32::MAX;
            }
            bits.fill(u32::MAX);
            (self.open, self.phase) = (0, Phase::Ready);
        }
        if self.phase == Phase::Running {
            self.deaths = self.deaths.saturating_add(1);
            self.phase = Phase::Ready;
            self.tries.excused = self.tries.excused.saturating_add(1);
            if self.deaths >= DEATHS_ALLOWED {
                (self.phase, self.verdict) = (Phase::Settled, Verdict::Quarantined);
            }
        }
        self.give_to(by, Began::Other, 0);
    }

    /// What a ready task needs from a parent is lost: it waits for that parent again.
    pub fn wait_again(&mut self, bits: &mut [u32], owner: Owner, generation: u16, position: u32) -> bool {
        if !matches!(self.phase, Phase::Ready | Phase::Waiting | Phase::Running) || !self.is_held_by(owner, generation)
        {
            return false;
        }
        let (word, bit) = (word_of(&mut self.closed, bits, position), 1 << (position % NARROW));
        if *word & bit != 0 {
            *word &= !bit;
            self.open += 1;
        }
        self.phase = Phase::Waiting;
        true
    }

    /// What a task made in this generation, and any before it, is lost: it has to be done again.
    pub fn reopen(&mut self, generation: u16, by: Owner) -> Reopened {
        let is_settled = self.phase >= Phase::Settled;
        if self.generation <= generation && is_settled && self.verdict == Verdict::Done {
            self.generation = generation + 1;
            self.tries.excused = self.tries.last;
            self.phase = Phase::Ready;
            self.give_to(by, Began::Reopen, 0);
            return Reopened::Yours;
        }
        let is_repeated = self.began == Began::Reopen && self.owner == by;
        if self.generation == generation + 1 && self.phase == Phase::Ready && is_repeated {
            return Reopened::Yours;
        }
        Reopened::Already { generation: self.generation, settled: is_settled.then_some(self.verdict) }
    }

    /// Somebody does not want the task any more. Says whether the caller has to tell its children; [`Record::origin`] is then whoever
    /// had it.
    pub fn cancel(&mut self, by: Owner) -> bool {
        if self.phase < Phase::Settled {
            let holder = if self.phase == Phase::Waiting { Owner::NOBODY } else { self.owner };
            (self.phase, self.verdict) = (Phase::Settled, Verdict::Cancelled);
            self.give_to(by, Began::Cancelled, holder.node.0);
            return true;
        }
        self.phase == Phase::Settled && self.began == Began::Cancelled && self.owner == by
    }
}

/// Where the bit of a parent is: in the record, or in `wide` if that has any.
fn word_of<'a>(closed: &'a mut u32, wide: &'a mut [u32], position: u32) -> &'a mut u32 {
    if wide.is_empty() { closed } else { &mut wide[(position / NARROW) as usize] }
}

impl Inputs {
    /// Adds what a parent has made; `again` if it has been added before and only its place may be another.
    pub fn add(&mut self, news: Inputs, again: bool) {
        if again {
            if self.largest == news.largest {
                (self.largest_bytes, self.at) = (news.largest_bytes, news.at);
            }
            return;
        }
        self.total_bytes = self.total_bytes.saturating_add(news.total_bytes);
        let beats = news.largest_bytes > self.largest_bytes
            || (news.largest_bytes == self.largest_bytes && news.largest < self.largest);
        if news.largest.is_some() && (self.largest.is_none() || beats) {
            (self.largest, self.largest_bytes, self.at) = (news.largest, news.largest_bytes, news.at);
        }
    }
}
