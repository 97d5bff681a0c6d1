//! Why a schedule takes as long as it does: from its last task back, what each of them waited for.

use super::super::graph::Graph;
use super::schedule::{Run, Schedule};

/// What a task waited for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It begins with the run.
    ForNothing,
    /// Its instance had to start.
    ForMachine,
    /// A task that it needs, and then for data.
    ForTask {
        /// Which one.
        task: u32,
        /// How long after that it began: its data had to come.
        data_ns: u64,
    },
    /// Another task had to end on its instance.
    ForRoom {
        /// Which one.
        task: u32,
    },
}

/// A task that makes the run as long as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Which one.
    pub task: u32,
    /// What it waited for.
    pub waited: Waited,
}

impl Schedule {
    /// The tasks that make the run as long as it is, the last one first.
    pub fn chain(&self, graph: &Graph) -> Vec<Link> {
        let mut chain = Vec::new();
        let mut ends: Vec<(u32, u64, u32)> =
            self.runs.iter().enumerate().map(|(task, run)| (run.instance, run.end, task as u32)).collect();
        ends.sort_unstable();
        let last = (0..self.runs.len() as u32).max_by_key(|task| (self.runs[*task as usize].end, u32::MAX - task));
        let mut next = last;
        while let Some(task) = next {
            let waited = self.waited(graph, &ends, task);
            chain.push(Link { task, waited });
            next = match waited {
                Waited::ForTask { task, .. } | Waited::ForRoom { task } => Some(task),
                Waited::ForNothing | Waited::ForMachine => None,
            };
        }
        chain
    }

    fn waited(&self, graph: &Graph, ends: &[(u32, u64, u32)], task: u32) -> Waited {
        let Run { instance, begin, .. } = self.runs[task as usize];
        if begin == 0 {
            return Waited::ForNothing;
        }
        let end = |task: &u32| self.runs[*task as usize].end;
        let parent = graph.parents(task).iter().copied().max_by_key(|parent| (end(parent), u32::MAX - parent));
        if let Some(parent) = parent.filter(|parent| end(parent) == begin) {
            return Waited::ForTask { task: parent, data_ns: 0 };
        }
        // Somebody on the same instance who ended when it began, and was not over in no time.
        let place = ends.partition_point(|(at, end, _)| (*at, *end) < (instance, begin));
        let there = ends[place..].iter().take_while(|(at, end, _)| (*at, *end) == (instance, begin));
        let before = there.map(|(_, _, other)| *other).find(|other| self.runs[*other as usize].begin < begin);
        match (before, parent) {
            (Some(task), _) => Waited::ForRoom { task },
            (None, Some(task)) => Waited::ForTask { task, data_ns: begin - end(&task) },
            (None, None) => Waited::ForMachine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What made a run as long as it is: tasks are instances, begins and ends.
    fn chain(runs: &[(u32, u64, u64)], edges: &[(u32, u32)]) -> Vec<(u32, Waited)> {
        let runs = runs.iter().map(|(instance, begin, end)| Run { instance: *instance, begin: *begin, end: *end });
        let schedule = Schedule { runs: runs.collect(), ..Schedule::default() };
        let graph = Graph::new(schedule.runs.len(), edges.to_vec()).unwrap();
        schedule.chain(&graph).into_iter().map(|Link { task, waited }| (task, waited)).collect()
    }

    const fn data(task: u32, data_ns: u64) -> Waited {
        Waited::ForTask { task, data_ns }
    }

    const fn room(task: u32) -> Waited {
        Waited::ForRoom { task }
    }

    #[test]
    fn whatever_a_task_may_wait_for() {
        let runs = [(0, 60, 100), (0, 100, 200), (1, 230, 300), (1, 300, 400), (2, 0, 399)];
        let links = [(3, data(2, 0)), (2, data(1, 30)), (1, room(0)), (0, Waited::ForMachine)];
        assert_eq!(chain(&runs, &[(1, 2), (2, 3)]), links);
        let runs = [(0, 0, 100), (0, 100, 200)];
        assert_eq!(chain(&runs, &[]), [(1, room(0)), (0, Waited::ForNothing)]);
        assert_eq!(chain(&[], &[]), []);
    }

    #[test]
    fn the_parent_that_ends_last_is_waited_for() {
        let runs = [(0, 0, 50), (1, 0, 90), (2, 0, 70), (3, 95, 100)];
        let waited = |edges: &[(u32, u32)]| chain(&runs, edges)[0];
        assert_eq!(waited(&[(0, 3), (1, 3), (2, 3)]), (3, data(1, 5)));
        assert_eq!(waited(&[(0, 3), (2, 3)]), (3, data(2, 25)));
        assert_eq!(waited(&[]), (3, Waited::ForMachine));
    }

    #[test]
    fn of_equals_the_first() {
        assert_eq!(chain(&[(0, 0, 9), (1, 0, 9)], &[]), [(0, Waited::ForNothing)]);
        let runs = [(0, 0, 9), (1, 0, 9), (2, 9, 10)];
        assert_eq!(chain(&runs, &[(0, 2), (1, 2)])[0], (2, data(0, 0)));
    }

    #[test]
    fn a_task_waits_for_room_where_it_runs_and_not_for_what_took_no_time() {
        // Its parent has ended long before; somebody ends when it begins.
        let edges = [(0, 2)];
        assert_eq!(chain(&[(1, 0, 20), (0, 10, 50), (0, 50, 90)], &edges)[0], (2, room(1)));
        assert_eq!(chain(&[(1, 0, 20), (3, 10, 50), (0, 50, 90)], &edges)[0], (2, data(0, 30)), "not there");
        assert_eq!(chain(&[(1, 0, 20), (0, 10, 49), (0, 50, 90)], &edges)[0], (2, data(0, 30)), "not then");
        assert_eq!(chain(&[(1, 0, 20), (0, 50, 50), (0, 50, 90)], &edges)[0], (2, data(0, 30)), "for no time");
        let runs = [(1, 0, 20), (0, 50, 50), (0, 50, 90), (0, 30, 50)];
        assert_eq!(chain(&runs, &edges)[0], (2, room(3)), "one of those that end then took its time");
        assert_eq!(
            chain(&[(1, 0, 50), (0, 10, 50), (0, 50, 90)], &edges)[0],
            (2, data(0, 0)),
            "who is needed comes first"
        );
    }
}
