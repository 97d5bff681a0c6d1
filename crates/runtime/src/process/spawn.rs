//! Starting a process as cheaply as Linux allows.
//!
//! `clone(CLONE_VM | CLONE_VFORK)`: the child borrows the engine's memory until it has become the new
//! program, so a large engine starts tasks as fast as a small one. This is what `posix_spawn` does inside,
//! less a new stack and some sixty calls to look at every signal each time: about a tenth faster here
//! (`benches/RESULTS.md`). And the child itself can note its number where the next engine will look for
//! it, so that no moment exists in which it runs and is not on record.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::Ordering;

use super::ENGINE_SIGNALS;
use super::table::SlotCell;

/// Enough for the few calls between `clone` and `execve`; the kernel needs none of it.
const STACK_BYTES: usize = 64 * 1024;

/// What to start, and how.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The file of the program.
    pub program: &'a CStr,
    /// Its arguments, ended by a null.
    pub arguments: &'a [*const c_char],
    /// Its environment, ended by a null.
    pub environment: &'a [*const c_char],
    /// The directory that it runs in.
    pub directory: BorrowedFd<'a>,
    /// What it reads.
    pub input: BorrowedFd<'a>,
    /// Where its output goes.
    pub output: BorrowedFd<'a>,
    /// Where its error output goes.
    pub errors: BorrowedFd<'a>,
    /// How many files it may open.
    pub files_limit: libc::rlimit,
    /// The file by which it joins a control group.
    pub group: Option<BorrowedFd<'a>>,
    /// Where it notes its number.
    pub cell: &'a SlotCell,
}

/// Where memory runs out, a task goes before the engine that could start it again. The kernel's scale ends at 1000.
const KILLED_FIRST: &[u8] = b"500";

/// Starts processes, one at a time.
#[derive(Debug)]
pub struct Launcher {
    stack: Vec<u128>,
}

impl Default for Launcher {
    fn default() -> Self {
        Launcher { stack: vec![0; STACK_BYTES / size_of::<u128>()] }
    }
}

/// What the child needs; it lies in the parent's memory, which the child shares.
struct Order<'a> {
    launch: &'a Launch<'a>,
    error: c_int,
}

