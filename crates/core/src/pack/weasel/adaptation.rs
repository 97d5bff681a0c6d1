//! Weasel's policy for one queue of tasks: how many to run at once, from how much the node uses of the resource that they need most.
//!
//! Every interval the number of tasks and the measured use are handed in, and the number for the next interval comes out. While each task
//! more adds about as much use as the one before, the number grows, first by one and then in leaps. Where use stops growing, or falls,
//! there is contention: the number goes back half of the last leap, and then step by step to where it last was good. It settles on going
//! to and fro around the largest number without contention.
//!
//! Read with the corrections of the specification: the direction is taken from the number before this one; the threshold grows with the
//! change and is set by the use of a single task; best uses are those of the last steps; and what was learnt is forgotten when a known
//! number suddenly shows another use, for then the node is not what it was.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How a threshold for "no more use" is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The least change of use that counts.
    pub least: f64,
    /// Whether that is for each task more or fewer, or for whatever change of number.
    pub is_per_task: bool,
}

impl Threshold {
    /// Half of what one task uses, for each.
    pub fn of_one_task(use_of_one: f64) -> Threshold {
        Threshold { least: TASK_SHARE * use_of_one, is_per_task: true }
    }

    fn of(&self, change: u32) -> f64 {
        if self.is_per_task { self.least * f64::from(change) } else { self.least }
    }
}

/// A task more counts if it adds this part of what a single one uses.
pub const TASK_SHARE: f64 = 0.5;

/// The parameters of the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The weight of a new measurement.
    pub alpha: f64,
    /// What change of use counts.
    pub threshold: Threshold,
    /// After so many steps in one direction, steps grow.
    pub start_after: u32,
    /// The fewest tasks.
    pub least: u32,
    /// The most tasks.
    pub most: u32,
    /// Among how many steps the best use is looked for.
    pub window: usize,
    /// By what part use may differ from what is known for a number before everything is forgotten; nothing is, without it.
    pub drift: Option<f64>,
}

impl Config {
    /// The usual ones, for tasks of which one uses so much.
    pub fn usual(use_of_one: f64) -> Config {
        Config {
            alpha: 0.5,
            threshold: Threshold::of_one_task(use_of_one),
            start_after: 2,
            least: 1,
            most: 256,
            window: 20,
            drift: Some(0.25),
        }
    }
}

/// What a step was decided by, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The use that is known for the number of tasks now.
    pub used: f64,
    /// Whether there is contention; nothing after a step that changed nothing.
    pub contention: Option<bool>,
    /// How many steps there have been in the direction of this one, before it.
    pub same_direction: u32,
    /// By how many tasks it would grow.
    pub increase: u32,
    /// How many tasks to run next.
    pub next: u32,
    /// Whether what was known turned out to be wrong, and was forgotten.
    pub has_drifted: bool,
}

/// The policy of one queue.
#[derive(Clone, Debug)]
pub struct Adaptation {
    config: Config,
    /// What is used with each number of tasks.
    known: BTreeMap<u32, f64>,
    /// The last steps, each with its number and what was used.
    history: VecDeque<(u32, f64)>,
    good: BTreeSet<u32>,
    bad: BTreeSet<u32>,
    same_direction: u32,
    increase: u32,
}

impl Adaptation {
    /// Nothing is known yet.
    pub fn new(config: Config) -> Adaptation {
        Adaptation {
            config,
            known: BTreeMap::new(),
            history: VecDeque::new(),
            good: BTreeSet::new(),
            bad: BTreeSet::new(),
            same_direction: 0,
            increase: 1,
        }
    }

