//! One thing after the other: tasks in an order in which each stands right after all that it needs.

use super::serial::Precedence;
use crate::ids::TaskId;

/// For each task its place when every end of the workflow is worked towards in turn, and for each task on the way first what it
/// waits for.
pub fn places(graph: &dyn Precedence, tasks: usize) -> Vec<u32> {
    let mut parents: Vec<Vec<u32>> = vec![Vec::new(); tasks];
    let mut ends = Vec::new();
    for task in 0..tasks {
        let children = graph.children(TaskId::at(task));
        children.iter().for_each(|child| parents[child.index()].push(task as u32));
        if children.is_empty() {
            ends.push(task as u32);
        }
    }
    let mut places = vec![u32::MAX; tasks];
    let mut next = 0;
    // Tasks on the way, with how many of their parents have been seen to.
    let mut way: Vec<(u32, usize)> = Vec::new();
    let mut is_seen = vec![false; tasks];
    for end in ends {
        way.push((end, 0));
        is_seen[end as usize] = true;
        while let Some((task, seen_to)) = way.last_mut() {
            match parents[*task as usize].get(*seen_to) {
                Some(parent) => {
                    *seen_to += 1;
                    if !std::mem::replace(&mut is_seen[*parent as usize], true) {
                        way.push((*parent, 0));
                    }
                }
                None => {
                    places[*task as usize] = next;
                    next += 1;
                    way.pop();
                }
            }
        }
    }
    places
}
