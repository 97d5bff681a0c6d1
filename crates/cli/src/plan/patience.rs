//! How long somebody waits for a plan, and what is shown meanwhile.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words;

/// What takes no longer than this needs no show.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// Drawn at most so many times a second.
const DRAWN_PER_SECOND: u8 = 5;

/// Asked by searches whether they may go on. The plan, what would be one, the curve and what is said about them each have as much time.
pub struct Patience {
    limit: Duration,
    begun: Cell<Instant>,
    is_over: Cell<bool>,
    /// Shows that something is done, on a terminal.
    shown: RefCell<Option<ProgressBar>>,
}

impl Patience {
    /// So much of it.
    pub fn new(limit: Duration) -> Patience {
        Patience { limit, begun: Cell::new(Instant::now()), is_over: Cell::new(false), shown: RefCell::new(None) }
    }

    /// Something else begins, and has as much time.
    pub fn again(&self) {
        self.begun.set(Instant::now());
    }

    /// Nothing is searched for now: there is something to read.
    pub fn rest(&self) {
        if let Some(shown) = self.shown.take() {
            shown.finish_and_clear();
        }
    }

    /// Whether somebody still waits.
    pub fn may_go_on(&self) -> bool {
        let passed = self.begun.get().elapsed();
        self.is_over.set(self.is_over.get() || passed >= self.limit);
        if passed >= SHOWN_AFTER {
            self.show(passed);
        }
        passed < self.limit
    }

    /// Whether something was given up for lack of it.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Says so, if it was.
    pub fn tell(&self) {
        if self.is_over() {
            let limit = words::duration(self.limit);
            note!("not all was tried within --patience {limit}: more of it may find better plans");
        }
    }

    fn show(&self, passed: Duration) {
        let mut shown = self.shown.borrow_mut();
        if shown.is_none() && std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAWN_PER_SECOND));
            bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is a constant"));
            *shown = Some(bar);
        }
        let Some(bar) = shown.as_ref() else { return };
        // Whole seconds: nobody counts others, and it is asked often.
        let message = format!("planning: {} of {} at most", seconds(passed), words::duration(self.limit));
        if bar.message() != message {
            bar.set_message(message);
            bar.tick();
        }
    }
}

fn seconds(passed: Duration) -> String {
    words::duration(Duration::from_secs(passed.as_secs()))
}
