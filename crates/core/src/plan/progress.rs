//! Progress-based plans (WOHA): everything on its fastest machine, jobs in order of priority, on pools of slots of which each is as good as any other.
//!
//! The plan is when how many tasks of which job start, and from it a list of how many have to have started by when for the run to end in time.
//! It knows nothing of money, and is told afterwards what it costs. It loses to every planner that minds a budget, and is there for deadlines.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::graph::Graph;
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::Assigned;

/// Which job goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The one with most edges to the end.
    Level,
    /// The one with most edges from the beginning: the published program counts levels from there, too.
    EntryLevel,
    /// The one from which it takes longest to the end.
    LongestWay,
    /// The one with most jobs behind it.
    Descendants,
}

/// A job: map tasks, then reduce tasks, by how long each takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Times of the map tasks.
    pub maps: Vec<u64>,
    /// Times of the reduce tasks.
    pub reduces: Vec<u64>,
}

/// How many tasks run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Of map tasks.
    pub map: u64,
    /// Of reduce tasks.
    pub reduce: u64,
}

/// Some tasks of a job start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When.
    pub at: u64,
    /// Of which job.
    pub job: u32,
    /// Whether these are reduce tasks.
    pub is_reduce: bool,
    /// How many of them.
    pub tasks: u64,
}

/// The plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Which tasks start when.
    pub starts: Vec<Start>,
    /// When each job ends.
    pub ends: Vec<u64>,
    /// When the last one does.
    pub makespan: u64,
    /// What the order of jobs was made of.
    pub priorities: Vec<u64>,
    /// With so much time left to the end, so many tasks have to have started.
    pub required: Vec<(u64, u64)>,
}

/// More jobs than this are not looked through for all that is behind each of them, but only for what is right behind.
const MOST_SEEN_THROUGH: usize = 100_000;

/// What the order of jobs is made of: more goes first.
pub fn priorities(graph: &Graph, jobs: &[Job], by: Priority) -> Vec<u64> {
    let longest = |times: &dyn Fn(u32) -> u64, from_end: bool| {
        let mut ways = vec![0u64; graph.len()];
        let step = |ways: &mut Vec<u64>, node: u32| {
            let others = if from_end { graph.children(node) } else { graph.parents(node) };
            let way = others.iter().map(|other| ways[*other as usize] + times(*other)).max().unwrap_or(0);
            ways[node as usize] = way;
        };
        if from_end {
            graph.order().iter().rev().for_each(|node| step(&mut ways, *node));
        } else {
            graph.order().iter().for_each(|node| step(&mut ways, *node));
        }
        ways
    };
    match by {
        Priority::Level => longest(&|_| 1, true),
        Priority::EntryLevel => longest(&|_| 1, false),
        Priority::LongestWay => {
            let slowest = |times: &[u64]| times.iter().copied().max().unwrap_or(0);
            let time = |job: u32| slowest(&jobs[job as usize].maps) + slowest(&jobs[job as usize].reduces);
            let ways = longest(&time, true);
            (0..graph.len() as u32).map(|job| ways[job as usize] + time(job)).collect()
        }
        Priority::Descendants => descendants(graph),
    }
}

/// How many are behind each node: 64 of them are looked for at a time.
fn descendants(graph: &Graph) -> Vec<u64> {
    let count = graph.len();
    if count > MOST_SEEN_THROUGH {
        return (0..count as u32).map(|node| graph.children(node).len() as u64).collect();
    }
    let mut behind = vec![0u64; count];
    let mut seen = vec![0u64; count];
    for first in (0..count).step_by(64) {
        for &node in graph.order().iter().rev() {
            let own = |other: u32| {
                let place = (other as usize).wrapping_sub(first);
                if place < 64 { 1 << place } else { 0 }
            };
            let children = graph.children(node).iter();
            seen[node as usize] = children.fold(0, |all, child| all | seen[*child as usize] | own(*child));
            behind[node as usize] += u64::from(seen[node as usize].count_ones());
        }
    }
    behind
}

/// What waits for slots of a kind: jobs by priority, and how many of their tasks have started.
struct Pool {
    free: u64,
    eligible: BTreeSet<(Reverse<u64>, u32)>,
}

