//! The thread that measures, for a node that learns.
//!
//! The machine is measured as often as the node wants. What its tasks hold is looked at as often as that may cost, and more often while memory
//! is short or goes fast; and where it is short, how much is free is looked at in between. What tasks hold is told as what they can hold together
//! ([`together`]).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use throng_core::ids::SlotId;
use throng_core::node::Event;
use throng_core::pack::Uses;

use super::Meter;
use super::groups::Groups;
use super::strangers::Look;
use super::together;
use crate::node_loop::Shared;

/// How much of a core looking at tasks may take, and how much while memory is short.
const COST: f64 = 0.003;
const COST_WHEN_SHORT: f64 = 0.05;
/// How often tasks are looked at, at most.
const TASKS_EVERY: Duration = Duration::from_millis(100);
/// How often it is looked at how much memory is free.
const MEMORY_EVERY: Duration = Duration::from_millis(100);
/// The same while it is short.
const MEMORY_EVERY_WHEN_SHORT: Duration = Duration::from_millis(20);
/// How often it is looked at whether the kernel has killed anybody.
const KILLS_EVERY: Duration = Duration::from_secs(1);
/// Memory may run out if less than this part is free, and for so long after the beginning.
const MAY_RUN_OUT: f64 = 0.7;
const AT_FIRST: Duration = Duration::from_secs(5);
/// Memory is short if less than this part is free.
const SHORT: f64 = 0.2;
/// By this part of all memory, or more, what is free has changed much.
const MUCH: f64 = 0.03;
/// What a task holds has changed if it is by this part, and by more than that.
const CHANGED: f64 = 0.03;
const CHANGED_BYTES: u64 = 1 << 20;
/// After so long it is told what a task has computed, then when what it holds gives a first idea of that, and then each time that it has run for
/// four times as long.
const FIRST_AGE: Duration = Duration::from_millis(80);
const SECOND_AGE: Duration = Duration::from_millis(500);

/// What the node knows of a task.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The number of its process.
    group: i32,
    bytes: u64,
    /// When it was first seen, and how old it is when the node is told again what it has computed.
    since: Instant,
    next_age: Duration,
}

/// The thread.
pub(crate) struct Metering {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Metering {
    /// Starts it, if the node wants to know at all.
    pub(crate) fn start(shared: &Arc<Shared>) -> std::io::Result<Option<Metering>> {
        let (every, memory_bytes) = {
            let core = shared.lock();
            (core.node.measures_every(), core.node.learnt_memory_bytes())
        };
        let Some(every) = every else { return Ok(None) };
        let (stop, stopped) = mpsc::channel();
        let watch = Watch {
            shared: shared.clone(),
            meter: Meter::new(),
            groups: Groups::new(),
            every,
            memory_bytes,
            known: HashMap::new(),
            held_bytes: 0,
            free_at_look: 0,
            cost: Duration::ZERO,
            looked_at: Instant::now(),
            begun_at: Instant::now(),
            kills_at: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("meter".to_owned()).spawn(move || watch.run(&stopped))?;
        Ok(Some(Metering { stop, thread }))
    }

    /// Ends it.
    pub(crate) fn finish(self) {
        drop(self.stop);
        self.thread.join().expect("measuring does not panic");
    }
}

struct Watch {
    shared: Arc<Shared>,
    meter: Meter,
    groups: Groups,
    every: Duration,
    /// How much memory there is for tasks, if what they need of it is learnt.
    memory_bytes: Option<u64>,
    /// What the node knows of the task in a slot.
    known: HashMap<SlotId, Known>,
    /// What all of them held together.
    held_bytes: u64,
    /// How much was free when tasks were looked at.
    free_at_look: u64,
    /// How long that took.
    cost: Duration,
    looked_at: Instant,
    begun_at: Instant,
    kills_at: Instant,
}

impl Watch {
    fn run(mut self, stopped: &Receiver<()>) {
        let mut measure_at = Instant::now() + self.every;
        let mut pause = self.every.min(MEMORY_EVERY);
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let free = self.meter.memory.free_bytes();
            let is_urgent = self.is_urgent(free);
            let mut events =
                if self.is_time_to_look(is_urgent) { self.look_at_tasks(free, is_urgent) } else { Vec::new() };
            // With what tasks were just found to hold.
            let allowed = self.allowed_bytes(free);
            self.shared.may_run_out.store(self.may_run_out(allowed), Ordering::Relaxed);
            if self.kills_at.elapsed() >= KILLS_EVERY {
                self.kills_at = Instant::now();
                self.shared.kills.look();
            }
            if Instant::now() >= measure_at {
                measure_at = measure_at.max(Instant::now() - self.every) + self.every;
                let tier = self.shared.tier.as_ref();
                let mut sample = self.meter.measure(tier.map_or(0, |tier| tier.brought_bytes.load(Ordering::Relaxed)));
                sample.free_memory_bytes = sample.free_memory_bytes.min(allowed);
                events.push(Event::Measured(sample));
            } else if self.memory_bytes.is_some() {
                events.push(Event::FreeMemory { bytes: allowed });
            }
            self.tell(events);
            let until_measuring = measure_at.saturating_duration_since(Instant::now());
            pause = if self.is_short(allowed) { MEMORY_EVERY_WHEN_SHORT } else { MEMORY_EVERY }.min(until_measuring);
        }
    }

