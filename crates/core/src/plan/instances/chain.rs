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
