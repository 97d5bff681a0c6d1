//! Printing that cannot fail.
//!
//! A terminal that has been closed, or a reader that has gone away as in `throng runs | head`, must not end
//! a run, so what cannot be printed is dropped.

/// Prints a line on standard output: what was asked for.
macro_rules! tell {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout().lock(), $($part)*);
    }};
}

/// Prints a line on standard error: everything else.
macro_rules! note {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr().lock(), $($part)*);
    }};
}
