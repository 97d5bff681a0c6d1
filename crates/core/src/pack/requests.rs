//! As many tasks as fit by what they ask for: cores and memory are reserved while a task runs.
//!
//! Safe when requests are honest. It loses when they are guesses: too large and cores idle, too small and
//! the machine runs out of memory. And a big task may wait long while small ones keep coming: nothing is saved up
//! for it.

use std::sync::Arc;

use super::{Capacity, Pack};
use crate::ids::DemandId;
use crate::workflow::{Resources, Workflow};

/// Reserves what each demand asks for.
#[derive(Clone, Debug)]
pub struct Requests {
    capacity: Capacity,
    /// It knows what is asked for: a copy for each of many nodes would be large where tasks ask for many different things.
    flow: Arc<Workflow>,
    running: u32,
    reserved: Resources,
}

impl Requests {
    /// Reserves from this capacity.
    pub fn new(capacity: Capacity, flow: Arc<Workflow>) -> Self {
        Requests { capacity, flow, running: 0, reserved: Resources { memory_bytes: 0, cpus_milli: 0 } }
    }
}

impl Pack for Requests {
    fn admits(&self, demand: DemandId) -> bool {
        let request = self.flow.resources(demand);
        let total = self.capacity.resources;
        self.running < self.capacity.width
            && self.reserved.cpus_milli.saturating_add(request.cpus_milli) <= total.cpus_milli
            && self.reserved.memory_bytes.saturating_add(request.memory_bytes) <= total.memory_bytes
    }

    fn started(&mut self, demand: DemandId) {
        let request = self.flow.resources(demand);
        self.running += 1;
        self.reserved.cpus_milli += request.cpus_milli;
        self.reserved.memory_bytes += request.memory_bytes;
    }

    fn ended(&mut self, demand: DemandId) {
        let request = self.flow.resources(demand);
        self.running -= 1;
        self.reserved.cpus_milli -= request.cpus_milli;
        self.reserved.memory_bytes -= request.memory_bytes;
    }

    fn could_ever_admit(&self, demand: DemandId) -> bool {
        let request = self.flow.resources(demand);
        let total = self.capacity.resources;
        self.capacity.width > 0 && request.cpus_milli <= total.cpus_milli && request.memory_bytes <= total.memory_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn a_big_task_waits_and_a_small_one_does_not() {
        let capacity = Capacity { width: 8, resources: Resources { memory_bytes: 100_000, cpus_milli: 4000 } };
        let text = "tasks: { small: { noop: true, memory: 10kB }, big: { noop: true, memory: 95kB } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let mut pack = Requests::new(capacity, Arc::new(flow));
        pack.started(DemandId(0));
        assert!(pack.admits(DemandId(0)));
        assert!(!pack.admits(DemandId(1)));
        pack.ended(DemandId(0));
        assert!(pack.admits(DemandId(1)));
    }
}
