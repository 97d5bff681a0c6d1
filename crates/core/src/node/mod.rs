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

mod cache;
mod command;
mod event;
mod giving;
mod keeping;
mod looking;
mod pressing;
mod stage;
mod timetable;
mod untouched;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub use crate::locality::Brought;
pub use command::{Command, KillReason};
pub use event::{End, Event, ReadyTask};
pub use keeping::Keeping;
use pressing::Pressing;
use stage::Stage;
pub use stage::{CacheTally, FETCHES_AT_ONCE};
pub use timetable::{Homes, Times, Timetable};
use ways::Ways;

use crate::headroom::Headroom;
use crate::ids::{ClassId, DemandId, KindId, SlotId, TaskId};
use crate::order::Order;
use crate::pack::{Pack, Spent};
use crate::past::Past;
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

/// For more than this part of the time, in millionths, somebody waits for memory where there is too little of it, whatever else is said.
const STALLED: u32 = 200_000;

/// The code of an attempt that took too long, as `timeout` has it.
const TIMEOUT_CODE: u8 = 124;
/// The code of one that the kernel has killed, as a shell has it.
const OUT_OF_MEMORY_CODE: u8 = 137;

/// The parts of a node that can be exchanged.
pub struct Policies {
    /// The queue of tasks that stay.
    pub local: Box<dyn Order>,
    /// The queue of tasks that others may have.
    pub shared: Box<dyn Order>,
    /// What may run at once.
    pub pack: Box<dyn Pack>,
}

/// Somebody who is given tasks.
#[derive(Clone, Copy)]
pub struct Taker<'a> {
    /// Which classes he could ever run.
    pub can_run: &'a dyn Fn(ClassId) -> bool,
    /// Whether he may also have tasks that were to stay here and cannot begin.
    pub also_kept: bool,
}

