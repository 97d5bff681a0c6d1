//! The store: what the nodes of a shared run know in common, and the few verbs that change it.
//!
//! Nodes schedule for themselves; what they have to agree on is here. For each task there is a [`Record`]: how far it has come
//! and who is answerable for it. For each object: its size, where copies lie, and who still has to read it. For each
//! node: its lease. Records are spread over [`BUCKETS`] by task, and a verb touches one bucket only, so
//! that a backend can spread buckets over machines.
//!
//! A completion therefore takes three steps, each of which may be repeated: the task is settled; each child
//! is told, and the last one to tell it becomes its owner; the task is delivered. Whoever claims the
//! tasks of a dead node goes on where it stopped.
//!
//! [`Memory`] is the store of the simulator and the model for every other; [`conformance`] is what each has to pass.

pub mod conformance;
mod members;
mod memory;
mod objects;
#[cfg(test)]
mod random_tests;
mod record;

pub use members::{LEASE, Membership, Standing};
pub use memory::Memory;
pub use objects::{PLACES_TOLD, SHARED_BY_ALL};
pub use record::{Began, Closed, DEATHS_ALLOWED, NARROW, Phase, Record, Reopened, Tries};

use std::sync::Arc;

use crate::ids::{NodeId, ObjectId, TaskId};

/// Into how many parts the records of a run are divided.
pub const BUCKETS: u32 = 1024;

/// The bucket of a task, and of what it makes.
pub fn bucket(task: TaskId) -> u32 {
    task.0 % BUCKETS
}

/// A node as the store knows it: one life of it, for a node that comes back has forgotten what it owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// Which node.
    pub node: NodeId,
    /// Which of its lives.
    pub boot: u32,
}

impl Owner {
    /// Nobody.
    pub const NOBODY: Owner = Owner { node: NodeId(u32::MAX), boot: 0 };
}

impl Default for Owner {
    fn default() -> Self {
        Owner::NOBODY
    }
}

/// What became of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    /// It succeeded.
    #[default]
    Done,
    /// It was tried as often as allowed, in vain.
    Failed,
    /// A task before it did not succeed.
    Skipped,
    /// Somebody did not want it any more.
    Cancelled,
    /// Too many nodes died while they ran it.
    Quarantined,
}

/// What a node has to know of a task's inputs to place it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The size of all inputs that lie somewhere.
    pub total_bytes: u64,
    /// The size of the largest.
    pub largest_bytes: u64,
    /// The largest; of equal ones, that with the lowest number.
    pub largest: Option<ObjectId>,
    /// Where it was made, or lay at the beginning. A hint: it is looked up again when it is fetched.
    pub at: Option<NodeId>,
}

