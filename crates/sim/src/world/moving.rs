//! Data on its way: what is fetched passes the network, and then the last byte still has to travel.

use std::time::Duration;

use throng_core::ids::{NodeId, ObjectId};
use throng_core::member::{Asking, Event, Source};

use super::disks::AtDisk;
use super::{Happening, World, patience};
use crate::lengths::times;
use crate::network::Route;

/// What a flow is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// An object for a node.
    Fetch { object: ObjectId, bytes: u64, from: Source, to: NodeId },
    /// What a task reads from its node's disk before it computes.
    Read { node: NodeId, boot: u32, reading: u64 },
    /// What has to be written before a task ends.
    Write(AtDisk),
    /// What has to be written before an object that has come is here.
    Keep { node: NodeId, boot: u32, object: ObjectId, bytes: u64 },
    /// What nobody waits for.
    Nobodys,
}

/// What becomes of a message between two that wait for each other.
enum Luck {
    Heard,
    Late(Duration),
    Lost,
}

impl World {
    /// A node asks for an object; a peer answers when it is its turn.
    pub(super) fn fetch(&mut self, node: NodeId, object: ObjectId, from: Source, asking: Asking) {
        let Source::Node(source) = from else {
            self.begin_flow(node, object, from, Route::Shared { to: node });
            return;
        };
        let boot = self.machines[node.index()].boot;
        match self.luck_of_request() {
            Luck::Heard => self.request(node, object, source, asking),
            Luck::Late(by) => {
                let requested = Happening::Requested { node, boot, object, source, asking };
                self.agenda.plan(self.now + by, requested);
            }
            Luck::Lost => self.not_moved(node, object, from, false),
        }
    }

    /// What becomes of a wish for an object, or of the answer that somebody else has it. They are lost and late as messages are,
    /// but whoever asked waits for the answer: what takes longer than his patience is as good as lost.
    fn luck_of_request(&mut self) -> Luck {
        let faults = &self.cluster.faults;
        let (lost, (late, most)) = (faults.lost, faults.late);
        if lost > 0.0 && self.request_rng.unit() < lost {
            self.outcome.lost_messages += 1;
            return Luck::Lost;
        }
        if late > 0.0 && self.request_rng.unit() < late {
            let by = times(most, self.request_rng.unit());
            return if by < patience(&self.cluster) { Luck::Late(by) } else { Luck::Lost };
        }
        Luck::Heard
    }

    /// A wish for an object has come to a node.
    pub(super) fn request(&mut self, node: NodeId, object: ObjectId, source: NodeId, asking: Asking) {
        if self.can_get(node, object, source) {
            self.requests.insert((source, node, object));
            self.tell(source, Event::Wanted { object, by: node, asking });
        }
    }

    /// Whether a node can be reached and has an object; whoever wants it hears if not.
    fn can_get(&mut self, node: NodeId, object: ObjectId, source: NodeId) -> bool {
        let holder = self.machines[source.index()].member.as_ref();
        let is_reachable = holder.is_some() && self.cluster.faults.connects(self.now, node.0, source.0);
        let has_it = holder.is_some_and(|member| member.node().has_object(object));
        if !is_reachable || !has_it {
            self.not_moved(node, object, Source::Node(source), is_reachable);
        }
        is_reachable && has_it
    }

    /// A node sends an object, unless whoever wanted it is gone or has been too late.
    pub(super) fn serve(&mut self, source: NodeId, object: ObjectId, to: NodeId) {
        if self.requests.remove(&(source, to, object)) && self.can_get(to, object, source) {
            let is_on_disk = self.serves_from_disk(source, object, self.storage.memory.bytes(object));
            let route = Route::Peers { from: source, to, is_on_disk };
            self.begin_flow(to, object, Source::Node(source), route);
        } else {
            self.tell(source, Event::Sent { object, to, is_there: false });
        }
    }

