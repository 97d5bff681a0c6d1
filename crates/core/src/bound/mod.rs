//! The least time in which tasks of given lengths could have run: by this a run is measured.
//!
//! Three things cannot be got round: the work has to be shared among the slots, what of it is computing among the cores, and tasks
//! that wait for each other run one after the other. The largest of them is the bound. No schedule beats it, and the best one
//! may still be slower, so a run that comes close to it is certainly a good one.
//!
//! That bound knows nothing of data. With [`Moving`], the way through the graph takes as long as it must with the data that has to
//! be moved wherever tasks run. [`Analytic`] is what the literature expects: it also counts waiting in a queue and moving what a task
//! reads, for as many machines as anyone could wish.

mod analytic;
mod expected;
mod moving;
mod parents;

pub use analytic::{Analytic, Case, Cost, queue_wait};
pub use expected::{expected_at_hand_seconds, expected_seconds};
pub use moving::{Lies, Moving};
pub use parents::{Circular, Edge, Parents};

use crate::ids::TaskId;
use crate::workflow::Workflow;

/// What a run cannot be faster than.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowerBound {
    /// The lengths of all tasks together.
    pub work_ns: u128,
    /// How many of them may run at once.
    pub slots: u32,
    /// The longest way through the graph, by the lengths of the tasks on it.
    pub chain_ns: u64,
    /// What tasks computed, shared evenly among the cores: where there may be many more slots than cores, this is what counts. Nothing if
    /// it is not known.
    pub cores_ns: u64,
}

impl LowerBound {
    /// The bound for a workflow whose tasks take this long; those that do not run take nothing.
    pub fn of(flow: &Workflow, slots: u32, length_ns: impl Fn(TaskId) -> u64) -> LowerBound {
        let work_ns = flow.tasks().map(|task| u128::from(length_ns(task))).sum();
        let mut begins = vec![0u64; flow.task_count()];
        let mut chain_ns = 0;
        for task in flow.topological() {
            let end = begins[task.index()].saturating_add(length_ns(task));
            chain_ns = chain_ns.max(end);
            for child in flow.children(task) {
                let begin = &mut begins[child.index()];
                *begin = end.max(*begin);
            }
        }
        LowerBound { work_ns, slots, chain_ns, cores_ns: 0 }
    }

    /// The same for tasks that were seen to compute so much, on so many cores; none are not known.
    pub fn computing(self, core_us: u128, cores: u32) -> LowerBound {
        let share_us = core_us.checked_div(u128::from(cores)).unwrap_or(0);
        LowerBound { cores_ns: u64::try_from(share_us * 1_000).unwrap_or(u64::MAX), ..self }
    }

    /// The work shared evenly among the slots.
    pub fn share_ns(&self) -> u64 {
        let share = self.work_ns.div_ceil(u128::from(self.slots.max(1)));
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// The bound itself.
    pub fn ns(&self) -> u64 {
        self.share_ns().max(self.chain_ns).max(self.cores_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn the_larger_of_work_and_chain() {
        let text =
            "tasks: { a: { noop: true }, b: { noop: true, after: a }, c: { noop: true, after: a }, d: { noop: true } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let lengths = [5, 3, 4, 1];
        let bound = |slots| LowerBound::of(&flow, slots, |task| lengths[task.index()]);
        assert_eq!(bound(1), LowerBound { work_ns: 13, slots: 1, chain_ns: 9, cores_ns: 0 });
        assert_eq!([bound(1).ns(), bound(2).ns(), bound(3).ns()], [13, 9, 9]);
        // Eight slots, but they compute 22 µs together, on two cores.
        assert_eq!([bound(8).computing(22, 2).ns(), bound(8).computing(22, 0).ns()], [11_000, 9]);
        assert_eq!(LowerBound::of(&Workflow::default(), 4, |_| 7).ns(), 0);
    }
}
