//! How far a long simulation has come, on a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use throng_sim::Progress;

use crate::words;

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);
/// Drawn at most so many times a second.
const DRAWN_PER_SECOND: u8 = 10;

/// A bar that shows how far a simulation has come; it is gone when the simulation is over.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar for so many tasks, or things of another name, if anybody can see it.
    pub fn new(total: u64, things: &str) -> Option<Bar> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(DRAWN_PER_SECOND));
        let style = ProgressStyle::with_template(&format!("{{bar:24}} {{pos}}/{{len}} {things}  {{msg}}"));
        bar.set_style(style.expect("the template is a constant").progress_chars("━╸ "));
        Some(Bar { bar })
    }

    /// Whom the simulator tells.
    pub fn progress(&self) -> Progress {
        let bar = self.bar.clone();
        let mut next = Instant::now() + INTERVAL;
        Box::new(move |now, done| {
            if Instant::now() >= next {
                next = Instant::now() + INTERVAL;
                bar.set_position(done);
                bar.set_message(format!("{} simulated", words::seconds(now.as_secs_f64())));
            }
        })
    }

    /// One more is done.
    pub fn add_one(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
