//! Which instance runs which task when, and what that costs.

use super::super::catalogue::for_bytes;
use super::super::money::Money;
use super::problem::Problem;

/// A machine that is rented for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its type, by its number in the catalogue.
    pub machine: u16,
    /// From when on it is had, and charged; it is there when it has started.
    pub from: u64,
    /// Until when.
    pub until: u64,
}

/// When a task runs, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// On which instance.
    pub instance: u32,
    /// From when on it is to have its slot.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
}

/// How much data is moved, and so charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// From outside to instances.
    pub into_bytes: u64,
    /// Between instances.
    pub between_bytes: u64,
    /// Results that leave.
    pub out_bytes: u64,
}

/// A whole run on rented machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// What is rented.
    pub instances: Vec<Instance>,
    /// For each task of the workflow, when and where it runs.
    pub runs: Vec<Run>,
    /// What is moved.
    pub moved: Moved,
    /// When the last task ends.
    pub makespan: u64,
    /// What all of it costs.
    pub cost: Money,
}

impl Schedule {
    /// What an instance costs.
    pub fn charge(problem: &Problem<'_>, instance: &Instance) -> Money {
        let machine = &problem.catalogue.machines[usize::from(instance.machine)];
        machine.billing.charge(machine.price, instance.until - instance.from)
    }

    /// What moving data costs.
    pub fn charge_for_data(problem: &Problem<'_>, moved: &Moved) -> Money {
        let prices = &problem.catalogue.transfer;
        for_bytes(prices.into, moved.into_bytes)
            + for_bytes(prices.between, moved.between_bytes)
            + for_bytes(prices.out, moved.out_bytes)
    }

    /// How many instances of each type there are, by the numbers of the types.
    pub fn fleet(&self, types: usize) -> Vec<u32> {
        let mut fleet = vec![0; types];
        self.instances.iter().for_each(|instance| fleet[usize::from(instance.machine)] += 1);
        fleet
    }

    /// What is wrong with it, if anything is: for tests. When data comes is not looked at.
    pub fn fault(&self, problem: &Problem<'_>) -> Option<String> {
        let machine = |instance: &Instance| &problem.catalogue.machines[usize::from(instance.machine)];
        for (at, instance) in self.instances.iter().enumerate() {
            if instance.until < instance.from {
                return Some(format!("instance {at} is given back before it is had"));
            }
        }
        for (number, machine) in problem.catalogue.machines.iter().enumerate() {
            let of_type = self.instances.iter().filter(|instance| usize::from(instance.machine) == number);
            if machine.count.is_some_and(|count| of_type.count() > count as usize) {
                return Some(format!("there are not as many machines of type {} as are used", machine.name));
            }
        }
        for (task, run) in self.runs.iter().enumerate() {
            let Some(instance) = self.instances.get(run.instance as usize) else {
                return Some(format!("task {task} runs nowhere"));
            };
            let Some(time) = problem.time(task as u32, instance.machine) else {
                return Some(format!("task {task} does not fit where it runs"));
            };
            if run.end != run.begin.saturating_add(time) {
                return Some(format!("task {task} does not take as long as it should"));
            }
            if run.begin < instance.from + machine(instance).start_ns || run.end > instance.until {
                return Some(format!("task {task} runs when its instance is not there"));
            }
            let is_late = |parent: &u32| self.runs[*parent as usize].end > run.begin;
            if let Some(parent) = problem.graph.parents(task as u32).iter().find(|parent| is_late(parent)) {
                return Some(format!("task {task} does not wait for task {parent}"));
            }
        }
        self.crowded(problem)
    }

    /// The first instance that runs more at once than it has room for.
    fn crowded(&self, problem: &Problem<'_>) -> Option<String> {
        let mut changes: Vec<(u32, u64, bool, u32)> = Vec::new();
        for (task, run) in self.runs.iter().enumerate().filter(|(_, run)| run.end > run.begin) {
            changes.extend([(run.instance, run.begin, true, task as u32), (run.instance, run.end, false, task as u32)]);
        }
        changes.sort_unstable();
        let (mut cpus, mut memory, mut on) = (0i128, 0i128, u32::MAX);
        for (instance, _, begins, task) in changes {
            if instance != on {
                (cpus, memory, on) = (0, 0, instance);
            }
            let machine = self.instances[instance as usize].machine;
            let (need, has) = (problem.need(task, machine), problem.has(machine));
            let sign = if begins { 1 } else { -1 };
            cpus += sign * i128::from(need.cpus_milli);
            memory += sign * i128::from(need.memory_bytes);
            if cpus > i128::from(has.cpus_milli) || memory > i128::from(has.memory_bytes) {
                return Some(format!("instance {instance} has no room for task {task} when it begins"));
            }
        }
        None
    }
}
