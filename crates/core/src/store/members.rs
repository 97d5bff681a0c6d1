//! Who takes part: leases, and who steps in for the dead.
//!
//! A node renews its lease; one that has not done so for [`LEASE`] is dead, and the next node that renews is told to
//! claim what it answered for. The store judges by its own clock. A node judges itself by its own, from the time it
//! *sent* its last renewal that was answered, and starts nothing once that is too long ago: it always gives up before the
//! others step in.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Owner;
use crate::ids::NodeId;
use crate::time::Time;

/// How long a node may be silent before others step in for it.
pub const LEASE: Duration = Duration::from_secs(10);

/// Whether a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It renews its lease.
    Alive,
    /// It is dead.
    Gone,
}

/// What a node learns when it renews its lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// What it knows now: to be named at the next renewal.
    pub seen: u64,
    /// What has changed since.
    pub changes: Box<[(Owner, Standing)]>,
    /// The dead that the asker has to see to.
    pub dead: Box<[Owner]>,
    /// How often the store has lost writes.
    pub losses: u32,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    boot: u32,
    expires: Time,
    standing: Standing,
    changed: u64,
}

/// The nodes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    members: BTreeMap<NodeId, Member>,
    /// The dead whose tasks have not all been claimed, and who sees to it.
    dead: BTreeMap<Owner, Option<Owner>>,
    version: u64,
    /// No lease ends before this.
    first_expiry: Time,
    pub losses: u32,
}

impl Members {
    /// A node takes part from now on; an earlier life of it is dead. A life that is over stays over, for others may have stepped in:
    /// only the next one may join.
    pub(super) fn join(&mut self, now: Time, owner: Owner) -> bool {
        self.expire(now);
        if let Some(member) = self.members.get(&owner.node) {
            if member.boot > owner.boot {
                return false;
            }
            if member.boot == owner.boot {
                return member.standing == Standing::Alive;
            }
            if member.standing == Standing::Alive {
                self.dead.insert(Owner { boot: member.boot, ..owner }, None);
            }
        }
        self.version += 1;
        let expires = now + LEASE;
        let member = Member { boot: owner.boot, expires, standing: Standing::Alive, changed: self.version };
        self.members.insert(owner.node, member);
        self.first_expiry = self.first_expiry.min(expires);
        true
    }

    /// Renews a lease, or says that it has run out.
    pub(super) fn renew(&mut self, now: Time, owner: Owner, seen: u64) -> Option<Membership> {
        self.expire(now);
        let member = self.members.get_mut(&owner.node)?;
        if member.boot != owner.boot || member.standing == Standing::Gone {
            return None;
        }
        member.expires = now + LEASE;
        let members = &self.members;
        let is_alive = |owner: &Owner| {
            members.get(&owner.node).is_some_and(|it| it.boot == owner.boot && it.standing == Standing::Alive)
        };
        for taker in self.dead.values_mut() {
            if !taker.as_ref().is_some_and(is_alive) {
                *taker = Some(owner);
            }
        }
        let dead = self.dead.iter().filter(|(_, taker)| **taker == Some(owner)).map(|(dead, _)| *dead).collect();
        let changes = if seen == self.version {
            Box::default()
        } else {
            let changed = members.iter().filter(|(_, member)| member.changed > seen);
            changed.map(|(node, member)| (Owner { node: *node, boot: member.boot }, member.standing)).collect()
        };
        Some(Membership { seen: self.version, changes, dead, losses: self.losses })
    }

    /// Everything of a dead node has been claimed.
    pub(super) fn bury(&mut self, dead: Owner, by: Owner) -> bool {
        if self.dead.get(&dead).is_some_and(|taker| *taker == Some(by)) {
            self.dead.remove(&dead);
        }
        !self.dead.contains_key(&dead)
    }

    /// Finds out whose lease has ended; looks at all of them only when one may have.
    fn expire(&mut self, now: Time) {
        if now < self.first_expiry {
            return;
        }
        let mut first = Time(u64::MAX);
        for (node, member) in &mut self.members {
            if member.standing == Standing::Gone {
                continue;
            }
            if member.expires <= now {
                self.version += 1;
                (member.standing, member.changed) = (Standing::Gone, self.version);
                self.dead.insert(Owner { node: *node, boot: member.boot }, None);
            } else {
                first = first.min(member.expires);
            }
        }
        self.first_expiry = first;
    }
}
