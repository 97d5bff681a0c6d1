//! Being alive in the eyes of others, and stepping in for those who are not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
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

/// So many parts of the store are asked at a time, so that neither a question nor its answer is too long.
const AT_A_TIME: u32 = 64;

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
    /// The part of the store that a member with nothing to do looks at next.
    look_next: u32,
    /// The dead whose tasks are to be claimed next.
    claiming: BTreeSet<Owner>,
    /// Those whose tasks are being claimed.
    in_claim: BTreeSet<Owner>,
    claims: Round,
    /// Looking for what is this member's.
    inquiry: Round,
    /// Telling the children of settled tasks again.
    retelling: Round,
    /// Those whose tasks have been claimed.
    buried: BTreeSet<Owner>,
    /// Nodes in a later life than their first.
    boots: BTreeMap<NodeId, u32>,
    /// What [`Member::known_dead`] says, until that changes.
    dead: Option<Arc<[Owner]>>,
}

/// A way through all parts of the store. If another one is wanted meanwhile, it follows.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    is_under_way: bool,
    is_wanted: bool,
}

impl Round {
    /// Says whether it begins now.
    fn begin(&mut self) -> bool {
        self.is_wanted = self.is_under_way;
        !std::mem::replace(&mut self.is_under_way, true)
    }

