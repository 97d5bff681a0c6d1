//! Being alive in the eyes of others, and stepping in for those who are not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::{Command, Member, Purpose};
use crate::ids::{NodeId, TaskId};
use crate::store::{Answer, BUCKETS, Holding, LEASE, Membership, Owner, Standing, Verb};
use crate::time::Time;

/// How often a lease is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(2);

/// How long a member has nothing to do before it makes sure that nothing has been lost; the next time, twice as long.
const SWEEP_AFTER: Duration = Duration::from_secs(20);
/// But never longer than this.
const SWEEP_AT_LEAST_EVERY: Duration = Duration::from_secs(600);

/// The first life of every node.
pub const FIRST_BOOT: u32 = 1;

/// What a member knows of its own lease and those of others.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    is_used: bool,
    /// Until then nobody steps in.
    valid_until: Time,
    renew_at: Option<Time>,
    seen: u64,
    losses: u32,
    idle_since: Option<Time>,
    sweep_after: Duration,
    /// The dead whose tasks are to be claimed next.
    claiming: BTreeSet<Owner>,
    /// Those whose tasks are being claimed.
    in_claim: BTreeSet<Owner>,
    is_claiming: bool,
    /// Claims may have been lost, and have to be made again.
    must_claim: bool,
    /// Those whose tasks have been claimed.
    buried: BTreeSet<Owner>,
    /// Nodes in a later life than their first.
    boots: BTreeMap<NodeId, u32>,
}

impl Lease {
    pub(super) fn new(is_used: bool, now: Time) -> Lease {
        Lease {
            is_used,
            valid_until: now,
            renew_at: None,
            seen: 0,
            losses: 0,
            idle_since: None,
            sweep_after: SWEEP_AFTER,
            claiming: BTreeSet::new(),
            in_claim: BTreeSet::new(),
            is_claiming: false,
            must_claim: false,
            buried: BTreeSet::new(),
            boots: BTreeMap::new(),
        }
    }

    pub(super) fn is_valid(&self, now: Time) -> bool {
        !self.is_used || now < self.valid_until
    }

    pub(super) fn next_wake(&self) -> Option<Time> {
        self.renew_at
    }

    pub(super) fn boot_of(&self, node: NodeId) -> u32 {
        self.boots.get(&node).copied().unwrap_or(FIRST_BOOT)
    }
}

impl Member {
    pub(super) fn join(&mut self, now: Time) {
        if self.lease.is_used {
            self.ask(Verb::Join { owner: self.setup.me }, Purpose::Join { sent: now });
        }
    }

    pub(super) fn joined(&mut self, now: Time, sent: Time, answer: Answer, out: &mut Vec<Command>) {
        if answer == Answer::Done {
            self.lease.valid_until = sent + LEASE;
            self.lease.renew_at = Some(now + RENEW_EVERY);
        } else {
            self.begin_anew(now, out);
        }
    }

    /// Others have stepped in: whatever this life still does counts for nothing.
    fn begin_anew(&mut self, now: Time, out: &mut Vec<Command>) {
        self.lease.valid_until = now;
        self.lease.renew_at = None;
        out.push(Command::Restart);
    }

    pub(super) fn wake_lease(&mut self, now: Time) {
        if self.lease.renew_at.is_some_and(|time| time <= now) {
            self.lease.renew_at = Some(now + RENEW_EVERY);
            let renew = Verb::Renew { owner: self.setup.me, seen: self.lease.seen };
            self.ask(renew, Purpose::Renew { sent: now });
        }
    }

    pub(super) fn renewed(&mut self, now: Time, sent: Time, answer: Answer, out: &mut Vec<Command>) {
        let Answer::Members(Membership { seen, changes, dead, losses }) = answer else {
            self.begin_anew(now, out);
            return;
        };
        self.lease.valid_until = self.lease.valid_until.max(sent + LEASE);
        self.lease.seen = self.lease.seen.max(seen);
        let mut has_lost = false;
        for (owner, standing) in changes {
            let newer = owner.boot >= self.lease.boot_of(owner.node);
            if owner.node == self.setup.me.node || !newer {
                continue;
            }
            match standing {
                Standing::Alive => {
                    self.gone.remove(&owner.node);
                    if owner.boot > self.lease.boot_of(owner.node) {
                        has_lost = true;
                        self.draining.remove(&owner.node);
                    }
                    self.lease.boots.insert(owner.node, owner.boot);
                }
                Standing::Gone => {
                    self.lease.boots.insert(owner.node, owner.boot);
                    has_lost |= self.gone.insert(owner.node);
                }
            }
        }
        self.claim(&dead);
        // Somebody may have made tasks this member's and died before he could say so.
        if has_lost {
            self.make_sure();
        }
        if losses > self.lease.losses {
            self.lease.losses = losses;
            self.tell_what_is_here();
            self.make_sure();
            self.sweep();
        }
        self.sweep_when_stalled(now);
    }

