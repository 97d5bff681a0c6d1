//! The thread that keeps what will be wanted later: the workflow as it is, at once, and what is learnt of its tasks, now and then.
//!
//! What is learnt is kept when a run ends, whoever keeps it before that. But a run of days may be killed, or the machine may go down, and then it would
//! all have to be learnt again.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::driver::Engine;
use crate::state::write_whole;
use crate::store::learnt::{KindPast, Shelf};

/// How often what was learnt is kept: who is killed has lost no more than this.
const EVERY: Duration = Duration::from_secs(30);
/// How much of a core that may take; a workflow of a hundred thousand kinds makes a large file.
const COST: f64 = 0.001;

/// The thread.
pub(crate) struct Keeper {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Starts it: the workflow goes to this file, what is learnt onto that shelf.
    pub(crate) fn start(engine: Engine, workflow: PathBuf, shelf: Shelf) -> std::io::Result<Keeper> {
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            if let Err(error) = write_whole(&workflow, &engine.flow().to_bytes()) {
                engine.give_up(error.to_string());
            }
            let mut keeping = Keeping { shelf, done_when_kept: 0 };
            now_and_then(&stopped, EVERY, || keeping.keep(engine.done(), || engine.pasts()));
        };
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(work)?;
        Ok(Keeper { stop, thread })
    }

    /// Ends it.
    pub(crate) fn finish(self) {
        drop(self.stop);
        self.thread.join().expect("writing files does not panic");
    }
}

/// Does something this often until nobody is there any more to say stop, or less often if it takes long.
fn now_and_then(stopped: &Receiver<()>, every: Duration, mut work: impl FnMut()) {
    let mut pause = every;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let begun = Instant::now();
        work();
        pause = begun.elapsed().div_f64(COST).max(every);
    }
}

#[derive(Debug)]
struct Keeping {
    shelf: Shelf,
    /// How many tasks had been done.
    done_when_kept: u64,
}

impl Keeping {
    /// Keeps what is known, now that so many tasks are done, unless that is what was known before.
    fn keep(&mut self, done: u64, pasts: impl FnOnce() -> Vec<KindPast>) {
        if done != self.done_when_kept {
            // What cannot be kept now may be at the end, and then it is told if not.
            let _ = self.shelf.keep(pasts());
            self.done_when_kept = done;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateDirectory;
    use crate::store::learnt::{Learnt, MachineType};
    use std::sync::Arc;
    use throng_core::past::Past;

    #[test]
    fn what_is_new_is_kept_where_the_state_is() {
        let folder = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (folder.path().join("here"), folder.path().join("elsewhere"));
        let state = StateDirectory::new(&here);
        let lock = Arc::new(state.lock().unwrap());
        let machine = MachineType { name: "m".to_owned(), ..MachineType::default() };
        let shelf = Shelf { path: state.learnt(), machine, workflow: "flow".to_owned(), lock };
        let mut keeping = Keeping { shelf, done_when_kept: 0 };
        let tasks_kept = || Learnt::read(&state.learnt()).of("m", "flow").first().map(|kind| kind.tasks);
        let pasts = |tasks| move || vec![KindPast::new("a", &Past { tasks, ..Past::default() })];
        keeping.keep(0, || unreachable!("nothing has been done"));
        keeping.keep(3, pasts(3));
        assert_eq!(tasks_kept(), Some(3));
        keeping.keep(3, || unreachable!("nothing is new"));
        keeping.keep(5, pasts(5));
        assert_eq!(tasks_kept(), Some(5));
        std::fs::rename(&here, &elsewhere).unwrap();
        std::fs::create_dir(&here).unwrap();
        keeping.keep(6, pasts(6));
        assert_eq!(tasks_kept(), None, "somebody else's directory is left alone");
    }

    #[test]
    fn it_is_done_until_the_end_and_no_more_often_than_it_may_cost() {
        let (stop, stopped) = mpsc::channel();
        let mut stop = Some(stop);
        let (every, mut times) = (Duration::from_millis(2), Vec::new());
        now_and_then(&stopped, every, || {
            times.push(Instant::now());
            // Once it takes a while, so that the next time has to wait.
            let takes = if times.len() == 2 { every } else { Duration::ZERO };
            std::thread::sleep(takes);
            stop = stop.take().filter(|_| times.len() < 3);
        });
        assert_eq!(times.len(), 3);
        assert!(times[2] - times[1] >= every.div_f64(COST), "{times:?}");
    }
}
