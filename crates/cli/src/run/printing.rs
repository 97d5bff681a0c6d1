//! Showing what tasks print, each in one piece, as they end or in the order in which they were given.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use throng_core::ids::TaskId;
use throng_runtime::driver::Engine;

/// Soon enough for somebody who watches, seldom enough to cost nothing.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Output that is being shown.
pub struct Printing {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts to show what the tasks of a run print.
pub fn start(engine: Engine, in_order: bool) -> Printing {
    engine.collect_outputs();
    let (stop, stopped) = channel();
    let thread = std::thread::spawn(move || show(&engine, &stopped, in_order));
    Printing { stop, thread }
}

impl Printing {
    /// Shows what is left and ends.
    pub fn finish(self) {
        drop(self.stop);
        self.thread.join().expect("showing output does not panic");
    }
}

fn show(engine: &Engine, stopped: &Receiver<()>, in_order: bool) {
    // Outputs that wait for those of earlier tasks.
    let mut waiting: BTreeMap<TaskId, (u64, u64)> = BTreeMap::new();
    let mut next = TaskId(0);
    loop {
        let is_over = !matches!(stopped.recv_timeout(LOOK_INTERVAL), Err(RecvTimeoutError::Timeout));
        for (task, place) in engine.take_outputs() {
            if in_order {
                waiting.insert(task, place);
            } else {
                print(engine, place);
            }
        }
        while in_order && (is_over && !waiting.is_empty() || engine.is_settled(next)) {
            if let Some(place) = waiting.remove(&next) {
                print(engine, place);
            }
            next = TaskId(next.0 + 1);
        }
        if is_over {
            return;
        }
    }
}

fn print(engine: &Engine, place: (u64, u64)) {
    let mut out = std::io::stdout().lock();
    // A reader that has gone away does not end the run.
    let _ = engine.copy_output(place, &mut out);
}
