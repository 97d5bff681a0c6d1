//! How the program ends: codes that scripts can trust, and one clear message when it goes wrong.

use std::fmt::Display;
use std::io::IsTerminal;
use std::process::ExitCode;

use crate::words;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// All is done.
    Done = 0,
    /// Some task failed.
    TaskFailed = 1,
    /// The input is bad, or cannot run here.
    BadInput = 2,
    /// Somebody stopped it; it can be resumed.
    Interrupted = 3,
    /// Throng itself, or the machine under it, failed.
    Internal = 4,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(code as u8)
    }
}

/// A message and how the program ends with it.
#[derive(Debug)]
pub struct Failure {
    /// How it ends.
    pub code: Code,
    /// What went wrong, ready to print.
    message: String,
}

impl Failure {
    /// The user has to change something.
    pub fn bad_input(what: impl Display, remedy: impl Display) -> Failure {
        Failure { code: Code::BadInput, message: with_remedy(&what, &remedy) }
    }

    /// The machine or Throng has to change something.
    pub fn internal(what: impl Display, remedy: impl Display) -> Failure {
        Failure { code: Code::Internal, message: with_remedy(&what, &remedy) }
    }

    /// Bad input whose message is complete.
    pub fn rendered(message: String) -> Failure {
        Failure { code: Code::BadInput, message }
    }

    /// Prints the message.
    pub fn print(&self) {
        note!("{}", self.message);
    }
}

fn with_remedy(what: &dyn Display, remedy: &dyn Display) -> String {
    // Names in a message may come from files of others, and must not move anybody's cursor.
    let [what, remedy] = [what.to_string(), remedy.to_string()].map(|text| words::printable_lines(&text));
    let (red, plain) = if std::io::stderr().is_terminal() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    format!("{red}error{plain}: {what}\n  = help: {remedy}")
}

/// Makes a bug, in whatever thread, end the program as an internal error: nothing goes on half-way. Tasks that are
/// left running are ended by the next run.
pub fn on_panic() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        show(about);
        note!("this is a bug in Throng: please report it; what was finished is kept, and the next run goes on");
        std::process::exit(Code::Internal as i32);
    }));
}
