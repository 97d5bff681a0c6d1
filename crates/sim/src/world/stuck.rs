//! A run that does not end: why, in words of those who wait for it.
//!
//! The first line says how much is missing, the second takes one task as an example, and the third says what can be done.

use std::time::Duration;

use throng_core::ids::{NodeId, TaskId};
use throng_core::member::Member;
use throng_core::store::{Owner, Phase};
use throng_core::time::Time;

use super::{DEATHS_ENOUGH, World};

/// Nodes named one by one.
const NAMED: usize = 8;

impl World {
    /// Until when somebody who waits can hope: nodes come back, and what is cut off is joined again.
    pub(super) fn hope(&self) -> Time {
        self.last_return.max(self.cluster.faults.mended_at(self.now).unwrap_or(Time::START))
    }

    /// Why a run was given up though something is under way.
    pub(super) fn why_endless(&self) -> String {
        let (open, all) = (self.storage.memory.open_tasks(), self.flow.task_count());
        format!(
            "{open} of {all} tasks would have no verdict after 584 years, and nothing longer can be simulated: are lengths, sizes and \
             speeds what they should be?"
        )
    }

    pub(super) fn why_stuck(&self) -> String {
        let (open, all) = (self.storage.memory.open_tasks(), self.flow.task_count());
        let quiet = self.now.since(self.last_progress).as_secs() / 60;
        let quiet = if quiet > 0 { format!(" for {quiet} minutes of its time") } else { String::new() };
        let mut lines = vec![format!("{open} of {all} tasks have no verdict, and nothing has come to an end{quiet}")];
        lines.extend(self.example().map(|task| self.what_it_waits_for(task)));
        let is_dead = |node: &NodeId| self.machines[node.index()].member.is_none();
        let dead: Vec<NodeId> = (0..self.cluster.nodes).map(NodeId).filter(is_dead).collect();
        if self.deaths_in_vain > DEATHS_ENOUGH * u64::from(self.cluster.nodes) {
            lines.push(
                "nodes die faster than they finish anything: let them live longer (`every=1h` in the fault)".to_owned(),
            );
        } else if dead.len() == self.machines.len() {
            let what = if dead.len() == 1 { "the only node is dead" } else { "all nodes are dead" };
            lines.push(format!("{what}: let some come back (`back=1m` in the fault), or let fewer die"));
        } else if self.members().all(Member::is_draining) {
            lines.push("all nodes that are alive are to start nothing any more: let one of them go on".to_owned());
        } else if !dead.is_empty() {
            let (more, mut names) = (dead.len() > NAMED, Vec::new());
            names.extend(dead.iter().take(NAMED).map(|node| node.0.to_string()));
            let more = if more { format!(" and {} more", dead.len() - NAMED) } else { String::new() };
            lines.push(format!("dead: node {}{more}", names.join(", ")));
        }
        lines.join("\n")
    }

    /// A task that is typical of those without a verdict: one that could run rather than one that waits for others.
    fn example(&self) -> Option<TaskId> {
        let phase = |task: TaskId| self.storage.memory.record(task).phase;
        let could_run = |task: &TaskId| matches!(phase(*task), Phase::Ready | Phase::Running);
        let is_open = |task: &TaskId| phase(*task) < Phase::Settled;
        self.flow.tasks().find(could_run).or_else(|| self.flow.tasks().find(is_open))
    }

    /// Why a node that could does not start what it has.
    fn why_not_started(&self, task: TaskId) -> String {
        let class = self.flow.class(task, 1);
        let could = |member: &Member| self.common.abilities.can_run(member.me().node, class);
        let faults = &self.cluster.faults;
        let is_slow = self.cluster.latency.max(self.cluster.store_latency) > Duration::from_secs(1);
        if !self.members().any(could) {
            "and no node that is alive has what it asks for".to_owned()
        } else if faults.lost > 0.0 || faults.late.0 > 0.0 || is_slow {
            "which has not started it: messages are lost or late".to_owned()
        } else {
            "which does not start it: this should not happen, please report it".to_owned()
        }
    }

    fn what_it_waits_for(&self, task: TaskId) -> String {
        let (name, record) = (self.flow.name(task), self.storage.memory.record(task));
        if record.phase == Phase::Waiting {
            let mut parents = self.flow.tasks().filter(|parent| self.flow.children(*parent).any(|child| child == task));
            let is_open = |parent: &TaskId| self.storage.memory.record(*parent).phase < Phase::Settled;
            return match parents.find(is_open) {
                Some(parent) => format!("`{name}` waits for `{}`", self.flow.name(parent)),
                None => {
                    format!("`{name}` waits, though all before it are done: this should not happen, please report it")
                }
            };
        }
        let Owner { node, boot } = record.owner;
        let machine = &self.machines[node.index()];
        let is_full = self.cluster.faults.full_disks.iter().any(|disk| {
            let now = self.now.since(Time::START);
            disk.node == node.0 && disk.from <= now && now < disk.until
        });
        let why = match &machine.member {
            None => "which is dead".to_owned(),
            Some(member) if member.is_draining() => "which is to start nothing any more".to_owned(),
            Some(_) if machine.boot != boot => "which has forgotten it since it died".to_owned(),
            Some(_) if self.cluster.faults.cut_off_until(self.now, node.0).is_some() => "which is cut off".to_owned(),
            Some(_) if is_full => "whose disk is full".to_owned(),
            Some(member) if !member.may_start(self.now) => {
                "which does not know whether the others think it dead".to_owned()
            }
            Some(_) => {
                let inputs =
                    self.flow.inputs(task).filter(|object| self.storage.memory.places(*object).next().is_none());
                match inputs.map(|object| self.flow.object_name(object)).next() {
                    Some(object) => format!("and what it reads, `{object}`, is lost"),
                    None => self.why_not_started(task),
                }
            }
        };
        format!("`{name}` is with node {}, {why}", node.0)
    }
}
