//! What would follow if a task were next: the search of `gcs`.
//!
//! For each candidate, the rest of the workflow is played through: whenever a unit is free, the task starts that adds least; whenever none
//! is, or none is ready, the first of those that run ends. Nobody knows in which order running tasks end, so it is tried with each two
//! neighbours exchanged as well. A candidate is worth the least measure that any of these comes to.

use super::recency::Recency;
use super::serial::Precedence;
use crate::ids::TaskId;

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Whether neighbours among those that run are exchanged.
    pub swaps: bool,
    /// How many starts may be considered for one decision.
    pub steps: u64,
}

/// Where things stand before a decision.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// What has been used.
    pub recency: &'a Recency,
    /// For each task, how many parents have not ended.
    pub open: &'a [u32],
    /// Tasks that may start, in ascending order.
    pub ready: Vec<TaskId>,
    /// Tasks that run, in the order of their starts.
    pub running: Vec<TaskId>,
    /// How many run at once.
    pub units: usize,
}

/// So many tasks or items are copied in the time in which one start is considered.
const COPIED_IN_A_STEP: u64 = 64;

/// The worth of each ready task, less being better; none if the search would take too long.
pub fn scores(situation: &Situation<'_>, graph: &dyn Precedence, search: Search) -> Option<Vec<(TaskId, i128)>> {
    let mut steps = search.steps;
    let mut worth = Vec::new();
    for candidate in &situation.ready {
        let mut line = situation.running.clone();
        line.push(*candidate);
        let swaps = if search.swaps { line.len() - 1 } else { 0 };
        let mut least = complete(situation, graph, *candidate, line.clone(), &mut steps)?;
        for at in 0..swaps {
            let mut swapped = line.clone();
            swapped.swap(at, at + 1);
            least = least.min(complete(situation, graph, *candidate, swapped, &mut steps)?);
        }
        worth.push((*candidate, least));
    }
    Some(worth)
}

/// The measure at the end if a task starts now and those that run end in this order.
fn complete(
    situation: &Situation<'_>,
    graph: &dyn Precedence,
    candidate: TaskId,
    line: Vec<TaskId>,
    steps: &mut u64,
) -> Option<i128> {
    // To copy what is known takes time as well, if less for each.
    let copied = situation.open.len() + situation.recency.items().count();
    *steps = steps.checked_sub(copied as u64 / COPIED_IN_A_STEP)?;
    let mut recency = situation.recency.clone();
    let mut open = situation.open.to_vec();
    let mut ready: Vec<TaskId> = situation.ready.iter().copied().filter(|task| *task != candidate).collect();
    let mut line: std::collections::VecDeque<TaskId> = line.into();
    recency.start(candidate);
    loop {
        while line.len() < situation.units {
            *steps = steps.checked_sub(ready.len() as u64)?;
            let Some(at) = (0..ready.len()).min_by_key(|at| (recency.added_by(ready[*at]), ready[*at])) else { break };
            let next = ready.remove(at);
            recency.start(next);
            line.push_back(next);
        }
        let Some(ended) = line.pop_front() else { return Some(recency.total()) };
        for child in graph.children(ended) {
            let open = &mut open[child.index()];
            // What waits already has nothing open.
            if *open > 0 {
                *open -= 1;
                ready.extend(Some(child).filter(|_| *open == 0));
            }
        }
    }
}