/// Something that a node wants of the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// An attempt begins: told, not asked, so that the death of a node can be held against the task.
    Start {
        /// Which task.
        task: TaskId,
        /// Its owner.
        owner: Owner,
        /// In which generation.
        generation: u16,
        /// Which attempt.
        attempt: u16,
    },
    /// A task has a verdict; what it made lies with its owner.
    Settle {
        /// Which task.
        task: TaskId,
        /// Its owner.
        owner: Owner,
        /// In which generation.
        generation: u16,
        /// What became of it.
        verdict: Verdict,
        /// What it made, with sizes.
        outputs: Box<[(ObjectId, u64)]>,
    },
    /// A settled task tells a child.
    Close {
        /// The child.
        child: TaskId,
        /// The place of the settled task among its parents.
        position: u32,
        /// The settled task's generation.
        generation: u16,
        /// What became of it.
        verdict: Verdict,
        /// Who tells, and becomes the owner of a child that is ready.
        closer: Owner,
        /// What the child will read of it.
        news: Inputs,
    },
    /// A task will not read an object any more.
    Release {
        /// Which object.
        object: ObjectId,
        /// Its reader.
        reader: TaskId,
        /// The reader's generation: one that is done again may want the object again.
        generation: u16,
    },
    /// A task that is done again will read an object again.
    Retain {
        /// Which object.
        object: ObjectId,
        /// Its reader.
        reader: TaskId,
        /// The reader's generation, not the first.
        generation: u16,
    },
    /// All children of a settled task know.
    Deliver {
        /// Which task.
        task: TaskId,
        /// Its owner.
        owner: Owner,
        /// In which generation.
        generation: u16,
    },
    /// A task that does not run goes to another node, which has to be told afterwards.
    HandOver {
        /// Which task.
        task: TaskId,
        /// Its owner.
        from: Owner,
        /// Its next one.
        to: Owner,
        /// The tenure that ends with it.
        tenure: u16,
    },
    /// Whether a task is in a certain tenure of a node's.
    Verify {
        /// Which task.
        task: TaskId,
        /// The node.
        owner: Owner,
        /// The tenure.
        tenure: u16,
    },
    /// What a task needs of a parent is lost, and it waits for a later generation.
    Await {
        /// Which task.
        task: TaskId,
        /// Its owner.
        owner: Owner,
        /// Its generation.
        generation: u16,
        /// The place of the parent.
        position: u32,
        /// The first generation of the parent that will do.
        needs: u16,
    },
    /// What a task made is lost, and somebody needs it.
    Reopen {
        /// Which task.
        task: TaskId,
        /// The generation whose outputs are lost.
        generation: u16,
        /// Who will see to it.
        by: Owner,
    },
    /// A task, and whatever waits for it, is not wanted any more.
    Cancel {
        /// Which task.
        task: TaskId,
        /// Who will tell its children.
        by: Owner,
    },
    /// Where an object lies.
    Locate {
        /// Which object.
        object: ObjectId,
        /// Who asks: different askers are sent to different copies.
        by: NodeId,
    },
    /// A node has a copy now.
    Copied {
        /// Of which object.
        object: ObjectId,
        /// Which node.
        owner: Owner,
    },
    /// A node wants to delete its copy.
    Drop {
        /// Of which object.
        object: ObjectId,
        /// Which node.
        owner: Owner,
        /// Who is dead, as far as the node knows: these lives, and all of the same nodes before them. What they had does not count.
        dead: Arc<[Owner]>,
    },
    /// A node was said to have a copy, and has none.
    Missing {
        /// Of which object.
        object: ObjectId,
        /// Which node.
        owner: Owner,
    },
    /// All that a node answers for in a bucket: for a node that wants to make sure.
    Owned {
        /// Which bucket.
        bucket: u32,
        /// Who asks.
        owner: Owner,
    },
    /// All that dead nodes answered for in a bucket goes to another one.
    Claim {
        /// Which bucket.
        bucket: u32,
        /// Who is dead: these lives, and all lives of the same nodes before them. All that are known, not only the last, for a
        /// task may have been given to a node that was dead already.
        dead: Arc<[Owner]>,
        /// Who steps in.
        by: Owner,
    },
    /// The settled tasks of a bucket, whose children have to be told again after writes were lost.
    Settled {
        /// Which bucket.
        bucket: u32,
    },
    /// A node takes part.
    Join {
        /// Which one.
        owner: Owner,
    },
    /// A node is alive.
    Renew {
        /// Which one.
        owner: Owner,
        /// What it knows of the others.
        seen: u64,
    },
    /// All tasks of a dead node have been claimed.
    Bury {
        /// Who is dead.
        dead: Owner,
        /// Who has seen to it.
        by: Owner,
    },
}

/// A task that a node has been made answerable for.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// Which task.
    pub task: TaskId,
    /// How far it has come: ready, running or settled.
    pub phase: Phase,
    /// Its generation.
    pub generation: u16,
    /// How often it was tried.
    pub tries: Tries,
    /// Which tenure it is in.
    pub tenure: u16,
    /// What became of it, if it is settled.
    pub verdict: Verdict,
    /// What it reads.
    pub inputs: Inputs,
    /// What it made, if it is settled, with sizes.
    pub outputs: Box<[(ObjectId, u64)]>,
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is so.
    Done,
    /// It is not so: the task, object or lease is no longer what the asker thinks.
    Refused,
    /// To a close: what became of the task, and what its owner has to know of it.
    Closed {
        /// What became of it.
        closed: Closed,
        /// Its generation.
        generation: u16,
        /// How often it was tried.
        tries: Tries,
        /// Which tenure begins.
        tenure: u16,
        /// Its inputs.
        inputs: Inputs,
    },
    /// To a cancellation.
    Cancelled {
        /// The task's generation.
        generation: u16,
        /// The node that had it, if any did, and may be running it.
        holder: Option<NodeId>,
    },
    /// To a reopening.
    Reopened {
        /// Who sees to it.
        reopened: Reopened,
        /// How often it was tried.
        tries: Tries,
        /// Which tenure begins.
        tenure: u16,
        /// Its inputs.
        inputs: Inputs,
    },
    /// To a release: nobody needs the object any more, and these nodes have it.
    Unneeded(Box<[NodeId]>),
    /// To a search.
    Located {
        /// How large it is.
        bytes: u64,
        /// The generation of its producer that made it, or would have if that had not been lost.
        generation: u16,
        /// Some of the nodes that have it.
        places: Box<[NodeId]>,
    },
    /// To a claim, or a look at what one owns.
    Holdings {
        /// The tasks.
        tasks: Box<[Holding]>,
        /// Tasks whose results died with the node though somebody wants to have them, and their generation.
        lost: Box<[(TaskId, u16)]>,
        /// Tasks that the dead gave to others, who may not have heard so.
        given: Box<[(Owner, Holding)]>,
    },
    /// The settled tasks of a bucket.
    Settled(Box<[Holding]>),
    /// To a renewal.
    Members(Membership),
}
