//! A node among others: what turns a [`Node`] that runs tasks into one that shares a run.
//!
//! ```text
//!              ┌─ keep ──▶ local queue ──┐
//!   ready ─ place ─ share ─▶ shared queue ┴─▶ Node: order, stage, pack, slot ──▶ finished
//!     ▲        └─ push, hand over ──▶ peer                                          │
//!     │                                                                     settle in the store
//!     │                                                                             │
//!     └────────────── the last parent to close a child owns it ◀── close each child ┘──▶ deliver
//! ```
//!
//! Like the node inside it, a member is a state machine without I/O: [`Member::handle`] takes in what happened,
//! [`Member::decide`] fills slots and looks for work, and both say what is to be done. The simulator and
//! the real cluster drive this same code.
//!
//! A member trusts nobody's memory but the store's. Messages may be lost, doubled or late: a task changes hands in
//! the store first, and the receiver is told until it says that it knows.

mod answers;
mod calling;
mod data;
mod delivery;
mod draining;
mod event;
mod handing;
mod held;
mod holding;
mod homes;
mod hosting;
mod hunting;
mod inside;
mod lease;
mod message;
mod probing;
mod serving;
mod watch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

pub use event::{Asking, Command, Event, Source};
pub use lease::FIRST_BOOT;
pub use message::{Load, Message, Terms};

use crate::ids::{KindId, NodeId, ObjectId, TaskId};
use crate::kin::Kin;
use crate::node::{self, CacheTally, Node};
use crate::place::{Abilities, Place, daws::UNKNOWN_LENGTH};
use crate::rng::Rng;
use crate::store::{Inputs, Owner, Verb};
use crate::time::Time;
use crate::workflow::Workflow;
use answers::Purpose;
use data::Found;
use delivery::Delivery;
use handing::{Inquiries, Leaving, Parcels, Received};
use held::{Held, HeldTasks};
use hosting::Host;
use hunting::Hunter;
use lease::Lease;
use probing::Probe;
use serving::Serving;
use watch::Watch;

/// What a member has to know of its cluster.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Who it is.
    pub me: Owner,
    /// How many nodes there are.
    pub nodes: u32,
    /// How many bytes a second come in from another node.
    pub bandwidth: u64,
    /// How long it takes from asking another node for something small until it is there.
    pub round_trip: Duration,
    /// How long an answer to a message may take before it counts as lost.
    pub patience: Duration,
    /// Whether nodes may die: without leases, nobody would notice.
    pub has_leases: bool,
    /// What its dice are made of.
    pub seed: u64,
    /// What the nodes can run.
    pub abilities: Arc<Abilities>,
    /// For each task the node where it belongs, if the workflow has been parted.
    pub homes: Arc<Vec<u32>>,
    /// From when on it starts and fetches anything: a machine that was asked for has to start first.
    pub opens: Time,
    /// For each node until when it is to be had, if that is planned: to ask one later is to pay for it.
    pub closes: Arc<Vec<Time>>,
}

impl Setup {
    /// How long it takes to bring so many bytes here, if nothing else is brought.
    fn moving(&self, bytes: u64) -> Duration {
        if bytes == 0 {
            return Duration::ZERO;
        }
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.bandwidth.max(1));
        let alone = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX / 4));
        self.round_trip.saturating_add(alone)
    }
}

/// What a member has done so far, for those who watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steals and pulls begun.
    pub hunts: u64,
    /// Those that brought something.
    pub hunts_won: u64,
    /// Tasks that came by them.
    pub stolen: u64,
    /// Tasks pushed to other nodes.
    pub pushed: u64,
    /// Tasks moved from the local queue to the shared one.
    pub migrated: u64,
    /// Bytes fetched.
    pub fetched_bytes: u64,
    /// Objects fetched.
    pub fetches: u64,
    /// Tasks that had to be done again because what they made was lost.
    pub reopened: u64,
    /// Tasks claimed from dead nodes.
    pub claimed: u64,
    /// Tasks that failed because what they read and write is more than there is room for here.
    pub never_fitted: u64,
}

/// How long tasks of a kind took here.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum_ns: u64,
    count: u64,
}

impl Mean {
    fn length(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.sum_ns / self.count))
    }
}

