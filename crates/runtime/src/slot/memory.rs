//! What memory has to do with an attempt: it is held to what it says it needs, and if the kernel has killed it, that is told.

use throng_core::trace::Outcome;

use super::{Job, SlotRunner, Trouble};
use crate::fence::Fence;
use crate::process::Exit;

impl SlotRunner<'_> {
    /// Holds an attempt to the memory that it says it needs, where that can be done.
    pub(super) fn fence_in(&mut self, job: Job) {
        let bytes = self.shared.flow.demand(job.demand).memory_bytes;
        // In a container, it is the engine of containers that starts it.
        let is_ours = bytes > 0 && self.shared.flow.container(job.task).is_none();
        self.fence = if is_ours { self.shared.fences.make(bytes) } else { None };
    }

    /// What to say of an attempt that failed, if memory has something to do with it.
    pub(super) fn ended_in_vain(&mut self, job: Job, exit: Exit, outcome: Outcome) -> Trouble {
        let shared = self.shared;
        let in_fence = self.fence.as_ref().map_or(0, Fence::kills);
        if in_fence > 0 {
            // The kernel has counted them among all others, too.
            shared.kills.explain(in_fence);
            let megabytes = shared.flow.demand(job.demand).memory_bytes as f64 / 1e6;
            let remark = format!(
                "it held more than the {megabytes:.0} MB that it says it needs (`memory`), and the kernel killed it"
            );
            return Trouble { outcome, remark };
        }
        // A shell tells of a child that was killed by such a code. What a container is allowed is not known here.
        let was_killed = matches!(exit, Exit::Signal(libc::SIGKILL)) || exit == Exit::Code(128 + libc::SIGKILL);
        let is_ours = shared.flow.container(job.task).is_none();
        if was_killed && is_ours && shared.learns_memory && shared.kills.explain(1) {
            let remark = "memory had run out, and the kernel killed it".to_owned();
            return Trouble { outcome: Outcome::OutOfMemory, remark };
        }
        Trouble { outcome, remark: String::new() }
    }
}
