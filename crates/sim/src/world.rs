//! The world: nodes, what happens to them, and what their wishes lead to.

mod checks;
mod disks;
mod moving;
mod recording;
mod stuck;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::kin::Kin;
use throng_core::member::{Command, Event, FIRST_BOOT, Member, Message, Setup, Source};
use throng_core::node::{self, End, Limits, Node, Policies, ReadyTask};
use throng_core::pack::{self, Capacity};
use throng_core::policy::BadPolicy;
use throng_core::pools::Pools;
use throng_core::rng::Rng;
use throng_core::stale::Reason;
use throng_core::store::{Answer, Memory, Owner, Phase, Verb, Verdict};
use throng_core::time::Time;
use throng_core::trace::{self, Entry};
use throng_core::workflow::{Resources, Workflow};
use throng_core::{order, place};

use crate::cluster::{Cluster, Inputs, Submission};
use crate::heap::{Agenda, Lane};
use crate::network::{Capacities, Network};
use crate::outcome::Outcome;
use crate::storage::Storage;
use crate::work::Work;
use crate::{judge, outside};
use disks::{AtDisk, Disk};
use moving::Errand;
use recording::Untold;

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
    Killed { node: NodeId, boot: u32, slot: SlotId, attempt: Running },
    /// A flow ends, unless others have become faster since and one of them has ended before.
    Moved,
    /// The last byte of an object arrives.
    Came { node: NodeId, boot: u32, object: ObjectId, bytes: u64 },
    /// An object could not be fetched.
    NotMoved { node: NodeId, boot: u32, object: ObjectId, from: Source, is_missing: bool },
    /// A node hears who else has an object.
    Redirected { node: NodeId, boot: u32, object: ObjectId, holder: NodeId },
    /// A node wanted to be woken.
    Wake { node: NodeId, boot: u32 },
    /// A node dies.
    Crash { node: NodeId, boot: Option<u32>, back_after: Option<Duration> },
    /// A node dies by chance, for the how-manieth time.
    CrashByChance { node: NodeId, cause: usize, number: u32 },
    /// A node is to start nothing any more.
    Drain { node: NodeId },
    /// A node comes back.
    Return { node: NodeId },
    /// A disk becomes full, or is no longer.
    Room { node: NodeId, bytes: u64 },
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
    orders: order::Maker,
    cluster: Cluster,
    agenda: Agenda<Happening>,
    machines: Vec<Machine>,
    pub(crate) storage: Storage,
    network: Network<Errand>,
    /// Objects that somebody has asked for and nobody sends yet: from whom, to whom, what.
    requests: BTreeSet<(NodeId, NodeId, ObjectId)>,
    /// When the next flow ends, as far as that is planned.
    next_moved: Option<Time>,
    rng: Rng,
    now: Time,
    last_progress: Time,
    /// When the last node comes back that will, as far as that is planned.
    last_return: Time,
    /// How often nodes have died since something was finished.
    deaths_in_vain: u64,
    outcome: Outcome,
    busy: u32,
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
    /// Who settled a task in a generation, as far as that is checked.
    settled_by: BTreeMap<(TaskId, u16), Owner>,
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
    /// A cluster that is about to run a workflow.
    pub fn new(flow: Arc<Workflow>, cluster: Cluster) -> Result<World, BadPolicy> {
        let kin = Arc::new(Kin::of(&flow));
        let nodes = cluster.nodes;
        let owner = |at: u32| Owner { node: NodeId(at), boot: FIRST_BOOT };
        let submission = cluster.submission;
        let owners = std::cell::RefCell::new(place::FirstOwners::new(&flow, cluster.capacities()));
        let mut memory = Memory::submit(flow.clone(), kin.clone(), |task| match submission {
            Submission::One => owner(0),
            Submission::Spread => {
                let node = owners.borrow_mut().next(&flow, &place::Abilities::default(), task);
                Owner { node, boot: FIRST_BOOT }
            }
        });
        if let Some(later) = &cluster.later {
            place::by_name(&later.place)?;
        }
        let orders = order::Maker::new(&cluster.order, &flow)?;
        let mut machines = Vec::with_capacity(nodes as usize);
        for at in 0..nodes {
            let member = make_member(&flow, &kin, &cluster, &orders, owner(at), Time::START)?;
            machines.push(Machine {
                member: Some(member),
                boot: FIRST_BOOT,
                died: Time::START,
                wake_at: None,
                link_free_at: Time::START,
                slots: vec![None; cluster.machine(NodeId(at)).0.cores as usize],
                speed: cluster.machine(NodeId(at)).0.speed,
                disk: None,
            });
        }
        let lies = outside::bring(&flow, &cluster, &mut memory);
        let storage = Storage::new(memory, cluster.store_shards, cluster.store_rate);
        let network = Network::new(
            nodes,
            &Capacities {
                card: &|node| cluster.machine(node).0.bandwidth,
                disk: cluster.disk_bandwidth,
                shared: cluster.shared_bandwidth,
                core: cluster.core_bandwidth,
            },
        );
        let outcome = Outcome { slots: cluster.slots().into(), ..Outcome::default() };
        let mut world = World {
            is_done: vec![0; flow.task_count().div_ceil(64)],
            snapshots: vec![None; cluster.faults.failovers.len()],
            rng: Rng::named(cluster.seed, "world"),
            flow,
            kin,
            orders,
            cluster,
            agenda: Agenda::new(),
            machines,
            storage,
            network,
            requests: BTreeSet::new(),
            next_moved: None,
            now: Time::START,
            last_progress: Time::START,
            last_return: Time::START,
            deaths_in_vain: 0,
            outcome,
            busy: 0,
            commands: Vec::new(),
            wants_curve: false,
            recorder: None,
            untold: Untold::default(),
            ended_well_ns: BTreeMap::new(),
            progress: None,
            inspector: None,
            is_checked: false,
            violation: None,
            settled_by: BTreeMap::new(),
        };
        for at in 0..nodes as usize {
            world.machines[at].disk = world.fresh_disk();
        }
        for (object, bytes, node) in lies {
            world.tell(node, Event::Kept { object, bytes });
        }
        world.plan_faults();
        Ok(world)
    }

    fn plan_faults(&mut self) {
        let faults = self.cluster.faults.clone();
        let at = |time: Duration| Time::START + time;
        for crash in &faults.crashes {
            let node = NodeId(crash.node);
            self.agenda.plan(at(crash.at), Happening::Crash { node, boot: None, back_after: crash.back_after });
        }
        for cause in 0..faults.crashes_by_chance.len() {
            for at in 0..self.cluster.nodes {
                self.plan_crash(NodeId(at), cause, 0);
            }
        }
        for drain in &faults.drains {
            self.agenda.plan(at(drain.at), Happening::Drain { node: NodeId(drain.node) });
        }
        for disk in &faults.full_disks {
            let node = NodeId(disk.node);
            self.agenda.plan(at(disk.from), Happening::Room { node, bytes: 0 });
            self.agenda.plan(at(disk.until), Happening::Room { node, bytes: self.cluster.cache_bytes });
        }
        for (number, failover) in faults.failovers.iter().enumerate() {
            let behind = at(failover.at.saturating_sub(failover.behind));
            self.agenda.plan(behind, Happening::Snapshot { failover: number });
            self.agenda.plan(at(failover.at), Happening::Failover { failover: number });
        }
    }

    /// Plans when a node dies by chance next, counted from now.
    fn plan_crash(&mut self, node: NodeId, cause: usize, number: u32) {
        let life = self.cluster.faults.crashes_by_chance[cause].life(self.cluster.seed, node.0, number);
        self.agenda.plan(self.now + life, Happening::CrashByChance { node, cause, number });
    }

    /// Also notes how many slots were busy when.
    pub fn with_curve(mut self) -> World {
        self.wants_curve = true;
        self
    }

    /// Also records the run as a real one is recorded, with the slots of all nodes counted through.
    pub fn with_recorder(mut self, recorder: Recorder) -> World {
        self.recorder = Some(recorder);
        self
    }

    /// Also says now and then how far it has come.
    pub fn with_progress(mut self, progress: Progress) -> World {
        self.progress = Some(progress);
        self
    }

    /// Also checks everything that nodes do against what they may.
    pub(crate) fn with_checks(mut self) -> World {
        self.is_checked = true;
        self
    }

    /// Also has somebody look at everything after each event; what he objects to ends the run.
    pub(crate) fn with_inspector(mut self, inspector: Inspector) -> World {
        self.inspector = Some(inspector);
        self
    }

    /// What the store knows.
    pub(crate) fn memory(&self) -> &Memory {
        &self.storage.memory
    }

    /// The nodes that are alive.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.machines.iter().filter_map(|machine| machine.member.as_ref())
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

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
            self.happen(happening);
            happened = happened.wrapping_add(1);
            if let Some(progress) = self.progress.as_mut().filter(|_| happened.is_multiple_of(PROGRESS_EVERY)) {
                progress(self.now, self.outcome.done);
            }
            if let Some(mut inspector) = self.inspector.take() {
                let verdict = inspector(self);
                self.inspector = Some(inspector);
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
                task,
                class: self.flow.class(task, 1),
                priority: self.flow.priority(task),
                attempt: 1,
                generation: 0,
                input_bytes: inputs.total_bytes,
            };
            self.record(|_| Entry::Event(node::Event::Ready(ready)));
            self.tell(record.owner.node, Event::Ready(ready, inputs));
        }
        for at in 0..self.cluster.nodes {
            self.tell_and_decide(NodeId(at), Event::Join);
        }
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
                self.tell_and_decide(to, Event::Message { from, message: *message });
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
            Happening::Killed { node, boot, slot, attempt } => {
                if self.lives(node, boot) {
                    self.end_in_vain(attempt);
                    self.outcome.failed_attempts += 1;
                    self.record_killed(node, slot, attempt);
                    self.tell_and_decide(node, Event::Finished { slot, end: End::Killed, outputs: Vec::new() });
                    self.record_pause(node, attempt);
                }
            }
            Happening::Moved => self.moved(),
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
            Happening::Return { node } => self.come_back(node),
            Happening::Room { node, bytes } => self.tell_and_decide(node, Event::Capacity { bytes }),
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

    fn lives(&self, node: NodeId, boot: u32) -> bool {
        let machine = &self.machines[node.index()];
        machine.boot == boot && machine.member.is_some()
    }

    fn finish(&mut self, attempt: AtDisk) {
        let AtDisk { node, slot, task, attempt, started, .. } = attempt;
        let running = Running { task, attempt, started };
        self.machines[node.index()].slots[slot.index()] = None;
        let faults = &self.cluster.faults;
        let dice = self.cluster.seed ^ 0xFA11 ^ (u64::from(task.0) << 24) ^ (u64::from(attempt) << 56);
        if faults.failing > 0.0 && Rng::new(dice).unit() < faults.failing {
            self.end_in_vain(running);
            self.outcome.failed_attempts += 1;
            let end = End::Failed { code: 1 };
            self.record_end(node, slot, running, trace::Outcome::Exited(1), end);
            self.tell_and_decide(node, Event::Finished { slot, end, outputs: Vec::new() });
            self.record_pause(node, running);
            return;
        }
        self.set_busy(-1);
        let took = self.now.since(started).as_nanos();
        self.outcome.busy_ns += took;
        if self.cluster.faults.needs_leases() {
            // Only the last one counts.
            let earlier = self.ended_well_ns.insert(task, took as u64);
            self.outcome.lost_ns += u128::from(earlier.unwrap_or(0));
        }
        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed);
        let outputs = self.flow.outputs(task).map(|object| (object, work.bytes(object))).collect();
        self.record_end(node, slot, running, trace::Outcome::Done, End::Done);
        self.tell_and_decide(node, Event::Finished { slot, end: End::Done, outputs });
    }

    /// An attempt is over that did not come to a good end.
    fn end_in_vain(&mut self, attempt: Running) {
        self.set_busy(-1);
        let took = self.now.since(attempt.started).as_nanos();
        self.outcome.busy_ns += took;
        self.outcome.lost_ns += took;
    }

    /// A node dies, and comes back after a while if somebody says so.
    fn crash(&mut self, node: NodeId, back_after: Option<Duration>) {
        self.outcome.crashes += u64::from(self.machines[node.index()].member.is_some());
        self.deaths_in_vain += 1;
        self.end_life(node);
        if let Some(after) = back_after {
            let time = self.now + after;
            self.last_return = self.last_return.max(time);
            self.agenda.plan(time, Happening::Return { node });
        }
    }

    /// The life of a node is over: what it ran and had is gone, and what others fetched from it does not come.
    fn end_life(&mut self, node: NodeId) {
        let machine = &mut self.machines[node.index()];
        let Some(member) = machine.member.take() else { return };
        self.add_up(&member);
        let machine = &mut self.machines[node.index()];
        (machine.wake_at, machine.died) = (None, self.now);
        for slot in 0..machine.slots.len() {
            if let Some(attempt) = self.machines[node.index()].slots[slot].take() {
                self.end_in_vain(attempt);
                self.outcome.killed_attempts += 1;
                self.record_died(node, SlotId::at(slot), attempt);
            }
        }
        self.cut_off(node);
    }

    fn come_back(&mut self, node: NodeId) {
        let machine = &mut self.machines[node.index()];
        if machine.member.is_some() {
            return;
        }
        machine.boot += 1;
        let me = Owner { node, boot: machine.boot };
        let member = make_member(&self.flow, &self.kin, &self.cluster, &self.orders, me, self.now);
        self.machines[node.index()].member = member.ok();
        self.tell_and_decide(node, Event::Join);
    }

    fn not_moved(&mut self, node: NodeId, object: ObjectId, from: Source, is_missing: bool) {
        let boot = self.machines[node.index()].boot;
        let wait = if is_missing { self.cluster.latency * 2 } else { patience(&self.cluster) };
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

    /// Keeps count of what has been accepted: each task once. The store is done with these words at `done`.
    fn note_settled(&mut self, done: Time, verbs: &[Verb], answers: &[Answer]) {
        let settled = done.since(Time::START);
        for (verb, answer) in verbs.iter().zip(answers) {
            match (verb, answer) {
                (Verb::Settle { task, owner, generation, verdict: Verdict::Done, .. }, Answer::Done) => {
                    self.check_settled(*task, *generation, *owner);
                    let (word, bit) = (&mut self.is_done[task.index() / 64], 1 << (task.index() % 64));
                    if *word & bit == 0 {
                        *word |= bit;
                        self.outcome.done += 1;
                        let speed = self.machines[owner.node.index()].speed;
                        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed).at_speed(speed);
                        self.outcome.useful_ns += work.length(*task).as_nanos();
                    }
                    (self.last_progress, self.deaths_in_vain) = (self.now, 0);
                    self.outcome.makespan = settled.max(self.outcome.makespan);
                }
                (Verb::Settle { task, .. }, Answer::Done) => {
                    self.outcome.makespan = settled.max(self.outcome.makespan);
                    self.record_failed(*task);
                }
                (verb, answer) if self.recorder.is_some() => self.record_answer(verb, answer),
                _ => {}
            }
        }
    }

    fn set_busy(&mut self, change: i32) {
        self.busy = self.busy.saturating_add_signed(change);
        if self.wants_curve {
            let at = self.now.since(Time::START);
            match self.outcome.busy_curve.last_mut() {
                Some((time, busy)) if *time == at => *busy = self.busy,
                _ => self.outcome.busy_curve.push((at, self.busy)),
            }
        }
    }

    fn tell_and_decide(&mut self, node: NodeId, event: Event) {
        self.tell(node, event);
        self.decide(node);
    }

    fn tell(&mut self, node: NodeId, event: Event) {
        let mut commands = std::mem::take(&mut self.commands);
        if let Some(member) = &mut self.machines[node.index()].member {
            member.handle(self.now, event, &mut commands);
        }
        self.perform(node, &mut commands);
        self.commands = commands;
    }

    fn decide(&mut self, node: NodeId) {
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

    /// Puts together what everybody has counted.
    fn count_up(&mut self) {
        self.count_verdicts();
        self.outcome.events = self.agenda.planned();
        self.outcome.store_verbs = self.storage.verbs;
        self.outcome.store_batches = self.storage.batches;
        for at in 0..self.machines.len() {
            if let Some(member) = self.machines[at].member.take() {
                self.add_up(&member);
                self.machines[at].member = Some(member);
            }
        }
    }

    /// Counts what became of tasks. One that was done may have had to be done again in vain, so that only the last word counts.
    fn count_verdicts(&mut self) {
        let all = self.flow.task_count() as u64;
        if self.outcome.done < all || self.cluster.faults.needs_leases() {
            self.outcome.done = 0;
            for task in self.flow.tasks() {
                let record = self.storage.memory.record(task);
                match record.verdict {
                    _ if record.phase < Phase::Settled => {}
                    Verdict::Done => self.outcome.done += 1,
                    Verdict::Failed => self.outcome.failed += 1,
                    Verdict::Quarantined => self.outcome.quarantined += 1,
                    Verdict::Skipped | Verdict::Cancelled => self.outcome.skipped += 1,
                }
            }
        }
        self.outcome.not_done = all - self.outcome.done;
        let outside = (self.flow.made_count()..self.flow.object_count()).map(ObjectId::at);
        let memory = &self.storage.memory;
        let is_lost = |object: &ObjectId| memory.is_needed(*object) && memory.places(*object).next().is_none();
        self.outcome.lost_inputs = outside.filter(is_lost).count() as u64;
    }

    /// Counts what a member has done, at the end of its life or of the run.
    fn add_up(&mut self, member: &Member) {
        let (tally, cache) = (member.tally, member.cache_tally());
        self.outcome.hits += cache.hits;
        self.outcome.misses += cache.misses;
        self.outcome.hunts += tally.hunts;
        self.outcome.hunts_won += tally.hunts_won;
        self.outcome.stolen += tally.stolen;
        self.outcome.pushed += tally.pushed;
        self.outcome.migrated += tally.migrated;
        self.outcome.reopened += tally.reopened;
        self.outcome.claimed += tally.claimed;
    }
}

