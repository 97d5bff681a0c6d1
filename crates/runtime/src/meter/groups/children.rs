//! Who has which children: the kernel names them for each thread of a process, where it was built to.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// As much as the kernel gives at once; where that were less than a page, it could cut a number in two.
const PAGE: usize = 4096;

/// The children of one thread, in a file that stays open.
#[derive(Debug)]
pub(super) struct Children {
    file: File,
}

impl Children {
    /// Those of a thread; nothing if it has ended, or if the kernel does not tell.
    pub(super) fn of_thread(process: u32, thread: u32) -> Option<Children> {
        let file = File::open(format!("/proc/{process}/task/{thread}/children")).ok()?;
        Some(Children { file })
    }

    /// Adds those that there are now.
    pub(super) fn read(&self, found: &mut Vec<i32>) {
        let (mut text, mut at) = ([0; PAGE], 0);
        // A thread that has ended has none.
        while let Ok(length @ 1..) = self.file.read_at(&mut text, at) {
            let numbers = text[..length].split(|byte| *byte == b' ');
            found.extend(numbers.filter_map(|number| std::str::from_utf8(number).ok()?.parse::<i32>().ok()));
            at += length as u64;
        }
    }
}

/// Adds the children of all threads of a process but its first one.
pub(super) fn of_other_threads(process: u32, found: &mut Vec<i32>) {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let threads = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = threads.filter(|thread| *thread != process);
    others.filter_map(|thread| Children::of_thread(process, thread)).for_each(|children| children.read(found));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_every_thread_are_found() {
        // Tests need not run in threads of their own.
        std::thread::spawn(children_of_this_thread_are_found).join().unwrap();
    }

    fn children_of_this_thread_are_found() {
        let own = std::process::id();
        let Some(first) = Children::of_thread(own, own) else { return };
        let mut cats: Vec<_> = (0..3).map(|_| Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()).collect();
        let pids: Vec<i32> = cats.iter().map(|child| child.id() as i32).collect();
        let (mut others, mut own_first) = (Vec::new(), Vec::new());
        of_other_threads(own, &mut others);
        first.read(&mut own_first);
        assert!(pids.iter().all(|pid| others.contains(pid) && !own_first.contains(pid)), "{pids:?} {others:?}");
        let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let kept = Children::of_thread(own, thread).unwrap();
        for child in &mut cats {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        let mut left = Vec::new();
        kept.read(&mut left);
        assert!(left.is_empty(), "{left:?}");
    }
}
