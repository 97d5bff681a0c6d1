//! A schedule from its end: where each task costs least, if it is done just in time for those that wait for it.

use super::super::profile::Profile;
use super::super::rack::Rack;
use super::super::schedule::{Instance, Moved, Schedule};
use super::Given;
use super::waiting::{Asked, Waiter, Waiting};
use crate::plan::Money;

/// An instance, seen from the end.
struct Late {
    machine: u16,
    /// In use when, counted from the end of the run backwards.
    profile: Profile,
    /// When it first has to be there.
    first: u64,
    /// Until when it has to be kept.
    last: u64,
    charged: Money,
}

impl Late {
    fn new(machine: u16) -> Late {
        Late { machine, profile: Profile::new(), first: u64::MAX, last: 0, charged: Money::ZERO }
    }
}

/// Where a task is put, and from when on it runs there.
#[derive(Clone, Copy)]
struct Put {
    instance: u32,
    begin: u64,
}

/// A seat for a task: an instance, and a time.
struct Seat {
    instance: usize,
    machine: u16,
    begin: u64,
    time: u64,
    /// Until when the instance has to be kept for it.
    until: u64,
    /// How much more has to be paid.
    price: Money,
    /// Whether that is another instance than now: of equal prices, to stay is better.
    is_elsewhere: bool,
}

/// All tasks in their seats, found from the end.
pub(super) struct Back<'a> {
    given: &'a Given<'a>,
    schedule: &'a Schedule,
    /// When all that each task waits for has ended, as the schedule is.
    ready: Vec<u64>,
    /// How many more instances there may be of each type.
    left: Vec<u32>,
    put: Vec<Put>,
    instances: Vec<Late>,
    /// Tasks by when they begin.
    order: Vec<u32>,
}

impl<'a> Back<'a> {
    /// All tasks from the last one on, each where it costs least to have it done in time. Nothing if there is no room for somebody.
    pub(super) fn of(given: &'a Given<'a>, schedule: &'a Schedule) -> Option<Back<'a>> {
        let graph = &given.problem.graph;
        let count = schedule.runs.len();
        let mut rank = vec![0; count];
        graph.order().iter().enumerate().for_each(|(at, task)| rank[*task as usize] = at);
        // The last to end first: who could not have ended earlier takes its room before who only began as late. Who takes no time comes after those it waits for.
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|task| (schedule.runs[*task as usize].end, rank[*task as usize]));
        let ends = |task| graph.parents(task).iter().map(|parent| schedule.runs[*parent as usize].end);
        let used = schedule.fleet(given.fleet.len());
        let mut back = Back {
            given,
            schedule,
            ready: (0..count as u32).map(|task| ends(task).max().unwrap_or(0)).collect(),
            left: given.fleet.iter().zip(used).map(|(most, used)| most.saturating_sub(used)).collect(),
            put: vec![Put { instance: u32::MAX, begin: u64::MAX }; count],
            instances: schedule.instances.iter().map(|instance| Late::new(instance.machine)).collect(),
            order: Vec::new(),
        };
        for &task in order.iter().rev() {
            let best = back.best(task)?;
            back.take(task, &best);
        }
        order.sort_unstable_by_key(|task| (back.put[*task as usize].begin, rank[*task as usize]));
        back.order = order;
        Some(back)
    }

    fn take(&mut self, task: u32, seat: &Seat) {
        if seat.instance == self.instances.len() {
            self.left[usize::from(seat.machine)] -= 1;
            self.instances.push(Late::new(seat.machine));
        }
        let need = self.given.problem.need(task, seat.machine);
        let instance = &mut self.instances[seat.instance];
        instance.profile.take(need, self.given.end - seat.begin - seat.time, seat.time);
        (instance.first, instance.last) = (instance.first.min(seat.begin), instance.last.max(seat.until));
        let (first, last) = (instance.first, instance.last);
        self.instances[seat.instance].charged = self.charge(seat.machine, first, last);
        self.put[task as usize] = Put { instance: seat.instance as u32, begin: seat.begin };
    }

