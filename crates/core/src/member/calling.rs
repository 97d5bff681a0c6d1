//! What others may have of what waits here, and telling them that there is some.
//!
//! Whoever asks in vain is remembered where it asked, and called when there is something: an idle node then need not ask
//! again and again, and hears of new work at once. A call is answered with a wish for half of it, so that work that appears in one
//! place reaches all nodes in a few steps, however many they are.

use std::time::Duration;

use super::handing::Address;
use super::hunting::Hunter;
use super::{Command, Member, Message, Terms, estimated};
use crate::ids::{ClassId, KindId, NodeId};
use crate::node::{ReadyTask, Taker};
use crate::place::{MOVES_WORTH_WAITING, daws};
use crate::store::{Inputs, Owner};
use crate::time::Time;

/// No more tasks than this change hands at once, so that no message is too long.
const MOST_GIVEN: usize = 10_000;

/// A node that has too much to do tells others so as often as this.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(10);

/// One that has too much to do again, and had not for a while, tells others so no more often than this.
const ANNOUNCE_AGAIN: Duration = Duration::from_secs(1);

/// So many others are told at least: in a small cluster all of them.
const MANY_ENOUGH: u32 = 16;

/// So many that asked in vain are remembered.
const MOST_HUNGRY: usize = 64;

impl Member {
    /// How much another node could have.
    pub(super) fn sharable_with(&self, node: NodeId, kinds: Option<&[KindId]>) -> usize {
        let can_run = |class| self.setup.abilities.can_run(node, class) && is_wanted(&self.kind_of_class, kinds, class);
        let taker = Taker { can_run: &can_run, also_kept: self.place.calls_idle() };
        self.node.shared_with(&taker) + self.idle_staged().filter(|ready| can_run(ready.class)).count()
    }

    /// Whether anybody could have something.
    fn has_surplus(&self) -> bool {
        self.node.shared_len() > 0 || self.idle_staged().next().is_some()
    }

    /// Tasks that wait for a slot with their data here, and would start sooner elsewhere though it has to be moved.
    fn idle_staged(&self) -> impl Iterator<Item = ReadyTask> + '_ {
        let (slots, shares_all) = (self.node.slot_count() as u32, self.place.calls_idle());
        let staged = self.node.prepared_backwards().filter(move |(_, is_shared, ..)| *is_shared || shares_all);
        let waits = staged.take_while(move |(ready, _, before, bytes)| {
            let moving = self.setup.moving(*bytes).saturating_mul(MOVES_WORTH_WAITING);
            let length = estimated(&self.flow, &self.means, self.mean, ready.task);
            length.saturating_mul(*before as u32 + 1) / slots.max(1) > moving
        });
        waits.map(|(ready, ..)| ready)
    }

    /// Somebody wants some of what is shared.
    pub(super) fn robbed(
        &mut self,
        now: Time,
        thief: Owner,
        serial: u64,
        kinds: Option<&[KindId]>,
        out: &mut Vec<Command>,
    ) {
        self.share_surplus(now, true);
        let abilities = self.setup.abilities.clone();
        let count = self.place.share_of(self.sharable_with(thief.node, kinds)).min(MOST_GIVEN);
        let kind_of = self.kind_of_class.clone();
        let can_run = |class| abilities.can_run(thief.node, class) && is_wanted(&kind_of, kinds, class);
        let mut given = self.node.give(count, &Taker { can_run: &can_run, also_kept: self.place.calls_idle() });
        let staged = self.idle_staged().filter(|ready| can_run(ready.class));
        let staged: Vec<ReadyTask> = staged.take(count - given.len()).collect();
        self.with_node(now, out, |node, commands| {
            given.extend(staged.into_iter().filter_map(|ready| node.give_staged(ready.task, commands)));
        });
        self.note_hungry(thief.node, given.is_empty());
        if given.is_empty() {
            self.send(thief.node, Message::Nothing { serial }, out);
        }
        for ready in given {
            self.hand_over(ready, Inputs::default(), Address { to: thief, serial, terms: Terms::Share });
        }
    }

    /// Remembers who has asked in vain; forgets who has not.
    pub(super) fn note_hungry(&mut self, node: NodeId, is_hungry: bool) {
        if !self.place.calls_idle() {
            return;
        }
        self.hungry.retain(|other| *other != node);
        if is_hungry {
            if self.hungry.len() == MOST_HUNGRY {
                self.hungry.pop_front();
            }
            self.hungry.push_back(node);
        }
    }

    /// Calls as many of those who asked in vain as there is something for.
    pub(super) fn call_hungry(&mut self, now: Time, out: &mut Vec<Command>) {
        if self.hungry.is_empty() {
            return;
        }
        self.share_surplus(now, true);
        if !self.has_surplus() {
            return;
        }
        let are_equal = self.setup.abilities.are_equal();
        let for_all = if are_equal { self.sharable_with(self.setup.me.node, None) } else { 0 };
        let mut called = 0;
        for node in std::mem::take(&mut self.hungry) {
            let could_have = if are_equal { for_all } else { self.sharable_with(node, None) };
            if called >= could_have {
                self.hungry.push_back(node);
            } else if !self.is_gone(node) {
                called += 1;
                self.send(node, Message::Work, out);
            }
        }
    }

    /// Somebody has more than he can do.
    pub(super) fn called(&mut self, now: Time, from: NodeId, out: &mut Vec<Command>) {
        let is_idle = matches!(self.hunter, Hunter::Resting(_)) && self.node.wants_work() && !self.is_draining;
        if is_idle && self.place.calls_idle() {
            self.tally.hunts += 1;
            self.serial += 1;
            self.send(
                from,
                Message::Steal { serial: self.serial, boot: self.setup.me.boot, kinds: self.node.wanted_kinds() },
                out,
            );
            self.hunter = Hunter::Asking { serial: self.serial, until: now + self.setup.patience };
        } else if self.place.announced() {
            self.hunter.rest_until(now);
        }
    }

    /// Tells others that there is more to do here than this node can do now, and again as long as that is so: whoever has given
    /// up hunting does not find out by himself.
    pub(super) fn announce(&mut self, now: Time, out: &mut Vec<Command>) {
        // Slots have just been filled: what is left can begin here neither now nor with the data of others before it.
        let has_more = self.setup.nodes > 1 && self.has_surplus();
        if !has_more {
            // It may be a matter of moments.
            self.announce_at = None;
            return;
        }
        let again = self.announced.map_or(now, |time| time + ANNOUNCE_AGAIN);
        let at = *self.announce_at.get_or_insert(again);
        if now < at {
            return;
        }
        (self.announced, self.announce_at) = (Some(now), Some(now + ANNOUNCE_EVERY));
        let count = daws::neighbour_count(self.setup.nodes).max(MANY_ENOUGH);
        for peer in daws::drawn(&mut self.rng, self.setup.me.node, self.setup.nodes, count) {
            if !self.is_gone(peer) {
                self.send(peer, Message::Work, out);
            }
        }
    }
}

/// Whether tasks of a class are of one of these kinds.
fn is_wanted(kind_of_class: &[KindId], kinds: Option<&[KindId]>, class: ClassId) -> bool {
    kinds.is_none_or(|kinds| kind_of_class.get(class.index()).is_some_and(|kind| kinds.contains(kind)))
}
