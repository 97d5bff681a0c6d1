//! Longest way to the end first: the task with the most tasks in a row behind it.
//!
//! The classic answer to "what will everybody wait for". Every task counts as one step here. It loses when
//! steps differ widely in length.

use std::sync::Arc;

use super::{ByClass, Order, Sorted};
use crate::workflow::Workflow;

/// The order.
pub(super) fn order(steps: Arc<Vec<u32>>) -> impl Order {
    ByClass::<Sorted, _>::new(move |task, arrival| (u64::from(steps[task.task.index()]), u64::MAX - arrival))
}

/// For each task, how many tasks there are on the longest way from it to an end, itself included.
pub(crate) fn steps_to_end(flow: &Workflow) -> Vec<u32> {
    let mut steps = vec![1; flow.task_count()];
    for task in flow.topological().into_iter().rev() {
        steps[task.index()] = 1 + flow.children(task).map(|child| steps[child.index()]).max().unwrap_or(0);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn steps() {
        let text = "tasks: { a: { noop: true }, b: { noop: true, after: a }, c: { noop: true, after: [a, b] }, d: { noop: true } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        assert_eq!(steps_to_end(&flow), [3, 2, 1, 1]);
    }
}
