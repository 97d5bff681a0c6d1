//! The world: nodes, what happens to them, and what their wishes lead to.

mod attempts;
mod checks;
mod counting;
mod crowding;
mod disks;
mod lives;
mod making;
mod moving;
mod recording;
mod stuck;
mod unwanted;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::kin::Kin;
use throng_core::member::{Asking, Command, Event, Member, Message, Source};
use throng_core::node::{self, End, KillReason, ReadyTask};
use throng_core::place;
use throng_core::rng::Rng;
use throng_core::stale::Reason;
use throng_core::store::{Answer, Memory, Owner, Verb};
use throng_core::time::Time;
use throng_core::trace::Entry;
use throng_core::workflow::Workflow;

use crate::cluster::Cluster;
use crate::heap::{Agenda, Lane};
use crate::judge;
use crate::lengths::NEVER;
use crate::network::Network;
use crate::outcome::Outcome;
use crate::storage::Storage;
use crowding::Crowding;
use disks::{AtDisk, Disk};
use making::Common;
use moving::Errand;
pub use recording::LEARNER;
use recording::Untold;
use unwanted::Unwanted;

/// A run in which nothing has been finished for so long will not end.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);

/// In a run in which every node has died so often without anything being finished, they do not live long enough.
const DEATHS_ENOUGH: u64 = 1000;

/// Something to come.
enum Happening {
    /// A batch reaches the store.
    Asked { node: NodeId, boot: u32, batch: u64, verbs: Vec<Verb>, wants_answers: bool },
    /// Its answers reach the node.
    Answered { node: NodeId, boot: u32, batch: u64, answers: Vec<Answer> },
    /// A message reaches a node.
    Said { from: NodeId, to: NodeId, message: Box<Message> },
    /// A message reaches many nodes, one after the other.
    SaidToMany { from: NodeId, to: Vec<NodeId>, message: Box<Message> },
    /// A node hears how much another one has: by far the most frequent message, as small as it can be.
    Load { from: NodeId, to: NodeId, serial: u64, shared: u32, waiting: u32 },
    /// An attempt ends.
    Finished { node: NodeId, boot: u32, slot: SlotId, task: TaskId, attempt: u16, started: Time },
    /// An attempt has been ended.
    Killed { node: NodeId, boot: u32, slot: SlotId, attempt: Running, why: KillReason },
    /// A flow ends, unless others have become faster since and one of them has ended before.
    Moved,
    /// The last byte of an object arrives.
    Came { node: NodeId, boot: u32, object: ObjectId, bytes: u64 },
    /// An object could not be fetched.
    NotMoved { node: NodeId, boot: u32, object: ObjectId, from: Source, is_missing: bool },
    /// A wish for an object reaches the node that has it, late.
    Requested { node: NodeId, boot: u32, object: ObjectId, source: NodeId, asking: Asking },
    /// A node hears who else has an object.
    Redirected { node: NodeId, boot: u32, object: ObjectId, holder: NodeId },
    /// The next task of a node is done that shares it with others.
    Ripe { node: NodeId },
    /// A node is measured.
    Measure { node: NodeId, boot: u32 },
    /// What tasks share has become more or less by itself.
    Crowded,
    /// A node wanted to be woken.
    Wake { node: NodeId, boot: u32 },
    /// A node dies.
    Crash { node: NodeId, boot: Option<u32>, back_after: Option<Duration> },
    /// A node dies by chance, for the how-manieth time.
    CrashByChance { node: NodeId, cause: usize, number: u32 },
    /// A node is to start nothing any more.
    Drain { node: NodeId },
    /// A node hears that a task is not wanted any more.
    Cancel { node: NodeId, task: TaskId },
    /// A node comes back.
    Return { node: NodeId },
    /// A disk becomes full, or is no longer.
    Room { node: NodeId, is_full: bool },
    /// What a part of the store may be put back to.
    Snapshot { failover: usize },
    /// A part of the store is put back.
    Failover { failover: usize },
}

struct Machine {
    /// Nobody if the node is dead.
    member: Option<Member>,
    boot: u32,
    /// When its last life was over.
    died: Time,
    /// When it will be woken, as far as that is planned.
    wake_at: Option<Time>,
    /// When what was last sent to the store arrives there: nothing overtakes it.
    link_free_at: Time,
    /// What runs in each slot.
    slots: Vec<Option<Running>>,
    /// How many times as fast as an ordinary one each of its cores is.
    speed: f64,
    /// The number of its type.
    machine_type: usize,
    /// When somebody last had any use for it, if anybody had.
    last_used: Option<Time>,
    /// The room that it has for objects when its disk is not full: beside what lies there from the beginning.
    room_bytes: u64,
    /// What it has on disk and in memory, if that matters.
    disk: Option<Box<Disk>>,
}