    /// A node says who else has an object.
    pub(super) fn redirect(&mut self, source: NodeId, object: ObjectId, to: NodeId, holder: NodeId) {
        if self.requests.remove(&(source, to, object)) {
            let late = match self.luck_of_request() {
                Luck::Heard => Duration::ZERO,
                Luck::Late(by) => by,
                Luck::Lost => return self.not_moved(to, object, Source::Node(source), false),
            };
            let boot = self.machines[to.index()].boot;
            let time = self.now + self.cluster.latency + self.cluster.latency + late;
            self.agenda.plan(time, Happening::Redirected { node: to, boot, object, holder });
        }
    }

    fn begin_flow(&mut self, node: NodeId, object: ObjectId, from: Source, route: Route) {
        let bytes = self.storage.memory.bytes(object);
        self.network.begin(self.now, route, bytes, Errand::Fetch { object, bytes, from, to: node });
        self.watch_network();
    }

    /// Writes what a task has made to the shared file system. Nobody waits for that: whoever reads it sooner has it from the node.
    pub(super) fn write_through(&mut self, node: NodeId, bytes: u64) {
        if bytes > 0 {
            self.network.begin(self.now, Route::ToShared { from: node }, bytes, Errand::Nobodys);
            self.watch_network();
        }
    }

    /// Plans to look when the next flow ends, if nobody looks before.
    pub(super) fn watch_network(&mut self) {
        if let Some(time) = self.network.next_end(self.now)
            && self.next_moved.is_none_or(|planned| time < planned)
        {
            self.next_moved = Some(time);
            self.agenda.plan(time, Happening::Moved);
        }
    }

    /// Some flow may have ended.
    pub(super) fn moved(&mut self) {
        if self.next_moved != Some(self.now) {
            return;
        }
        self.next_moved = None;
        while let Some(errand) = self.network.take_ended(self.now) {
            // However slow a disk or the network may be, a run in which data move is not stuck.
            self.last_progress = self.now;
            match errand {
                Errand::Fetch { object, bytes, from, to } => {
                    self.used(to);
                    if from == Source::Shared {
                        self.outcome.brought_bytes = self.outcome.brought_bytes.saturating_add(bytes);
                    }
                    if let Source::Node(source) = from {
                        self.used(source);
                        self.tell(source, Event::Sent { object, to, is_there: true });
                    }
                    let boot = self.machines[to.index()].boot;
                    let came = Happening::Came { node: to, boot, object, bytes };
                    self.agenda.plan(self.now + self.cluster.latency, came);
                }
                Errand::Read { node, boot, reading } if self.lives(node, boot) => self.has_read(node, reading),
                Errand::Write(attempt) if self.still_runs(&attempt) => self.finish(attempt),
                Errand::Keep { node, boot, object, bytes } if self.lives(node, boot) => self.came(node, object, bytes),
                Errand::Read { .. } | Errand::Write(_) | Errand::Keep { .. } | Errand::Nobodys => {}
            }
        }
        self.watch_network();
    }

    /// The last byte of an object has come.
    pub(super) fn came(&mut self, node: NodeId, object: ObjectId, bytes: u64) {
        self.outcome.moves += 1;
        self.outcome.moved_bytes = self.outcome.moved_bytes.saturating_add(bytes);
        self.tell_and_decide(node, Event::Fetched { object, bytes });
    }

    /// A node is dead: what others fetched from it does not come.
    pub(super) fn cut_off(&mut self, node: NodeId) {
        let cut = self.network.cut(self.now, node);
        self.watch_network();
        self.machines[node.index()].disk = self.fresh_disk();
        for errand in cut {
            match errand {
                Errand::Fetch { object, from, to, .. } if to != node => self.not_moved(to, object, from, false),
                Errand::Fetch { object, from: Source::Node(source), to, .. } => {
                    self.tell(source, Event::Sent { object, to, is_there: false });
                }
                Errand::Fetch { .. } => {}
                Errand::Read { .. } | Errand::Write(_) | Errand::Keep { .. } | Errand::Nobodys => {}
            }
        }
        let mut dropped = Vec::new();
        self.requests.retain(|request| {
            let is_cut = request.0 == node || request.1 == node;
            dropped.extend(is_cut.then_some(*request));
            !is_cut
        });
        for (source, to, object) in dropped {
            if source == node {
                self.not_moved(to, object, Source::Node(source), false);
            }
        }
    }
}
