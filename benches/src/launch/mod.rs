//! Starting and reaping processes in the three ways that Linux offers, with nothing around them.
//!
//! The loop is the least any engine must do per task: make the arguments, start the program, wait
//! for it. Redirection, process groups, logs and bookkeeping are left out on purpose, so that the
//! difference to Throng's own rate is Throng's cost.

mod arguments;
mod fork;
mod posix_spawn;
mod vfork;

use std::ffi::{CStr, c_char};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

pub use arguments::{ArgumentTemplate, find_program};

/// What a child returns when the program cannot be executed, as in a shell.
const CANNOT_EXECUTE: libc::c_int = 127;

/// A way to start a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Method {
    /// The C library's `posix_spawn`, without file actions or attributes.
    PosixSpawn,
    /// `clone` with `CLONE_VM | CLONE_VFORK`: the child borrows the parent's memory until `execve`.
    Vfork,
    /// `fork`: the child gets a copy of the parent's page tables.
    Fork,
}

/// A program ready for `execve`: pointers into memory that outlives the start of the child.
#[derive(Clone, Copy)]
struct Image<'a> {
    program: &'a CStr,
    /// Null-terminated, as is `environment`.
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
}

/// What a loop of starts took.
#[derive(Debug)]
pub struct Outcome {
    /// From the moment all threads were ready until the last child was reaped.
    pub elapsed: Duration,
    /// How many children were killed or returned something other than 0.
    pub failures: u64,
}

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// Starts `count` processes from `threads` threads, each waiting for its child before the next.
pub fn run(
    method: Method,
    threads: usize,
    count: u64,
    program: &CStr,
    template: &ArgumentTemplate,
) -> io::Result<Outcome> {
    let next_index = AtomicU64::new(0);
    let failures = AtomicU64::new(0);
    let ready = Barrier::new(threads);
    let started = OnceLock::new();

    let work = || -> io::Result<()> {
        let starter = Starter::new(method);
        ready.wait();
        let starter = starter?;
        started.get_or_init(Instant::now);
        let mut arguments = template.prepare();
        loop {
            let index = next_index.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(());
            }
            let image = Image {
                program,
                arguments: arguments.pointers_for(index),
                // SAFETY: nothing in this program changes the environment.
                environment: unsafe { environ },
            };
            let child = starter.start(&image)?;
            if wait(child)? != 0 {
                failures.fetch_add(1, Ordering::Relaxed);
            }
        }
    };

    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker thread does not panic"))
    })?;

    Ok(Outcome { elapsed: started.get().map(Instant::elapsed).unwrap_or_default(), failures: failures.into_inner() })
}

/// A method together with what it needs once per thread.
enum Starter {
    PosixSpawn,
    Vfork(vfork::Stack),
    Fork,
}

impl Starter {
    fn new(method: Method) -> io::Result<Self> {
        Ok(match method {
            Method::PosixSpawn => Self::PosixSpawn,
            Method::Vfork => Self::Vfork(vfork::Stack::new()?),
            Method::Fork => Self::Fork,
        })
    }

    fn start(&self, image: &Image<'_>) -> io::Result<libc::pid_t> {
        match self {
            Self::PosixSpawn => posix_spawn::start(image),
            Self::Vfork(stack) => vfork::start(image, stack),
            Self::Fork => fork::start(image),
        }
    }
}

/// Waits for `child` and gives its raw status, which is 0 only for a normal exit with code 0.
fn wait(child: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place for the result.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [Method; 3] = [Method::PosixSpawn, Method::Vfork, Method::Fork];

    #[test]
    fn every_index_is_started_once() {
        for method in METHODS {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let program = find_program("touch").expect("touch is installed");
            let file = directory.path().join("{}");
            let file = file.to_str().expect("the path is UTF-8").to_owned();
            let template = ArgumentTemplate::new("touch", &[file]).expect("no zero bytes");
            let outcome = run(method, 2, 20, &program, &template).expect("touch starts");
            assert_eq!(outcome.failures, 0, "{method:?}");
            for index in 0..20 {
                let made = directory.path().join(index.to_string());
                assert!(made.exists(), "{method:?} {index}");
            }
        }
    }

    #[test]
    fn failures_are_counted() {
        let program = find_program("false").expect("false is installed");
        let template = ArgumentTemplate::new("false", &[]).expect("no zero bytes");
        for method in METHODS {
            let outcome = run(method, 2, 5, &program, &template).expect("false starts");
            assert_eq!(outcome.failures, 5, "{method:?}");
        }
    }
}
