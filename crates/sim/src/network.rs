//! Moving data: flows between nodes that share what each node can send and receive.
//!
//! A flow gets the lesser of its share of the sender and its share of the receiver; what one side cannot use is not given
//! to others, which is a little less than a real network does. A change at a node changes its own flows only, so that
//! the cost of a flow does not grow with the cluster.

use throng_core::ids::{NodeId, ObjectId};
use throng_core::member::Source;
use throng_core::time::Time;

/// Which flow.
pub(crate) type FlowId = u32;

/// One object on its way.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub object: ObjectId,
    pub from: Source,
    pub to: NodeId,
    pub bytes: u64,
    left: f64,
    rate: f64,
    since: Time,
    /// How often its end has been planned anew: only the last plan counts.
    pub plan: u32,
    is_on: bool,
}

/// All flows.
pub(crate) struct Network {
    flows: Vec<Flow>,
    unused: Vec<FlowId>,
    /// Flows out of each node; the last entry is the shared file system.
    out: Vec<Vec<FlowId>>,
    into: Vec<Vec<FlowId>>,
    bandwidth: f64,
    shared_bandwidth: f64,
    core_bandwidth: Option<f64>,
    running: usize,
}

/// The end of a flow, as far as is known now.
pub(crate) struct Plan {
    pub flow: FlowId,
    pub plan: u32,
    pub end: Time,
}

impl Network {
    pub(crate) fn new(nodes: u32, bandwidth: u64, shared_bandwidth: u64, core_bandwidth: Option<u64>) -> Network {
        Network {
            flows: Vec::new(),
            unused: Vec::new(),
            out: vec![Vec::new(); nodes as usize + 1],
            into: vec![Vec::new(); nodes as usize],
            bandwidth: bandwidth as f64,
            shared_bandwidth: shared_bandwidth as f64,
            core_bandwidth: core_bandwidth.map(|bytes| bytes as f64),
            running: 0,
        }
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.running == 0
    }

    fn sender(&self, from: Source) -> usize {
        match from {
            Source::Node(node) => node.index(),
            Source::Shared => self.out.len() - 1,
        }
    }

    /// Begins to move an object; the ends of all flows that this changes go into `plans`.
    pub(crate) fn begin(
        &mut self,
        now: Time,
        object: ObjectId,
        bytes: u64,
        from: Source,
        to: NodeId,
        plans: &mut Vec<Plan>,
    ) {
        let flow = Flow { object, from, to, bytes, left: bytes as f64, rate: 0.0, since: now, plan: 0, is_on: true };
        let id = match self.unused.pop() {
            Some(id) => {
                let plan = self.flows[id as usize].plan + 1;
                self.flows[id as usize] = Flow { plan, ..flow };
                id
            }
            None => {
                self.flows.push(flow);
                (self.flows.len() - 1) as FlowId
            }
        };
        let sender = self.sender(from);
        self.out[sender].push(id);
        self.into[to.index()].push(id);
        self.running += 1;
        self.share_anew(now, sender, to.index(), plans);
    }

    /// Whether a plan still holds: then its flow has ended.
    pub(crate) fn end(&mut self, now: Time, id: FlowId, plan: u32, plans: &mut Vec<Plan>) -> Option<Flow> {
        let flow = &self.flows[id as usize];
        if !flow.is_on || flow.plan != plan {
            return None;
        }
        Some(self.remove(now, id, plans))
    }

    fn remove(&mut self, now: Time, id: FlowId, plans: &mut Vec<Plan>) -> Flow {
        self.flows[id as usize].is_on = false;
        let flow = self.flows[id as usize].clone();
        let (sender, receiver) = (self.sender(flow.from), flow.to.index());
        self.out[sender].retain(|other| *other != id);
        self.into[receiver].retain(|other| *other != id);
        self.unused.push(id);
        self.running -= 1;
        self.share_anew(now, sender, receiver, plans);
        flow
    }

    /// Ends all flows from and to a node, and says which.
    pub(crate) fn cut(&mut self, now: Time, node: NodeId, plans: &mut Vec<Plan>) -> Vec<Flow> {
        let mut ids = self.out[node.index()].clone();
        ids.extend(&self.into[node.index()]);
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().map(|id| self.remove(now, id, plans)).collect()
    }

    fn share_anew(&mut self, now: Time, sender: usize, receiver: usize, plans: &mut Vec<Plan>) {
        for at in 0..self.out[sender].len() {
            let id = self.out[sender][at];
            self.replan(now, id, plans);
        }
        for at in 0..self.into[receiver].len() {
            let id = self.into[receiver][at];
            if self.sender(self.flows[id as usize].from) != sender {
                self.replan(now, id, plans);
            }
        }
    }

    fn replan(&mut self, now: Time, id: FlowId, plans: &mut Vec<Plan>) {
        let flow = &self.flows[id as usize];
        let sender = self.sender(flow.from);
        let capacity = if sender + 1 == self.out.len() { self.shared_bandwidth } else { self.bandwidth };
        let mut rate = capacity / self.out[sender].len() as f64;
        rate = rate.min(self.bandwidth / self.into[flow.to.index()].len() as f64);
        if let Some(core) = self.core_bandwidth {
            rate = rate.min(core / self.running as f64);
        }
        let flow = &mut self.flows[id as usize];
        if rate == flow.rate {
            return;
        }
        flow.left = (flow.left - flow.rate * now.since(flow.since).as_secs_f64()).max(0.0);
        flow.since = now;
        flow.rate = rate;
        flow.plan += 1;
        let nanos = (flow.left / rate * 1e9).ceil() as u64;
        plans.push(Plan { flow: id, plan: flow.plan, end: Time(now.0 + nanos) });
    }
}
