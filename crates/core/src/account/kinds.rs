//! What tasks of each kind did and used.

use super::distribution::Distribution;
use super::stint::{Fate, Stint, TaskAccount};
use crate::ids::{ClassId, KindId};
use crate::trace::Outcome;
use crate::workflow::Workflow;

/// Memory that was asked for, and the most that was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The least and the most that attempts of the kind ask for; zero when nothing was said.
    pub request_bytes: (u64, u64),
    /// The highest peak of any attempt.
    pub peak_bytes: u64,
    /// The kernel could not tell that peak exactly: it was at most this.
    pub peak_is_bound: bool,
    /// Attempts that certainly used more than they had asked for.
    pub over_request: u64,
}

/// What tasks of one kind did and used.
#[derive(Clone, Debug, Default)]
pub struct KindAccount {
    /// The kind's name.
    pub name: String,
    /// Tasks of this kind in the run.
    pub tasks: u64,
    /// Those that ran and succeeded.
    pub done: u64,
    /// Those that did not have to run.
    pub up_to_date: u64,
    /// Those that failed for good.
    pub failed: u64,
    /// Those skipped because one before them failed.
    pub skipped: u64,
    /// Those that were running when the record ends.
    pub running: u64,
    /// Those that had not begun, or were interrupted.
    pub left: u64,
    /// Attempts that were begun.
    pub attempts: u64,
    /// Those that were not their task's first.
    pub retries: u64,
    /// How long successful attempts ran.
    pub time: Distribution,
    /// How long all attempts ran, successful or not.
    pub compute_ns: u128,
    /// How long those ran that ended badly.
    pub in_vain_ns: u128,
    /// How long the engine had all attempts while they had a slot.
    pub engine_ns: u128,
    /// How long attempts were ready before they got a slot.
    pub waited_ns: u128,
    /// Time on a core in programs, and in the kernel for them.
    pub cpu_us: (u64, u64),
    /// Thousandths of a core that tasks ask for: the least and the most.
    pub cpus_milli: (u64, u64),
    /// Memory.
    pub memory: Memory,
    /// Read from disks.
    pub read_bytes: u64,
    /// Written to disks.
    pub written_bytes: u64,
    /// Printed.
    pub printed_bytes: u64,
    /// How many attempts ended badly, and how.
    pub failures: Vec<(Outcome, u64)>,
}

/// What the tasks of a class ask for: the least and the most of all ways that would do, since the trace does not say
/// which of them an attempt was granted.
struct Asked {
    cpus_milli: (u64, u64),
    memory_bytes: (u64, u64),
}

impl Asked {
    fn by(flow: &Workflow, class: ClassId) -> Asked {
        let demands = || flow.alternatives(class).map(|demand| flow.demand(demand));
        let range = |amounts: &mut dyn Iterator<Item = u64>| {
            amounts.fold((u64::MAX, 0), |(least, most), amount| (least.min(amount), most.max(amount)))
        };
        Asked {
            cpus_milli: range(&mut demands().map(|demand| demand.cpus_milli)),
            memory_bytes: range(&mut demands().map(|demand| demand.memory_bytes)),
        }
    }
}

/// Sums up every kind that has a task in the run, in the order in which the workflow has them.
pub(super) fn account(flow: &Workflow, tasks: &[TaskAccount], stints: &[Stint]) -> Vec<KindAccount> {
    let mut kinds: Vec<KindAccount> = (0..flow.kind_count())
        .map(|kind| flow.kind_name(KindId::at(kind)).to_owned())
        .map(|name| KindAccount { name, ..KindAccount::default() })
        .collect();
    let asked: Vec<Asked> = (0..flow.class_count()).map(|class| Asked::by(flow, ClassId::at(class))).collect();
    for (task, own) in flow.tasks().zip(tasks).filter(|(_, own)| own.fate != Fate::Outside) {
        kinds[flow.kind(task).index()].add_task(own.fate, &asked[flow.class(task, 1).index()]);
    }
    let mut lengths: Vec<Vec<u64>> = vec![Vec::new(); kinds.len()];
    for stint in stints {
        let kind = flow.kind(stint.task).index();
        kinds[kind].add_stint(stint, &asked[flow.class(stint.task, stint.attempt).index()]);
        if stint.outcome == Some(Outcome::Done) {
            lengths[kind].push(stint.compute_ns());
        }
    }
    for (kind, lengths) in kinds.iter_mut().zip(&mut lengths) {
        kind.time = Distribution::of(lengths);
        kind.failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    kinds.retain(|kind| kind.tasks > 0);
    kinds
}

impl KindAccount {
    fn add_task(&mut self, fate: Fate, asked: &Asked) {
        if self.tasks == 0 {
            (self.cpus_milli, self.memory.request_bytes) = (asked.cpus_milli, asked.memory_bytes);
        }
        self.widen(asked);
        self.tasks += 1;
        let number = match fate {
            Fate::Done => &mut self.done,
            Fate::UpToDate => &mut self.up_to_date,
            Fate::Failed => &mut self.failed,
            Fate::Skipped => &mut self.skipped,
            Fate::Running => &mut self.running,
            Fate::Outside | Fate::Waiting | Fate::Ready | Fate::Pausing | Fate::Interrupted => &mut self.left,
        };
        *number += 1;
    }

    fn widen(&mut self, asked: &Asked) {
        let wider = |one: (u64, u64), other: (u64, u64)| (one.0.min(other.0), one.1.max(other.1));
        self.cpus_milli = wider(self.cpus_milli, asked.cpus_milli);
        self.memory.request_bytes = wider(self.memory.request_bytes, asked.memory_bytes);
    }

    fn add_stint(&mut self, stint: &Stint, asked: &Asked) {
        // Later attempts may ask for more.
        self.widen(asked);
        self.attempts += 1;
        self.retries += u64::from(stint.attempt > 1);
        self.compute_ns += u128::from(stint.compute_ns());
        self.engine_ns += u128::from(stint.engine_ns());
        self.waited_ns += u128::from(stint.waited_ns());
        let usage = &stint.usage;
        // A damaged trace may hold any number.
        let add = |total: &mut u64, more: u64| *total = total.saturating_add(more);
        add(&mut self.cpu_us.0, usage.user_us);
        add(&mut self.cpu_us.1, usage.system_us);
        add(&mut self.read_bytes, usage.read_bytes());
        add(&mut self.written_bytes, usage.written_bytes());
        add(&mut self.printed_bytes, stint.printed_bytes);
        let memory = &mut self.memory;
        // An exact peak says more than a bound of the same size.
        let rank = |bytes: u64, is_bound: bool| (bytes, !is_bound);
        if rank(usage.peak_memory_bytes, usage.peak_is_bound) > rank(memory.peak_bytes, memory.peak_is_bound) {
            (memory.peak_bytes, memory.peak_is_bound) = (usage.peak_memory_bytes, usage.peak_is_bound);
        }
        let request_bytes = asked.memory_bytes.1;
        let is_over = request_bytes > 0 && !usage.peak_is_bound && usage.peak_memory_bytes > request_bytes;
        memory.over_request += u64::from(is_over);
        if stint.is_in_vain {
            self.in_vain_ns += u128::from(stint.compute_ns());
        }
        if stint.is_failure() {
            let outcome = stint.outcome.expect("a failure has an outcome");
            match self.failures.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, count)) => *count += 1,
                None => self.failures.push((outcome, 1)),
            }
        }
    }
}
