//! What a simulated run is held to by a plan: how long tasks take on each type of machine, and, if instances are rented, when each is there and what it runs.

use std::sync::Arc;
use std::time::Duration;

use throng_core::ids::TaskId;
use throng_core::plan::catalogue::{Catalogue, Machine};
use throng_core::plan::estimates::Tables;
use throng_core::plan::file::{Placed, PlanFile};
use throng_core::plan::instances::Instance;
use throng_core::policy::Policy;
use throng_core::time::Time;
use throng_core::workflow::Workflow;

use crate::cluster::{Cluster, Inputs};
use crate::machines::MachineType;
use crate::outcome::Outcome;
use crate::rent::Bill;
use crate::world::World;

/// How long tasks take on each type of machine.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    /// By table, and then by type; nothing where tasks do not fit.
    times: Vec<Vec<Option<u64>>>,
    table_of: Vec<u32>,
}

impl Lengths {
    /// As tables say.
    pub fn of(tables: &Tables) -> Lengths {
        let times = tables.rows.iter().map(|of| of.known.iter().map(|known| Some(known.as_ref()?.time.time_ns)));
        Lengths { times: times.map(Iterator::collect).collect(), table_of: tables.table_of.clone() }
    }

    /// How long a task takes on a type, or on the fastest one.
    pub(crate) fn length(&self, task: TaskId, machine: Option<usize>) -> Option<Duration> {
        let times = &self.times[self.table_of[task.index()] as usize];
        let ns = match machine {
            Some(machine) => times.get(machine).copied().flatten(),
            None => times.iter().flatten().copied().min(),
        };
        ns.map(Duration::from_nanos)
    }
}

/// A plan that a run is held to.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// How long tasks take.
    pub lengths: Lengths,
    /// For each task its node; empty if only types were planned.
    pub(crate) homes: Arc<Vec<u32>>,
    /// For each task when it is to begin; empty likewise.
    pub(crate) begins: Arc<Vec<u64>>,
    /// For each task when it is to have ended; empty likewise.
    pub(crate) ends: Arc<Vec<u64>>,
    /// For each node from when on it is had.
    pub(crate) had_from: Vec<Time>,
    /// For each node from when on it can be used.
    pub(crate) opens: Vec<Time>,
    /// For each node until when it is had; empty if only types were planned.
    pub(crate) closes: Arc<Vec<Time>>,
}

impl Cluster {
    /// The same cluster, made of what a plan rents, or else of all machines that can be had, and held to the plan; so is the workflow.
    ///
    /// Inputs come from outside, as fast as machines receive: that is what plans count on.
    pub fn held_to(mut self, plan: &PlanFile, catalogue: &Catalogue, tables: &Tables, flow: &mut Workflow) -> Cluster {
        flow.hold_to_types(plan.machine_of.clone(), catalogue.machines.len() as u16);
        let lengths = Lengths::of(tables);
        let counts = node_counts(plan, catalogue);
        let held = match &plan.rented {
            Some(rented) => held_to_instances(rented, catalogue, lengths),
            None => {
                let opens = |(machine, count): (&Machine, &u32)| vec![Time(machine.start_ns); *count as usize];
                let opens: Vec<Time> = catalogue.machines.iter().zip(&counts).flat_map(opens).collect();
                let had_from = vec![Time::START; opens.len()];
                Held { lengths, opens, had_from, ..Held::default() }
            }
        };
        if !held.homes.is_empty() {
            self.place = Policy { name: "partitioned".to_owned(), parameters: Vec::new() };
        }
        let types = catalogue.machines.iter().zip(counts).map(|(machine, count)| MachineType {
            count,
            cores: machine.cpus,
            memory_bytes: machine.memory_bytes,
            speed: machine.speed,
            bandwidth: machine.bandwidth,
        });
        let mut cluster = self.of_types(types.collect());
        cluster.store_shards = cluster.nodes.max(1);
        cluster.inputs = Inputs::Shared;
        // No plan minds how much room for data a machine has.
        cluster.cache_bytes = cluster.cache_bytes.max(ROOM_BYTES);
        let received: u64 = cluster.machine_types().map(|of| of.bandwidth.saturating_mul(of.count.into())).sum();
        cluster.shared_bandwidth = cluster.shared_bandwidth.max(received);
        cluster.plan = Some(Arc::new(held));
        cluster
    }
}

impl Held {
    /// Until when somebody may wait because it is planned.
    pub(crate) fn last_wait(&self) -> Time {
        let begins = self.begins.iter().copied().max().unwrap_or(0);
        self.opens.iter().copied().max().unwrap_or(Time::START).max(Time(begins))
    }
}

/// Carries a plan out, on machines with nothing else to do; says what happened, and what it would have cost. `out_bytes` leave in the end.
pub fn carry_out(
    flow: &Workflow,
    plan: &PlanFile,
    catalogue: &Catalogue,
    tables: &Tables,
    out_bytes: u64,
) -> (Outcome, Bill) {
    let mut flow = flow.clone();
    let cluster = Cluster::new(1, 1).held_to(plan, catalogue, tables, &mut flow);
    let world = World::new(Arc::new(flow), cluster.clone()).expect("nobody has changed its policies");
    let outcome = world.run();
    let bill = Bill::of(&outcome, &cluster, catalogue, out_bytes);
    (outcome, bill)
}

/// Room for whatever a workflow may read and write.
const ROOM_BYTES: u64 = 1 << 50;

/// How many machines of each type there are: what a plan rents, or else as many as can be had and are of use to its tasks.
pub fn node_counts(plan: &PlanFile, catalogue: &Catalogue) -> Vec<u32> {
    if let Some(rented) = &plan.rented {
        return fleet(rented, catalogue);
    }
    let tasks = |machine: usize| plan.machine_of.iter().filter(|of| usize::from(**of) == machine).count() as u32;
    let count = |(number, machine): (usize, &Machine)| machine.count.unwrap_or(u32::MAX).min(tasks(number));
    catalogue.machines.iter().enumerate().map(count).collect()
}

fn fleet(rented: &Placed, catalogue: &Catalogue) -> Vec<u32> {
    let mut fleet = vec![0; catalogue.machines.len()];
    rented.instances.iter().for_each(|instance| fleet[usize::from(instance.machine)] += 1);
    fleet
}

fn held_to_instances(rented: &Placed, catalogue: &Catalogue, lengths: Lengths) -> Held {
    // Nodes are numbered type by type.
    let mut order: Vec<u32> = (0..rented.instances.len() as u32).collect();
    order.sort_by_key(|instance| (rented.instances[*instance as usize].machine, *instance));
    let mut node_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(node, instance)| node_of[*instance as usize] = node as u32);
    let instances = || order.iter().map(|instance| rented.instances[*instance as usize]);
    let opens = |Instance { machine, from, .. }: Instance| {
        Time(from.saturating_add(catalogue.machines[usize::from(machine)].start_ns))
    };
    Held {
        lengths,
        homes: Arc::new(rented.runs.iter().map(|run| node_of[run.instance as usize]).collect()),
        begins: Arc::new(rented.runs.iter().map(|run| run.begin).collect()),
        ends: Arc::new(rented.runs.iter().map(|run| run.end).collect()),
        had_from: instances().map(|instance| Time(instance.from)).collect(),
        opens: instances().map(opens).collect(),
        closes: Arc::new(instances().map(|instance| Time(instance.until)).collect()),
    }
}
