//! A schedule from its end: where each task costs least, if it is done just in time for those that wait for it.

use super::super::problem::{OUTSIDE, Problem};
use super::super::profile::Profile;
use super::super::rack::Rack;
use super::super::schedule::{Instance, Moved, Schedule};
use crate::plan::Money;

/// Who reads how much of what each task makes.
pub(super) struct Fed {
    /// Readers of each task's objects, in their order, and how many bytes each of them reads.
    readers: Vec<Vec<(u32, u64)>>,
    /// How many bytes each task reads.
    bytes: Vec<u64>,
}

impl Fed {
    pub(super) fn of(problem: &Problem<'_>) -> Fed {
        let count = problem.task_count();
        let mut fed = Fed { readers: vec![Vec::new(); count], bytes: vec![0; count] };
        for reader in 0..count as u32 {
            for object in problem.inputs(reader) {
                let object = &problem.objects[*object as usize];
                let all = &mut fed.bytes[reader as usize];
                *all = all.saturating_add(object.bytes);
                if object.maker == OUTSIDE {
                    continue;
                }
                let readers = &mut fed.readers[object.maker as usize];
                match readers.last_mut().filter(|(last, _)| *last == reader) {
                    Some((_, bytes)) => *bytes = bytes.saturating_add(object.bytes),
                    None => readers.push((reader, object.bytes)),
                }
            }
        }
        fed
    }

    /// How many bytes a task reads of what another makes, if it reads any of it.
    fn read(&self, maker: u32, reader: u32) -> Option<u64> {
        let readers = &self.readers[maker as usize];
        readers.binary_search_by_key(&reader, |(reader, _)| *reader).ok().map(|at| readers[at].1)
    }
}

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

/// Where a task runs.
#[derive(Clone, Copy)]
struct Home {
    instance: u32,
    begin: u64,
}

/// Somebody who reads what a task makes, or waits for it.
struct Reader {
    instance: u32,
    /// By when the task has to end if it is on the same instance, and if it is on another.
    by: u64,
    by_elsewhere: u64,
    /// Until when what it reads has to be kept for it, if it reads anything.
    kept_until: u64,
    bytes: u64,
}

/// A place for a task.
struct Place {
    instance: usize,
    machine: u16,
    begin: u64,
    time: u64,
    /// Until when the instance has to be kept for it.
    until: u64,
    /// What has to be paid more. Less is better; of equals, where it is already.
    price: Money,
    is_elsewhere: bool,
}

/// All tasks in their places, found from the end.
pub(super) struct Back<'a> {
    problem: &'a Problem<'a>,
    schedule: &'a Schedule,
    fed: &'a Fed,
    types: Option<&'a [u16]>,
    end: u64,
    /// How many more instances there may be of each type.
    left: Vec<u32>,
    homes: Vec<Home>,
    instances: Vec<Late>,
    /// Tasks by when they begin.
    order: Vec<u32>,
}

