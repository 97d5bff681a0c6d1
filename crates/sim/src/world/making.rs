//! How a world is made: the store, the nodes, what lies where, and what will break.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use throng_core::headroom::Headroom;
use throng_core::ids::NodeId;
use throng_core::kin::Kin;
use throng_core::locality::Knowledge;
use throng_core::member::{Event, FIRST_BOOT, Member, Setup};
use throng_core::node::{Homes, Keeping, Limits, Node, Policies, Times, Timetable, cores};
use throng_core::order::Seat;
use throng_core::pack::{self, Capacity, Kinds};
use throng_core::policy::BadPolicy;
use throng_core::pools::Pools;
use throng_core::rng::Rng;
use throng_core::store::{Memory, Owner};
use throng_core::time::Time;
use throng_core::workflow::{Resources, Workflow};
use throng_core::{evict, order, place};

use super::crowding::Crowding;
use super::recording::Untold;
use super::unwanted::Unwanted;
use super::{Inspector, Machine, Progress, Recorder, World, patience};
use crate::cluster::{Cluster, Submission};
use crate::heap::Agenda;
use crate::network::{Capacities, Network};
use crate::outcome::Outcome;
use crate::storage::Storage;
use crate::{fit, outside};

/// What all nodes have in common.
pub(super) struct Common {
    orders: order::Maker,
    evictions: evict::Maker,
    homes: Arc<Vec<u32>>,
    /// The same by nodes, if times are planned.
    at_home: Homes,
    pub(super) abilities: Arc<place::Abilities>,
}

impl World {
    /// A cluster that is about to run a workflow.
    pub fn new(flow: Arc<Workflow>, cluster: Cluster) -> Result<World, BadPolicy> {
        let kin = Arc::new(Kin::of(&flow));
        let nodes = cluster.nodes;
        let owner = |at: u32| Owner { node: NodeId(at), boot: FIRST_BOOT };
        let submission = cluster.submission;
        let abilities = Arc::new(fit::abilities(&flow, &cluster)?);
        let homes = cluster.plan.as_ref().map(|plan| plan.homes.clone()).unwrap_or_default();
        let owners = std::cell::RefCell::new(place::FirstOwners::new(&flow, cluster.capacities()));
        let mut memory = Memory::submit(flow.clone(), kin.clone(), |task| match submission {
            _ if !homes.is_empty() => owner(homes[task.index()]),
            Submission::One => owner(0),
            Submission::Spread => {
                let node = owners.borrow_mut().next(&flow, &abilities, task);
                Owner { node, boot: FIRST_BOOT }
            }
        });
        if cluster.shares_results {
            memory = memory.sharing_results();
        }
        if let Some(later) = &cluster.later {
            place::by_name(&later.place)?;
        }
        let room_bytes = cluster.room_bytes();
        let known = Knowledge::of(&flow, &cluster.brought());
        let orders = match cluster.plan.as_ref().filter(|plan| !plan.begins.is_empty()) {
            Some(plan) => order::Maker::planned(plan.begins.clone(), &known),
            None => order::Maker::new(&cluster.order, &known)?,
        };
        let evictions = evict::Maker::new(&cluster.evict, &known, room_bytes)?;
        // Also for those who change to it later.
        let policies = std::iter::once(&cluster.place).chain(cluster.later.as_ref().map(|later| &later.place));
        let is_parted = homes.is_empty() && policies.into_iter().any(|policy| policy.name == "partitioned");
        let capacities: Vec<u64> = if is_parted { cluster.capacities().collect() } else { Vec::new() };
        let homes = if is_parted { Arc::new(place::parts(&flow, &capacities)) } else { homes };
        let is_timed = cluster.plan.as_ref().is_some_and(|plan| !plan.begins.is_empty());
        let at_home = if is_timed { Homes::of(&homes, nodes) } else { Homes::default() };
        let common = Common { orders, evictions, abilities, homes, at_home };
        let mut machines = Vec::with_capacity(nodes as usize);
        for at in 0..nodes {
            let member = make_member(&flow, &kin, &cluster, &common, owner(at), Time::START)?;
            machines.push(Machine {
                member: Some(member),
                boot: FIRST_BOOT,
                died: Time::START,
                wake_at: None,
                link_free_at: Time::START,
                slots: vec![None; cluster.width(&cluster.machine(NodeId(at)).0) as usize],
                speed: cluster.machine(NodeId(at)).0.speed,
                machine_type: cluster.type_of(NodeId(at)),
                last_used: None,
                room_bytes: cluster.cache_bytes,
                disk: None,
            });
        }
        let lies = outside::bring(&flow, &cluster, &mut memory);
        let storage = Storage::new(memory, cluster.store_shards, cluster.store_rate);
        let network = Network::new(
            nodes,
            &Capacities {
                card: &|node| cluster.machine(node).0.bandwidth,
                disk: cluster.disk_bandwidth,
                shared: cluster.shared_bandwidth,
                core: cluster.core_bandwidth,
            },
        );
        let crowding = cluster.crowd.clone().map(|crowd| Crowding::new(crowd, nodes));
        let ends = if cluster.plan.is_some() { vec![None; flow.task_count()] } else { Vec::new() };
        let outcome = Outcome { slots: cluster.slots().into(), ends, ..Outcome::default() };
        let last_return = cluster.plan.as_ref().map_or(Time::START, |plan| plan.last_wait());
        let mut world = World {
            is_done: vec![0; flow.task_count().div_ceil(64)],
            snapshots: vec![None; cluster.faults.failovers.len()],
            rng: Rng::named(cluster.seed, "world"),
            request_rng: Rng::named(cluster.seed, "requests"),
            flow,
            kin,
            common,
            cluster,
            agenda: Agenda::new(),
            machines,
            storage,
            network,
            crowding,
            requests: BTreeSet::new(),
            next_moved: None,
            now: Time::START,
            last_progress: Time::START,
            // Nodes of a plan come when they are planned to, and what is to begin later is waited for.
            last_return,
            deaths_in_vain: 0,
            outcome,
            busy: 0,
            most_busy: 0,
            commands: Vec::new(),
            wants_curve: false,
            recorder: None,
            untold: Untold::default(),
            ended_well_ns: BTreeMap::new(),
            progress: None,
            inspector: None,
            is_checked: false,
            violation: None,
            touched: BTreeSet::new(),
            settled_by: BTreeMap::new(),
            died_with: BTreeMap::new(),
            unwanted: Unwanted::default(),
        };
        for at in 0..nodes as usize {
            world.machines[at].disk = world.fresh_disk();
        }
        for (object, bytes, node) in lies {
            world.tell(node, Event::Kept { object, bytes });
            let room = &mut world.machines[node.index()].room_bytes;
            *room = room.saturating_add(bytes);
        }
        for at in 0..nodes {
            let bytes = world.machines[at as usize].room_bytes;
            if bytes > world.cluster.cache_bytes {
                world.tell(NodeId(at), Event::Capacity { bytes });
            }
        }
        world.plan_faults();
        world.plan_crowd();
        Ok(world)
    }

