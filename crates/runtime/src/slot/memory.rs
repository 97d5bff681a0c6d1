//! What memory has to do with an attempt: it is held to what it says it needs, and if the kernel has killed it, that is told.
//!
//! Within its control group a task can be killed because it took more than it says, or because the machine, or a group around it, had run out.
//! The first is its own doing and would happen again; the second is not, and it is treated like anybody who is killed for that.

use std::sync::atomic::Ordering;

use throng_core::trace::Outcome;

use super::{Job, SlotRunner, Trouble};
use crate::fence::Fence;
use crate::process::Exit;

/// Whose doing it is that the kernel has killed somebody in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blame {
    /// The attempt's: it held more than it says.
    Task,
    /// Not the attempt's: memory had run out.
    Others,
    /// It may not have been for memory.
    Unknown,
}

fn blame(kills_in_fence: u64, fence_was_full: bool) -> Blame {
    match (kills_in_fence, fence_was_full) {
        (0, _) => Blame::Unknown,
        (_, true) => Blame::Task,
        (_, false) => Blame::Others,
    }
}

impl SlotRunner<'_> {
    /// Holds an attempt to the memory that it says it needs, where that can be done.
    pub(super) fn fence_in(&mut self, job: Job) {
        let shared = self.shared;
        let bytes = Some(shared.flow.demand(job.demand).memory_bytes).filter(|bytes| *bytes > 0);
        let is_wanted = bytes.is_some() || shared.may_run_out.load(Ordering::Relaxed);
        // In a container, it is the engine of containers that starts it.
        let is_ours = is_wanted && shared.flow.container(job.task).is_none();
        self.fence = if is_ours { shared.fences.make(bytes) } else { None };
    }

    /// Whether the kernel has killed a part of an attempt, as far as that can be told.
    pub(super) fn has_lost_a_part(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| fence.kills() > 0)
    }

    /// What to say of an attempt that failed, or of which a part was killed, if memory has something to do with it.
    pub(super) fn ended_in_vain(&mut self, job: Job, exit: Exit, outcome: Outcome) -> Trouble {
        let shared = self.shared;
        let in_fence = self.fence.as_ref().map_or(0, Fence::kills);
        let blame = blame(in_fence, self.fence.as_ref().is_some_and(Fence::was_full));
        if blame != Blame::Unknown {
            // The kernel has counted them among all others, too.
            shared.kills.explain(in_fence);
        }
        if blame == Blame::Task {
            let megabytes = shared.flow.demand(job.demand).memory_bytes as f64 / 1e6;
            let remark = format!(
                "it held more than the {megabytes:.0} MB that it says it needs (`memory`), and the kernel killed it or a part of it"
            );
            return Trouble { outcome, remark };
        }
        // A shell tells of a child that was killed by such a code. What a container is allowed is not known here.
        let was_killed = matches!(exit, Exit::Signal(libc::SIGKILL)) || exit == Exit::Code(128 + libc::SIGKILL);
        let is_ours = shared.flow.container(job.task).is_none();
        let can_be = || was_killed && is_ours && shared.learns_memory && shared.kills.explain(1);
        if blame == Blame::Others || can_be() {
            let remark = "memory had run out, and the kernel killed it".to_owned();
            // Only where memory is learnt does anybody wait for room.
            let outcome = if shared.learns_memory { Outcome::OutOfMemory } else { outcome };
            return Trouble { outcome, remark };
        }
        Trouble { outcome, remark: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_to_blame_for_its_own_limit_only() {
        assert_eq!(blame(2, true), Blame::Task);
        assert_eq!(blame(2, false), Blame::Others);
        assert_eq!((blame(0, true), blame(0, false)), (Blame::Unknown, Blame::Unknown));
    }
}