impl Launcher {
    /// Starts a process in a group of its own and returns its number.
    ///
    /// Signals must be blocked and have no handlers (see [`super::take_over_signals`]): the child would run
    /// them in the engine's memory, and would pass on what is ignored.
    pub fn launch(&mut self, launch: &Launch<'_>) -> io::Result<i32> {
        debug_assert!(launch.arguments.last().is_some_and(|last| last.is_null()));
        debug_assert!(launch.environment.last().is_some_and(|last| last.is_null()));
        let mut order = Order { launch, error: 0 };
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child runs `become_program` on a stack of its own while this thread is suspended
        // (CLONE_VFORK), so nothing it reads or writes is used by anybody else; other threads of the engine
        // go on, but the child touches only `order` and its cell. It calls nothing that allocates or locks.
        let pid = unsafe {
            let top = self.stack.as_mut_ptr_range().end.cast::<c_void>();
            libc::clone(become_program, top, flags, (&raw mut order).cast())
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        // The child wrote this before it ended or became its program; the compiler cannot know.
        // SAFETY: `order` is alive and initialised.
        let error = unsafe { (&raw const order.error).read_volatile() };
        if error != 0 {
            launch.cell.clear();
            // It has ended already.
            let _ = super::reap(pid, 0);
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(pid)
    }
}

/// Runs in the child, up to the moment when it becomes the program.
extern "C" fn become_program(order: *mut c_void) -> c_int {
    // SAFETY: only calls that POSIX allows between fork and exec, on values that the parent keeps alive.
    unsafe {
        let order = &mut *order.cast::<Order<'_>>();
        let launch = order.launch;
        launch.cell.pid.store(libc::getpid(), Ordering::Relaxed);
        order.error = 0;
        let mut check = |is_well: bool| {
            if !is_well && order.error == 0 {
                order.error = *libc::__errno_location();
            }
        };
        check(libc::setpgid(0, 0) == 0);
        // A Ctrl-C meant for the engine may have come before the line above: it is not for the task.
        let mut meant_for_engine = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut meant_for_engine);
        for signal in ENGINE_SIGNALS {
            libc::sigaddset(&mut meant_for_engine, signal);
        }
        let no_time = std::mem::zeroed::<libc::timespec>();
        while libc::sigtimedwait(&meant_for_engine, std::ptr::null_mut(), &no_time) > 0 {}
        check(libc::setrlimit(libc::RLIMIT_NOFILE, &launch.files_limit) == 0);
        check(libc::dup2(launch.input.as_raw_fd(), 0) >= 0);
        check(libc::dup2(launch.output.as_raw_fd(), 1) >= 0);
        check(libc::dup2(launch.errors.as_raw_fd(), 2) >= 0);
        check(libc::fchdir(launch.directory.as_raw_fd()) == 0);
        // Neither is worth failing for.
        if let Some(group) = launch.group {
            libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1);
        }
        let score = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if score >= 0 {
            libc::write(score, KILLED_FIRST.as_ptr().cast(), KILLED_FIRST.len());
            libc::close(score);
        }
        if order.error == 0 {
            let mut none = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            libc::execve(launch.program.as_ptr(), launch.arguments.as_ptr(), launch.environment.as_ptr());
            order.error = *libc::__errno_location();
        }
        libc::_exit(127)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Exit, SlotTable, look_at, reap, take_over_signals, wait_for_end};
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    fn start(program: &CStr, arguments: &[&CStr], output: &File, table: &SlotTable) -> io::Result<i32> {
        take_over_signals();
        let null = File::open("/dev/null").unwrap();
        let directory = File::open("/").unwrap();
        let mut pointers: Vec<*const c_char> = vec![program.as_ptr()];
        pointers.extend(arguments.iter().map(|argument| argument.as_ptr()));
        pointers.push(std::ptr::null());
        let environment = [c"GREETING=hello".as_ptr(), std::ptr::null()];
        Launcher::default().launch(&Launch {
            program,
            arguments: &pointers,
            environment: &environment,
            directory: directory.as_fd(),
            input: null.as_fd(),
            output: output.as_fd(),
            errors: output.as_fd(),
            files_limit: crate::host::allow_many_files(),
            group: None,
            cell: table.cell(0),
        })
    }

    #[test]
    fn a_process_runs_in_its_own_group_with_its_output_and_its_number_on_record() {
        let folder = tempfile::tempdir().unwrap();
        let table = SlotTable::create(&folder.path().join("slots"), 1).unwrap();
        let output = File::create(folder.path().join("output")).unwrap();
        let pid = start(c"/bin/sh", &[c"-c", c"echo $GREETING; pwd; sleep 0.05; exit 7"], &output, &table).unwrap();
        assert_eq!(table.cell(0).pid.load(Ordering::Relaxed), pid);
        assert_eq!(look_at(pid).unwrap().group, pid);
        wait_for_end(pid).unwrap();
        assert_eq!(reap(pid, 0).unwrap().0, Exit::Code(7));
        assert_eq!(std::fs::read_to_string(folder.path().join("output")).unwrap(), "hello\n/\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let table = SlotTable::create(&folder.path().join("slots"), 1).unwrap();
        let output = File::create(folder.path().join("output")).unwrap();
        let error = start(c"/no/such/program", &[], &output, &table).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(table.cell(0).pid.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn signals_are_as_a_program_expects_them() {
        let folder = tempfile::tempdir().unwrap();
        let table = SlotTable::create(&folder.path().join("slots"), 1).unwrap();
        let output = File::create(folder.path().join("output")).unwrap();
        let pid = start(c"/bin/sh", &[c"-c", c"grep -E 'SigBlk|SigIgn' /proc/self/status"], &output, &table).unwrap();
        wait_for_end(pid).unwrap();
        reap(pid, 0).unwrap();
        let text = std::fs::read_to_string(folder.path().join("output")).unwrap();
        let masks: Vec<u64> =
            text.lines().map(|line| u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap()).collect();
        // Whoever started the engine may have had signals ignored, as `nohup` does, and that is passed on.
        assert_eq!(masks[0], 0, "nothing is blocked");
        assert_eq!(masks[1] & (1 << (libc::SIGPIPE - 1)), 0, "a broken pipe ends a program");
    }
}
