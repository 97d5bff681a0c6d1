//! The threads that bring inputs into a tier and take them out of it, so that neither the node nor a slot waits for storage.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use throng_core::ids::ObjectId;
use throng_core::node::Event;

use super::{Tier, held};
use crate::node_loop::Shared;

/// Longer than it takes to read a piece from a storage that answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Bring an input.
    Fetch(ObjectId),
    /// Take one away.
    Drop(ObjectId),
}

/// What has to be done, in order. It is short: a node has few objects fetched at a time.
#[derive(Debug, Default)]
pub(crate) struct Line {
    state: Mutex<LineState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LineState {
    work: VecDeque<Work>,
    is_over: bool,
}

impl Line {
    /// Asks for something. What is to go comes first: others wait for the room.
    pub(crate) fn ask(&self, work: Work) {
        let mut state = held(&self.state);
        match work {
            Work::Fetch(_) => state.work.push_back(work),
            Work::Drop(_) => state.work.push_front(work),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for something to do; nothing when the run is over.
    fn next(&self) -> Option<Work> {
        let state = self.changed.wait_while(held(&self.state), |state| state.work.is_empty() && !state.is_over);
        let mut state = state.expect("no thread panics while it holds this");
        if state.is_over { None } else { state.work.pop_front() }
    }

    fn close(&self) {
        held(&self.state).is_over = true;
        self.changed.notify_all();
    }
}

/// Threads at work.
pub(crate) struct Bringing {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Bringing {
    /// Starts as many threads as the storage is worth; none if there is no tier.
    pub(crate) fn start(shared: &Arc<Shared>) -> std::io::Result<Bringing> {
        let mut bringing = Bringing { shared: shared.clone(), threads: Vec::new() };
        for number in 0..shared.tier.as_ref().map_or(0, Tier::at_once) {
            let shared = shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("bringer {number}"))
                .stack_size(512 * 1024)
                .spawn(move || bring(&shared));
            match thread {
                Ok(thread) => bringing.threads.push(thread),
                // With at least one, everything is brought, if more slowly.
                Err(_) if number > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(bringing)
    }

    /// Ends all threads; what is being brought is left. One that waits for a server which does not answer is left behind: it finds nothing
    /// any more to put anything into.
    pub(crate) fn finish(self) {
        let Some(tier) = &self.shared.tier else { return };
        tier.stop();
        let deadline = Instant::now() + PATIENCE;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            if thread.is_finished() {
                thread.join().expect("bringing files does not panic");
            }
        }
    }
}

/// The life of a thread.
fn bring(shared: &Arc<Shared>) {
    let Some(tier) = &shared.tier else { return };
    let name = |object| shared.flow.object_name(object);
    while let Some(work) = tier.line.next() {
        let event = match work {
            Work::Fetch(object) => {
                tier.fetch(&shared.workplace, name(object), object);
                Event::Fetched { object }
            }
            Work::Drop(object) => {
                let is_gone = tier.remove(&shared.workplace, name(object), object);
                Event::Dropped { object, is_gone }
            }
        };
        if tier.is_over.load(Ordering::Relaxed) {
            return;
        }
        let mut core = shared.lock();
        core.events.push_back(event);
        let own = shared.drive(&mut core, None);
        assert!(own.is_none(), "this thread has no slot");
    }
}

impl Tier {
    /// Nothing more is brought.
    fn stop(&self) {
        let _note = held(&self.note);
        self.is_over.store(true, Ordering::Relaxed);
        self.line.close();
    }
}