/// An attempt that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Running {
    task: TaskId,
    attempt: u16,
    started: Time,
}

/// A modelled cluster that runs a workflow.
pub struct World {
    flow: Arc<Workflow>,
    kin: Arc<Kin>,
    common: Common,
    cluster: Cluster,
    agenda: Agenda<Happening>,
    machines: Vec<Machine>,
    pub(crate) storage: Storage,
    network: Network<Errand>,
    /// What tasks do to each other, if that is modelled.
    crowding: Option<Crowding>,
    /// Objects that somebody has asked for and nobody sends yet: from whom, to whom, what.
    requests: BTreeSet<(NodeId, NodeId, ObjectId)>,
    /// When the next flow ends, as far as that is planned.
    next_moved: Option<Time>,
    rng: Rng,
    /// What decides which wishes for objects are lost or late: apart, so that messages have the same luck with and without them.
    request_rng: Rng,
    now: Time,
    last_progress: Time,
    /// When the last node comes back that will, as far as that is planned.
    last_return: Time,
    /// How often nodes have died since something was finished.
    deaths_in_vain: u64,
    outcome: Outcome,
    busy: u32,
    /// The most that there ever were.
    most_busy: u32,
    is_done: Vec<u64>,
    commands: Vec<Command>,
    snapshots: Vec<Option<Memory>>,
    wants_curve: bool,
    recorder: Option<Recorder>,
    /// What it has still to be told.
    untold: Untold,
    /// How long the last attempt at a task took that ended well, if such an attempt may have been in vain.
    ended_well_ns: BTreeMap<TaskId, u64>,
    progress: Option<Progress>,
    inspector: Option<Inspector>,
    /// Whether it is checked that nobody does what he must not.
    is_checked: bool,
    violation: Option<String>,
    /// Nodes that something happened to in the last event, as far as that is checked.
    touched: BTreeSet<NodeId>,
    /// Who settled a task in a generation, as far as that is checked.
    settled_by: BTreeMap<(TaskId, u16), Owner>,
    /// When the last node died that had an object, as far as that is checked.
    died_with: BTreeMap<ObjectId, Time>,
    /// What was cancelled, as far as that is checked.
    unwanted: Unwanted,
}

/// Somebody who looks at everything after each event.
pub(crate) type Inspector = Box<dyn FnMut(&World) -> Result<(), String> + Send>;

/// Somebody who wants to hear now and then what time it is, and how many tasks are done.
pub type Progress = Box<dyn FnMut(Time, u64) + Send>;

/// How many things happen between two reports of progress: so few that somebody who watches sees it move, and so many that asking
/// the clock costs nothing.
const PROGRESS_EVERY: u32 = 4096;

/// Somebody who wants to hear of everything that a report tells.
pub type Recorder = Box<dyn FnMut(Time, &Entry) + Send>;

impl World {
    /// Runs to the end, or until nothing can happen any more.
    pub fn run(mut self) -> Outcome {
        self.run_to_the_end();
        let (flow, cluster) = (self.flow.clone(), self.cluster.clone());
        let mut outcome = std::mem::take(&mut self.outcome);
        // What a bound needs for a moment comes in the place of everything else, not on top of it.
        drop(self);
        judge::judge(&flow, &cluster, &mut outcome);
        outcome
    }

    /// Runs to the end, and leaves the world as it is then.
    pub(crate) fn run_and_keep(mut self) -> (World, Outcome) {
        self.run_to_the_end();
        let mut outcome = std::mem::take(&mut self.outcome);
        judge::judge(&self.flow, &self.cluster, &mut outcome);
        (self, outcome)
    }