impl<'a> Back<'a> {
    /// All tasks from the last one on, each where it costs least to have it done in time. Nothing if somebody finds no place.
    pub(super) fn of(
        problem: &'a Problem<'a>,
        schedule: &'a Schedule,
        fed: &'a Fed,
        fleet: &[u32],
        types: Option<&'a [u16]>,
        end: u64,
    ) -> Option<Back<'a>> {
        let used = schedule.fleet(fleet.len());
        // From the last to end: who could hardly have ended earlier is not to find its room taken by who only happened to begin as late. Tasks that take no time come after those that they wait for.
        let mut place = vec![0; schedule.runs.len()];
        problem.graph.order().iter().enumerate().for_each(|(at, task)| place[*task as usize] = at);
        let mut order: Vec<u32> = (0..schedule.runs.len() as u32).collect();
        order.sort_unstable_by_key(|task| (schedule.runs[*task as usize].end, place[*task as usize]));
        let mut back = Back {
            problem,
            schedule,
            fed,
            types,
            end,
            left: fleet.iter().zip(used).map(|(most, used)| most.saturating_sub(used)).collect(),
            homes: vec![Home { instance: u32::MAX, begin: u64::MAX }; order.len()],
            instances: schedule.instances.iter().map(|instance| Late::new(instance.machine)).collect(),
            order: Vec::new(),
        };
        for &task in order.iter().rev() {
            let best = back.best(task)?;
            back.put(task, &best);
        }
        order.sort_unstable_by_key(|task| (back.homes[*task as usize].begin, place[*task as usize]));
        back.order = order;
        Some(back)
    }

    fn put(&mut self, task: u32, place: &Place) {
        if place.instance == self.instances.len() {
            self.left[usize::from(place.machine)] -= 1;
            self.instances.push(Late::new(place.machine));
        }
        let instance = &mut self.instances[place.instance];
        let need = self.problem.need(task, place.machine);
        instance.profile.take(need, self.end - place.begin - place.time, place.time);
        instance.first = instance.first.min(place.begin);
        instance.last = instance.last.max(place.until);
        instance.charged = charge(self.problem, place.machine, instance.first, instance.last);
        self.homes[task as usize] = Home { instance: place.instance as u32, begin: place.begin };
    }

    /// The best place for a task whose readers all have theirs.
    fn best(&self, task: u32) -> Option<Place> {
        let ready = self.ready(task);
        let readers: Vec<Reader> =
            self.problem.graph.children(task).iter().map(|child| self.reader(task, *child)).collect();
        let open = self.instances.iter().enumerate().map(|(instance, late)| (instance, late.machine));
        let new = (0..self.left.len()).filter(|machine| self.left[*machine] > 0);
        let all = open.chain(new.map(|machine| (self.instances.len(), machine as u16)));
        let own = self.types.map(|types| types[task as usize]);
        let allowed = all.filter(|(_, machine)| own.is_none_or(|own| own == *machine));
        let places = allowed.filter_map(|(instance, machine)| self.place(task, ready, &readers, instance, machine));
        places.min_by_key(|place| (place.price, place.is_elsewhere))
    }

    /// When all that a task waits for has ended, as the schedule is.
    fn ready(&self, task: u32) -> u64 {
        let ends = self.problem.graph.parents(task).iter().map(|parent| self.schedule.runs[*parent as usize].end);
        ends.max().unwrap_or(0)
    }

    fn reader(&self, task: u32, child: u32) -> Reader {
        let Home { instance, begin } = self.homes[child as usize];
        let machine = self.instances[instance as usize].machine;
        let read = self.fed.read(task, child);
        let bytes = read.unwrap_or(0);
        // How long it waited for its data in the schedule as it is, at most.
        let waited = self.schedule.runs[child as usize].begin.saturating_sub(self.ready(child));
        let usual = self.problem.moving(self.fed.bytes[child as usize], machine).min(waited);
        let moving = self.problem.moving(bytes, machine);
        Reader {
            instance,
            by: begin.saturating_sub(usual),
            by_elsewhere: begin.saturating_sub(usual.max(moving)),
            kept_until: read.map_or(0, |_| begin),
            bytes,
        }
    }

    /// What it means to have a task on an instance, or a new one, as late as can be. Nothing if it does not fit there in time.
    fn place(&self, task: u32, ready: u64, readers: &[Reader], number: usize, machine: u16) -> Option<Place> {
        let problem = self.problem;
        let time = problem.time(task, machine)?;
        let is_here = |reader: &&Reader| reader.instance as usize == number;
        let by = readers.iter().map(|reader| if is_here(&reader) { reader.by } else { reader.by_elsewhere });
        let by = by.min().unwrap_or(self.end);
        let earliest = ready.max(problem.catalogue.machines[usize::from(machine)].start_ns);
        if by < earliest.saturating_add(time) {
            return None;
        }
        let instance = self.instances.get(number);
        let (need, has) = (problem.need(task, machine), problem.has(machine));
        let after = self.end - by;
        let after = instance.map_or(after, |instance| instance.profile.free(has, need, after, time));
        let begin = self.end.checked_sub(after.saturating_add(time)).filter(|begin| *begin >= earliest)?;
        // Whoever has something that is read elsewhere is kept until then.
        let others = readers.iter().filter(|reader| !is_here(reader));
        let kept_until = others.clone().map(|reader| reader.kept_until).max().unwrap_or(0);
        let until = kept_until.max(begin + time);
        let between_bytes = others.map(|reader| reader.bytes).fold(0, u64::saturating_add);
        let (first, last, charged) = match instance {
            Some(instance) => (instance.first, instance.last, instance.charged),
            None => (u64::MAX, 0, Money::ZERO),
        };
        let price = charge(problem, machine, first.min(begin), last.max(until)).less(charged)
            + Schedule::charge_for_data(problem, &Moved { between_bytes, ..Moved::default() });
        let is_elsewhere = self.schedule.runs[task as usize].instance as usize != number;
        Some(Place { instance: number, machine, begin, time, until, price, is_elsewhere })
    }

    /// The same from the beginning: each task on its instance, as early as that is there and everything else allows. Instances are there when their first task wants to begin, or so
    /// much earlier.
    pub(super) fn forward(&self, earlier: u64) -> Schedule {
        let mut rack = Rack::new(self.problem);
        let mut numbers = vec![None; self.instances.len()];
        for &task in &self.order {
            let instance = self.homes[task as usize].instance as usize;
            let Late { machine, first, .. } = self.instances[instance];
            let start = self.problem.catalogue.machines[usize::from(machine)].start_ns;
            let there = first.saturating_sub(earlier).max(start);
            let number = *numbers[instance].get_or_insert_with(|| rack.rent(machine, there));
            rack.put(task, number);
        }
        rack.schedule()
    }
}

/// What an instance costs that does something from one time to another.
fn charge(problem: &Problem<'_>, machine: u16, first: u64, last: u64) -> Money {
    let start = problem.catalogue.machines[usize::from(machine)].start_ns;
    Schedule::charge(problem, &Instance { machine, from: first.saturating_sub(start), until: last })
}