#[derive(Clone, Debug)]
struct Running {
    ready: ReadyTask,
    /// Whether it comes from the queue that others may have tasks of.
    is_shared: bool,
    demand: DemandId,
    grant: Grant,
    killed: Option<KillReason>,
    /// Whether nobody wants it any more, however it ends.
    is_forgotten: bool,
    started: Time,
    alarm: Option<Time>,
    /// What it took, once that is known.
    spent: Option<Spent>,
    /// Room that is reserved for what it writes.
    output_bytes: u64,
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
    /// How many cores running tasks have taken.
    taken_cores: u32,
    /// When to look at which slot again: timeouts and ends of grace.
    alarms: BTreeSet<(Time, SlotId)>,
    /// Tasks that wait for their next attempt, and whether others may have them then.
    retries: BTreeMap<(Time, TaskId), (ReadyTask, bool)>,
    stopping: Stopping,
    /// Tasks in a queue that are not wanted any more.
    forgotten: BTreeSet<TaskId>,
    /// Those of them that have come again meanwhile: a queue holds a task once.
    come_again: BTreeMap<TaskId, (ReadyTask, bool)>,
    /// Where objects are, for a node that does not find all of them where it is.
    stage: Option<Stage>,
    /// Memory, where what tasks need of it is learnt.
    pressing: Option<Pressing>,
    /// When tasks are to begin, if that was planned.
    timetable: Option<Timetable>,
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
            taken_cores: 0,
            alarms: BTreeSet::new(),
            retries: BTreeMap::new(),
            stopping: Stopping::No,
            forgotten: BTreeSet::new(),
            come_again: BTreeMap::new(),
            stage: None,
            pressing: None,
            timetable: None,
        }
    }

    /// The same node, held to a plan. It has room for whatever its tasks read.
    pub fn with_timetable(mut self, timetable: Timetable) -> Self {
        if let Some(stage) = &mut self.stage {
            stage.keep_order(timetable.begins());
        }
        self.timetable = Some(timetable);
        self
    }

    /// The same node with room of its own, into which it brings what its tasks read.
    pub fn with_cache(mut self, keeping: Keeping) -> Self {
        let mut stage = Stage::new(keeping, &self.flow);
        if self.policies.local.follows_data() {
            stage.cache.note_changes();
        }
        self.stage = Some(stage);
        self
    }

    /// The same node, which learns how much memory its tasks need and starts them when there is room for that.
    pub fn with_headroom(mut self, headroom: Headroom) -> Self {
        self.pressing = Some(Pressing::new(headroom));
        self
    }

    /// Tells the policy what tasks of a kind took in earlier runs.
    pub fn recall(&mut self, kind: KindId, past: &Past) {
        self.policies.pack.recall(kind, past);
    }

    /// From now on no data is brought while so many tasks wait only for a slot: whatever is staged too early has lost its place in the
    /// order, and nobody else can have it.
    pub fn set_most_prepared(&mut self, count: usize) {
        if let Some(stage) = &mut self.stage {
            stage.set_most_prepared(count);
        }
    }

    /// When the node wants [`Event::Wake`], if nothing happens before.
    pub fn next_wake(&self) -> Option<Time> {
        let alarm = self.alarms.first().map(|(time, _)| *time);
        let retry = self.retries.keys().next().map(|(time, _)| *time).filter(|_| !self.is_stopping());
        let due = self.timetable.as_ref().and_then(|timetable| timetable.wake);
        [alarm, retry, due].into_iter().flatten().min()
    }

    /// Takes in one event; commands are added to `out`.
    pub fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Command>) {
        let before = out.len();
        self.take_in(now, event, out);
        self.tell_of_gone(&out[before..]);
    }

    /// Tells the orders of tasks that they handed out and that will not run after all.
    fn tell_of_gone(&mut self, commands: &[Command]) {
        for command in commands {
            if let Command::Lost { task, .. } | Command::NeverFits { task, .. } = command {
                self.left(*task);
            }
        }
    }

    /// A task that an order handed out is not here any more.
    fn left(&mut self, task: TaskId) {
        self.policies.local.ended(task);
        self.policies.shared.ended(task);
        self.expect_no_more(task);
    }

    /// A task that was planned for this node begins elsewhere, or not at all: nobody waits for it.
    pub fn expect_no_more(&mut self, task: TaskId) {
        if let Some(timetable) = &mut self.timetable {
            timetable.strike(task);
        }
    }

    fn take_in(&mut self, now: Time, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Ready(task) => self.enqueue(task, false),
            Event::Offered(task) => self.enqueue(task, true),
            Event::Finished { slot, end } => self.finished(now, slot, end, out),
            Event::Spent { slot, spent } => {
                if let Some(running) = &mut self.slots[slot.index()] {
                    running.spent = Some(spent);
                }
            }
            Event::Uses { slot, uses } => self.uses(now, slot, &uses),
            Event::Measured(sample) => {
                out.extend(self.policies.pack.measured(now, &sample).into_iter().map(Command::Width));
                let is_stalled = sample.memory_stalls > STALLED;
                self.press(now, sample.free_memory_bytes, is_stalled, out);
            }
            Event::FreeMemory { bytes } => self.press(now, bytes, false, out),
            Event::Stop => self.stop(now, out),
            Event::Wake => self.wake(now, out),
            Event::Located { .. }
            | Event::Fetched { .. }
            | Event::FetchFailed { .. }
            | Event::Kept { .. }
            | Event::Capacity { .. }
            | Event::Dropped { .. }
            | Event::Unneeded { .. } => self.data_event(event, out),
        }
    }

    /// Puts a task into a queue.
    ///
    /// Where tasks wait apart, nobody else is there to have them: the queue for others is theirs.
    fn enqueue(&mut self, task: ReadyTask, mut is_shared: bool) {
        if self.forgotten.contains(&task.task) {
            self.come_again.insert(task.task, (task, is_shared));
            return;
        }
        if let Some(timetable) = &mut self.timetable {
            timetable.came(task.task);
        }
        if let Some(stage) = &mut self.stage {
            stage.cache.idle.ready(task.task);
            is_shared |= stage.is_apart(&self.flow, task.task);
        }
        self.policies.pack.queued(self.flow.kind(task.task));
        if is_shared { self.policies.shared.push(task) } else { self.policies.local.push(task) }
    }

    /// Tells whoever wants to know that a task has left a queue: to begin, or for good.
    fn dequeued(&mut self, task: TaskId, begins: bool, from_shared: bool) {
        let Policies { local, shared, pack } = &mut self.policies;
        pack.unqueued(self.flow.kind(task));
        if begins {
            let other = if from_shared { local } else { shared };
            other.began(task);
        } else {
            self.expect_no_more(task);
        }
        let Some(stage) = &mut self.stage else { return };
        if begins {
            stage.cache.idle.started(task);
        } else {
            stage.cache.idle.withdrawn(task);
        }
    }

    /// What happens to objects; a node without room of its own does not care.
    fn data_event(&mut self, event: Event, out: &mut Vec<Command>) {
        let Some(stage) = &mut self.stage else { return };
        match event {
            Event::Located { object, bytes } => stage.located(&self.flow, object, bytes, out),
            Event::Fetched { object } => stage.fetched(object, out),
            Event::FetchFailed { object } => stage.fetch_failed(object, out),
            Event::Kept { object, bytes } => stage.keep(&self.flow, object, bytes, out),
            Event::Capacity { bytes } => {
                stage.cache.set_capacity(bytes);
                stage.retry_parked(&self.flow, out);
            }
            Event::Dropped { object, is_gone } => {
                stage.cache.dropped(object, is_gone);
                stage.retry_parked(&self.flow, out);
            }
            Event::Unneeded { object } if stage.cache.unneeded(object) => {
                out.push(Command::Evict { object });
                stage.retry_parked(&self.flow, out);
            }
            _ => {}
        }
    }

    /// Fills free slots, and begins to bring what the next tasks read; commands are added to `out`.
    pub fn decide(&mut self, now: Time, out: &mut Vec<Command>) {
        let before = out.len();
        self.fill_and_force(now, out);
        if let (Some(timetable), Some(stage)) = (&mut self.timetable, &self.stage) {
            // With nothing free, whoever ends brings the next look.
            timetable.wake = if self.free.is_empty() { None } else { stage.next_due(timetable, now) };
        }
        self.tell_of_gone(&out[before..]);
    }

    fn fill_and_force(&mut self, now: Time, out: &mut Vec<Command>) {
        self.fill(now, false, out);
        if self.has_stopped_short() {
            self.fill(now, true, out);
        }
        while let Some(stage) = self.stage.as_mut().filter(|stage| stage.is_blocked()) {
            if self.free.len() < self.slots.len() || self.stopping != Stopping::No {
                return;
            }
            stage.force(&self.flow, out);
            self.fill(now, false, out);
        }
    }

    /// Whether nothing runs though there is something to do.
    fn has_stopped_short(&self) -> bool {
        let Policies { local, shared, .. } = &self.policies;
        let is_staged = || self.stage.as_ref().is_some_and(|stage| stage.len() > 0);
        self.free.len() == self.slots.len()
            && (!local.is_empty() || !shared.is_empty() || is_staged() || self.waiting_for_memory() > 0)
    }

    /// Tells orders that want to know what has come and gone.
    fn tell_orders(&mut self) {
        let Some(stage) = &mut self.stage else { return };
        for (object, is_here) in stage.cache.take_changes() {
            self.policies.local.data(object, is_here);
            self.policies.shared.data(object, is_here);
        }
    }

    /// Fills free slots; if nothing would run by the policy, with the first that could run at all.
    fn fill(&mut self, now: Time, is_idle: bool, out: &mut Vec<Command>) {
        while !self.is_stopping() {
            let is_stuck = is_idle && self.free.len() == self.slots.len();
            if !self.free.is_empty() && self.start_aside(now, is_stuck, out) {
                continue;
            }
            if self.is_kept_free(now) {
                return;
            }
            self.tell_orders();
            let Policies { local, shared, pack } = &mut self.policies;
            let has_slot = !self.free.is_empty();
            let ways = Ways {
                flow: &self.flow,
                pack: pack.as_ref(),
                pools: &self.pools,
                pressing: self.pressing.as_ref(),
                is_stuck,
            };
            let waits_apart = self.stage.as_ref().is_some_and(Stage::is_for_outside) && !shared.is_empty();
            let is_turn_apart = waits_apart && self.stage.as_ref().is_some_and(Stage::is_turn_apart);
            let free_cores = (self.slots.len() as u32).saturating_sub(self.taken_cores);
            if has_slot
                && !is_turn_apart
                && let Some(stage) = &mut self.stage
                && let Some((ready, is_shared, output_bytes)) = match &self.timetable {
                    None => stage.next(|ready| ways.of_task(ready).is_some()),
                    Some(timetable) => stage.next_of(timetable, now, free_cores, |ready| ways.of_task(ready).is_some()),
                }
            {
                let demand = ways.of_task(&ready);
                stage.gave_slot(false);
                self.start(now, demand, ready, is_shared, output_bytes, out);
                continue;
            }
            // Where data has to be brought, that comes first: with a slot or without, but only for so many at a time.
            let may_take = match &self.stage {
                // What begins when is planned: all that can be prepared is.
                Some(_) if self.timetable.is_some() => true,
                Some(stage) if stage.is_used() => stage.has_window(has_slot),
                _ => has_slot,
            };
            let is_planned = self.timetable.is_some();
            let admits = |class| !has_slot || is_planned || ways.of_class(class).is_some();
            let may_share = if waits_apart { has_slot } else { may_take };
            let own = if may_take { local.pop(&admits) } else { None };
            let is_shared = own.is_none();
            let other = if is_shared && may_share { shared.pop(&admits) } else { None };
            let Some(ready) = own.or(other) else {
                // Nobody who waits apart may start now: it is the others' turn.
                match &mut self.stage {
                    Some(stage) if is_turn_apart && has_slot => {
                        stage.gave_slot(true);
                        continue;
                    }
                    _ => return,
                }
            };
            if self.forgotten.remove(&ready.task) {
                self.dequeued(ready.task, false, is_shared);
                self.left(ready.task);
                if let Some((again, is_shared)) = self.come_again.remove(&ready.task) {
                    self.enqueue(again, is_shared);
                }
                continue;
            }
            let demand = ways.of_class(ready.class);
            self.dequeued(ready.task, true, is_shared);
            let output_bytes = self.expected_output_bytes(ready.task);
            match &mut self.stage {
                Some(stage) if is_shared && waits_apart => {
                    stage.gave_slot(true);
                    self.start(now, demand, ready, is_shared, 0, out);
                }
                Some(stage)
                    if self.flow.inputs(ready.task).len() > 0
                        || output_bytes > 0
                        || !has_slot
                        || self.timetable.is_some() =>
                {
                    stage.admit(&self.flow, ready, is_shared, output_bytes, out);
                }
                _ => self.start(now, demand, ready, is_shared, 0, out),
            }
        }
    }

    /// Starts a task in one of the ways that would do.
    fn start(
        &mut self,
        now: Time,
        demand: Option<DemandId>,
        ready: ReadyTask,
        is_shared: bool,
        output_bytes: u64,
        out: &mut Vec<Command>,
    ) {
        let demand = demand.expect("what is handed out is admitted");
        let slot = self.free.pop().expect("somebody has seen a free slot");
        self.policies.pack.started(demand);
        let grant = self.pools.take(demand);
        let alarm = self.flow.timeout(ready.task).map(|timeout| now + timeout);
        self.alarms.extend(alarm.map(|time| (time, slot)));
        if let Some(pressing) = &mut self.pressing {
            pressing.started(now, slot, demand, ready.task);
        }
        let (killed, is_forgotten, started, spent) = (None, false, now, None);
        let running =
            Running { ready, is_shared, demand, grant, killed, is_forgotten, started, alarm, spent, output_bytes };
        self.expect_no_more(ready.task);
        self.taken_cores = self.taken_cores.saturating_add(cores(&self.flow, demand));
        let earlier = self.slots[slot.index()].replace(running);
        assert!(earlier.is_none(), "a free slot is empty");
        out.push(Command::Start { task: ready.task, attempt: ready.attempt, slot });
    }

    fn expected_output_bytes(&self, task: TaskId) -> u64 {
        if self.stage.as_ref().is_some_and(Stage::is_for_outside) {
            return 0;
        }
        self.flow.estimated_output_bytes(task).unwrap_or(0)
    }

    fn finished(&mut self, now: Time, slot: SlotId, end: End, out: &mut Vec<Command>) {
        let ended = self.slots[slot.index()].take().expect("what has finished was running");
        self.taken_cores = self.taken_cores.saturating_sub(cores(&self.flow, ended.demand));
        let was_stopped = match end {
            End::Killed => ended.killed == Some(KillReason::Memory),
            End::OutOfMemory => self.can_wait_for_room(slot, ended.ready.task, ended.spent),
            End::Done | End::Failed { .. } => false,
        };
        self.free.push(slot);
        // What did not come to a good end tells nothing of what others will take.
        let spent = ended.spent.filter(|_| end == End::Done);
        if let Some(spent) = &spent {
            self.policies.pack.spent(now, ended.demand, spent);
        }
        self.policies.pack.ended(ended.demand);
        self.pools.give_back(&ended.grant);
        if let Some(pressing) = &mut self.pressing {
            pressing.ended(now, slot, spent.map(|spent| spent.peak_bytes));
        }
        if let Some(alarm) = ended.alarm {
            self.alarms.remove(&(alarm, slot));
        }
        let Running { ready, is_shared, killed, is_forgotten, started, output_bytes, .. } = ended;
        let ReadyTask { task, attempt, excused, .. } = ready;
        let waits_for_room = was_stopped && !is_forgotten;
        if !waits_for_room || self.is_stopping() {
            self.left(task);
        }
        if let Some(stage) = &mut self.stage {
            stage.ended(&self.flow, task, output_bytes, out);
            stage.retry_parked(&self.flow, out);
        }
        match end {
            _ if is_forgotten => out.push(Command::Interrupt { task, attempt, retry_at: None }),
            End::Done => out.push(Command::Complete { task, attempt }),
            End::Killed if killed == Some(KillReason::Stop) => {
                out.push(Command::Interrupt { task, attempt, retry_at: None });
            }
            _ if waits_for_room => {
                let again = ReadyTask { attempt: attempt + 1, excused: excused + 1, ..ready };
                let is_over = self.is_stopping();
                if !is_over {
                    self.set_aside(now, now.since(started), again, is_shared);
                }
                out.push(Command::Interrupt { task, attempt, retry_at: Some(now).filter(|_| !is_over) });
            }
            End::Failed { .. } | End::Killed | End::OutOfMemory
                if killed != Some(KillReason::TooLarge)
                    && self.may_try_again(task, attempt.saturating_sub(excused), end) =>
            {
                let retry_at = (!self.is_stopping()).then(|| now + back_off(attempt));
                let again = ReadyTask { attempt: attempt + 1, class: self.next_class(&ready), ..ready };
                self.retries.extend(retry_at.map(|time| ((time, task), (again, is_shared))));
                out.push(Command::Interrupt { task, attempt, retry_at });
            }
            End::Failed { .. } | End::Killed | End::OutOfMemory => {
                out.push(Command::Fail { task, attempt });
                if self.limits.fail_fast && self.stopping == Stopping::No {
                    self.stopping = Stopping::Draining;
                }
            }
        }
    }

    /// Whether a task may fail once more after so many attempts.
    fn may_try_again(&self, task: TaskId, attempts: u16, end: End) -> bool {
        let code = match end {
            End::Failed { code } => code,
            End::OutOfMemory => OUT_OF_MEMORY_CODE,
            End::Done | End::Killed => TIMEOUT_CODE,
        };
        u32::from(attempts) <= self.flow.retries(task) && self.flow.is_worth_retrying(task, code)
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
            let (ready, is_shared) = entry.remove();
            self.enqueue(ready, is_shared);
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

impl PartialOrd for Stopping {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}

/// How many cores somebody takes who asks for this. What takes less than one takes a slot all the same.
pub fn cores(flow: &Workflow, demand: DemandId) -> u32 {
    u32::try_from(flow.resources(demand).cpus_milli.div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}

fn back_off(failed_attempt: u16) -> Duration {
    let doublings = u32::from(failed_attempt.saturating_sub(1)).min(16);
    (FIRST_BACK_OFF * 2u32.pow(doublings)).min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timetable_tests;
