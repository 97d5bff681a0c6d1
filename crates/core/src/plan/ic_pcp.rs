//! IC-PCP (Abrishami, Naghibzadeh and Epema, "Deadline-constrained workflow scheduling algorithms for infrastructure as a service clouds", 2013): the cheapest
//! plan for a deadline, one partial critical path after the other.
//!
//! From the end of the workflow on, whoever keeps a task waiting longest, and whoever keeps that one waiting, and so on, are a path; all of it goes to the
//! cheapest type on which each of its tasks ends before it has to. Then the same for whoever keeps the tasks of that path waiting. A stage stands for its tasks
//! here. It loses where only one task of a path would have to be fast, and where several paths want the same slack: the first one takes all of it.

use std::collections::BTreeSet;

use super::planner::{Asked, Decided, Infeasible, Plan, Planned};
use super::stages::{Assigned, Ranks, Stages};

/// The planner.
#[derive(Clone, Copy, Debug)]
pub struct IcPcp;

/// So often a deadline is halved to find the earliest that a budget pays for.
const HALVES: u32 = 32;

impl Plan for IcPcp {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        let stages = asked.stages();
        let mut too_early = stages.makespan(&stages.fastest());
        let mut late_enough = stages.figures(stages.cheapest());
        for _ in 0..HALVES {
            if late_enough.makespan.saturating_sub(too_early) <= 1 || !(asked.may_go_on)() {
                break;
            }
            let middle = too_early + (late_enough.makespan - too_early) / 2;
            let planned = ic_pcp(stages, middle, asked.may_go_on);
            if planned.cost <= budget { late_enough = planned } else { too_early = middle }
        }
        Planned::unproven(Decided::Types(late_enough))
    }

    fn for_deadline(&self, asked: &Asked<'_>, deadline: u64) -> Result<Planned, Infeasible> {
        Ok(Planned::unproven(Decided::Types(ic_pcp(asked.stages(), deadline, asked.may_go_on))))
    }
}

/// Plans; the fastest plan keeps the deadline. Whoever has no machine when it may not go on stays on the fastest.
pub fn ic_pcp(stages: &Stages, deadline: u64, may_go_on: &dyn Fn() -> bool) -> Assigned {
    let mut paths = PartialPaths::new(stages, deadline);
    // Those behind which nobody waits stand before an end that is no task; whoever ends last comes first.
    let mut ends: Vec<u32> =
        (0..stages.len() as u32).filter(|stage| stages.graph().children(*stage).is_empty()).collect();
    ends.sort_by_key(|stage| (std::cmp::Reverse(paths.end(*stage)), *stage));
    for end in ends {
        let mut open = vec![end];
        while let Some(stage) = open.pop() {
            let path = paths.path_to(stage);
            if path.is_empty() {
                continue;
            }
            if !may_go_on() {
                return stages.figures(paths.ranks);
            }
            paths.assign(&path);
            // The stage may have others that keep it waiting, and so may each on the path.
            open.push(stage);
            open.extend(path);
        }
    }
    stages.figures(paths.ranks)
}

struct PartialPaths<'a> {
    stages: &'a Stages,
    /// How long each stage takes: as it was assigned, or on its fastest machines.
    times: Vec<u64>,
    is_assigned: Vec<bool>,
    /// When each can begin, and when it has to end.
    begins: Vec<u64>,
    latest: Vec<u64>,
    /// Where each stands in the order of the graph.
    place: Vec<u32>,
    ranks: Ranks,
}

