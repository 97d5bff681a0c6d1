//! Printing that does not end a run.
//!
//! A terminal that has been closed, or a reader that has gone away as in `throng runs | head`, must not end
//! a run, so what nobody reads is dropped. That what was asked for could not be written, as on a full disk,
//! is an error all the same.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

use crate::exit::Code;

/// Prints a line on standard output: what was asked for.
macro_rules! tell {
    ($($part:tt)*) => { $crate::say::on_output(format_args!($($part)*)) };
}

/// Prints a line on standard error: everything else.
macro_rules! note {
    ($($part:tt)*) => { $crate::say::on_error(format_args!($($part)*)) };
}

/// See `tell!`.
pub fn on_output(line: Arguments<'_>) {
    end(writeln!(std::io::stdout().lock(), "{line}"));
}

/// Nobody minds a reader that has gone away; anything else is an error.
fn end(written: std::io::Result<()>) {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            on_error(format_args!("error: cannot write to standard output: {error}"));
            std::process::exit(Code::Internal as i32);
        }
        _ => {}
    }
}

/// Prints what is written bit by bit on standard output, as `tell!` would.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    end(write(&mut out).and_then(|()| out.flush()));
}

/// See `note!`.
pub fn on_error(line: Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
