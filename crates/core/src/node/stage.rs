//! Fetch before the slot: tasks whose inputs are being brought while others compute.
//!
//! ```text
//!   taken from a queue ──▶ locating ──▶ room for all of it at once? ──yes──▶ fetching ──▶ prepared ──▶ slot
//!                                              │ ▲
//!                                              no│ something went
//!                                              ▼ │
//!                                             parked
//! ```
//!
//! Only so many objects are fetched at a time ([`FETCHES_AT_ONCE`]); the others stand in line, and tasks take turns there, so that one that
//! gathers the output of thousands does not hold up those that read a single file.
//!
//! The list is short and bounded. A task holds nothing until all that it needs can be reserved at once, so no two of them
//! can wait for each other's room.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::cache::{Cache, Room};
use super::{Brought, Command, Keeping, ReadyTask, Timetable};
use crate::ids::{ClassId, ObjectId, TaskId};
use crate::locality::Wanted;
use crate::time::Time;
use crate::workflow::Workflow;

/// How many objects a node fetches at a time at most. So many keep a network card busy even if files are small and peers far away.
pub const FETCHES_AT_ONCE: usize = 16;

/// Beyond so many fetches, there are more only while all that is open is small: large objects that come at the same time would only
/// take from each other, and from their senders' other receivers.
const LARGE_AT_ONCE: usize = 4;
const SMALL_BYTES: u128 = 1_000_000;

/// The same for a node that holds to a plan, in which one thing comes after the other.
const PLANNED_AT_ONCE: usize = 2;

/// How often tasks found what they read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheTally {
    /// Inputs that were here, or on their way for somebody else.
    pub hits: u64,
    /// Inputs that had to be fetched.
    pub misses: u64,
    /// The size of those that were here.
    pub hit_bytes: u64,
    /// The size of those that had to be fetched.
    pub miss_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Locating,
    Parked,
    Fetching,
    Prepared,
}

#[derive(Clone, Debug)]
struct Staged {
    ready: ReadyTask,
    step: Step,
    /// How many objects have to be located, or to come, before the next step.
    open: u32,
    /// Whether others may have it, or it was to stay.
    is_shared: bool,
    /// What it reads, once that is known.
    input_bytes: u64,
    /// What it may write.
    output_bytes: u64,
    /// Sizes of inputs that were not here.
    located: Vec<(ObjectId, u64)>,
}

/// Of those whose planned time has come, so many are looked at: enough that one of them fits where the first do not.
const LATE: usize = 256;

/// The staging list and the objects of a node.
pub(super) struct Stage {
    pub(super) cache: Cache,
    window: usize,
    /// With so many that only wait for a slot, nothing more is brought.
    most_prepared: usize,
    /// The objects that have to be brought; others are wherever one looks.
    wanted: Wanted,
    /// Whether what tasks make takes no room here, and those that read nothing of it wait apart.
    is_for_outside: bool,
    /// Whether it is the turn of a task that waits apart.
    is_turn_apart: bool,
    /// Whether results may go like any other copy.
    shares_results: bool,
    tasks: BTreeMap<TaskId, Staged>,
    locating: BTreeMap<ObjectId, Vec<TaskId>>,
    fetching: BTreeMap<ObjectId, Vec<TaskId>>,
    /// Objects that somebody has been asked for.
    open: BTreeMap<ObjectId, u64>,
    open_bytes: u128,
    /// Objects to ask for next: what each of several tasks still misses, the last of it first.
    line: VecDeque<Vec<(ObjectId, u64)>>,
    /// Objects that are looked for again because fetching them failed.
    relocating: BTreeSet<ObjectId>,
    parked: VecDeque<TaskId>,
    /// Whether a task had no room, and none has come free since: somebody else may have taken that task, and the next one would find none either.
    is_cramped: bool,
    prepared: VecDeque<TaskId>,
    /// When each task is to begin, if that was planned: then those that are prepared stand in that order.
    begins: Option<Arc<Vec<u64>>>,
    pub(super) tally: CacheTally,
}

