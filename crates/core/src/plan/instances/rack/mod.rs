//! Instances while tasks are put on them: what each would mean, and what it means once it is done.

mod data;
mod holders;

use self::holders::Holders;
use super::problem::{OUTSIDE, Object, Problem};
use super::profile::Profile;
use super::schedule::{Instance, Moved, Run, Schedule};
use super::spans::Spans;
use crate::plan::Money;

/// With more inputs than this, a task's are not looked at one by one to find out where it could run, only when it is put there; and of those who have them, only the first.
const LOOKED_AT: usize = 32;

/// An instance that is in use.
#[derive(Clone, Debug)]
struct Open {
    machine: u16,
    /// When it is there at the earliest.
    there: u64,
    profile: Profile,
    receives: Spans,
    sends: Spans,
    /// When it first does something, and when it has done the last thing.
    first: u64,
    last: u64,
    /// What it costs so far.
    charged: Money,
}

/// What it would mean to put a task somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// Which instance: one that is there, or the next one.
    pub(super) instance: u32,
    /// Its type.
    pub(super) machine: u16,
    /// From when on the instance is busy with it: it may have to bring data first.
    pub(super) fetch: u64,
    /// When the task begins, and ends.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// What has to be paid more.
    pub(super) price: Money,
}

/// Where a task could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// On an instance that is there.
    Open(u32),
    /// On a new one of a type.
    New(u16),
}

/// A task that is to be put somewhere.
#[derive(Debug)]
pub(super) struct Wish {
    task: u32,
    /// When all tasks that it waits for have ended.
    ready: u64,
    /// How much it reads.
    reads: Amount,
    /// How much of that each instance has, or will have, as far as was looked at.
    here: Vec<Here>,
    /// How many of those who have any of it were looked at.
    pub(super) looks: usize,
}

/// How much of something comes from outside, and how much is made by tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    outside_bytes: u64,
    made_bytes: u64,
}

impl Amount {
    fn add(&mut self, object: Object) {
        let bytes = if object.maker == OUTSIDE { &mut self.outside_bytes } else { &mut self.made_bytes };
        *bytes = bytes.saturating_add(object.bytes);
    }

    fn bytes(self) -> u64 {
        self.outside_bytes.saturating_add(self.made_bytes)
    }

    fn without(self, other: Amount) -> Amount {
        Amount {
            outside_bytes: self.outside_bytes.saturating_sub(other.outside_bytes),
            made_bytes: self.made_bytes.saturating_sub(other.made_bytes),
        }
    }
}

/// What an instance has of what a task reads.
#[derive(Clone, Copy, Debug, Default)]
struct Here {
    has: Amount,
    /// When the last of it is there.
    since: u64,
}

/// What putting a task somewhere comes to at best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// When it would end.
    pub(super) end: u64,
    /// What has to be paid more.
    pub(super) price: Money,
}

/// Instances, and the tasks that are on them.
#[derive(Clone, Debug)]
pub(super) struct Rack<'p> {
    problem: &'p Problem<'p>,
    open: Vec<Open>,
    /// The numbers of the instances of each type.
    pub(super) of_type: Vec<Vec<u32>>,
    /// For each object, who has it, and since when.
    holders: Vec<Holders>,
    runs: Vec<Run>,
    sent: Vec<Sent>,
    moved: Moved,
    /// Kept for the next wish.
    here: Vec<Here>,
}

/// An object that comes to an instance from another.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    begin: u64,
    object: u32,
    sender: u32,
    to: u32,
}

