//! What cases are written in: a small run, three nodes, and verbs with what one expects of them.

use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::{Backend, Open, Outcome, Submission};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::kin::Kin;
use crate::store::{Answer, Closed, Holding, Inputs, Owner, Phase, Tries, Verb, Verdict, bucket};
use crate::time::Time;
use crate::workflow::{Format, NoFiles, Workflow};

pub(super) const ANN: Owner = Owner { node: NodeId(0), boot: 1 };
pub(super) const BOB: Owner = Owner { node: NodeId(1), boot: 1 };
pub(super) const CID: Owner = Owner { node: NodeId(2), boot: 1 };

/// Asks where objects are, and has none.
pub(super) const STRANGER: NodeId = NodeId(12);

/// Nobody looks at more buckets than these when he wants to see whether something has changed.
const BUCKETS_SEEN: u32 = 200;

/// The next life of a node.
pub(super) fn reborn(owner: Owner) -> Owner {
    Owner { boot: owner.boot + 1, ..owner }
}

/// A run in a store, at some time.
pub(super) struct Scene {
    pub(super) flow: Arc<Workflow>,
    pub(super) kin: Arc<Kin>,
    backend: Box<dyn Backend>,
    now: Time,
}

/// What a close answers to whoever becomes the owner, or has to tell others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heard {
    pub(super) closed: Closed,
    pub(super) generation: u16,
    pub(super) tries: Tries,
    pub(super) tenure: u16,
    pub(super) inputs: Inputs,
}

/// What a claimer has, and what was lost.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) tasks: Vec<Holding>,
    pub(super) lost: Vec<(TaskId, u16)>,
    pub(super) given: Vec<(Owner, Holding)>,
}

impl Scene {
    /// A run whose first tasks are all Ann's.
    pub(super) fn open(open: &mut Open<'_>, text: &str) -> Result<Scene, String> {
        Scene::open_with(open, text, &[ANN], &[])
    }

    /// A run with these owners of its first tasks, and objects from outside.
    pub(super) fn open_with(
        open: &mut Open<'_>,
        text: &str,
        owners: &[Owner],
        brought: &[(&str, u64, Option<Owner>)],
    ) -> Result<Scene, String> {
        let flow = Workflow::parse(text, Format::Yaml, "case", &NoFiles).map_err(|problem| format!("{problem:?}"))?;
        let (kin, flow) = (Arc::new(Kin::of(&flow)), Arc::new(flow));
        let mut submission =
            Submission { flow: flow.clone(), kin: kin.clone(), owners: owners.to_vec(), brought: Vec::new() };
        for (name, bytes, with) in brought {
            submission.brought.push((object_in(&flow, name)?, *bytes, *with));
        }
        Ok(Scene { flow, kin, backend: open(&submission), now: Time::START })
    }

    pub(super) fn pass(&mut self, length: Duration) {
        self.now = self.now + length;
    }

    #[track_caller]
    pub(super) fn task(&self, name: &str) -> TaskId {
        let found = self.flow.tasks().find(|task| self.flow.name(*task) == name);
        found.unwrap_or_else(|| panic!("the case has no task {name}: {}", Location::caller()))
    }

    #[track_caller]
    pub(super) fn object(&self, name: &str) -> ObjectId {
        object_in(&self.flow, name).unwrap_or_else(|problem| panic!("{problem}: {}", Location::caller()))
    }

    /// Applies a verb once.
    pub(super) fn once(&mut self, verb: &Verb) -> Answer {
        sorted(self.backend.apply(self.now, verb))
    }

    /// Applies a verb twice: the second time it has to answer the same, and to change nothing.
    #[track_caller]
    pub(super) fn ask(&mut self, verb: Verb) -> Result<Answer, String> {
        let first = self.once(&verb);
        let seen = self.look();
        let second = self.once(&verb);
        same(second, first.clone(), "the answer of the second time")?;
        same(self.look(), seen, "what is seen after the second time")?;
        Ok(first)
    }

    #[track_caller]
    pub(super) fn done(&mut self, verb: Verb) -> Outcome {
        let what = format!("{verb:?}");
        same(self.ask(verb)?, Answer::Done, &what)
    }

    /// A verb that has to be refused and to change nothing.
    #[track_caller]
    pub(super) fn refused(&mut self, verb: Verb) -> Outcome {
        let (what, seen) = (format!("{verb:?}"), self.look());
        same(self.ask(verb)?, Answer::Refused, &what)?;
        same(self.look(), seen, "what is seen after something was refused")
    }

