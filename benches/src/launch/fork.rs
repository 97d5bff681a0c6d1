//! `fork`: what a program pays when its page tables are copied for every child.

use std::io;

use super::{CANNOT_EXECUTE, Image};

pub(super) fn start(image: &Image<'_>) -> io::Result<libc::pid_t> {
    // SAFETY: the child calls nothing but `execve` and `_exit`, which are async-signal-safe.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the child has a copy of the strings and vectors; `_exit` does not return.
        unsafe {
            libc::execve(image.program.as_ptr(), image.arguments.cast(), image.environment.cast());
            libc::_exit(CANNOT_EXECUTE);
        }
    }
    if child < 0 { Err(io::Error::last_os_error()) } else { Ok(child) }
}