/// A node that shares a run with others.
pub struct Member {
    flow: Arc<Workflow>,
    /// The kind of each class, where somebody may ask for kinds.
    kind_of_class: Arc<[KindId]>,
    kin: Arc<Kin>,
    setup: Setup,
    node: Node,
    place: Box<dyn Place>,
    rng: Rng,
    held: HeldTasks,
    /// Tasks that it let go of, and the last question to the store before that: an answer to that one or an earlier one may
    /// still call them this member's.
    let_go_after: BTreeMap<TaskId, u64>,
    let_go_order: VecDeque<(u64, TaskId)>,
    /// The question whose answers are being read.
    answering: Option<u64>,
    inquiries: Inquiries,
    /// The complete queue: tasks whose verdict is not known to everybody yet.
    deliveries: BTreeMap<TaskId, Delivery>,
    /// Tasks on their way to other nodes, waiting for the store to agree.
    leaving: BTreeMap<TaskId, Leaving>,
    parcels: Parcels,
    /// What has come from whom.
    received: BTreeMap<NodeId, Received>,
    probes: BTreeMap<u64, Probe>,
    hunter: Hunter,
    host: Host,
    serving: Serving,
    /// Nodes that have asked in vain, the longest ago first.
    hungry: VecDeque<NodeId>,
    /// What others have that nobody needs any more, and they do not know.
    unneeded: BTreeMap<NodeId, Vec<ObjectId>>,
    /// What was planned for others and begins elsewhere, or not at all, and they do not know.
    elsewhere: BTreeMap<NodeId, Vec<TaskId>>,
    /// Parts of the store that know which of its tasks a former life has done, and that it has not asked yet.
    unlearnt: BTreeSet<u32>,
    found: BTreeMap<ObjectId, Found>,
    lease: Lease,
    /// When each slot's attempt began.
    starts: Vec<Time>,
    means: Vec<Mean>,
    mean: Mean,
    window: Watch,
    check_at: Option<Time>,
    /// When others have heard that there is too much to do here, and when they will again.
    announced: Option<Time>,
    announce_at: Option<Time>,
    /// Wishes to the store that have not been sent.
    verbs: Vec<Verb>,
    purposes: Vec<Purpose>,
    /// Questions that the store has not answered.
    asked: BTreeMap<u64, Vec<Purpose>>,
    serial: u64,
    gone: BTreeSet<NodeId>,
    is_draining: bool,
    /// Whether it waits for its time to begin.
    is_closed: bool,
    /// Nodes that have said that they start nothing any more.
    draining: BTreeSet<NodeId>,
    /// Tasks whose inputs from outside were not to be found, and when they are looked for again.
    look_again: BTreeMap<TaskId, Time>,
    /// When the first of them is.
    look_again_at: Option<Time>,
    /// How often they were not to be found.
    not_found: BTreeMap<TaskId, u32>,
    /// Whether there was nothing to do when that was last looked at.
    may_hunt: bool,
    scratch: Vec<node::Command>,
    /// What it has done so far.
    pub tally: Tally,
}

impl Member {
    /// A member with nothing to do yet.
    pub fn new(
        flow: Arc<Workflow>,
        kin: Arc<Kin>,
        setup: Setup,
        node: Node,
        place: Box<dyn Place>,
        now: Time,
    ) -> Member {
        let rng =
            Rng::new(setup.seed ^ (u64::from(setup.me.node.0) << 32) ^ u64::from(setup.me.boot).wrapping_mul(0x9E37));
        let slots = node.slot_count();
        let (kinds, setup_opens) = (flow.kind_count(), setup.opens);
        let kind_of_class = if node.measures_every().is_some() { flow.kinds_of_classes() } else { Vec::new() };
        let mut member = Member {
            kind_of_class: kind_of_class.into(),
            flow,
            kin,
            lease: Lease::new(setup.has_leases, now),
            setup,
            node,
            place,
            rng,
            held: HeldTasks::default(),
            let_go_after: BTreeMap::new(),
            let_go_order: VecDeque::new(),
            answering: None,
            inquiries: Inquiries::default(),
            deliveries: BTreeMap::new(),
            leaving: BTreeMap::new(),
            parcels: Parcels::default(),
            received: BTreeMap::new(),
            probes: BTreeMap::new(),
            hunter: Hunter::default(),
            host: Host::default(),
            serving: Serving::default(),
            hungry: VecDeque::new(),
            unneeded: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            unlearnt: BTreeSet::new(),
            found: BTreeMap::new(),
            starts: vec![Time::START; slots],
            means: vec![Mean::default(); kinds],
            mean: Mean::default(),
            window: Watch { since: now, counted_to: now, started: now, ..Watch::default() },
            check_at: None,
            announced: None,
            announce_at: None,
            verbs: Vec::new(),
            purposes: Vec::new(),
            asked: BTreeMap::new(),
            serial: 0,
            gone: BTreeSet::new(),
            is_draining: false,
            is_closed: now < setup_opens,
            draining: BTreeSet::new(),
            look_again: BTreeMap::new(),
            look_again_at: None,
            not_found: BTreeMap::new(),
            may_hunt: false,
            scratch: Vec::new(),
            tally: Tally::default(),
        };
        member.window.ends = member.place.window_length().map(|length| now + length);
        member
    }

