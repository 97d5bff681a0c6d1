//! What a run is counted by: what was settled when, how many slots were busy, and what everybody has done.

use std::time::Duration;

use throng_core::ids::{NodeId, ObjectId};
use throng_core::member::Member;
use throng_core::pack;
use throng_core::store::{Answer, Phase, Verb, Verdict};
use throng_core::time::Time;

use super::{Machine, World};

impl World {
    /// Keeps count of what has been accepted: each task once. The store is done with these words at `done`.
    pub(super) fn note_settled(&mut self, done: Time, verbs: &[Verb], answers: &[Answer]) {
        let settled = done.since(Time::START);
        for (verb, answer) in verbs.iter().zip(answers) {
            match (verb, answer) {
                (Verb::Settle { task, owner, generation, verdict: Verdict::Done, .. }, Answer::Done) => {
                    self.check_settled(*task, *generation, *owner);
                    let (word, bit) = (&mut self.is_done[task.index() / 64], 1 << (task.index() % 64));
                    if *word & bit == 0 {
                        *word |= bit;
                        self.outcome.done += 1;
                        let work = self.work_on(owner.node);
                        self.outcome.useful_ns += work.length(*task).as_nanos();
                    }
                    if let Some(end) = self.outcome.ends.get_mut(task.index()) {
                        *end = Some(settled);
                    }
                    (self.last_progress, self.deaths_in_vain) = (self.now, 0);
                    self.outcome.makespan = settled.max(self.outcome.makespan);
                }
                (Verb::Settle { task, .. }, Answer::Done) => {
                    self.outcome.makespan = settled.max(self.outcome.makespan);
                    self.record_failed(*task);
                }
                (Verb::Cancel { task, .. }, Answer::Cancelled { .. }) => {
                    self.outcome.makespan = settled.max(self.outcome.makespan);
                    self.note_cancelled(*task);
                }
                (verb, answer) if self.recorder.is_some() => self.record_answer(verb, answer),
                _ => {}
            }
        }
    }

    /// Somebody has just had some use for a node.
    pub(super) fn used(&mut self, node: NodeId) {
        self.machines[node.index()].last_used = Some(self.now);
    }

    /// From when until when each node was had: those that nobody had any use for were not.
    fn rented(&self) -> Vec<Option<(Duration, Duration)>> {
        let had_from = |node: usize| self.cluster.plan.as_ref().map_or(Time::START, |plan| plan.had_from[node]);
        let had = |(node, machine): (usize, &Machine)| {
            let until = machine.last_used?.since(Time::START);
            Some((had_from(node).since(Time::START).min(until), until))
        };
        self.machines.iter().enumerate().map(had).collect()
    }

    pub(super) fn set_busy(&mut self, change: i32) {
        self.busy = self.busy.saturating_add_signed(change);
        self.most_busy = self.busy.max(self.most_busy);
        if self.wants_curve {
            let at = self.now.since(Time::START);
            match self.outcome.busy_curve.last_mut() {
                Some((time, busy)) if *time == at => *busy = self.busy,
                _ => self.outcome.busy_curve.push((at, self.busy)),
            }
        }
    }

    /// Puts together what everybody has counted.
    pub(super) fn count_up(&mut self) {
        self.count_verdicts();
        if pack::learns(&self.cluster.pack) {
            // Nobody wanted to use all slots that there may be.
            self.outcome.slots = u64::from(self.most_busy.max(1));
        }
        if self.cluster.plan.is_some() {
            self.outcome.rented = self.rented();
        }
        self.outcome.used = self.used_in(self.outcome.makespan);
        self.outcome.events = self.agenda.planned();
        self.outcome.store_verbs = self.storage.verbs;
        self.outcome.store_batches = self.storage.batches;
        for at in 0..self.machines.len() {
            if let Some(member) = self.machines[at].member.take() {
                self.add_up(&member);
                self.machines[at].member = Some(member);
            }
        }
    }

    /// Counts what became of tasks. One that was done may have had to be done again in vain, so that only the last word counts.
    pub(super) fn count_verdicts(&mut self) {
        let all = self.flow.task_count() as u64;
        if self.outcome.done < all || self.cluster.faults.needs_leases() {
            self.outcome.done = 0;
            for task in self.flow.tasks() {
                let record = self.storage.memory.record(task);
                match record.verdict {
                    _ if record.phase < Phase::Settled => {}
                    Verdict::Done => self.outcome.done += 1,
                    Verdict::Failed => self.outcome.failed += 1,
                    Verdict::Quarantined => self.outcome.quarantined += 1,
                    Verdict::Skipped | Verdict::Cancelled => self.outcome.skipped += 1,
                }
            }
        }
        self.outcome.not_done = all - self.outcome.done;
        // The last word on a task may not have been its own: nodes may have died of it.
        if self.outcome.not_done > 0 && self.outcome.stuck.is_none() {
            self.outcome.makespan = self.now.since(Time::START).max(self.outcome.makespan);
        } else if self.outcome.makespan.is_zero() {
            self.outcome.makespan = self.last_progress.since(Time::START);
        }
        let outside = (self.flow.made_count()..self.flow.object_count()).map(ObjectId::at);
        let memory = &self.storage.memory;
        let is_done =
            |reader| memory.record(reader).verdict == Verdict::Done && memory.record(reader).phase >= Phase::Settled;
        let is_lost =
            |object: &ObjectId| memory.places(*object).next().is_none() && !self.kin.readers(*object).all(is_done);
        self.outcome.lost_inputs = outside.filter(is_lost).count() as u64;
    }

    /// Counts what a member has done, at the end of its life or of the run.
    pub(super) fn add_up(&mut self, member: &Member) {
        let (tally, cache) = (member.tally, member.cache_tally());
        self.outcome.hits += cache.hits;
        self.outcome.misses += cache.misses;
        self.outcome.missed_bytes = self.outcome.missed_bytes.saturating_add(cache.miss_bytes);
        self.outcome.hunts += tally.hunts;
        self.outcome.hunts_won += tally.hunts_won;
        self.outcome.stolen += tally.stolen;
        self.outcome.pushed += tally.pushed;
        self.outcome.migrated += tally.migrated;
        self.outcome.reopened += tally.reopened;
        self.outcome.claimed += tally.claimed;
        self.outcome.never_fitted += tally.never_fitted;
    }
}