    fn run_to_the_end(&mut self) {
        self.submit();
        let mut happened = 0u32;
        while self.storage.memory.open_tasks() > 0 {
            let Some((time, happening)) = self.agenda.next() else {
                self.outcome.stuck = Some(self.why_stuck());
                break;
            };
            self.now = time;
            if let Some(violation) = self.violation.take() {
                self.outcome.stuck = Some(violation);
                break;
            }
            let patience = if self.is_checked { PATIENCE / 24 } else { PATIENCE };
            let is_quiet = self.busy == 0 && self.network.is_idle();
            let is_over = is_quiet && time.since(self.last_progress) > patience && time.since(self.hope()) > patience;
            if is_over || self.deaths_in_vain > DEATHS_ENOUGH * u64::from(self.cluster.nodes) {
                self.outcome.stuck = Some(self.why_stuck());
                break;
            }
            if time == NEVER {
                self.outcome.stuck = Some(self.why_endless());
                break;
            }
            self.happen(happening);
            self.settle();
            happened = happened.wrapping_add(1);
            if let Some(progress) = self.progress.as_mut().filter(|_| happened.is_multiple_of(PROGRESS_EVERY)) {
                progress(self.now, self.outcome.done);
            }
            if let Some(mut inspector) = self.inspector.take() {
                let verdict = inspector(self);
                self.inspector = Some(inspector);
                self.touched.clear();
                if let Err(reason) = verdict {
                    self.outcome.stuck = Some(reason);
                    break;
                }
            }
        }
        self.count_up();
    }

