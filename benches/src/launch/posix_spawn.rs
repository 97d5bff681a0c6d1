//! `posix_spawn` as the C library ships it; glibc builds it on `clone(CLONE_VM | CLONE_VFORK)`.

use std::io;
use std::ptr;

use super::Image;

pub(super) fn start(image: &Image<'_>) -> io::Result<libc::pid_t> {
    let mut child = 0;
    // SAFETY: the strings and both vectors outlive the call; null means no actions or attributes.
    let error = unsafe {
        libc::posix_spawn(
            &mut child,
            image.program.as_ptr(),
            ptr::null(),
            ptr::null(),
            image.arguments,
            image.environment,
        )
    };
    if error == 0 { Ok(child) } else { Err(io::Error::from_raw_os_error(error)) }
}
