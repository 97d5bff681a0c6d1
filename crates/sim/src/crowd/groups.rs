//! Tasks of one machine that need the same get on at the same pace, so they are kept together: to let all of them get on costs as much as there
//! are different needs, however many tasks there are.
//!
//! A group has a clock that shows how far a task has come that was there from the beginning, in seconds that it would take alone. A task is done
//! when that clock shows what it showed when the task came, and as much more as the task takes alone.

use std::collections::BTreeSet;

use throng_core::ids::SlotId;

use super::{Demand, Needs, Paces};

/// Less than this is left of a task by rounding only.
pub const NOTHING_S: f64 = 1e-9;
/// Nobody is slower than that, so that everybody ends some day.
const LEAST_PACE: f64 = 1e-12;

/// Tasks that get on at the same pace.
#[derive(Debug)]
struct Group {
    needs: Needs,
    /// What the clock shows.
    shows_s: f64,
    /// What it will show when each task is done, and where that is, the next one first. Numbers that are not negative are ordered as their bits are.
    ends: BTreeSet<(u64, SlotId)>,
}

/// All tasks of a machine.
#[derive(Debug, Default)]
pub struct Groups {
    /// In the order in which they came; each has at least one task.
    groups: Vec<Group>,
}

impl Groups {
    fn find(&self, needs: &Needs) -> Option<usize> {
        self.groups.iter().position(|group| group.needs.has_pace_of(needs))
    }

    /// What there is: needs, and how many have them.
    pub fn each(&self) -> impl Iterator<Item = (&Needs, u32)> {
        self.groups.iter().map(|group| (&group.needs, group.ends.len() as u32))
    }

    /// What all of them want together.
    pub fn demand(&self) -> Demand {
        Demand::of(self.each())
    }

    /// With one more, which would take so long alone. Says when it will be done, by the clock of its group.
    pub fn enter(&mut self, needs: &Needs, slot: SlotId, alone_s: f64) -> f64 {
        let at = self.find(needs).unwrap_or(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(Group { needs: *needs, shows_s: 0.0, ends: BTreeSet::new() });
        }
        let group = &mut self.groups[at];
        let end_s = group.shows_s + alone_s;
        group.ends.insert((end_s.to_bits(), slot));
        end_s
    }

    /// With one less, which was to be done at this time.
    pub fn leave(&mut self, needs: &Needs, slot: SlotId, end_s: f64) {
        let at = self.find(needs).expect("who leaves is in a group");
        let was_there = self.groups[at].ends.remove(&(end_s.to_bits(), slot));
        assert!(was_there, "who leaves has come");
        if self.groups[at].ends.is_empty() {
            self.groups.remove(at);
        }
    }

    /// How much is left of a task that is to be done at this time, in seconds that it takes alone.
    pub fn left_s(&self, needs: &Needs, end_s: f64) -> f64 {
        self.find(needs).map_or(0.0, |at| end_s - self.groups[at].shows_s)
    }

    /// Lets all get on for so long.
    pub fn get_on(&mut self, paces: &Paces, seconds: f64) {
        for group in &mut self.groups {
            group.shows_s += paces.of(&group.needs) * seconds;
        }
    }

    /// In how many seconds the next one is done.
    pub fn next_end(&self, paces: &Paces) -> Option<f64> {
        let left = self.groups.iter().filter_map(|group| {
            let (end, _) = group.ends.first()?;
            let left_s = (f64::from_bits(*end) - group.shows_s).max(0.0);
            Some(left_s / paces.of(&group.needs).max(LEAST_PACE))
        });
        left.min_by(f64::total_cmp)
    }

    /// Where tasks are done, in the order of slots.
    pub fn ripe(&self) -> Vec<SlotId> {
        let mut slots = Vec::new();
        for group in &self.groups {
            let ends = group.ends.iter();
            let is_done = |(end, _): &&(u64, SlotId)| f64::from_bits(*end) - group.shows_s <= NOTHING_S;
            slots.extend(ends.take_while(is_done).map(|(_, slot)| *slot));
        }
        slots.sort_unstable();
        slots
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use throng_core::rng::Rng;

    use super::*;
    use crate::crowd::Crowd;

    const CORES: f64 = 4.0;

    fn draw(dice: &mut Rng) -> Needs {
        let cores = [0.1, 0.5, 1.0][dice.below(3) as usize];
        let disk = [0.0, 0.2][dice.below(2) as usize];
        Needs { cores, disk, memory_bytes: dice.below(1000), ..Needs::default() }
    }

    /// Each task is told for itself how much of it is left, as nobody would with many of them.
    #[test]
    fn all_end_as_if_each_were_looked_at() {
        let crowd = Crowd { thrashing: Some((10, 0.1)), ..Crowd::default() };
        let (mut groups, mut single) = (Groups::default(), BTreeMap::<SlotId, (Needs, f64, f64)>::new());
        let (mut dice, mut ended) = (Rng::new(5), 0);
        for step in 0..20_000u32 {
            if single.len() < 30 && dice.below(2) == 0 {
                let (needs, slot, alone_s) = (draw(&mut dice), SlotId(step), 0.1 + dice.unit());
                let end_s = groups.enter(&needs, slot, alone_s);
                single.insert(slot, (needs, alone_s, end_s));
            }
            let paces = Paces::new(&crowd, &groups.demand(), CORES, 1.0, 1.0);
            let Some(next) = groups.next_end(&paces) else { continue };
            // Now and then something happens before anybody is done, and somebody is stopped.
            let is_early = dice.below(3) == 0;
            let seconds = if is_early { next * dice.unit() } else { next };
            groups.get_on(&paces, seconds);
            single.values_mut().for_each(|(needs, left_s, _)| *left_s -= paces.of(needs) * seconds);
            let mut gone = groups.ripe();
            ended += gone.len();
            assert!(is_early || !gone.is_empty());
            gone.extend(single.keys().find(|slot| is_early && !gone.contains(slot)).copied());
            for (slot, (needs, left_s, end_s)) in &single {
                assert!((groups.left_s(needs, *end_s) - left_s).abs() < 1e-8, "{slot:?} at {step}");
                assert!(*left_s > -1e-8);
            }
            for slot in gone {
                let (needs, _, end_s) = single.remove(&slot).unwrap();
                groups.leave(&needs, slot, end_s);
            }
            assert_eq!(groups.each().map(|(_, tasks)| tasks as usize).sum::<usize>(), single.len());
            assert!(groups.groups.len() <= 6, "what tasks hold makes no group");
        }
        assert!(ended > 5000, "{ended}");
    }

    #[test]
    fn nothing_is_left_of_a_group_whose_last_task_has_gone() {
        let mut groups = Groups::default();
        for number in 0..100 {
            let needs = Needs { cores: f64::from(number), ..Needs::default() };
            let end_s = groups.enter(&needs, SlotId(number), 1.0);
            groups.leave(&needs, SlotId(number), end_s);
        }
        assert!(groups.groups.is_empty());
        assert_eq!(groups.demand(), Demand::default());
    }
}