    /// Who it is.
    pub fn me(&self) -> Owner {
        self.setup.me
    }

    /// The node inside.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// How often its tasks found what they read.
    pub fn cache_tally(&self) -> CacheTally {
        self.node.cache_tally()
    }

    /// What its policy is called now.
    pub fn place_name(&self) -> &'static str {
        self.place.name()
    }

    /// Whether it answers for nothing and nobody waits for it.
    pub fn is_idle(&self) -> bool {
        let has_nothing = self.held.is_empty() && self.deliveries.is_empty() && self.look_again.is_empty();
        has_nothing && self.parcels.is_empty() && self.asked.is_empty()
    }

    /// Whether it thinks that it answers for a task.
    pub fn holds(&self, task: TaskId) -> bool {
        self.held.contains(task)
    }

    /// Whether it would start a task if there were one.
    pub fn may_start(&self, now: Time) -> bool {
        !self.is_draining && self.lease.is_valid(now) && now >= self.setup.opens
    }

    /// Whether it finishes what runs and starts nothing else.
    pub fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// When the member wants [`Event::Wake`], if nothing happens before.
    pub fn next_wake(&self) -> Option<Time> {
        let times = [
            self.node.next_wake(),
            self.hunter.next_wake().filter(|_| self.may_hunt),
            self.lease.next_wake(),
            self.window.ends,
            self.check_at,
            self.announce_at,
            self.look_again_at,
            self.is_closed.then_some(self.setup.opens),
            self.parcels.next_wake(),
            // All probes wait equally long: the first is the first to end.
            self.probes.values().next().map(|probe| probe.until),
        ];
        times.into_iter().flatten().min()
    }

    /// Takes in one event; commands are added to `out`.
    pub fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Join => self.join(now),
            Event::Ready(ready, inputs) => self.accept(now, Load { ready, inputs, tenure: 0 }, out),
            Event::Kept { object, bytes } => self.tell_node(now, node::Event::Kept { object, bytes }, out),
            Event::Answered { batch, answers } => self.answered(now, batch, answers, out),
            Event::Message { from, message } => self.message(now, from, message, out),
            Event::Finished { slot, end, outputs } => self.finished(now, slot, end, outputs, out),
            Event::Spent { slot, spent } => self.tell_node(now, node::Event::Spent { slot, spent }, out),
            Event::Uses { slot, uses } => self.tell_node(now, node::Event::Uses { slot, uses }, out),
            Event::Measured(sample) => self.tell_node(now, node::Event::Measured(sample), out),
            Event::Fetched { object, bytes } => self.fetched(now, object, bytes, out),
            Event::FetchFailed { object, from, is_missing } => self.fetch_failed(now, object, from, is_missing, out),
            Event::Wanted { object, by, asking } => self.wanted(now, object, by, asking, out),
            Event::Sent { object, to, is_there } => self.sent(now, object, to, is_there, out),
            Event::Redirected { object, holder } => self.redirected(object, holder, out),
            Event::Place(place) => self.change_place(now, place, out),
            Event::Capacity { bytes } => self.tell_node(now, node::Event::Capacity { bytes }, out),
            Event::Cancel(task) => self.ask(Verb::Cancel { task, by: self.setup.me }, Purpose::Cancel(task)),
            Event::Drain => self.drain(out),
            Event::Wake => self.wake(now, out),
        }
    }

    /// Fills slots, looks for work, and sends what has gathered for the store.
    pub fn decide(&mut self, now: Time, out: &mut Vec<Command>) {
        self.is_closed &= now < self.setup.opens;
        if self.may_start(now) {
            self.fill_slots(now, out);
            self.consider_hunting(now, out);
            // A host may have found something with itself.
            if self.node.could_start() {
                self.fill_slots(now, out);
            }
            self.may_hunt = !matches!(self.hunter, hunting::Hunter::Resting(_)) || self.node.wants_work();
        } else {
            self.may_hunt = false;
        }
        if self.is_draining {
            self.hand_over_waiting(now, out);
        }
        if self.check_at.is_none() && self.node.local_len() > 0 {
            self.check_at = self.place.check_every().map(|every| now + every);
        }
        self.call_hungry(now, out);
        self.announce(now, out);
        self.tell_unneeded(out);
        self.tell_homes(out);
        self.flush(out);
    }

    fn send(&self, to: NodeId, message: Message, out: &mut Vec<Command>) {
        out.push(Command::Send { to, message });
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.gone.contains(&node)
    }

    fn message(&mut self, now: Time, from: NodeId, message: Message, out: &mut Vec<Command>) {
        match message {
            Message::Poll { serial, kinds } => {
                self.share_surplus(now, true);
                let shared = self.sharable_with(from, kinds.as_deref()) as u32;
                self.note_hungry(from, shared == 0);
                let waiting = if self.is_draining { u32::MAX } else { self.load() };
                self.send(from, Message::Load { serial, shared, waiting }, out);
            }
            Message::Load { serial, shared, waiting } => self.heard_load(now, from, serial, shared, waiting, out),
            Message::Steal { serial, boot, kinds } => {
                self.robbed(now, Owner { node: from, boot }, serial, kinds.as_deref(), out);
            }
            Message::Pull { serial, boot, count } => self.pulled(now, from, serial, boot, count, out),
            Message::Nothing { serial } => self.got_nothing(now, serial),
            Message::Take { parcel, sender, oldest, boot, serial, terms, tasks } => {
                if boot == self.setup.me.boot {
                    self.send(from, Message::Taken { parcel, sender }, out);
                    if self.is_draining {
                        self.send(from, Message::Draining { boot }, out);
                    }
                    if self.is_new_parcel(from, sender, oldest, parcel) {
                        self.take(now, serial, terms, tasks, out);
                    }
                }
            }
            Message::Taken { parcel, sender } if sender == self.setup.me.boot => self.parcels.acknowledge(from, parcel),
            Message::Taken { .. } => {}
            Message::Work => self.called(now, from, out),
            Message::Draining { boot } if boot >= self.lease.boot_of(from) => drop(self.draining.insert(from)),
            Message::Draining { .. } => {}
            Message::Unneeded(objects) => {
                for object in objects {
                    self.tell_node(now, node::Event::Unneeded { object }, out);
                }
            }
            Message::Elsewhere(tasks) => self.heard_elsewhere(tasks),
            Message::Cancelled(task) => self.drop_task(now, task, out),
        }
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Command>) {
        self.tell_node(now, node::Event::Wake, out);
        self.wake_hunter(now, out);
        self.wake_probes(now, out);
        self.resend_parcels(now, out);
        self.wake_lease(now);
        self.look_again(now);
        if self.check_at.is_some_and(|time| time <= now) {
            self.check_at = None;
            self.share_surplus(now, false);
        }
        if self.window.ends.is_some_and(|time| time <= now) {
            self.close_window(now);
        }
    }

    /// Another policy from now on. What waits stays where it is, unless the new policy would never have it there: nobody would come for it.
    fn change_place(&mut self, now: Time, place: Box<dyn Place>, out: &mut Vec<Command>) {
        self.place = place;
        let mut waiting = self.host.close();
        if self.place.hosts() {
            let queued = self.node.take_queued().into_iter();
            waiting.extend(queued.map(|ready| (ready, Inputs::default())));
        } else if self.place.keeps_nothing() {
            self.tally.migrated += self.node.share_local(usize::MAX) as u64;
        }
        for (ready, inputs) in waiting {
            self.place_task(now, ready, inputs, out);
        }
        self.window.ends = self.place.window_length().map(|length| now + length);
        self.check_at = None;
        self.hunter.rest_until(now);
    }
}

/// How long a task will take: as declared, else like others of its kind, else like others here, else a guess.
fn estimated(flow: &Workflow, means: &[Mean], mean: Mean, task: TaskId) -> Duration {
    let declared = flow.estimated_time(task);
    let of_kind = || means[flow.kind(task).index()].length();
    declared.or_else(of_kind).or_else(|| mean.length()).unwrap_or(UNKNOWN_LENGTH)
}

#[cfg(test)]
mod tests;
