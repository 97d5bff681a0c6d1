//! The node: a state machine without I/O that turns events into commands.
//!
//! ```text
//!   Ready ──▶ place ──▶ local | shared queue ──▶ order picks, pack admits ──▶ Start
//!                            ▲                                                 │
//!                            │ after its back-off                          runs in a slot
//!                            │                                                 │
//!                        Interrupt ◀── failed, may be tried again ◀──────── Finished
//!                                                                              │
//!                                        Complete ◀── done      Fail ◀── failed for good
//! ```
//!
//! The driver hands over every event it has with [`Node::handle`], carries out the commands, and then calls
//! [`Node::decide`], which fills free slots. Keeping the two apart lets the children of a finished task be
//! considered for its slot. Whoever drives, the same events at the same times give the same commands.

mod command;
mod event;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub use command::{Command, KillReason};
pub use event::{End, Event, ReadyTask};

use crate::ids::{ClassId, DemandId, SlotId, TaskId};
use crate::order::Order;
use crate::pack::Pack;
use crate::place::{Place, Placement};
use crate::pools::{Grant, Pools};
use crate::time::Time;
use crate::workflow::{Conditions, Workflow};

/// How a node behaves beyond its policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many slots there are.
    pub slots: u32,
    /// How long a task that is asked to end may take before it is forced.
    pub grace: Duration,
    /// Start nothing more once a task has failed for good.
    pub fail_fast: bool,
}

/// The wait before a second attempt; each further one waits twice as long.
pub const FIRST_BACK_OFF: Duration = Duration::from_millis(500);
/// No wait is longer than this: by then whatever was overloaded has had its rest.
pub const LONGEST_BACK_OFF: Duration = Duration::from_secs(60);

/// The code of an attempt that took too long, as `timeout` has it.
const TIMEOUT_CODE: u8 = 124;

/// The four parts of a node that can be exchanged.
pub struct Policies {
    /// Where ready tasks go.
    pub place: Box<dyn Place>,
    /// The queue of tasks that stay.
    pub local: Box<dyn Order>,
    /// The queue of tasks that others may have.
    pub shared: Box<dyn Order>,
    /// What may run at once.
    pub pack: Box<dyn Pack>,
}

#[derive(Clone, Debug)]
struct Running {
    ready: ReadyTask,
    demand: DemandId,
    grant: Grant,
    killed: Option<KillReason>,
    alarm: Option<Time>,
}

/// How far a wish to stop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    No,
    /// What runs may finish; nothing starts.
    Draining,
    /// What runs has been asked to end.
    Kindly,
    /// What runs has been forced to end.
    AtOnce,
}

/// One machine's scheduler.
pub struct Node {
    flow: Arc<Workflow>,
    limits: Limits,
    policies: Policies,
    pools: Pools,
    slots: Vec<Option<Running>>,
    /// Free slots, the last used on top: its thread and caches are warm.
    free: Vec<SlotId>,
    /// When to look at which slot again: timeouts and ends of grace.
    alarms: BTreeSet<(Time, SlotId)>,
    /// Tasks that wait for their next attempt.
    retries: BTreeMap<(Time, TaskId), ReadyTask>,
    stopping: Stopping,
}

impl Node {
    /// A node with nothing to do yet.
    pub fn new(flow: Arc<Workflow>, limits: Limits, policies: Policies, pools: Pools) -> Self {
        Node {
            flow,
            limits,
            policies,
            pools,
            slots: vec![None; limits.slots as usize],
            free: (0..limits.slots).rev().map(SlotId).collect(),
            alarms: BTreeSet::new(),
            retries: BTreeMap::new(),
            stopping: Stopping::No,
        }
    }