    fn claim(&mut self, owners: &[Owner]) {
        self.lease.claiming.extend(owners.iter().copied().filter(|owner| !self.lease.buried.contains(owner)));
        if self.lease.is_claiming || (self.lease.claiming.is_empty() && !self.lease.must_claim) {
            return;
        }
        self.lease.must_claim = false;
        self.lease.is_claiming = true;
        self.lease.in_claim = std::mem::take(&mut self.lease.claiming);
        let dead = self.known_dead();
        for bucket in 0..BUCKETS {
            let is_last = bucket == BUCKETS - 1;
            let claim = Verb::Claim { bucket, dead: dead.clone(), by: self.setup.me };
            self.ask(claim, Purpose::Claim { is_last });
        }
    }

    /// All lives that are over, as far as this member has heard; the last of each node stands for those before it.
    pub(super) fn known_dead(&self) -> Arc<[Owner]> {
        let mut dead: BTreeMap<NodeId, u32> = BTreeMap::new();
        let known = self.gone.iter().map(|node| Owner { node: *node, boot: self.lease.boot_of(*node) });
        let earlier = self.lease.boots.iter().map(|(node, boot)| Owner { node: *node, boot: boot - 1 });
        let me = self.setup.me;
        let own = (me.boot > FIRST_BOOT).then(|| Owner { boot: me.boot - 1, ..me });
        for owner in known.chain(earlier).chain(own).chain(self.lease.in_claim.iter().copied()) {
            let boot = dead.entry(owner.node).or_insert(owner.boot);
            *boot = owner.boot.max(*boot);
        }
        dead.into_iter().map(|(node, boot)| Owner { node, boot }).collect()
    }

    pub(super) fn claimed(
        &mut self,
        now: Time,
        is_last: bool,
        tasks: Box<[Holding]>,
        lost: Box<[(TaskId, u16)]>,
        out: &mut Vec<Command>,
    ) {
        for holding in tasks {
            self.tally.claimed += u64::from(!self.held.contains(holding.task));
            self.accept_holding(now, holding, out);
        }
        for (task, generation) in lost {
            let reopen = Verb::Reopen { task, generation, by: self.setup.me };
            self.ask(reopen, Purpose::Reopen { parent: task, generation, child: None });
        }
        if is_last {
            self.lease.is_claiming = false;
            for dead in std::mem::take(&mut self.lease.in_claim) {
                self.lease.buried.insert(dead);
                self.tell(Verb::Bury { dead, by: self.setup.me });
            }
            self.claim(&[]);
        }
    }

    /// Asks the store for all that this member answers for, in case it does not know of something.
    fn make_sure(&mut self) {
        for bucket in 0..BUCKETS {
            self.ask(Verb::Owned { bucket, owner: self.setup.me }, Purpose::Owned);
        }
    }

    /// Claims whatever nobody answers for, and tells the children of settled tasks again. One member is enough for that, and
    /// nobody minds if two think that they are the first.
    fn sweep(&mut self) {
        if (0..self.setup.me.node.0).all(|earlier| self.gone.contains(&NodeId(earlier))) {
            self.lease.must_claim = true;
            self.claim(&[]);
            self.tell_all_again();
        }
    }

    /// If there has been nothing to do for long, something may have been lost that nobody has noticed: a wish of somebody
    /// who is dead by now may have reached the store after others had stepped in for him.
    fn sweep_when_stalled(&mut self, now: Time) {
        let is_idle = self.held.is_empty() && self.deliveries.is_empty() && self.parcels.is_empty();
        if !is_idle {
            (self.lease.idle_since, self.lease.sweep_after) = (None, SWEEP_AFTER);
            return;
        }
        let since = *self.lease.idle_since.get_or_insert(now);
        if now.since(since) >= self.lease.sweep_after {
            self.lease.idle_since = Some(now);
            self.lease.sweep_after = (self.lease.sweep_after * 2).min(SWEEP_AT_LEAST_EVERY);
            self.make_sure();
            self.sweep();
        }
    }

    /// Tells the children of all settled tasks again.
    fn tell_all_again(&mut self) {
        for bucket in 0..BUCKETS {
            self.ask(Verb::Settled { bucket }, Purpose::Resettle);
        }
    }
}
