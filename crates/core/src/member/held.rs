//! The tasks that a member holds, and on what grounds.
//!
//! What it has had from the beginning are long rows of neighbours: a bit for each. What came later has an entry of its own.

use std::collections::BTreeMap;

use crate::ids::TaskId;

/// On what grounds a member holds a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub generation: u16,
    pub tenure: u16,
}

/// Tasks that the store says are this member's.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldTasks {
    /// Those in their first generation and tenure, as bits of 64 neighbours; no entry is empty.
    first: BTreeMap<u32, u64>,
    others: BTreeMap<TaskId, Held>,
}

fn place(task: TaskId) -> (u32, u64) {
    (task.0 / 64, 1 << (task.0 % 64))
}

impl HeldTasks {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.others.is_empty()
    }

    fn is_first(&self, task: TaskId) -> bool {
        let (row, bit) = place(task);
        self.first.get(&row).is_some_and(|bits| bits & bit != 0)
    }

    pub(super) fn contains(&self, task: TaskId) -> bool {
        self.is_first(task) || self.others.contains_key(&task)
    }

    pub(super) fn get(&self, task: TaskId) -> Option<Held> {
        if self.is_first(task) { Some(Held::default()) } else { self.others.get(&task).copied() }
    }

    pub(super) fn insert(&mut self, task: TaskId, held: Held) {
        self.remove(task);
        if held == Held::default() {
            let (row, bit) = place(task);
            *self.first.entry(row).or_default() |= bit;
        } else {
            self.others.insert(task, held);
        }
    }

    /// All of them.
    pub(super) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        let bits = |(row, bits): (&u32, &u64)| {
            let (first, bits) = (row * 64, *bits);
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| TaskId(first + bit))
        };
        self.first.iter().flat_map(bits).chain(self.others.keys().copied())
    }

    /// Lets go of a task, and says on what grounds it was held.
    pub(super) fn remove(&mut self, task: TaskId) -> Option<Held> {
        let (row, bit) = place(task);
        if let Some(bits) = self.first.get_mut(&row).filter(|bits| **bits & bit != 0) {
            *bits &= !bit;
            if *bits == 0 {
                self.first.remove(&row);
            }
            return Some(Held::default());
        }
        self.others.remove(&task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_held_on_one_ground_at_a_time() {
        let mut tasks = HeldTasks::default();
        let later = Held { generation: 1, tenure: 3 };
        tasks.insert(TaskId(70), Held::default());
        tasks.insert(TaskId(71), Held::default());
        tasks.insert(TaskId(70), later);
        assert_eq!((tasks.get(TaskId(70)), tasks.get(TaskId(71))), (Some(later), Some(Held::default())));
        assert_eq!(tasks.tasks().collect::<Vec<_>>(), [71, 70].map(TaskId));
        tasks.insert(TaskId(70), Held::default());
        assert_eq!(tasks.remove(TaskId(70)), Some(Held::default()));
        assert_eq!((tasks.remove(TaskId(70)), tasks.contains(TaskId(70))), (None, false));
        assert_eq!((tasks.first.len(), tasks.contains(TaskId(71)), tasks.contains(TaskId(7))), (1, true, false));
        assert_eq!(tasks.remove(TaskId(71)), Some(Held::default()));
        assert!(tasks.is_empty());
    }
}