    /// All that can be seen without changing anything: who owns what, what is settled, where objects are.
    fn look(&mut self) -> Vec<Answer> {
        let mut seen = Vec::new();
        for bucket in 0..BUCKETS_SEEN.min(self.flow.task_count() as u32) {
            seen.push(self.once(&Verb::Settled { bucket }));
            for owner in [ANN, BOB, CID, reborn(ANN), reborn(BOB)] {
                seen.push(self.once(&Verb::Owned { bucket, owner }));
            }
        }
        for object in (0..self.flow.object_count()).map(ObjectId::at) {
            seen.push(self.once(&Verb::Locate { object, by: STRANGER }));
        }
        seen
    }

    #[track_caller]
    pub(super) fn start(&mut self, task: &str, owner: Owner, attempt: u16) -> Outcome {
        let task = self.task(task);
        self.done(Verb::Start { task, owner, generation: 0, attempt })
    }

    /// A verdict on the first generation of a task, whose outputs are all ten bytes long.
    pub(super) fn settling(&self, task: &str, owner: Owner, generation: u16, verdict: Verdict) -> Verb {
        let task = self.task(task);
        let outputs = self.flow.outputs(task).map(|object| (object, 10)).collect();
        Verb::Settle { task, owner, generation, verdict, outputs }
    }

    #[track_caller]
    pub(super) fn settle(&mut self, task: &str, owner: Owner, verdict: Verdict) -> Outcome {
        self.done(self.settling(task, owner, 0, verdict))
    }

    #[track_caller]
    pub(super) fn settle_again(&mut self, task: &str, owner: Owner, generation: u16, verdict: Verdict) -> Outcome {
        self.done(self.settling(task, owner, generation, verdict))
    }

    #[track_caller]
    pub(super) fn deliver(&mut self, task: &str, owner: Owner) -> Outcome {
        let task = self.task(task);
        self.done(Verb::Deliver { task, owner, generation: 0 })
    }

    /// The close of a child by a parent, with nothing said of what it made.
    #[track_caller]
    pub(super) fn closing(&self, parent: &str, child: &str, generation: u16, verdict: Verdict, closer: Owner) -> Verb {
        let (parent, child) = (self.task(parent), self.task(child));
        let position = self.kin.position(&self.flow, parent, child);
        let position = position.unwrap_or_else(|| panic!("the case has no such edge: {}", Location::caller()));
        Verb::Close { child, position, generation, verdict, closer, news: Inputs::default() }
    }

    #[track_caller]
    pub(super) fn heard(&mut self, verb: Verb) -> Result<Heard, String> {
        match self.ask(verb)? {
            Answer::Closed { closed, generation, tries, tenure, inputs } => {
                Ok(Heard { closed, generation, tries, tenure, inputs })
            }
            other => Err(format!("{}: a close was answered by {other:?}", Location::caller())),
        }
    }

    /// A parent that is done tells a child, which answers so.
    #[track_caller]
    pub(super) fn close(&mut self, parent: &str, child: &str, closer: Owner, wanted: Closed) -> Outcome {
        let verb = self.closing(parent, child, 0, Verdict::Done, closer);
        same(self.heard(verb)?.closed, wanted, "the answer to a close")
    }

    /// A parent that is done in some generation tells a child, which answers so.
    #[track_caller]
    pub(super) fn close_again(
        &mut self,
        parent: &str,
        child: &str,
        generation: u16,
        closer: Owner,
        wanted: Closed,
    ) -> Outcome {
        let verb = self.closing(parent, child, generation, Verdict::Done, closer);
        same(self.heard(verb)?.closed, wanted, "the answer to a close")
    }

    /// A task is settled as done by its owner, and tells one child, which is ready.
    #[track_caller]
    pub(super) fn finish(&mut self, task: &str, child: &str, owner: Owner) -> Outcome {
        self.settle(task, owner, Verdict::Done)?;
        self.close(task, child, owner, Closed::Ready)?;
        self.deliver(task, owner)
    }

    #[track_caller]
    pub(super) fn hand_over(&mut self, task: &str, from: Owner, to: Owner, tenure: u16) -> Outcome {
        let task = self.task(task);
        self.done(Verb::HandOver { task, from, to, tenure })
    }