    /// The best seat for a task, if all who wait for it have theirs.
    fn best(&self, task: u32) -> Option<Seat> {
        let children = self.given.problem.graph.children(task);
        let waiting = Waiting::of(children.iter().map(|child| self.waiter(task, *child)).collect());
        let open = self.instances.iter().enumerate().map(|(instance, late)| (instance, late.machine));
        let new = (0..self.left.len()).filter(|machine| self.left[*machine] > 0);
        let all = open.chain(new.map(|machine| (self.instances.len(), machine as u16)));
        let own = self.given.types.map(|types| types[task as usize]);
        let allowed = all.filter(|(_, machine)| own.is_none_or(|own| own == *machine));
        let seats = allowed.filter_map(|(instance, machine)| self.seat(task, &waiting, instance, machine));
        seats.min_by_key(|seat| (seat.price, seat.is_elsewhere))
    }

    fn waiter(&self, task: u32, child: u32) -> Waiter {
        let problem = self.given.problem;
        let Put { instance, begin } = self.put[child as usize];
        let machine = self.instances[instance as usize].machine;
        let read = problem.readers.read(task, child);
        let bytes = read.unwrap_or(0);
        // How long it waited for its data in the schedule as it is, at most.
        let waited = self.schedule.runs[child as usize].begin.saturating_sub(self.ready[child as usize]);
        let usual = problem.moving_all(child, machine).min(waited);
        Waiter {
            instance,
            by: begin.saturating_sub(usual),
            by_elsewhere: begin.saturating_sub(usual.max(problem.moving(bytes, machine))),
            kept_until: read.map_or(0, |_| begin),
            bytes,
        }
    }

    /// What it means to have a task on an instance, or a new one, as late as can be. Nothing if it does not fit there in time.
    fn seat(&self, task: u32, waiting: &Waiting, number: usize, machine: u16) -> Option<Seat> {
        let Given { problem, end, .. } = *self.given;
        let time = problem.time(task, machine)?;
        let Asked { by, kept_until, sent_bytes } = waiting.on(number as u32);
        let by = by.min(end);
        let earliest = self.ready[task as usize].max(self.start(machine));
        if by < earliest.saturating_add(time) {
            return None;
        }
        let instance = self.instances.get(number);
        let (need, has) = (problem.need(task, machine), problem.has(machine));
        let after = instance.map_or(end - by, |instance| instance.profile.free(has, need, end - by, time));
        let begin = end.checked_sub(after.saturating_add(time)).filter(|begin| *begin >= earliest)?;
        // Whoever has something that is read elsewhere is kept until then.
        let until = kept_until.max(begin + time);
        let (first, last, charged) = match instance {
            Some(instance) => (instance.first, instance.last, instance.charged),
            None => (u64::MAX, 0, Money::ZERO),
        };
        let price = self.charge(machine, first.min(begin), last.max(until)).less(charged)
            + Schedule::charge_for_data(problem, &Moved { between_bytes: sent_bytes, ..Moved::default() });
        let is_elsewhere = self.schedule.runs[task as usize].instance as usize != number;
        Some(Seat { instance: number, machine, begin, time, until, price, is_elsewhere })
    }

    /// The same from the beginning: each task on its instance, as early as data and room allow. An instance is there when its first task is to begin, or so much earlier; all of
    /// them so much earlier that the run begins at once.
    pub(super) fn forward(&self, earlier: u64) -> Schedule {
        let used = self.instances.iter().filter(|instance| instance.first < u64::MAX);
        let idle = used.map(|instance| instance.first - self.start(instance.machine)).min().unwrap_or(0);
        let mut rack = Rack::new(self.given.problem);
        let mut numbers = vec![None; self.instances.len()];
        for &task in &self.order {
            let instance = self.put[task as usize].instance as usize;
            let Late { machine, first, .. } = self.instances[instance];
            let there = first.saturating_sub(idle.saturating_add(earlier)).max(self.start(machine));
            let number = *numbers[instance].get_or_insert_with(|| rack.rent(machine, there));
            rack.put(task, number);
        }
        rack.schedule()
    }

    /// How long a machine takes to be there.
    fn start(&self, machine: u16) -> u64 {
        self.given.problem.catalogue.machines[usize::from(machine)].start_ns
    }

    /// What an instance costs that does something from one time to another.
    fn charge(&self, machine: u16, first: u64, last: u64) -> Money {
        let from = first.saturating_sub(self.start(machine));
        Schedule::charge(self.given.problem, &Instance { machine, from, until: last })
    }
}