impl Stage {
    /// A list with nothing on it.
    pub(super) fn new(keeping: Keeping, flow: &Workflow) -> Stage {
        let Keeping { capacity_bytes, window, brought, shares_results, evict } = keeping;
        Stage {
            cache: Cache::new(capacity_bytes, evict),
            window: if flow.has_inputs() { window } else { 0 },
            most_prepared: usize::MAX,
            wanted: Wanted::new(&brought, flow),
            is_for_outside: matches!(brought, Brought::Outside(_)),
            is_turn_apart: false,
            shares_results,
            tasks: BTreeMap::new(),
            locating: BTreeMap::new(),
            fetching: BTreeMap::new(),
            open: BTreeMap::new(),
            open_bytes: 0,
            line: VecDeque::new(),
            relocating: BTreeSet::new(),
            parked: VecDeque::new(),
            is_cramped: false,
            prepared: VecDeque::new(),
            begins: None,
            tally: CacheTally::default(),
        }
    }

    /// An object was made here, or lies here from the beginning.
    pub(super) fn keep(&mut self, flow: &Workflow, object: ObjectId, bytes: u64, out: &mut Vec<Command>) {
        if self.shares_results && object.index() < flow.made_count() {
            self.cache.keep_copy(object, bytes);
        } else {
            self.cache.keep(object, bytes);
        }
        self.fetched(object, out);
    }

    /// Whether what tasks make takes no room here.
    pub(super) fn is_for_outside(&self) -> bool {
        self.is_for_outside
    }

    /// Whether a task waits apart from those for which something has to be brought.
    pub(super) fn is_apart(&self, flow: &Workflow, task: TaskId) -> bool {
        self.is_for_outside && self.wanted.of(flow, task).next().is_none()
    }

    /// Whether a task that waits apart is next to get a slot: they take turns with those whose data has come.
    pub(super) fn is_turn_apart(&self) -> bool {
        self.is_turn_apart
    }

    /// A slot has gone to a task that waits apart, or to another.
    pub(super) fn gave_slot(&mut self, apart: bool) {
        self.is_turn_apart = self.is_for_outside && !apart;
    }

    /// Whether any task may have to wait for data.
    pub(super) fn is_used(&self) -> bool {
        self.window > 0
    }

    /// Whether one more task may be staged. With a free slot that none of those who wait for one may have, others may.
    pub(super) fn has_window(&self, has_slot: bool) -> bool {
        self.tasks.len() < self.window && (has_slot || self.prepared.len() < self.most_prepared)
    }

