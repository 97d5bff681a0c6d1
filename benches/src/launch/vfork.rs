//! `clone(CLONE_VM | CLONE_VFORK)`: the least the kernel can do, without `posix_spawn`'s signal
//! masking.
//!
//! The `vfork` function itself returns twice on one stack, which compiled Rust does not allow for.
//! `clone` runs a function on a stack of its own instead. The parent's thread sleeps until the
//! child has executed its program, so one stack per thread is enough. A signal handler of the parent
//! could run in the child, in the parent's memory; this program has none, so it need not mask signals.

use std::ffi::c_void;
use std::io;
use std::ptr;

use super::{CANNOT_EXECUTE, Image};

const STACK_BYTES: usize = 64 * 1024;
const GUARD_BYTES: usize = 4 * 1024;

/// A child's stack, with a page below it that faults instead of letting an overflow through.
pub(super) struct Stack {
    base: *mut c_void,
}

impl Stack {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: a new private mapping touches no other memory.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                GUARD_BYTES + STACK_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { base };
        // SAFETY: the first page belongs to the mapping made above.
        if unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// Stacks grow downwards, so a child starts at the end.
    fn top(&self) -> *mut c_void {
        self.base.wrapping_byte_add(GUARD_BYTES + STACK_BYTES)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no child runs on it any more.
        unsafe { libc::munmap(self.base, GUARD_BYTES + STACK_BYTES) };
    }
}

pub(super) fn start(image: &Image<'_>, stack: &Stack) -> io::Result<libc::pid_t> {
    // SAFETY: the stack is used by this thread's children only, one at a time. `image` stays
    // valid because this thread sleeps until the child has executed its program or ended.
    let child = unsafe {
        libc::clone(
            execute,
            stack.top(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            ptr::from_ref(image).cast_mut().cast(),
        )
    };
    if child < 0 { Err(io::Error::last_os_error()) } else { Ok(child) }
}

/// Runs in the child, inside the parent's memory: system calls only.
extern "C" fn execute(image: *mut c_void) -> libc::c_int {
    // SAFETY: `start` passes an `Image` that outlives this function.
    let image = unsafe { &*image.cast::<Image<'_>>() };
    // SAFETY: the pointers are those of a prepared image; `exit_group` does not return.
    unsafe {
        libc::syscall(libc::SYS_execve, image.program.as_ptr(), image.arguments, image.environment);
        libc::syscall(libc::SYS_exit_group, CANNOT_EXECUTE);
    }
    CANNOT_EXECUTE
}