impl<'p> Rack<'p> {
    pub(super) fn new(problem: &'p Problem<'p>) -> Rack<'p> {
        let nowhere = Run { instance: u32::MAX, begin: 0, end: 0 };
        Rack {
            problem,
            open: Vec::new(),
            of_type: vec![Vec::new(); problem.types()],
            holders: vec![Holders::default(); problem.objects.len()],
            runs: vec![nowhere; problem.task_count()],
            sent: Vec::new(),
            moved: Moved::default(),
            here: Vec::new(),
        }
    }

    /// A task that is to be put somewhere.
    pub(super) fn wish(&mut self, task: u32) -> Wish {
        let mut here = std::mem::take(&mut self.here);
        here.clear();
        here.resize(self.open.len(), Here::default());
        let inputs = self.problem.inputs(task);
        let (mut reads, mut looks) = (Amount::default(), 0);
        for &object in inputs {
            let (what, holders) = (self.problem.objects[object as usize], &self.holders[object as usize]);
            reads.add(what);
            let holders = if inputs.len() > LOOKED_AT { holders.first() } else { holders.all() };
            looks += holders.len();
            for (holder, since) in holders {
                let here = &mut here[*holder as usize];
                here.has.add(what);
                here.since = here.since.max(*since);
            }
        }
        Wish { task, ready: self.ready(task), reads, here, looks }
    }

    /// The wish has been granted, or not.
    pub(super) fn forget(&mut self, wish: Wish) {
        self.here = wish.here;
    }

    /// What it would come to at best to put a task somewhere: if whatever is not there came at once, one thing after the other.
    pub(super) fn least(&self, wish: &Wish, place: Place) -> Option<Least> {
        let (machine, here) = match place {
            Place::Open(instance) => (self.open[instance as usize].machine, wish.here[instance as usize].has),
            Place::New(machine) => (machine, Amount::default()),
        };
        let time = self.problem.time(wish.task, machine)?;
        let missing = self.problem.moving(wish.reads.without(here).bytes(), machine);
        let there = wish.ready.max(self.start(machine)).saturating_add(missing);
        let Place::Open(instance) = place else {
            let end = there.saturating_add(time);
            let from = self.had_from(machine, there - missing);
            return Some(Least { end, price: Schedule::charge(self.problem, &Instance { machine, from, until: end }) });
        };
        let open = &self.open[instance as usize];
        let (need, has) = (self.problem.need(wish.task, machine), self.problem.has(machine));
        let end = open.profile.free(has, need, there, time).saturating_add(time);
        let price = if end <= open.last { Money::ZERO } else { self.charge_until(open, end).less(open.charged) };
        Some(Least { end, price })
    }

    /// When all tasks that a task waits for have ended.
    fn ready(&self, task: u32) -> u64 {
        self.problem.graph.parents(task).iter().map(|parent| self.runs[*parent as usize].end).max().unwrap_or(0)
    }

    /// What it would mean to put a task somewhere.
    pub(super) fn offer(&self, wish: &Wish, place: Place) -> Option<Offer> {
        match place {
            Place::Open(instance) => self.offer_open(wish, instance),
            Place::New(machine) => self.offer_new(wish, machine),
        }
    }

    fn offer_open(&self, wish: &Wish, instance: u32) -> Option<Offer> {
        let (open, task) = (&self.open[instance as usize], wish.task);
        let time = self.problem.time(task, open.machine)?;
        let arrival = self.arrival(wish, Some(instance), open.machine);
        let (need, has) = (self.problem.need(task, open.machine), self.problem.has(open.machine));
        let begin = open.profile.free(has, need, arrival.there, time);
        let (fetch, end) = (arrival.begun.min(begin), begin.saturating_add(time));
        let longer = Instance {
            machine: open.machine,
            from: self.had_from(open.machine, open.first.min(fetch)),
            until: open.last.max(end),
        };
        let price = Schedule::charge(self.problem, &longer).less(open.charged) + self.price_of_data(&arrival);
        Some(Offer { instance, machine: open.machine, fetch, begin, end, price })
    }

    fn offer_new(&self, wish: &Wish, machine: u16) -> Option<Offer> {
        let time = self.problem.time(wish.task, machine)?;
        let arrival = self.arrival(wish, None, machine);
        let (begin, end) = (arrival.there, arrival.there.saturating_add(time));
        let new = Instance { machine, from: self.had_from(machine, arrival.begun), until: end };
        let price = Schedule::charge(self.problem, &new) + self.price_of_data(&arrival);
        Some(Offer { instance: self.open.len() as u32, machine, fetch: arrival.begun, begin, end, price })
    }

    /// Does what was offered.
    pub(super) fn take(&mut self, task: u32, offer: &Offer) {
        if offer.instance as usize == self.open.len() {
            self.rent(offer.machine, self.start(offer.machine));
        }
        self.put(task, offer.instance);
    }

    /// One instance more, which is there from some time on at the earliest.
    pub(super) fn rent(&mut self, machine: u16, there: u64) -> u32 {
        let instance = self.open.len() as u32;
        self.of_type[usize::from(machine)].push(instance);
        self.open.push(Open {
            machine,
            there,
            profile: Profile::new(),
            receives: Spans::default(),
            sends: Spans::default(),
            first: u64::MAX,
            last: 0,
            charged: Money::ZERO,
        });
        instance
    }

    /// Puts a task on an instance that it fits on, as early as can be.
    pub(super) fn put(&mut self, task: u32, instance: u32) {
        let machine = self.open[instance as usize].machine;
        let (begun, there) = self.bring(task, instance);
        let time = self.problem.time(task, machine).expect("who is offered a place fits there");
        let (need, has) = (self.problem.need(task, machine), self.problem.has(machine));
        let open = &mut self.open[instance as usize];
        let begin = open.profile.free(has, need, there, time);
        open.profile.take(need, begin, time);
        open.first = open.first.min(begun).min(begin);
        open.last = open.last.max(begin.saturating_add(time));
        let run = Run { instance, begin, end: begin.saturating_add(time) };
        self.runs[task as usize] = run;
        self.reckon(instance);
        for object in self.problem.outputs(task) {
            self.holders[object as usize].add(run.instance, run.end);
        }
    }

    /// When an instance has to be had in order to do something at some time.
    fn had_from(&self, machine: u16, first: u64) -> u64 {
        first.saturating_sub(self.start(machine))
    }

    /// How long a machine takes to be there.
    fn start(&self, machine: u16) -> u64 {
        self.problem.catalogue.machines[usize::from(machine)].start_ns
    }

    /// Something is different about how long an instance is had.
    fn reckon(&mut self, instance: u32) {
        let open = &self.open[instance as usize];
        let charged = self.charge_until(open, open.last);
        self.open[instance as usize].charged = charged;
    }

    fn charge_until(&self, open: &Open, until: u64) -> Money {
        let from = self.had_from(open.machine, open.first);
        Schedule::charge(self.problem, &Instance { machine: open.machine, from, until })
    }

    /// All tasks are somewhere.
    pub(super) fn schedule(mut self) -> Schedule {
        let until = self.last_uses();
        let had = |(open, until): (&Open, u64)| Instance {
            machine: open.machine,
            from: self.had_from(open.machine, open.first),
            until,
        };
        let instances: Vec<Instance> = self.open.iter().zip(until).map(had).collect();
        let moved = Moved { out_bytes: self.problem.out_bytes, ..self.moved };
        let charges = instances.iter().map(|instance| Schedule::charge(self.problem, instance));
        let cost = charges.sum::<Money>() + Schedule::charge_for_data(self.problem, &moved);
        let makespan = self.runs.iter().map(|run| run.end).max().unwrap_or(0);
        Schedule { instances, runs: self.runs, moved, makespan, cost }
    }
}