    /// Also notes how many slots were busy when.
    pub fn with_curve(mut self) -> World {
        self.wants_curve = true;
        self
    }

    /// Also records the run as a real one is recorded, with the slots of all nodes counted through.
    pub fn with_recorder(mut self, recorder: Recorder) -> World {
        self.recorder = Some(recorder);
        self
    }

    /// Also says now and then how far it has come.
    pub fn with_progress(mut self, progress: Progress) -> World {
        self.progress = Some(progress);
        self
    }

    /// Also checks everything that nodes do against what they may.
    pub(crate) fn with_checks(mut self) -> World {
        self.is_checked = true;
        self
    }

    /// Also has somebody look at everything after each event; what he objects to ends the run.
    pub(crate) fn with_inspector(mut self, inspector: Inspector) -> World {
        self.inspector = Some(inspector);
        self
    }
}

/// A node that has just been started.
pub(super) fn make_member(
    flow: &Arc<Workflow>,
    kin: &Arc<Kin>,
    cluster: &Cluster,
    common: &Common,
    me: Owner,
    now: Time,
) -> Result<Member, BadPolicy> {
    let seed = cluster.seed.wrapping_mul(1 << 20) ^ (u64::from(me.node.0) << 1);
    let (machine, _) = cluster.machine(me.node);
    let resources = Resources { cpus_milli: u64::from(machine.cores) * 1000, memory_bytes: machine.memory_bytes };
    let width = cluster.width(&machine);
    let window = machine.cores.saturating_mul(cluster.staged_per_core) as usize;
    let units = machine.cores as usize + if flow.has_inputs() { window } else { 0 };
    let room_bytes = cluster.room_bytes();
    let seat = Seat {
        seed,
        is_alone: cluster.nodes == 1,
        cache_bytes: cluster.cache_bytes,
        room_bytes,
        bytes_per_second: machine.bandwidth.min(cluster.shared_bandwidth),
        drops_unneeded: evict::drops_unneeded(&cluster.evict),
        is_serial: cluster.nodes == 1 && machine.cores == 1,
        ..Seat::roomy(units)
    };
    let policies = Policies {
        local: common.orders.make(Seat { seed, ..seat }),
        shared: common.orders.make(Seat { seed: seed ^ 1, ..seat }),
        pack: pack::by_name(&cluster.pack, Capacity { width, resources }, flow)?,
    };
    let limits = Limits { slots: width, grace: Duration::from_secs(1), fail_fast: false };
    let mut node = Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), flow));
    if pack::learns(&cluster.pack) {
        node = node.with_headroom(Headroom::new(machine.memory_bytes, machine.cores, width, Kinds::new(flow)));
    }
    let node = node.with_cache(Keeping {
        brought: cluster.brought(),
        shares_results: cluster.shares_results,
        evict: common.evictions.make(),
        ..Keeping::new(cluster.cache_bytes, window)
    });
    let node = match cluster.plan.as_ref().filter(|plan| !plan.begins.is_empty()) {
        Some(plan) => {
            let taken = |task| flow.alternatives(flow.class(task, 1)).map(|demand| cores(flow, demand)).min();
            let own = common.at_home.tasks(me.node).iter().map(|task| (*task, taken(*task).unwrap_or(1).min(width)));
            let times = Times { begins: plan.begins.clone(), ends: plan.ends.clone() };
            node.with_timetable(Timetable::new(times, own))
        }
        None => node,
    };
    let setup = Setup {
        me,
        nodes: cluster.nodes,
        bandwidth: machine.bandwidth,
        round_trip: cluster.latency.saturating_mul(2),
        patience: patience(cluster),
        has_leases: cluster.faults.needs_leases(),
        seed: cluster.seed,
        abilities: common.abilities.clone(),
        homes: common.homes.clone(),
        opens: cluster.plan.as_ref().map_or(Time::START, |plan| plan.opens[me.node.index()]),
        closes: cluster.plan.as_ref().map_or_else(Arc::default, |plan| plan.closes.clone()),
    };
    Ok(Member::new(flow.clone(), kin.clone(), setup, node, place::by_name(&cluster.place)?, now))
}
