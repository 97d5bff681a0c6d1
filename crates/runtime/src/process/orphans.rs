//! Processes that have outlived their task.
//!
//! The engine is made the one to whom the kernel gives children whose parent has ended. So it knows when a
//! task has left a process behind that even left its group: that process may still hold the slot's scratch
//! file, which must then not be used for the next task. And nothing is left a zombie.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The children that the engine has not started itself. They fall to its first thread, which starts none.
#[derive(Debug)]
pub struct Orphans {
    list: Option<File>,
}

impl Orphans {
    /// Begins to take care of orphans.
    pub fn adopt() -> Self {
        let own = rustix::process::getpid();
        let adopted = rustix::process::set_child_subreaper(Some(own)).is_ok();
        let path = format!("/proc/self/task/{}/children", own.as_raw_nonzero());
        // Without it, which is only the case on unusual kernels, a stray process may print into a later task's log.
        Orphans { list: File::open(path).ok().filter(|_| adopted) }
    }

    /// Whether there is any.
    pub fn are_there(&self) -> bool {
        let mut first = [0];
        self.list.as_ref().is_some_and(|list| list.read_at(&mut first, 0).is_ok_and(|length| length > 0))
    }

    /// Forgets those that have ended.
    pub fn reap(&self) {
        let mut bytes = [0; 4096];
        let Some(length) = self.list.as_ref().and_then(|list| list.read_at(&mut bytes, 0).ok()) else { return };
        // The last number is whole only if there is a space after it.
        let whole = bytes[..length].iter().rposition(|byte| *byte == b' ').unwrap_or(0);
        let pids = std::str::from_utf8(&bytes[..whole]).unwrap_or("").split_whitespace();
        for pid in pids.filter_map(|pid| pid.parse::<i32>().ok()) {
            // SAFETY: waitpid writes nothing here.
            unsafe {
                libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG);
            }
        }
    }
}