    /// Somebody claims all buckets of the run; the tasks that he owns then.
    #[track_caller]
    pub(super) fn claim(&mut self, dead: &[Owner], by: Owner) -> Result<Vec<Holding>, String> {
        Ok(self.claim_all(dead, by)?.tasks)
    }

    /// The same, and what was lost.
    #[track_caller]
    pub(super) fn claim_all(&mut self, dead: &[Owner], by: Owner) -> Result<Claimed, String> {
        let mut claimed = Claimed::default();
        let count = self.flow.task_count().max(self.flow.object_count()) as u32;
        for bucket in 0..BUCKETS_SEEN.min(count) {
            let Answer::Holdings { tasks, lost, given } = self.ask(Verb::Claim { bucket, dead: dead.into(), by })?
            else {
                return Err(format!("{}: a claim was not answered by holdings", Location::caller()));
            };
            claimed.tasks.extend(tasks);
            claimed.lost.extend(lost);
            claimed.given.extend(given);
        }
        Ok(claimed)
    }

    /// What somebody holds of a task.
    pub(super) fn holding(&mut self, task: &str, owner: Owner) -> Option<Holding> {
        let task = self.task(task);
        match self.once(&Verb::Owned { bucket: bucket(task), owner }) {
            Answer::Holdings { tasks, .. } => tasks.into_iter().find(|holding| holding.task == task),
            _ => None,
        }
    }

    /// Somebody holds a task, and it has come so far.
    #[track_caller]
    pub(super) fn holds(&mut self, owner: Owner, task: &str, phase: Phase) -> Outcome {
        let held = self.holding(task, owner).map(|holding| holding.phase);
        same(held, Some(phase), &format!("what {owner:?} holds of {task}"))
    }

    #[track_caller]
    pub(super) fn holds_nothing_of(&mut self, owner: Owner, task: &str) -> Outcome {
        same(self.holding(task, owner), None, &format!("what {owner:?} holds of {task}"))
    }

    /// What became of a task that is settled.
    pub(super) fn verdict(&mut self, task: &str) -> Option<(Phase, Verdict)> {
        let task = self.task(task);
        match self.once(&Verb::Settled { bucket: bucket(task) }) {
            Answer::Settled(tasks) => {
                let found = tasks.into_iter().find(|holding| holding.task == task);
                found.map(|holding| (holding.phase, holding.verdict))
            }
            _ => None,
        }
    }

    /// The size and the places of an object, for somebody who has none.
    #[track_caller]
    pub(super) fn places(&mut self, object: &str, by: NodeId) -> Result<(u64, Vec<NodeId>), String> {
        let object = self.object(object);
        match self.ask(Verb::Locate { object, by })? {
            Answer::Located { bytes, places, .. } => Ok((bytes, places.into_vec())),
            other => Err(format!("{}: a search was answered by {other:?}", Location::caller())),
        }
    }
}

fn object_in(flow: &Workflow, name: &str) -> Result<ObjectId, String> {
    let found = (0..flow.object_count()).map(ObjectId::at).find(|object| flow.object_name(*object) == name);
    found.ok_or_else(|| format!("the case has no object {name}"))
}

/// Lists may come in any order.
fn sorted(answer: Answer) -> Answer {
    match answer {
        Answer::Holdings { mut tasks, mut lost, mut given } => {
            tasks.sort_by_key(|holding| holding.task);
            lost.sort();
            given.sort_by_key(|(_, holding)| holding.task);
            Answer::Holdings { tasks, lost, given }
        }
        Answer::Settled(mut tasks) => {
            tasks.sort_by_key(|holding| holding.task);
            Answer::Settled(tasks)
        }
        Answer::Unneeded(mut places) => {
            places.sort();
            Answer::Unneeded(places)
        }
        Answer::Members(mut members) => {
            members.changes.sort_by_key(|(owner, _)| *owner);
            members.dead.sort();
            Answer::Members(members)
        }
        other => other,
    }
}

/// Says where the case stands if something is not what it should be.
#[track_caller]
pub(super) fn same<T: PartialEq + Debug>(is: T, should_be: T, what: &str) -> Outcome {
    if is == should_be {
        return Ok(());
    }
    let place = Location::caller();
    let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
    Err(format!("{file}:{}: {what} should be {should_be:?}, and is {is:?}", place.line()))
}
