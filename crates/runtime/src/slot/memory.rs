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
        if bytes == 0 || self.shared.flow.container(job.task).is_some() {
            self.fence = None;
            return;
        }
        let fence = self.fence.take().or_else(|| self.shared.fences.make(self.slot.0));
        self.fence = fence.and_then(|mut fence| fence.hold_to(bytes).then_some(fence));
    }

    /// What to say of an attempt that failed, if memory has something to do with it.
    pub(super) fn ended_in_vain(&mut self, job: Job, exit: Exit, outcome: Outcome) -> Trouble {
        let remark = String::new();
        if self.fence.as_mut().is_some_and(Fence::was_overrun) {
            // The kernel has counted it, too.
            self.shared.kills.explain_one();
            let bytes = self.shared.flow.demand(job.demand).memory_bytes;
            let remark = format!(
                "it held more than the {:.0} MB that it says it needs (`memory`), and the kernel killed it",
                bytes as f64 / 1e6
            );
            return Trouble { outcome, remark };
        }
        // A shell tells of a child that was killed by such a code.
        let was_killed = matches!(exit, Exit::Signal(libc::SIGKILL)) || exit == Exit::Code(128 + libc::SIGKILL);
        if was_killed && self.shared.kills.explain_one() {
            let remark = "memory had run out, and the kernel killed it".to_owned();
            return Trouble { outcome: Outcome::OutOfMemory, remark };
        }
        Trouble { outcome, remark }
    }
}
