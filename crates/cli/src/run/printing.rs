//! Showing what tasks print, each in one piece, as they end or in the order in which they were given; of those that are
//! up to date, what they printed before.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use throng_core::ids::TaskId;
use throng_runtime::driver::Engine;

use super::printed::Printed;

/// Soon enough for somebody who watches, seldom enough to cost nothing.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Output that is being shown.
pub struct Printing {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts to show what the tasks of a run print.
pub fn start(engine: Engine, earlier: BTreeMap<TaskId, Printed>, in_order: bool) -> Printing {
    engine.collect_outputs();
    let (stop, stopped) = channel();
    let thread = std::thread::spawn(move || show(&engine, &stopped, earlier, in_order));
    Printing { stop, thread }
}

impl Printing {
    /// Shows what is left and ends.
    pub fn finish(self) {
        drop(self.stop);
        self.thread.join().expect("showing output does not panic");
    }
}

fn show(engine: &Engine, stopped: &Receiver<()>, mut earlier: BTreeMap<TaskId, Printed>, in_order: bool) {
    if !in_order {
        std::mem::take(&mut earlier).values().for_each(print_earlier);
    }
    // Outputs that wait for those of earlier tasks.
    let mut waiting: BTreeMap<TaskId, (u64, u64)> = BTreeMap::new();
    let mut next = engine.flow().tasks().peekable();
    loop {
        let is_over = !matches!(stopped.recv_timeout(LOOK_INTERVAL), Err(RecvTimeoutError::Timeout));
        // Before the outputs are fetched: that of a task which is settled by now is among them.
        let settled: Vec<TaskId> =
            std::iter::from_fn(|| next.next_if(|task| in_order && (is_over || engine.is_settled(*task)))).collect();
        for (task, place) in engine.take_outputs() {
            if in_order {
                waiting.insert(task, place);
            } else {
                print(engine, place);
            }
        }
        for task in &settled {
            if let Some(place) = waiting.remove(task) {
                print(engine, place);
            } else if let Some(printed) = earlier.remove(task) {
                print_earlier(&printed);
            }
        }
        if is_over {
            return;
        }
    }
}

fn print_earlier(printed: &Printed) {
    // What cannot be read any more cannot be shown; the tasks are done all the same.
    let _ = printed.copy(&mut std::io::stdout().lock());
}

fn print(engine: &Engine, place: (u64, u64)) {
    let mut out = std::io::stdout().lock();
    // A reader that has gone away does not end the run.
    let _ = engine.copy_output(place, &mut out);
}
