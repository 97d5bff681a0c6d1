//! Who is given the tasks that may start at once.
//!
//! As many for each node as it has room for, and neighbours together: tasks that stand beside each other tend to be read by the same one. Each kind of
//! which there are enough is given out for itself, so that all nodes come to each kind at the same time, and tasks of
//! two kinds that work on the same thing tend to be on the same node.

use super::Abilities;
use crate::ids::{NodeId, TaskId};
use crate::workflow::Workflow;

/// Gives tasks without parents to nodes, in the order of their numbers.
#[derive(Clone, Debug)]
pub struct FirstOwners {
    /// What each node and all before it can do.
    capacities: Vec<u64>,
    /// How many tasks there are of each kind and how many have been given out; the last is for all kinds of which there are few.
    lines: Vec<(u64, u64)>,
    /// The line of each kind.
    line_of: Vec<usize>,
    /// How many tasks have gone to others than whose turn it was, who could not run them.
    misfits: u64,
}

impl FirstOwners {
    /// Counts what there is to give to nodes that can do so much, in whatever unit.
    pub fn new(flow: &Workflow, capacities: impl IntoIterator<Item = u64>) -> FirstOwners {
        let mut all = 0;
        let capacities: Vec<u64> = capacities
            .into_iter()
            .map(|capacity| {
                all += capacity;
                all
            })
            .collect();
        let mut lines = vec![(0, 0); flow.kind_count() + 1];
        for task in flow.tasks().filter(|task| flow.parent_count(*task) == 0) {
            lines[flow.kind(task).index()].0 += 1;
        }
        let rest = flow.kind_count();
        let mut line_of = Vec::with_capacity(rest);
        for kind in 0..rest {
            let is_enough = lines[kind].0 >= capacities.len() as u64;
            line_of.push(if is_enough { kind } else { rest });
            if !is_enough {
                lines[rest].0 += lines[kind].0;
            }
        }
        FirstOwners { capacities, lines, line_of, misfits: 0 }
    }

    /// The node that is given the next task: one that can run it, if there is any.
    pub fn next(&mut self, flow: &Workflow, abilities: &Abilities, task: TaskId) -> NodeId {
        let (count, given) = &mut self.lines[self.line_of[flow.kind(task).index()]];
        let all = self.capacities.last().copied().unwrap_or(0);
        let place = u128::from(*given) * u128::from(all) / u128::from((*count).max(1));
        *given += 1;
        let node = NodeId(self.capacities.partition_point(|capacity| u128::from(*capacity) <= place) as u32);
        let class = flow.class(task, 1);
        if abilities.can_run(node, class) {
            return node;
        }
        self.misfits += 1;
        abilities.in_turn(class, self.misfits).unwrap_or(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn neighbours_together_and_each_kind_for_itself() {
        let text = "tasks:\n  a: { noop: true, foreach: { i: 0..3 } }\n  b: { noop: true, foreach: { i: 0..1 } }\n  \
                    c: { noop: true }\n  d: { noop: true }\n  e: { noop: true, foreach: { i: 0..3 } }\n";
        let flow = Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap();
        let mut owners = FirstOwners::new(&flow, [2, 2, 2]);
        let all = Abilities::default();
        let given: Vec<u32> = flow.tasks().map(|task| owners.next(&flow, &all, task).0).collect();
        assert_eq!(given, [0, 0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2]);
        let mut owners = FirstOwners::new(&flow, [1, 3]);
        let given: Vec<u32> = flow.tasks().map(|task| owners.next(&flow, &all, task).0).collect();
        assert_eq!(given, [0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1], "a node that can do more gets more");
    }
}