    fn submit(&mut self) {
        for task in self.flow.tasks() {
            self.record(|_| Entry::Pending(task, Reason::NeverDone));
        }
        let flow = self.flow.clone();
        for task in flow.tasks().filter(|task| flow.parent_count(*task) == 0) {
            let (record, inputs) = (*self.storage.memory.record(task), self.storage.memory.inputs(task));
            let ready = ReadyTask {
                priority: self.flow.priority(task),
                input_bytes: inputs.total_bytes,
                ..ReadyTask::first(task, self.flow.class(task, 1))
            };
            self.record(|_| Entry::Event(node::Event::Ready(ready)));
            self.tell(record.owner.node, Event::Ready(ready, inputs));
        }
        for at in 0..self.cluster.nodes {
            self.tell_and_decide(NodeId(at), Event::Join);
            self.plan_measuring(NodeId(at));
        }
        self.settle();
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Asked { node, boot, batch, verbs, wants_answers } => {
                let (answers, done) = self.storage.carry_out(self.now, &self.flow, &verbs);
                self.note_settled(done, &verbs, &answers);
                self.place_as_later();
                if wants_answers {
                    let time = done + self.cluster.store_latency;
                    self.agenda.plan_in(Lane::Answers, time, Happening::Answered { node, boot, batch, answers });
                }
            }
            Happening::Answered { node, boot, batch, answers } => {
                if self.lives(node, boot) {
                    self.tell_and_decide(node, Event::Answered { batch, answers });
                }
            }
            Happening::Said { from, to, message } => {
                let taken = self.tasks_to_check(&message);
                self.tell_and_decide(to, Event::Message { from, message: *message });
                self.check_held(&taken);
            }
            Happening::SaidToMany { from, to, message } => {
                for to in to {
                    self.tell_and_decide(to, Event::Message { from, message: (*message).clone() });
                }
            }
            Happening::Load { from, to, serial, shared, waiting } => {
                self.tell_and_decide(to, Event::Message { from, message: Message::Load { serial, shared, waiting } });
            }
            Happening::Finished { node, boot, slot, task, attempt, started } => {
                let attempt = AtDisk { node, boot, slot, task, attempt, started };
                if self.still_runs(&attempt) && !self.writes_first(attempt) {
                    self.finish(attempt);
                }
            }
            Happening::Killed { node, boot, slot, attempt, why } => {
                if self.lives(node, boot) {
                    self.end_in_vain(attempt);
                    self.last_progress = self.now;
                    match why {
                        KillReason::Memory => self.outcome.made_room += 1,
                        _ => self.outcome.failed_attempts += 1,
                    }
                    self.record_killed(node, slot, attempt, why);
                    self.tell_and_decide(node, Event::Finished { slot, end: End::Killed, outputs: Vec::new() });
                    self.record_pause(node, attempt);
                }
            }
            Happening::Moved => self.moved(),
            Happening::Ripe { node } => self.ripe(node),
            Happening::Measure { node, boot } => self.measure(node, boot),
            Happening::Crowded => self.crowded(),
            Happening::Came { node, boot, object, bytes } => {
                if self.lives(node, boot) && !self.settles_first(node, boot, object, bytes) {
                    self.came(node, object, bytes);
                }
            }
            Happening::NotMoved { node, boot, object, from, is_missing } => {
                if self.lives(node, boot) {
                    self.tell_and_decide(node, Event::FetchFailed { object, from, is_missing });
                }
            }
            Happening::Requested { node, boot, object, source, asking } => {
                if self.lives(node, boot) {
                    self.request(node, object, source, asking);
                    self.decide(source);
                }
            }
            Happening::Redirected { node, boot, object, holder } => {
                if self.lives(node, boot) {
                    self.tell_and_decide(node, Event::Redirected { object, holder });
                }
            }
            Happening::Wake { node, boot } => {
                let machine = &mut self.machines[node.index()];
                if machine.boot == boot && machine.wake_at == Some(self.now) {
                    machine.wake_at = None;
                    self.record_wake();
                    self.tell_and_decide(node, Event::Wake);
                }
            }
            Happening::Crash { node, boot, back_after } => {
                if boot.is_none_or(|boot| self.lives(node, boot)) {
                    self.crash(node, back_after);
                }
            }
            Happening::CrashByChance { node, cause, number } => {
                let back_after = self.cluster.faults.crashes_by_chance[cause].back_after;
                self.crash(node, back_after);
                // A node that stays away cannot die again.
                if back_after.is_some() {
                    self.plan_crash(node, cause, number.wrapping_add(1));
                }
            }
            Happening::Drain { node } => self.tell_and_decide(node, Event::Drain),
            Happening::Cancel { node, task } => self.cancel(node, task),
            Happening::Return { node } => self.come_back(node),
            Happening::Room { node, is_full } => {
                let bytes = if is_full { 0 } else { self.machines[node.index()].room_bytes };
                self.tell_and_decide(node, Event::Capacity { bytes });
            }
            Happening::Snapshot { failover } => self.snapshots[failover] = Some(self.storage.memory.clone()),
            Happening::Failover { failover } => {
                let shard = self.cluster.faults.failovers[failover].shard % self.cluster.store_shards.max(1);
                if let Some(earlier) = self.snapshots[failover].take() {
                    let shards = self.cluster.store_shards.max(1);
                    self.storage.memory.restore(&earlier, |bucket| bucket % shards == shard);
                }
            }
        }
    }

    fn not_moved(&mut self, node: NodeId, object: ObjectId, from: Source, is_missing: bool) {
        let boot = self.machines[node.index()].boot;
        let wait = if is_missing { self.cluster.latency.saturating_mul(2) } else { patience(&self.cluster) };
        self.agenda.plan(self.now + wait, Happening::NotMoved { node, boot, object, from, is_missing });
    }

    /// Gives all nodes the policy that they are to have from now on, once so much is done.
    fn place_as_later(&mut self) {
        let tasks = self.flow.task_count() as f64;
        let done = self.outcome.done as f64;
        let Some(later) = self.cluster.later.take_if(|later| done >= later.share_done * tasks) else { return };
        for at in 0..self.cluster.nodes {
            let place = place::by_name(&later.place).expect("it was checked when the world was made");
            self.tell_and_decide(NodeId(at), Event::Place(place));
        }
        self.cluster.place = later.place;
    }

    fn tell_and_decide(&mut self, node: NodeId, event: Event) {
        self.tell(node, event);
        self.decide(node);
    }

    fn tell(&mut self, node: NodeId, event: Event) {
        if self.is_checked {
            self.touched.insert(node);
        }
        let mut commands = std::mem::take(&mut self.commands);
        if let Some(member) = &mut self.machines[node.index()].member {
            member.handle(self.now, event, &mut commands);
        }
        self.perform(node, &mut commands);
        self.commands = commands;
    }

    fn decide(&mut self, node: NodeId) {
        if self.is_checked {
            self.touched.insert(node);
        }
        let mut commands = std::mem::take(&mut self.commands);
        if let Some(member) = &mut self.machines[node.index()].member {
            member.decide(self.now, &mut commands);
        }
        self.perform(node, &mut commands);
        self.commands = commands;
        let machine = &mut self.machines[node.index()];
        let wake = machine.member.as_ref().and_then(Member::next_wake);
        if let Some(time) = wake.map(|time| time.max(self.now + Duration::from_nanos(1)))
            && machine.wake_at.is_none_or(|planned| time < planned)
        {
            machine.wake_at = Some(time);
            self.agenda.plan(time, Happening::Wake { node, boot: machine.boot });
        }
    }
}

/// How long somebody waits for an answer before it counts as lost.
pub(crate) fn patience(cluster: &Cluster) -> Duration {
    cluster.latency.saturating_mul(100).max(Duration::from_millis(100))
}