/// Plans. There is at least one slot of each kind.
pub fn progress(graph: &Graph, jobs: &[Job], slots: Slots, by: Priority) -> Progress {
    let priorities = priorities(graph, jobs, by);
    let key = |job: u32| (Reverse(priorities[job as usize]), job);
    let mut pools = [slots.map, slots.reduce].map(|slots| Pool { free: slots.max(1), eligible: BTreeSet::new() });
    let of = |job: u32, is_reduce: bool| {
        let job = &jobs[job as usize];
        if is_reduce { &job.reduces } else { &job.maps }
    };
    let mut waits_for: Vec<usize> = (0..graph.len() as u32).map(|job| graph.parents(job).len()).collect();
    let mut started = [vec![0usize; jobs.len()], vec![0usize; jobs.len()]];
    let mut left =
        [0, 1].map(|phase| (0..jobs.len() as u32).map(|job| of(job, phase == 1).len()).collect::<Vec<usize>>());
    let mut running: BinaryHeap<Reverse<(u64, u32, bool)>> = BinaryHeap::new();
    let mut plan = Progress { ends: vec![0; jobs.len()], ..Progress::default() };
    let (mut now, mut all_started, mut steps) = (0, 0u64, Vec::new());
    // Jobs and whether it is their reduce tasks that may begin now: a job without any is over at once.
    let mut opening: Vec<(u32, bool)> =
        graph.order().iter().filter(|job| waits_for[**job as usize] == 0).map(|job| (*job, false)).collect();
    loop {
        while let Some((job, is_reduce)) = opening.pop() {
            if left[usize::from(is_reduce)][job as usize] > 0 {
                pools[usize::from(is_reduce)].eligible.insert(key(job));
            } else if !is_reduce {
                opening.push((job, true));
            } else {
                plan.ends[job as usize] = now;
                for child in graph.children(job) {
                    waits_for[*child as usize] -= 1;
                    if waits_for[*child as usize] == 0 {
                        opening.push((*child, false));
                    }
                }
            }
        }
        let before = all_started;
        for (phase, pool) in pools.iter_mut().enumerate() {
            while let Some(&(priority, job)) = pool.eligible.first().filter(|_| pool.free > 0) {
                let (times, first) = (of(job, phase == 1), started[phase][job as usize]);
                let tasks = (times.len() - first).min(usize::try_from(pool.free).unwrap_or(usize::MAX));
                let times = &times[first..first + tasks];
                running.extend(times.iter().map(|time| Reverse((now + time, job, phase == 1))));
                started[phase][job as usize] += tasks;
                pool.free -= tasks as u64;
                all_started += tasks as u64;
                plan.starts.push(Start { at: now, job, is_reduce: phase == 1, tasks: tasks as u64 });
                if first + tasks == of(job, phase == 1).len() {
                    pool.eligible.remove(&(priority, job));
                }
            }
        }
        if all_started > before {
            match steps.last_mut() {
                Some((at, tasks)) if *at == now => *tasks = all_started,
                _ => steps.push((now, all_started)),
            }
        }
        let Some(Reverse((end, _, _))) = running.peek().copied() else { break };
        now = end;
        while let Some(Reverse((_, job, is_reduce))) = running.peek().copied().filter(|Reverse((at, ..))| *at == now) {
            running.pop();
            pools[usize::from(is_reduce)].free += 1;
            let left = &mut left[usize::from(is_reduce)][job as usize];
            *left -= 1;
            if *left == 0 {
                opening.push((job, true));
            }
        }
    }
    plan.makespan = plan.ends.iter().copied().max().unwrap_or(0);
    plan.required = steps.into_iter().map(|(at, tasks)| (plan.makespan - at, tasks)).collect();
    plan.priorities = priorities;
    plan
}

/// The planner. It knows no limit: everything is as fast as can be, on as many slots as there are.
#[derive(Clone, Copy, Debug)]
pub struct ByProgress(pub Priority);

impl Plan for ByProgress {
    fn for_budget(&self, asked: &Asked<'_>, _: u64) -> Planned {
        let stages = asked.stages();
        let fastest = stages.figures(stages.fastest());
        let times = |stage| stages.tasks(stage).map(|task| stages.row(&fastest.ranks, task).time).collect();
        let jobs: Vec<Job> =
            (0..stages.len() as u32).map(|stage| Job { maps: times(stage), reduces: Vec::new() }).collect();
        let plan = progress(stages.graph(), &jobs, Slots { map: asked.slots, reduce: 1 }, self.0);
        Planned::unproven(Decided::Types(Assigned { makespan: plan.makespan, ..fastest }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_jobs() {
        let graph = Graph::new(5, vec![(0, 1), (1, 2), (0, 3), (3, 4), (1, 4)]).unwrap();
        let jobs: Vec<Job> = [3, 1, 9, 2, 2].map(|time| Job { maps: vec![time], reduces: vec![1] }).into();
        let by = |by| priorities(&graph, &jobs, by);
        assert_eq!(by(Priority::Level), [2, 1, 0, 1, 0]);
        assert_eq!(by(Priority::EntryLevel), [0, 1, 2, 1, 2]);
        assert_eq!(by(Priority::LongestWay), [16, 12, 10, 6, 3]);
        assert_eq!(by(Priority::Descendants), [4, 2, 0, 1, 0]);
    }

    #[test]
    fn jobs_without_tasks_take_no_time() {
        let graph = Graph::new(3, vec![(0, 1), (1, 2)]).unwrap();
        let job = |maps: &[u64], reduces: &[u64]| Job { maps: maps.to_vec(), reduces: reduces.to_vec() };
        let jobs = [job(&[4, 4, 4], &[]), job(&[], &[]), job(&[], &[5])];
        let plan = progress(&graph, &jobs, Slots { map: 2, reduce: 1 }, Priority::Level);
        assert_eq!((plan.ends, plan.makespan), (vec![8, 8, 13], 13));
        assert_eq!(plan.required, [(13, 2), (9, 3), (5, 4)]);
    }
}