    /// How many attempts are under way.
    pub fn running(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many tasks wait for a slot or for their next attempt.
    pub fn waiting(&self) -> usize {
        self.policies.local.len() + self.policies.shared.len() + self.retries.len()
    }

    /// Under what conditions the attempt in a slot runs.
    pub fn conditions(&self, slot: SlotId) -> Option<Conditions> {
        let running = self.slots[slot.index()].as_ref()?;
        Some(Conditions { attempt: running.ready.attempt, demand: running.demand })
    }

    /// What the attempt in a slot holds of GPUs and the like: names, ids, and thousandths.
    pub fn holdings(&self, slot: SlotId) -> Vec<(&str, Vec<&str>, u64)> {
        self.slots[slot.index()].as_ref().map_or_else(Vec::new, |running| self.pools.describe(&running.grant))
    }

    /// Whether nothing will start any more.
    pub fn is_stopping(&self) -> bool {
        self.stopping != Stopping::No
    }

    /// Whether nothing is under way and nothing will start by itself.
    pub fn is_idle(&self) -> bool {
        self.running() == 0 && (self.is_stopping() || self.waiting() == 0)
    }

    /// When the node wants [`Event::Wake`], if nothing happens before.
    pub fn next_wake(&self) -> Option<Time> {
        let alarm = self.alarms.first().map(|(time, _)| *time);
        let retry = self.retries.keys().next().map(|(time, _)| *time).filter(|_| !self.is_stopping());
        match (alarm, retry) {
            (Some(alarm), Some(retry)) => Some(alarm.min(retry)),
            (alarm, retry) => alarm.or(retry),
        }
    }

    /// Takes in one event; commands are added to `out`.
    pub fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Ready(task) => self.enqueue(task),
            Event::Finished { slot, end } => self.finished(now, slot, end, out),
            Event::Stop => self.stop(now, out),
            Event::Wake => self.wake(now, out),
        }
    }

    /// Fills free slots; commands are added to `out`.
    pub fn decide(&mut self, now: Time, out: &mut Vec<Command>) {
        while !self.is_stopping() && !self.free.is_empty() {
            let Policies { local, shared, pack, .. } = &mut self.policies;
            let way = |class| way_to_run(&self.flow, pack.as_ref(), &self.pools, class);
            let admits = |class| way(class).is_some();
            let Some(ready) = local.pop(&admits).or_else(|| shared.pop(&admits)) else { return };
            let demand = way(ready.class).expect("an order hands out what is admitted");
            let slot = self.free.pop().expect("the loop has seen a free slot");
            pack.started(demand);
            let grant = self.pools.take(demand);
            let alarm = self.flow.timeout(ready.task).map(|timeout| now + timeout);
            self.alarms.extend(alarm.map(|time| (time, slot)));
            let earlier = self.slots[slot.index()].replace(Running { ready, demand, grant, killed: None, alarm });
            assert!(earlier.is_none(), "a free slot is empty");
            out.push(Command::Start { task: ready.task, attempt: ready.attempt, slot });
        }
    }

    fn enqueue(&mut self, ready: ReadyTask) {
        match self.policies.place.ready(&ready) {
            Placement::Keep => self.policies.local.push(ready),
            Placement::Share => self.policies.shared.push(ready),
        }
    }

    fn finished(&mut self, now: Time, slot: SlotId, end: End, out: &mut Vec<Command>) {
        let ended = self.slots[slot.index()].take().expect("what has finished was running");
        self.free.push(slot);
        self.policies.pack.ended(ended.demand);
        self.pools.give_back(&ended.grant);
        if let Some(alarm) = ended.alarm {
            self.alarms.remove(&(alarm, slot));
        }
        let Running { ready, killed, .. } = ended;
        let ReadyTask { task, attempt, .. } = ready;
        match end {
            End::Done => out.push(Command::Complete { task, attempt }),
            End::Killed if killed == Some(KillReason::Stop) => {
                out.push(Command::Interrupt { task, attempt, retry_at: None });
            }
            End::Failed { .. } | End::Killed if self.may_try_again(task, attempt, end) => {
                let retry_at = (!self.is_stopping()).then(|| now + back_off(attempt));
                let again = ReadyTask { attempt: attempt + 1, class: self.next_class(&ready), ..ready };
                self.retries.extend(retry_at.map(|time| ((time, task), again)));
                out.push(Command::Interrupt { task, attempt, retry_at });
            }
            End::Failed { .. } | End::Killed => {
                out.push(Command::Fail { task, attempt });
                if self.limits.fail_fast && self.stopping == Stopping::No {
                    self.stopping = Stopping::Draining;
                }
            }
        }
    }

    fn may_try_again(&self, task: TaskId, attempt: u16, end: End) -> bool {
        let code = if let End::Failed { code } = end { code } else { TIMEOUT_CODE };
        u32::from(attempt) <= self.flow.retries(task) && self.flow.is_worth_retrying(task, code)
    }

    /// The class of the attempt after this one: what it asks for may grow, but never beyond what the node has.
    fn next_class(&self, ready: &ReadyTask) -> ClassId {
        let next = self.flow.class(ready.task, ready.attempt + 1);
        let can_run = |demand| self.policies.pack.could_ever_admit(demand) && self.pools.could_ever_meet(demand);
        if self.flow.alternatives(next).any(can_run) { next } else { ready.class }
    }

    fn stop(&mut self, now: Time, out: &mut Vec<Command>) {
        let hard = self.stopping >= Stopping::Kindly;
        self.stopping = if hard { Stopping::AtOnce } else { Stopping::Kindly };
        for slot in (0..self.limits.slots).map(SlotId) {
            self.kill(now, slot, KillReason::Stop, hard, out);
        }
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some(&(_, slot)) = self.alarms.first().filter(|(time, _)| *time <= now) {
            self.alarms.pop_first();
            let running = self.slots[slot.index()].as_mut().expect("an alarm is cleared when its slot is");
            running.alarm = None;
            let hard = running.killed.is_some();
            self.kill(now, slot, KillReason::Timeout, hard, out);
        }
        while let Some(entry) = self.retries.first_entry().filter(|entry| entry.key().0 <= now) {
            let ready = entry.remove();
            self.enqueue(ready);
        }
    }

    fn kill(&mut self, now: Time, slot: SlotId, why: KillReason, hard: bool, out: &mut Vec<Command>) {
        let Some(running) = &mut self.slots[slot.index()] else { return };
        if let Some(alarm) = running.alarm.take() {
            self.alarms.remove(&(alarm, slot));
        }
        if !hard {
            let force_at = now + self.limits.grace;
            running.alarm = Some(force_at);
            self.alarms.insert((force_at, slot));
        }
        let why = *running.killed.get_or_insert(why);
        out.push(Command::Kill { slot, hard, why });
    }
}

/// The first way to run tasks of a class for which there is room.
fn way_to_run(flow: &Workflow, pack: &dyn Pack, pools: &Pools, class: ClassId) -> Option<DemandId> {
    flow.alternatives(class).find(|demand| pack.admits(*demand) && pools.can_meet(*demand))
}

impl PartialOrd for Stopping {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}

fn back_off(failed_attempt: u16) -> Duration {
    let doublings = u32::from(failed_attempt.saturating_sub(1)).min(16);
    (FIRST_BACK_OFF * 2u32.pow(doublings)).min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod tests;