    /// How much memory could be had where so much is free: of that, or of what tasks may have together.
    fn allowed_bytes(&self, free: u64) -> u64 {
        free.min(self.memory_bytes.map_or(u64::MAX, |all| all.saturating_sub(self.held_bytes)))
    }

    /// Whether memory may run out before anybody sees it coming: at first nobody knows what tasks hold.
    fn may_run_out(&self, allowed_bytes: u64) -> bool {
        let is_low = |all: u64| (allowed_bytes as f64) < all as f64 * MAY_RUN_OUT;
        self.memory_bytes.is_some_and(|all| is_low(all) || self.begun_at.elapsed() < AT_FIRST)
    }

    fn is_short(&self, allowed_bytes: u64) -> bool {
        self.memory_bytes.is_some_and(|all| (allowed_bytes as f64) < all as f64 * SHORT)
    }

    /// Whether memory is short, or will soon be.
    fn is_urgent(&self, free: u64) -> bool {
        let all = self.memory_bytes.unwrap_or(u64::MAX) as f64;
        let goes_fast = self.free_at_look.saturating_sub(free) as f64 > all * MUCH;
        goes_fast || self.is_short(self.allowed_bytes(free))
    }

    fn is_time_to_look(&self, is_urgent: bool) -> bool {
        let (cost, least) = if is_urgent { (COST_WHEN_SHORT, MEMORY_EVERY_WHEN_SHORT) } else { (COST, TASKS_EVERY) };
        self.looked_at.elapsed() >= self.cost.div_f64(cost).max(least)
    }

    /// What tasks use, as far as the node does not know.
    fn look_at_tasks(&mut self, free: u64, is_urgent: bool) -> Vec<Event> {
        let begun = Instant::now();
        let running: Vec<(SlotId, i32)> = self.shared.groups().collect();
        let pids: Vec<i32> = running.iter().map(|(_, group)| *group).collect();
        let look = self.meter.look();
        let mut found = self.groups.uses(&pids, is_urgent);
        if let Some(look) = look {
            let tasks_us = found.values().map(|uses| uses.computing_us).sum::<u64>();
            self.meter.strangers.take_in(Look { own_us: look.own_us + tasks_us, ..look });
        }
        let in_use = self.meter.memory.all_bytes().saturating_sub(free);
        self.held_bytes = together::bound(&mut found, in_use);
        let (mut events, before) = (Vec::new(), std::mem::take(&mut self.known));
        for (slot, group) in running {
            let uses = found[&group];
            let new = Known { group, bytes: 0, since: begun, next_age: FIRST_AGE };
            let mut known = before.get(&slot).copied().filter(|known| known.group == group).unwrap_or(new);
            if uses.bytes > 0 && known.is_news(begun, uses) {
                events.push(Event::Uses { slot, uses });
            }
            self.shared.target(slot).saw_held(group, uses.bytes);
            self.known.insert(slot, known);
        }
        self.free_at_look = free;
        (self.cost, self.looked_at) = (begun.elapsed(), Instant::now());
        events
    }

    fn tell(&self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let mut core = self.shared.lock();
        // Meanwhile another task may be in a slot.
        let is_still_so = |event: &Event| match event {
            Event::Uses { slot, .. } => {
                self.known.get(slot).map(|known| known.group) == self.shared.target(*slot).group()
            }
            _ => true,
        };
        core.events.extend(events.into_iter().filter(is_still_so));
        let own = self.shared.drive(&mut core, None);
        assert!(own.is_none(), "this thread has no slot");
    }
}

impl Known {
    /// Whether a node would like to know that a task uses this now; if so, it does.
    fn is_news(&mut self, now: Instant, uses: Uses) -> bool {
        let (age, change) = (now.duration_since(self.since), uses.bytes.abs_diff(self.bytes));
        let is_older = age >= self.next_age;
        let is_other = change > CHANGED_BYTES && change as f64 > self.bytes as f64 * CHANGED;
        if is_older {
            self.next_age = if age < SECOND_AGE { SECOND_AGE } else { age * 4 };
        }
        if is_older || is_other {
            self.bytes = uses.bytes;
        }
        is_older || is_other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_told_what_is_news() {
        let since = Instant::now();
        let mut known = Known { group: 7, bytes: 0, since, next_age: FIRST_AGE };
        let mut is_told = |ms: u64, megabytes: u64| {
            known.is_news(since + Duration::from_millis(ms), Uses { bytes: megabytes << 20, computing_us: 0 })
        };
        assert!(is_told(0, 50), "it holds something");
        assert!(!is_told(50, 51) && is_told(70, 60), "much more than before");
        assert!(is_told(80, 60), "it is not new any more");
        assert!(!is_told(490, 60) && is_told(500, 60) && !is_told(1990, 60) && is_told(2000, 60), "four times as old");
    }
}
