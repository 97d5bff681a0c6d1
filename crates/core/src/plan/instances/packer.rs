//! Puts tasks on instances: those with the longest way to the end first, each where it is best off.
//!
//! This is HEFT (Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for heterogeneous computing", 2002) with gaps, for instances
//! that are rented: a new one may be had for every task, up to a number of each type, and where a task is best off is a question of money as well. What a
//! planner of types has decided can be kept to: then only instances of a task's own type come into question.

use super::problem::Problem;
use super::rack::{Offer, Place, Rack};
use super::schedule::Schedule;

/// Where a task is best off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// Where it ends first.
    Earliest,
    /// Where it costs least, of where it ends early enough for the run to end by this time, as far as can be seen.
    Cheapest {
        /// By when the run is to end.
        target: u64,
    },
}

/// How tasks are put on instances.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recipe {
    /// The most instances of each type.
    pub fleet: Vec<u32>,
    /// Where tasks are best off.
    pub choice: Choice,
}

/// Puts all tasks on instances. `types`, if it is there, says on which type each has to be. Nothing if some task fits on no instance of the fleet. `looks` becomes more by
/// how many places were looked at: that is what it takes. Nothing either if whoever is asked now and then does not want it any more.
pub fn pack(
    problem: &Problem<'_>,
    recipe: &Recipe,
    types: Option<&[u16]>,
    looks: &mut usize,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Option<Schedule> {
    let all: Vec<u16> = (0..problem.types() as u16).filter(|machine| recipe.fleet[usize::from(*machine)] > 0).collect();
    let usual = usual_times(problem, &all, types)?;
    let ways = ways(problem, &usual);
    let latest = match recipe.choice {
        Choice::Earliest => Vec::new(),
        Choice::Cheapest { target } => latest_ends(problem, &all, types, target),
    };
    let mut order: Vec<u32> = (0..problem.task_count() as u32).collect();
    // Whoever comes before another in the graph also does here: of equally long ways, those of tasks without a length.
    let mut place = vec![0; order.len()];
    problem.graph.order().iter().enumerate().for_each(|(at, task)| place[*task as usize] = at);
    order.sort_unstable_by_key(|task| (std::cmp::Reverse(ways[*task as usize]), place[*task as usize]));
    let mut rack = Rack::new(problem);
    let mut looked = 0;
    for task in order {
        if *looks - looked > LOOKS_AT_ONCE {
            looked = *looks;
            may_go_on().then_some(())?;
        }
        let latest = latest.get(task as usize).copied();
        let own = types.map(|types| [types[task as usize]]);
        let among = own.as_ref().map_or(all.as_slice(), |own| own.as_slice());
        let offer = best(&mut rack, recipe, task, among, latest, looks)?;
        rack.take(task, &offer);
    }
    Some(rack.schedule())
}

/// After so many looks, a thousandth of a second or a few, it is asked whether to go on.
const LOOKS_AT_ONCE: usize = 20_000;

/// How good a place is: less is better.
type Merit = (bool, u64, u64);

/// The best place for a task. What a place is worth at best is quickly said, and few have to be looked at to know which is the best.
fn best(
    rack: &mut Rack<'_>,
    recipe: &Recipe,
    task: u32,
    among: &[u16],
    latest: Option<u64>,
    looks: &mut usize,
) -> Option<Offer> {
    let merit = |end: u64, price: u64| match latest {
        Some(latest) if end <= latest => (false, price, end),
        Some(_) => (true, end, price),
        None => (false, end, price),
    };
    let wish = rack.wish(task);
    let mut places: Vec<(Merit, Place)> = Vec::new();
    for &machine in among {
        let open = &rack.of_type[usize::from(machine)];
        let new = (open.len() < recipe.fleet[usize::from(machine)] as usize).then_some(Place::New(machine));
        for place in open.iter().map(|instance| Place::Open(*instance)).chain(new) {
            let Some(least) = rack.least(&wish, place) else { continue };
            places.push((merit(least.end, least.price.0), place));
        }
    }
    *looks += places.len() + wish.looks;
    places.sort_unstable();
    let mut best: Option<(Merit, Offer)> = None;
    for (least, place) in places {
        if best.as_ref().is_some_and(|(merit, _)| *merit <= least) {
            break;
        }
        let Some(offer) = rack.offer(&wish, place) else { continue };
        let merit = merit(offer.end, offer.price.0);
        debug_assert!(least <= merit, "nothing is better than it can be");
        if best.as_ref().is_none_or(|(other, _)| merit < *other) {
            best = Some((merit, offer));
        }
    }
    rack.forget(wish);
    best.map(|(_, offer)| offer)
}

/// How long each task takes, data included, on the type that it has to be on, or on average. Nothing if one fits nowhere.
fn usual_times(problem: &Problem<'_>, among: &[u16], types: Option<&[u16]>) -> Option<Vec<u64>> {
    let with_data =
        |task, machine| Some(problem.time(task, machine)?.saturating_add(problem.moving_all(task, machine)));
    let usual = |task: u32| match types {
        Some(types) => with_data(task, types[task as usize]),
        None => {
            let times = among.iter().filter_map(|machine| with_data(task, *machine));
            let (count, sum) = times.fold((0u128, 0u128), |(count, sum), time| (count + 1, sum + u128::from(time)));
            sum.checked_div(count).map(|mean| mean as u64)
        }
    };
    (0..problem.task_count() as u32).map(usual).collect()
}

/// For each task the longest way from its beginning to the end.
fn ways(problem: &Problem<'_>, times: &[u64]) -> Vec<u64> {
    let mut ways = vec![0u64; times.len()];
    for &task in problem.graph.order().iter().rev() {
        let behind = problem.graph.children(task).iter().map(|child| ways[*child as usize]).max().unwrap_or(0);
        ways[task as usize] = behind.saturating_add(times[task as usize]);
    }
    ways
}

/// So often it is looked how much slower than possible tasks may be.
const HALVES: u32 = 20;

/// By when each task has to end for the run to end by some time. Slack is shared: all tasks may be slower than on their fastest type by the same
/// part of the way to their cheapest one, as much as the longest way allows. Otherwise the first ones would use up what there is, and the last would have to be as fast as
/// can be, for any money.
fn latest_ends(problem: &Problem<'_>, among: &[u16], types: Option<&[u16]>, target: u64) -> Vec<u64> {
    let count = problem.task_count() as u32;
    let ranges: Vec<(u64, u64)> = (0..count)
        .map(|task| {
            let own = types.map(|types| [types[task as usize]]);
            let among = own.as_ref().map_or(among, |own| own.as_slice());
            range(problem, among, task)
        })
        .collect();
    const WHOLE: u64 = 1 << HALVES;
    let times = |part: u64| -> Vec<u64> {
        let between = |(least, most): &(u64, u64)| {
            least + (u128::from(most.saturating_sub(*least)) * u128::from(part) / u128::from(WHOLE)) as u64
        };
        ranges.iter().map(between).collect()
    };
    let (mut part, mut step) = (0, WHOLE);
    while step > 0 {
        if part + step <= WHOLE && problem.graph.makespan(&times(part + step)) <= target {
            part += step;
        }
        step /= 2;
    }
    let times = times(part);
    let ways = ways(problem, &times);
    (0..count as usize).map(|task| target.saturating_sub(ways[task] - times[task])).collect()
}

/// How long a task takes on its fastest type and on its cheapest, data included.
fn range(problem: &Problem<'_>, among: &[u16], task: u32) -> (u64, u64) {
    let on = |machine: &u16| {
        let time = problem.time(task, *machine)?;
        let machine_type = &problem.catalogue.machines[usize::from(*machine)];
        let (need, has) = (problem.need(task, *machine), problem.has(*machine));
        // Its share of what the machine costs: others may run beside it.
        let share = u128::from(machine_type.price.for_time(time).0) * u128::from(need.cpus_milli)
            / u128::from(has.cpus_milli.max(1));
        Some((share, time.saturating_add(problem.moving_all(task, *machine))))
    };
    let options = among.iter().filter_map(on);
    let least = options.clone().map(|(_, time)| time).min().unwrap_or(0);
    let cheapest = options.min().map_or(least, |(_, time)| time);
    (least, cheapest.max(least))
}