    pub(super) fn set_most_prepared(&mut self, count: usize) {
        self.most_prepared = count.max(1);
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// How many tasks still lack something.
    pub(super) fn waiting_for_data(&self) -> usize {
        self.tasks.len() - self.prepared.len()
    }

    /// Takes a task in.
    pub(super) fn admit(
        &mut self,
        flow: &Workflow,
        ready: ReadyTask,
        is_shared: bool,
        output_bytes: u64,
        out: &mut Vec<Command>,
    ) {
        let (step, located) = (Step::Locating, Vec::new());
        let staged = Staged { ready, step, open: 0, is_shared, input_bytes: 0, output_bytes, located };
        self.tasks.insert(ready.task, staged);
        self.proceed(flow, ready.task, out);
    }

    /// Looks for what is neither here nor known, or else goes on to reserve.
    fn proceed(&mut self, flow: &Workflow, task: TaskId, out: &mut Vec<Command>) {
        let Some(staged) = self.tasks.get_mut(&task) else { return };
        staged.located.sort_unstable();
        let mut open = 0;
        for object in self.wanted.of(flow, task) {
            let is_located =
                |staged: &Staged| staged.located.binary_search_by_key(&object, |(known, _)| *known).is_ok();
            if self.cache.expects(object) || is_located(staged) {
                continue;
            }
            open += 1;
            let askers = self.locating.entry(object).or_default();
            if askers.is_empty() && !self.relocating.contains(&object) {
                out.push(Command::Locate { object });
            }
            askers.push(task);
        }
        staged.open = open;
        if open == 0 {
            self.reserve(flow, task, false, out);
        }
    }

    fn reserve(&mut self, flow: &Workflow, task: TaskId, forced: bool, out: &mut Vec<Command>) {
        let Some(staged) = self.tasks.get_mut(&task) else { return };
        let coming: Vec<(ObjectId, u64)> =
            staged.located.iter().filter(|(object, _)| !self.cache.expects(*object)).copied().collect();
        // What is about to leave has to come again, and is among those.
        let here = self.wanted.of(flow, task).filter(|object| self.cache.expects(*object));
        let here = here.filter_map(|object| self.cache.bytes(object));
        let all_inputs = here.chain(coming.iter().map(|(_, bytes)| *bytes)).fold(0, u64::saturating_add);
        staged.input_bytes = all_inputs;
        match self.cache.reserve(&coming, staged.output_bytes, all_inputs, forced) {
            Room::Reserved => {}
            Room::After(leaving) => {
                out.extend(leaving.into_iter().map(|object| Command::Drop { object }));
                return self.park(task);
            }
            Room::NotNow => return self.park(task),
            Room::Never => {
                let needed_bytes = all_inputs.saturating_add(staged.output_bytes);
                self.tasks.remove(&task);
                out.push(Command::NeverFits { task, needed_bytes });
                return;
            }
        }
        staged.step = Step::Fetching;
        staged.open = 0;
        let mut missing = Vec::new();
        for object in self.wanted.of(flow, task) {
            self.cache.pin(object);
            let bytes = self.cache.bytes(object).unwrap_or(0);
            let is_new = coming.binary_search_by_key(&object, |(new, _)| *new).is_ok();
            if is_new {
                self.tally.misses += 1;
                self.tally.miss_bytes = self.tally.miss_bytes.saturating_add(bytes);
            } else {
                self.tally.hits += 1;
                self.tally.hit_bytes = self.tally.hit_bytes.saturating_add(bytes);
            }
            if self.cache.has(object) {
                continue;
            }
            staged.open += 1;
            // What is on its way comes, even if whoever wanted it first has gone.
            if is_new {
                missing.push((object, bytes));
            }
            self.fetching.entry(object).or_default().push(task);
        }
        if staged.open == 0 {
            staged.step = Step::Prepared;
            self.prepare(task);
        }
        missing.reverse();
        self.line_up(missing, out);
    }

    fn park(&mut self, task: TaskId) {
        if let Some(staged) = self.tasks.get_mut(&task) {
            staged.step = Step::Parked;
            self.parked.push_back(task);
            self.is_cramped = true;
        }
    }

    fn line_up(&mut self, missing: Vec<(ObjectId, u64)>, out: &mut Vec<Command>) {
        if missing.is_empty() {
            return;
        }
        // Whoever is to begin first comes first, or else they take turns.
        let at = match &self.begins {
            None => self.line.len(),
            Some(_) => {
                let due =
                    |missing: &[(ObjectId, u64)]| missing.last().map_or(Time::START, |(object, _)| self.due(*object));
                let own = due(&missing);
                self.line.partition_point(|other| due(other) <= own)
            }
        };
        self.line.insert(at, missing);
        self.fetch_next(out);
    }

    /// When an object is to be here, if that was planned.
    pub(super) fn due(&self, object: ObjectId) -> Time {
        let Some(begins) = &self.begins else { return Time::START };
        let waiting = self.fetching.get(&object).into_iter().flatten();
        Time(waiting.map(|task| begins[task.index()]).min().unwrap_or(0))
    }

    fn may_ask(&self) -> bool {
        let open = self.open.len();
        let most = if self.begins.is_some() { PLANNED_AT_ONCE } else { LARGE_AT_ONCE };
        open < most || open < FETCHES_AT_ONCE && self.open_bytes < SMALL_BYTES
    }

    fn close(&mut self, object: ObjectId) {
        self.open_bytes -= u128::from(self.open.remove(&object).unwrap_or(0));
    }

    /// Asks for what is next in line, if not too much is open; what nobody waits for any more is left out.
    fn fetch_next(&mut self, out: &mut Vec<Command>) {
        while self.may_ask() {
            let Some(mut missing) = self.line.pop_front() else { return };
            let Some((object, bytes)) = missing.pop() else { continue };
            match self.begins {
                None => self.line.push_back(missing),
                Some(_) => self.line.push_front(missing),
            }
            if self.fetching.get(&object).is_some_and(|waiting| !waiting.is_empty()) {
                self.open.insert(object, bytes);
                self.open_bytes += u128::from(bytes);
                out.push(Command::Fetch { object, bytes });
            } else {
                self.fetching.remove(&object);
                self.cache.gave_up(object);
            }
        }
    }

    /// Tries again what had no room.
    pub(super) fn retry_parked(&mut self, flow: &Workflow, out: &mut Vec<Command>) {
        self.is_cramped = false;
        for task in std::mem::take(&mut self.parked) {
            let Some(staged) = self.tasks.get_mut(&task) else { continue };
            // Going through all that it reads is not worth it while there is no room for what it writes.
            if self.cache.could_hold(staged.output_bytes) {
                staged.step = Step::Locating;
                self.proceed(flow, task, out);
            } else {
                self.park(task);
            }
        }
    }

    /// Whether nothing on the list can go on by itself.
    pub(super) fn is_blocked(&self) -> bool {
        !self.parked.is_empty() && self.parked.len() == self.tasks.len() && self.cache.is_settled()
    }

    /// Lets the first task go on though there is no room: a node full of what it made itself would otherwise stand still
    /// for ever, and one task too many at a time does little harm.
    pub(super) fn force(&mut self, flow: &Workflow, out: &mut Vec<Command>) {
        let Some(task) = self.parked.pop_front() else { return };
        let Some(staged) = self.tasks.get_mut(&task) else { return };
        let is_known = |object| {
            self.cache.expects(object) || staged.located.binary_search_by_key(&object, |(known, _)| *known).is_ok()
        };
        if self.wanted.of(flow, task).all(is_known) {
            self.reserve(flow, task, true, out);
        } else {
            // What was on its way when it was parked has not come.
            staged.step = Step::Locating;
            self.proceed(flow, task, out);
        }
    }

    /// Whether one more task would only wait for room.
    pub(super) fn is_cramped(&self) -> bool {
        self.is_cramped
    }

    /// Tasks that hold nothing and wait for room: those that are shared, and perhaps those that were to stay.
    pub(super) fn parked<'a>(
        &'a self,
        also_kept: bool,
        can_run: &'a dyn Fn(ClassId) -> bool,
    ) -> impl DoubleEndedIterator<Item = TaskId> + 'a {
        let suits = move |staged: &Staged| (also_kept || staged.is_shared) && can_run(staged.ready.class);
        self.parked.iter().copied().filter(move |task| self.tasks.get(task).is_some_and(suits))
    }

    /// Gives up to so many of those away, the last first.
    pub(super) fn give_parked(
        &mut self,
        count: usize,
        also_kept: bool,
        can_run: &dyn Fn(ClassId) -> bool,
    ) -> Vec<ReadyTask> {
        let given: Vec<TaskId> = self.parked(also_kept, can_run).rev().take(count).collect();
        if !given.is_empty() {
            self.parked.retain(|task| !given.contains(task));
        }
        given.into_iter().filter_map(|task| self.tasks.remove(&task)).map(|staged| staged.ready).collect()
    }

    /// Prepared tasks from the last to the first: which, whether others may have it, how many are before it, and what it reads.
    pub(super) fn prepared_backwards(&self) -> impl Iterator<Item = (ReadyTask, bool, usize, u64)> + '_ {
        self.prepared.iter().enumerate().rev().map(|(before, task)| {
            let Staged { ready, is_shared, input_bytes, .. } = self.tasks[task];
            (ready, is_shared, before, input_bytes)
        })
    }

    /// Hands out the first prepared task that may start, whether others might have had it, and the room that is reserved for what it writes.
    pub(super) fn next(&mut self, admits: impl Fn(&ReadyTask) -> bool) -> Option<(ReadyTask, bool, u64)> {
        let at = self.prepared.iter().position(|task| admits(&self.tasks[task].ready))?;
        let task = self.prepared.remove(at)?;
        let staged = self.tasks.remove(&task)?;
        Some((staged.ready, staged.is_shared, staged.output_bytes))
    }

    /// From now on, prepared tasks stand in the order in which they are to begin.
    pub(super) fn keep_order(&mut self, begins: Arc<Vec<u64>>) {
        self.begins = Some(begins);
    }

    /// All that a task reads is here.
    fn prepare(&mut self, task: TaskId) {
        let at = match &self.begins {
            None => self.prepared.len(),
            Some(begins) => {
                let key = |task: TaskId| (begins[task.index()], task);
                self.prepared.partition_point(|other| key(*other) < key(task))
            }
        };
        self.prepared.insert(at, task);
    }

    /// The same for a node that holds to a plan: of those whose time or turn has come, the one that was to begin first.
    pub(super) fn next_of(
        &mut self,
        timetable: &Timetable,
        now: Time,
        free_cores: u32,
        admits: impl Fn(&ReadyTask) -> bool,
    ) -> Option<(ReadyTask, bool, u64)> {
        let comes_into_question = |task: &&TaskId| timetable.begin(**task) <= now || timetable.is_its_turn(**task);
        let may_begin = |task: &TaskId| timetable.may_begin(*task, now, free_cores) && admits(&self.tasks[task].ready);
        let at = self.prepared.iter().take_while(comes_into_question).take(LATE).position(may_begin)?;
        let task = self.prepared.remove(at)?;
        let staged = self.tasks.remove(&task)?;
        Some((staged.ready, staged.is_shared, staged.output_bytes))
    }

    /// When a prepared task may begin that may not yet, for want of time or out of patience with others.
    pub(super) fn next_due(&self, timetable: &Timetable, now: Time) -> Option<Time> {
        let late = self.prepared.partition_point(|task| timetable.begin(*task) <= now);
        let next = self.prepared.get(late).map(|task| timetable.begin(*task));
        let patient = self.prepared.iter().take(late.min(LATE)).map(|task| timetable.patience(*task));
        patient.filter(|until| *until > now).chain(next).min()
    }

    /// A task that was started from here has ended: gives back what it held.
    pub(super) fn ended(&mut self, flow: &Workflow, task: TaskId, output_bytes: u64, out: &mut Vec<Command>) {
        self.cache.unreserve(output_bytes);
        self.unpin_inputs(flow, task, out);
    }

    fn unpin_inputs(&mut self, flow: &Workflow, task: TaskId, out: &mut Vec<Command>) {
        for object in self.wanted.of(flow, task) {
            if self.cache.unpin(object) {
                out.push(Command::Evict { object });
            }
        }
    }

    /// An object has been found, or not.
    pub(super) fn located(&mut self, flow: &Workflow, object: ObjectId, bytes: Option<u64>, out: &mut Vec<Command>) {
        if self.relocating.remove(&object) {
            match bytes {
                Some(bytes) => self.line_up(vec![(object, bytes)], out),
                None => {
                    for task in self.fetching.remove(&object).unwrap_or_default() {
                        self.give_up(flow, task, out);
                        out.push(Command::Lost { task, object });
                    }
                    self.cache.gave_up(object);
                }
            }
        }
        for task in self.locating.remove(&object).unwrap_or_default() {
            let Some(staged) = self.tasks.get_mut(&task) else { continue };
            let Some(bytes) = bytes else {
                self.give_up(flow, task, out);
                out.push(Command::Lost { task, object });
                continue;
            };
            staged.located.push((object, bytes));
            staged.open -= 1;
            if staged.open == 0 {
                self.proceed(flow, task, out);
            }
        }
    }

    /// An object has come.
    pub(super) fn fetched(&mut self, object: ObjectId, out: &mut Vec<Command>) {
        self.cache.arrived(object);
        self.close(object);
        for task in self.fetching.remove(&object).unwrap_or_default() {
            let Some(staged) = self.tasks.get_mut(&task) else { continue };
            staged.open -= 1;
            if staged.open == 0 {
                staged.step = Step::Prepared;
                self.prepare(task);
            }
        }
        self.fetch_next(out);
    }

    /// An object could not be fetched from where it was said to be: it is looked for again.
    pub(super) fn fetch_failed(&mut self, object: ObjectId, out: &mut Vec<Command>) {
        self.close(object);
        self.fetch_next(out);
        if !self.fetching.contains_key(&object) {
            self.cache.gave_up(object);
            return;
        }
        if self.relocating.insert(object) && !self.locating.contains_key(&object) {
            out.push(Command::Locate { object });
        }
    }

    /// Takes a task off the list and gives back what it held; what is on its way for it comes all the same.
    pub(super) fn give_up(&mut self, flow: &Workflow, task: TaskId, out: &mut Vec<Command>) -> Option<ReadyTask> {
        let staged = self.tasks.remove(&task)?;
        match staged.step {
            Step::Locating => {
                for object in self.wanted.of(flow, task) {
                    self.locating.entry(object).and_modify(|askers| askers.retain(|asker| *asker != task));
                }
            }
            Step::Parked => self.parked.retain(|parked| *parked != task),
            Step::Fetching | Step::Prepared => {
                self.prepared.retain(|prepared| *prepared != task);
                for object in self.wanted.of(flow, task) {
                    self.fetching.entry(object).and_modify(|waiting| waiting.retain(|waiter| *waiter != task));
                }
                self.cache.unreserve(staged.output_bytes);
                self.unpin_inputs(flow, task, out);
                self.is_cramped = !self.parked.is_empty();
            }
        }
        Some(staged.ready)
    }

    /// Checks that room and pins are what the tasks on the list and those in slots account for.
    pub(super) fn check(&self, flow: &Workflow, running: &[(TaskId, u64)]) -> Result<(), String> {
        let holders = self.tasks.iter().filter(|(_, staged)| matches!(staged.step, Step::Fetching | Step::Prepared));
        let holders = holders.map(|(task, staged)| (*task, staged.output_bytes)).chain(running.iter().copied());
        let (mut pins, mut reserved) = (BTreeMap::new(), 0);
        for (task, output_bytes) in holders {
            reserved += output_bytes;
            for object in self.wanted.of(flow, task) {
                *pins.entry(object).or_insert(0u32) += 1;
            }
        }
        // Where times are planned, all that can be prepared is.
        if self.begins.is_none() && self.tasks.len() > self.window {
            return Err(format!("{} tasks are staged, and only {} may be", self.tasks.len(), self.window));
        }
        if self.open.len() > FETCHES_AT_ONCE || self.may_ask() && !self.line.is_empty() {
            return Err(format!(
                "{} objects are fetched, and {} tasks stand in line",
                self.open.len(),
                self.line.len()
            ));
        }
        self.cache.check(&pins, reserved)
    }

    /// All tasks on the list.
    pub(super) fn task_ids(&self) -> Vec<TaskId> {
        self.tasks.keys().copied().collect()
    }
}