    /// A part has answered, of so many that are asked at a time: says which ones are to be asked next, if that was the last of them.
    /// `None` at the end.
    fn after(&mut self, bucket: u32, at_a_time: u32) -> Option<Range<u32>> {
        let next = bucket + 1;
        if !next.is_multiple_of(at_a_time) {
            return Some(next..next);
        }
        if next < BUCKETS {
            return Some(next..next + at_a_time);
        }
        self.is_under_way = std::mem::take(&mut self.is_wanted);
        self.is_under_way.then_some(0..at_a_time)
    }
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
            look_next: 0,
            claiming: BTreeSet::new(),
            in_claim: BTreeSet::new(),
            claims: Round::default(),
            inquiry: Round::default(),
            retelling: Round::default(),
            buried: BTreeSet::new(),
            boots: BTreeMap::new(),
            dead: None,
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
            self.learn_what_is_over();
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
        if !changes.is_empty() {
            self.lease.dead = None;
        }
        for (owner, standing) in changes {
            let newer = owner.boot >= self.lease.boot_of(owner.node);
            if owner.node == self.setup.me.node || !newer {
                continue;
            }
            match standing {
                Standing::Alive => {
                    self.gone.remove(&owner.node);
                    if owner.boot > self.lease.boot_of(owner.node) {
                        self.draining.remove(&owner.node);
                        self.welcome_back(owner.node);
                    }
                    self.lease.boots.insert(owner.node, owner.boot);
                }
                Standing::Gone => {
                    self.lease.boots.insert(owner.node, owner.boot);
                    self.gone.insert(owner.node);
                }
            }
        }
        self.claim(&dead);
        if losses > self.lease.losses {
            self.lease.losses = losses;
            self.tell_what_is_here();
            self.make_sure();
            self.sweep();
        }
        self.sweep_when_stalled(now);
    }

    /// Steps in for these, unless that has been done.
    fn claim(&mut self, owners: &[Owner]) {
        let is_new = |owner: &Owner| !self.lease.buried.contains(owner) && !self.lease.in_claim.contains(owner);
        let new: Vec<Owner> = owners.iter().copied().filter(is_new).collect();
        self.lease.claiming.extend(new);
        if !self.lease.claiming.is_empty() && !self.lease.claims.is_under_way {
            self.claim_all();
        }
    }

    /// Claims all that the dead answered for.
    fn claim_all(&mut self) {
        if self.lease.claims.begin() {
            self.lease.in_claim = std::mem::take(&mut self.lease.claiming);
            self.lease.dead = None;
            self.claim_parts(0..AT_A_TIME);
        }
    }

    fn claim_parts(&mut self, buckets: Range<u32>) {
        let (dead, by) = (self.known_dead(), self.setup.me);
        for bucket in buckets {
            self.ask(Verb::Claim { bucket, dead: dead.clone(), by }, Purpose::Claim { bucket });
        }
    }

    /// All lives that are over, as far as this member has heard; the last of each node stands for those before it.
    pub(super) fn known_dead(&mut self) -> Arc<[Owner]> {
        if let Some(dead) = &self.lease.dead {
            return dead.clone();
        }
        let mut dead: BTreeMap<NodeId, u32> = BTreeMap::new();
        let known = self.gone.iter().map(|node| Owner { node: *node, boot: self.lease.boot_of(*node) });
        let later = self.lease.boots.iter().filter(|(_, boot)| **boot > FIRST_BOOT);
        let earlier = later.map(|(node, boot)| Owner { node: *node, boot: boot - 1 });
        let me = self.setup.me;
        let own = (me.boot > FIRST_BOOT).then(|| Owner { boot: me.boot - 1, ..me });
        for owner in known.chain(earlier).chain(own).chain(self.lease.in_claim.iter().copied()) {
            let boot = dead.entry(owner.node).or_insert(owner.boot);
            *boot = owner.boot.max(*boot);
        }
        let dead: Arc<[Owner]> = dead.into_iter().map(|(node, boot)| Owner { node, boot }).collect();
        self.lease.dead = Some(dead.clone());
        dead
    }

    /// What the dead answered for in one part of the store is this member's now.
    pub(super) fn claimed(&mut self, now: Time, bucket: u32, claimed: Claimed, out: &mut Vec<Command>) {
        for holding in claimed.tasks {
            self.tally.claimed += u64::from(!self.held.contains(holding.task));
            self.accept_holding(now, holding, out);
        }
        for (task, generation) in claimed.lost {
            let reopen = Verb::Reopen { task, generation, by: self.setup.me };
            self.ask(reopen, Purpose::Reopen { parent: task, generation, child: None });
        }
        // Whoever was given something by the dead may not have been told.
        for (owner, holding) in claimed.given {
            self.remind(owner, &holding);
        }
        let is_last = bucket == BUCKETS - 1;
        let next = self.lease.claims.after(bucket, AT_A_TIME);
        if is_last {
            for dead in std::mem::take(&mut self.lease.in_claim) {
                self.lease.buried.insert(dead);
                self.tell(Verb::Bury { dead, by: self.setup.me });
            }
            self.lease.in_claim = std::mem::take(&mut self.lease.claiming);
            self.lease.dead = None;
        }
        match next {
            Some(buckets) => self.claim_parts(buckets),
            None if !self.lease.in_claim.is_empty() => {
                self.lease.claims.begin();
                self.claim_parts(0..AT_A_TIME);
            }
            None => {}
        }
    }

    /// Asks the store for all that this member answers for, in case it does not know of something.
    fn make_sure(&mut self) {
        if self.lease.inquiry.begin() {
            self.inquire(0..AT_A_TIME, true);
        }
    }

    fn inquire(&mut self, buckets: Range<u32>, goes_on: bool) {
        for bucket in buckets {
            let round = goes_on.then_some(bucket);
            self.ask(Verb::Owned { bucket, owner: self.setup.me }, Purpose::Owned { round });
        }
    }

    /// The store has said what is this member's in a part of it; `round` if that was part of a way through all parts.
    pub(super) fn owns(&mut self, now: Time, round: Option<u32>, tasks: Box<[Holding]>, out: &mut Vec<Command>) {
        for holding in tasks {
            self.accept_holding(now, holding, out);
        }
        if let Some(buckets) = round.and_then(|bucket| self.lease.inquiry.after(bucket, AT_A_TIME)) {
            self.inquire(buckets, true);
        }
    }

    /// Claims whatever nobody answers for, and tells the children of settled tasks again. One member is enough for that, and
    /// nobody minds if two think that they are the first.
    fn sweep(&mut self) {
        if (0..self.setup.me.node.0).all(|earlier| self.gone.contains(&NodeId(earlier))) {
            self.claim_all();
            if self.lease.retelling.begin() {
                self.ask(Verb::Settled { bucket: 0 }, Purpose::Resettle { bucket: 0 });
            }
        }
    }

    /// The children of some settled tasks are told again; then it is the turn of others.
    pub(super) fn retell(&mut self, bucket: u32, tasks: Box<[Holding]>) {
        self.close_again(tasks);
        for bucket in self.lease.retelling.after(bucket, 1).into_iter().flatten() {
            self.ask(Verb::Settled { bucket }, Purpose::Resettle { bucket });
        }
    }

    /// If there has been nothing to do for long, something may have been lost that nobody has noticed: a wish of somebody
    /// who is dead by now may have reached the store after others had stepped in for him. A part of the store is looked at with each
    /// renewal, so that many idle nodes do not keep it from its work.
    fn sweep_when_stalled(&mut self, now: Time) {
        let is_idle = self.held.is_empty() && self.deliveries.is_empty() && self.parcels.is_empty();
        if !is_idle {
            (self.lease.idle_since, self.lease.sweep_after, self.lease.look_next) = (None, SWEEP_AFTER, 0);
            return;
        }
        let since = *self.lease.idle_since.get_or_insert(now);
        if now.since(since) < self.lease.sweep_after {
            return;
        }
        let first = self.lease.look_next;
        if first == 0 {
            self.sweep();
        }
        self.inquire(first..first + AT_A_TIME, false);
        self.lease.look_next = (first + AT_A_TIME) % BUCKETS;
        if self.lease.look_next == 0 {
            self.lease.idle_since = Some(now);
            self.lease.sweep_after = (self.lease.sweep_after * 2).min(SWEEP_AT_LEAST_EVERY);
        }
    }
}

/// What a claim has brought.
pub(super) struct Claimed {
    pub tasks: Box<[Holding]>,
    pub lost: Box<[(TaskId, u16)]>,
    pub given: Box<[(Owner, Holding)]>,
}
