//! `throng top`: a run, watched from another terminal while it goes on.
//!
//! ```text
//!   trace (growing) ── following ──▶ Board (counts) ──▶ Snapshot ──▶ screen | plain text | JSON
//!   /proc ─────────── machine ───────────────────────────┘
//! ```
//!
//! The engine is not asked: it writes its trace every few milliseconds anyway, and only what is new is read. Whoever
//! watches costs the run nothing, and a run of a million tasks is followed at the cost of its new entries.

mod board;
mod machine;
mod rate;
mod screen;
mod snapshot;
mod terminal;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use throng_core::workflow::{Workflow, quantity};
use throng_runtime::following::Following;
use throng_runtime::state::{About, RunDirectory, StateDirectory};

use crate::exit::{Code, Failure};
use crate::runs::{self, find_run};
use board::Board;
use machine::Machine;
use snapshot::Snapshot;
use terminal::{Key, Terminal};

/// What `throng top` takes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  throng top              watch the last run until it ends; q leaves it alone\n  throng top --once       how it stands now, as plain text"
)]
pub struct Arguments {
    /// The run, by its number or `last`
    #[arg(default_value = "last")]
    run: String,
    /// How often to look
    #[arg(long, default_value = "1s", value_parser = quantity::duration, value_name = "TIME")]
    interval: Duration,
    /// Show how it stands now, and end
    #[arg(long)]
    once: bool,
    /// Print how it stands now as JSON, and end
    #[arg(long)]
    json: bool,
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
}

/// Looking more often than this would cost more than it shows.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);
/// How long a run that has only just begun is given to write down what it is about.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long the machine is observed for a single picture: its load is a difference between two looks.
const MACHINE_SAMPLE: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let state = StateDirectory::new(&arguments.state);
    let run = find_run(&state, &arguments.run)?;
    let mut watch = Watch::open(&state, run)?;
    let has_screen = std::io::stdout().is_terminal() && !arguments.once && !arguments.json;
    watch.look()?;
    if has_screen && watch.is_going_on() {
        watch_on_screen(&mut watch, arguments.interval.max(SHORTEST_INTERVAL))?;
        watch.look()?;
    } else {
        std::thread::sleep(MACHINE_SAMPLE);
        watch.machine.look();
    }
    let last = watch.snapshot();
    if arguments.json {
        tell!("{}", serde_json::to_string(&last).expect("plain data can be written"));
    } else {
        tell!("{}", screen::plain(&last));
    }
    Ok(Code::Done)
}

fn watch_on_screen(watch: &mut Watch<'_>, interval: Duration) -> Result<(), Failure> {
    let mut terminal = Terminal::open().map_err(|error| {
        Failure::bad_input(format!("cannot draw on this terminal: {error}"), "use `throng top --once`")
    })?;
    let mut next_look = Instant::now();
    let mut size = terminal.size();
    while watch.is_going_on() {
        if Instant::now() >= next_look {
            watch.look()?;
            watch.machine.look();
            next_look = Instant::now() + interval;
            terminal.draw(&screen::draw(&watch.snapshot(), size));
        }
        if terminal.wait_for_key(next_look.saturating_duration_since(Instant::now())) == Some(Key::Quit) {
            break;
        }
        // A window that was made larger or smaller is filled anew at once.
        if terminal.size() != size {
            size = terminal.size();
            next_look = Instant::now();
        }
    }
    Ok(())
}

/// A run that is being watched.
struct Watch<'a> {
    state: &'a StateDirectory,
    run: RunDirectory,
    about: About,
    state_word: String,
    following: Following,
    board: Board,
    machine: Machine,
}

impl<'a> Watch<'a> {
    fn open(state: &'a StateDirectory, run: RunDirectory) -> Result<Watch<'a>, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::bad_input(error, "choose another run: see `throng runs`; a run that has just begun needs a moment")
        };
        let deadline = Instant::now() + PATIENCE;
        let bytes = loop {
            match std::fs::read(run.workflow()) {
                Ok(bytes) => break bytes,
                Err(_) if state.is_locked() && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => return Err(unreadable(&format!("run {} cannot be read: {error}", run.number))),
            }
        };
        let about = runs::about(&run)?;
        let flow = Workflow::from_bytes(&bytes)
            .map_err(|error| unreadable(&format!("the workflow of run {} cannot be read: {error}", run.number)))?;
        let following = Following::open(&run).map_err(|error| unreadable(&error))?;
        let state_word = runs::state_word(state, &run, &about);
        let board = Board::new(flow);
        Ok(Watch { state, run, about, state_word, following, board, machine: Machine::look_first() })
    }

    /// Takes in what has happened since the last look.
    fn look(&mut self) -> Result<(), Failure> {
        // Asked first: if the run ends meanwhile, one more look will find everything written.
        self.about = runs::about(&self.run)?;
        self.state_word = runs::state_word(self.state, &self.run, &self.about);
        if self.state_word == "killed" {
            // It may have noted its end and given back the lock between the two questions.
            self.about = runs::about(&self.run)?;
            self.state_word = runs::state_word(self.state, &self.run, &self.about);
        }
        let board = &mut self.board;
        let looked = self.following.look(|time, entry| board.take(time, &entry));
        looked.map_err(|error| Failure::bad_input(error, "choose another run: see `throng runs`"))
    }

    fn is_going_on(&self) -> bool {
        self.state_word == "running"
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.board, &self.about, &self.state_word, self.machine.load())
    }
}