/// How long somebody waits for an answer before it counts as lost.
fn patience(cluster: &Cluster) -> Duration {
    (cluster.latency * 100).max(Duration::from_millis(100))
}

fn make_member(
    flow: &Arc<Workflow>,
    kin: &Arc<Kin>,
    cluster: &Cluster,
    orders: &order::Maker,
    me: Owner,
    now: Time,
) -> Result<Member, BadPolicy> {
    let seed = cluster.seed.wrapping_mul(1 << 20) ^ (u64::from(me.node.0) << 1);
    let (machine, _) = cluster.machine(me.node);
    let resources = Resources { cpus_milli: u64::from(machine.cores) * 1000, memory_bytes: machine.memory_bytes };
    let policies = Policies {
        local: orders.make(seed),
        shared: orders.make(seed ^ 1),
        pack: pack::by_name(&cluster.pack, Capacity { width: machine.cores, resources }, flow)?,
    };
    let limits = Limits { slots: machine.cores, grace: Duration::from_secs(1), fail_fast: false };
    let node = Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), flow));
    let window = (machine.cores * cluster.staged_per_core) as usize;
    let node = node.with_cache(cluster.cache_bytes, window, cluster.inputs == Inputs::Everywhere);
    let setup = Setup {
        me,
        nodes: cluster.nodes,
        bandwidth: machine.bandwidth,
        round_trip: cluster.latency * 2,
        patience: patience(cluster),
        has_leases: cluster.faults.needs_leases(),
        seed: cluster.seed,
        abilities: Arc::default(),
    };
    Ok(Member::new(flow.clone(), kin.clone(), setup, node, place::by_name(&cluster.place)?, now))
}
