//! A line in which a later arrival never comes before an earlier one of the same priority, or always does: both ends are at
//! hand, and nothing has to be compared.
//!
//! Tasks that come one after the other as they stand in the workflow are kept as one entry. A bag of a thousand tasks for each of
//! a hundred thousand nodes then waits in a few bytes for each node, not in gigabytes.

use std::collections::{BTreeMap, VecDeque};

use super::{Key, Line};
use crate::ids::TaskId;
use crate::node::ReadyTask;

/// Neighbours that came one after the other and differ in nothing but their numbers.
struct Row {
    place: u64,
    first: ReadyTask,
    count: u32,
}

/// The line.
#[derive(Default)]
pub(super) struct Deques<const NEWEST_FIRST: bool> {
    by_priority: BTreeMap<i32, VecDeque<Row>>,
}

impl<const NEWEST_FIRST: bool> Deques<NEWEST_FIRST> {
    /// The place of the so-manieth task of a row: the greatest place comes next.
    fn place(row: &Row, number: u32) -> u64 {
        let number = u64::from(number);
        if NEWEST_FIRST { row.place.wrapping_add(number) } else { row.place.wrapping_sub(number) }
    }

    fn task(row: &Row, number: u32) -> ReadyTask {
        ReadyTask { task: TaskId(row.first.task.0.wrapping_add(number)), ..row.first }
    }

    fn pop(&mut self, priority: i32, newest: bool) -> Option<ReadyTask> {
        let deque = self.by_priority.get_mut(&priority)?;
        let row = if newest { deque.back_mut() } else { deque.front_mut() }?;
        row.count -= 1;
        let task = if newest { Self::task(row, row.count) } else { row.first };
        if row.count > 0 {
            if !newest {
                (row.place, row.first) = (Self::place(row, 1), Self::task(row, 1));
            }
            return Some(task);
        }
        if newest {
            deque.pop_back()
        } else {
            deque.pop_front()
        };
        if deque.is_empty() {
            self.by_priority.remove(&priority);
        }
        Some(task)
    }
}

impl<const NEWEST_FIRST: bool> Line for Deques<NEWEST_FIRST> {
    fn push(&mut self, (priority, _, place): Key, task: ReadyTask) {
        let deque = self.by_priority.entry(priority).or_default();
        let continues = |row: &&mut Row| Self::task(row, row.count) == task && Self::place(row, row.count) == place;
        match deque.back_mut().filter(continues) {
            Some(row) => row.count += 1,
            None => deque.push_back(Row { place, first: task, count: 1 }),
        }
    }

    fn best(&self) -> Option<Key> {
        let (priority, deque) = self.by_priority.last_key_value()?;
        let place = if NEWEST_FIRST {
            deque.back().map(|row| Self::place(row, row.count - 1))
        } else {
            deque.front().map(|row| row.place)
        };
        Some((*priority, 0, place?))
    }

    fn pop_best(&mut self) -> Option<ReadyTask> {
        let priority = *self.by_priority.last_key_value()?.0;
        self.pop(priority, NEWEST_FIRST)
    }

    fn pop_worst(&mut self) -> Option<ReadyTask> {
        let priority = *self.by_priority.first_key_value()?.0;
        self.pop(priority, !NEWEST_FIRST)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ClassId;

    fn ready(task: u32, input_bytes: u64) -> ReadyTask {
        ReadyTask { input_bytes, ..ReadyTask::first(TaskId(task), ClassId(0)) }
    }

    #[test]
    fn neighbours_take_one_entry() {
        let mut line = Deques::<false>::default();
        for at in 0..1000 {
            line.push((0, 0, u64::MAX - u64::from(at)), ready(at, 0));
        }
        assert_eq!(line.by_priority[&0].len(), 1);
        line.push((0, 0, u64::MAX - 1000), ready(1000, 7));
        line.push((0, 0, u64::MAX - 1002), ready(1001, 7));
        assert_eq!(line.by_priority[&0].len(), 3, "another amount to read, and another arrival between them");
    }

    proptest! {
        #[test]
        fn as_if_each_had_an_entry_of_its_own(
            steps in prop::collection::vec((0u32..6, 0u32..8, 0i32..2), 1..200),
        ) {
            let mut fifo = Deques::<false>::default();
            let mut lifo = Deques::<true>::default();
            // The tasks of a priority, in the order of their arrival.
            let mut plain: BTreeMap<i32, VecDeque<(u64, ReadyTask)>> = BTreeMap::new();
            let mut other = plain.clone();
            let mut next = 0;
            for (arrival, (what, skip, priority)) in (1u64..).zip(steps) {
                let taken = |plain: &mut BTreeMap<i32, VecDeque<(u64, ReadyTask)>>, highest: bool, newest: bool| {
                    let mut entry = if highest { plain.last_entry() } else { plain.first_entry() }?;
                    let task = if newest { entry.get_mut().pop_back() } else { entry.get_mut().pop_front() };
                    if entry.get().is_empty() {
                        entry.remove();
                    }
                    task.map(|(_, task)| task)
                };
                match what {
                    0 => {
                        prop_assert_eq!(fifo.pop_best(), taken(&mut plain, true, false));
                        prop_assert_eq!(lifo.pop_best(), taken(&mut other, true, true));
                    }
                    1 => {
                        prop_assert_eq!(fifo.pop_worst(), taken(&mut plain, false, true));
                        prop_assert_eq!(lifo.pop_worst(), taken(&mut other, false, false));
                    }
                    _ => {
                        next += if skip == 0 { 2 } else { 1 };
                        let task = ReadyTask { priority, ..ready(next, u64::from(skip == 1)) };
                        fifo.push((priority, 0, u64::MAX - arrival), task);
                        lifo.push((priority, 0, arrival), task);
                        plain.entry(priority).or_default().push_back((u64::MAX - arrival, task));
                        other.entry(priority).or_default().push_back((arrival, task));
                    }
                }
                let best = |plain: &BTreeMap<i32, VecDeque<(u64, ReadyTask)>>, newest: bool| {
                    let (priority, deque) = plain.last_key_value()?;
                    let (place, _) = if newest { deque.back()? } else { deque.front()? };
                    Some((*priority, 0, *place))
                };
                prop_assert_eq!(fifo.best(), best(&plain, false));
                prop_assert_eq!(lifo.best(), best(&other, true));
            }
        }
    }
}