    /// Numbers from which it grew, in ascending order.
    pub fn good(&self) -> impl Iterator<Item = u32> + '_ {
        self.good.iter().copied()
    }

    /// Numbers from which it shrank, in ascending order.
    pub fn bad(&self) -> impl Iterator<Item = u32> + '_ {
        self.bad.iter().copied()
    }

    /// What is used with a number of tasks, as far as that is known.
    pub fn known(&self, tasks: u32) -> Option<f64> {
        self.known.get(&tasks).copied()
    }

    /// So many tasks ran for an interval, and so much was used.
    pub fn step(&mut self, tasks: u32, measured: f64) -> Step {
        let has_drifted = self.forget_if_drifted(tasks, measured);
        let alpha = self.config.alpha;
        let used = self.known.get(&tasks).map_or(measured, |known| alpha * measured + (1.0 - alpha) * known);
        self.known.insert(tasks, used);
        let before = self.history.back().copied();
        let changed = before.filter(|(tasks_before, _)| *tasks_before != tasks);
        let (contention, next) = match changed {
            None => {
                (self.same_direction, self.increase) = (0, 1);
                (None, tasks.saturating_add(1))
            }
            Some(before) => {
                let contention = self.is_contended((tasks, used), before);
                (Some(contention), self.change((tasks, used), before, contention))
            }
        };
        self.history.push_back((tasks, used));
        while self.history.len() > self.config.window.max(1) {
            self.history.pop_front();
        }
        Step {
            used,
            contention,
            same_direction: self.same_direction,
            increase: self.increase,
            next: next.clamp(self.config.least, self.config.most),
            has_drifted,
        }
    }

    fn forget_if_drifted(&mut self, tasks: u32, measured: f64) -> bool {
        let known = self.known.get(&tasks).zip(self.config.drift);
        let has_drifted = known.is_some_and(|(known, drift)| (measured - known).abs() > drift * known);
        if has_drifted {
            self.known.clear();
            self.history.clear();
            self.good.clear();
            self.bad.clear();
        }
        has_drifted
    }

    /// Whether use has not changed with the number of tasks, or more of them have brought less.
    fn is_contended(&self, (tasks, used): (u32, f64), (tasks_before, used_before): (u32, f64)) -> bool {
        if (used - used_before).abs() < self.config.threshold.of(tasks.abs_diff(tasks_before)) {
            return true;
        }
        let best = self.history.iter().copied().reduce(|best, step| if step.1 > best.1 { step } else { best });
        best.is_some_and(|(best_tasks, best_used)| used < best_used && tasks > best_tasks)
    }

    fn change(&mut self, (tasks, used): (u32, f64), before: (u32, f64), contention: bool) -> u32 {
        let grew = tasks > before.0;
        if contention {
            self.good.remove(&tasks);
            self.bad.insert(tasks);
        } else {
            self.bad.remove(&tasks);
            self.good.insert(tasks);
        }
        let grows = !contention;
        if grows == grew {
            self.same_direction += 1;
        } else {
            (self.same_direction, self.increase) = (0, 1);
        }
        if self.same_direction > self.config.start_after {
            let threshold = self.config.threshold.of(tasks.abs_diff(before.0));
            let leaps = f64::from(self.increase) * (used - before.1).abs() / threshold;
            // As a number of 32 bits, the greatest for whatever is greater, and zero for what is no number.
            self.increase = ((leaps + 0.5).floor() as u32).clamp(1, tasks.max(1));
        }
        if grows { self.grown(tasks) } else { self.shrunk(tasks, before.0) }
    }

    /// Leaps that lead to where it was bad become shorter.
    fn grown(&self, tasks: u32) -> u32 {
        let mut next = tasks.saturating_add(self.increase);
        let mut halvings = 1;
        while next > tasks + 1 && self.bad.contains(&next) {
            next = tasks + self.increase.checked_shr(halvings).unwrap_or(0).max(1);
            halvings += 1;
        }
        next
    }

    fn shrunk(&self, tasks: u32, tasks_before: u32) -> u32 {
        if self.same_direction == 0 {
            return tasks.saturating_sub((tasks.saturating_sub(tasks_before) / 2).max(1));
        }
        let good = self.good.range(..tasks).next_back().copied().unwrap_or(1);
        if self.same_direction > self.config.start_after {
            tasks.saturating_sub((tasks.saturating_sub(good) / 2).max(1))
        } else {
            good.max(tasks.saturating_sub(self.increase))
        }
    }
}