impl<'a> PartialPaths<'a> {
    fn new(stages: &'a Stages, deadline: u64) -> PartialPaths<'a> {
        let (graph, ranks) = (stages.graph(), stages.fastest());
        let times = stages.times(&ranks);
        let ends = graph.ends(&times);
        let begins = ends.iter().zip(&times).map(|(end, time)| end - time).collect();
        let mut latest = vec![deadline; stages.len()];
        for &stage in graph.order().iter().rev() {
            let behind = graph.children(stage).iter().map(|child| latest[*child as usize] - times[*child as usize]);
            latest[stage as usize] = behind.min().unwrap_or(deadline);
        }
        let mut place = vec![0; stages.len()];
        graph.order().iter().enumerate().for_each(|(at, stage)| place[*stage as usize] = at as u32);
        PartialPaths { stages, times, is_assigned: vec![false; stages.len()], begins, latest, place, ranks }
    }

    fn end(&self, stage: u32) -> u64 {
        self.begins[stage as usize] + self.times[stage as usize]
    }

    /// The stages that keep a stage waiting, the first one first; itself, if it has no machines yet, last.
    fn path_to(&self, stage: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = if self.is_assigned[stage as usize] { self.critical_parent(stage) } else { Some(stage) };
        while let Some(stage) = at {
            path.push(stage);
            at = self.critical_parent(stage);
        }
        path.reverse();
        path
    }

    fn critical_parent(&self, stage: u32) -> Option<u32> {
        let parents = self.stages.graph().parents(stage).iter().copied();
        let open = parents.filter(|parent| !self.is_assigned[*parent as usize]);
        open.max_by_key(|parent| (self.end(*parent), std::cmp::Reverse(*parent)))
    }

    /// Gives a path the cheapest type with which every stage ends in time; if there is none, each stage stays on its fastest machines.
    fn assign(&mut self, path: &[u32]) {
        let machines = path.iter().flat_map(|stage| self.stages.tasks(*stage));
        let mut machines: Vec<u16> =
            machines.flat_map(|task| self.stages.table(task).rows().iter().map(|row| row.machine)).collect();
        machines.sort_unstable();
        machines.dedup();
        let mut options: Vec<(u64, Vec<(u32, u8)>)> =
            machines.into_iter().map(|machine| self.on(path, machine)).collect();
        options.sort();
        for (_, chosen) in options {
            let before: Vec<u8> = chosen.iter().map(|(task, _)| self.ranks[*task as usize]).collect();
            chosen.iter().for_each(|(task, rank)| self.ranks[*task as usize] = *rank);
            if self.begin_later(path) {
                break;
            }
            chosen.iter().zip(before).for_each(|((task, _), rank)| self.ranks[*task as usize] = rank);
        }
        path.iter().for_each(|stage| self.is_assigned[*stage as usize] = true);
        self.end_earlier(path);
    }

    /// What a path costs on a type, and the ranks of its tasks there.
    fn on(&self, path: &[u32], machine: u16) -> (u64, Vec<(u32, u8)>) {
        let (mut cost, mut chosen) = (0u64, Vec::new());
        for &stage in path {
            let tasks = || self.stages.tasks(stage);
            let on_type = |task| self.stages.table(task).rows().iter().find(|row| row.machine == machine);
            let slowest = tasks().filter_map(|task| Some(on_type(task)?.time)).max();
            for task in tasks() {
                let table = self.stages.table(task);
                // A machine that is dearer and slower than another for a task is none that anybody would give it.
                let rank = slowest.and_then(|slowest| table.within(slowest)).unwrap_or_else(|| table.fastest());
                cost += table.row(rank).price;
                chosen.push((task, rank));
            }
        }
        (cost, chosen)
    }

    /// The stages of a path have other ranks: whoever waits for them begins later. If then somebody ends too late, all is as before.
    fn begin_later(&mut self, path: &[u32]) -> bool {
        let graph = self.stages.graph();
        let before: Vec<u64> = path.iter().map(|stage| self.times[*stage as usize]).collect();
        for &stage in path {
            self.times[stage as usize] = self.stages.time(&self.ranks, stage);
        }
        let mut moved: Vec<(u32, u64)> = Vec::new();
        let mut open: BTreeSet<(u32, u32)> = path.iter().map(|stage| (self.place[*stage as usize], *stage)).collect();
        let mut is_in_time = true;
        while let Some((_, stage)) = open.pop_first().filter(|_| is_in_time) {
            let end = self.end(stage);
            is_in_time = end <= self.latest[stage as usize];
            for &child in graph.children(stage) {
                if self.begins[child as usize] < end {
                    moved.push((child, std::mem::replace(&mut self.begins[child as usize], end)));
                    open.insert((self.place[child as usize], child));
                }
            }
        }
        if !is_in_time {
            moved.into_iter().rev().for_each(|(stage, begin)| self.begins[stage as usize] = begin);
            path.iter().zip(before).for_each(|(stage, time)| self.times[*stage as usize] = time);
        }
        is_in_time
    }

    /// The stages of a path may take longer than they did: those before them have to end earlier.
    fn end_earlier(&mut self, path: &[u32]) {
        let graph = self.stages.graph();
        let mut open: BTreeSet<(u32, u32)> = path.iter().map(|stage| (self.place[*stage as usize], *stage)).collect();
        while let Some((_, stage)) = open.pop_last() {
            let latest = self.latest[stage as usize] - self.times[stage as usize];
            for &parent in graph.parents(stage) {
                if self.latest[parent as usize] > latest {
                    self.latest[parent as usize] = latest;
                    open.insert((self.place[parent as usize], parent));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{Row, Table};
    use super::*;

    #[test]
    fn what_need_not_be_fast_is_cheap() {
        // A long way of two stages beside a short one: 0 → 1 → 3, 2 → 3; two types, the second twice as fast for three times the money.
        let table = |time: u64| {
            let rows = [Row { time, price: time, machine: 0 }, Row { time: time / 2, price: time * 2, machine: 1 }];
            Table::of(rows).unwrap()
        };
        let tables = vec![table(40), table(20), table(10)];
        let tasks = [vec![0, 0], vec![0], vec![1], vec![2]];
        let stages = Stages::new(tables, tasks, vec![(0, 1), (1, 3), (2, 3)]).unwrap();
        assert_eq!(ic_pcp(&stages, 90, &|| true), stages.figures(stages.cheapest()));
        let fastest = ic_pcp(&stages, 45, &|| true);
        assert_eq!((fastest.makespan, &fastest.ranks), (45, &vec![1, 1, 1, 0, 1]), "who has time is cheap");
        for deadline in 45..90 {
            assert!(ic_pcp(&stages, deadline, &|| true).makespan <= deadline, "{deadline}");
        }
    }
}
