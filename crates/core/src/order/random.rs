//! Any ready task: what every order that claims to be clever has to beat.
//!
//! One draw for each choice, among all that wait in ascending order, as Meng and Golab's first baseline. It is not as bad as it
//! sounds. Nodes that all follow one order want the same data at the same time; these do not.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{CLASSES_LOOKED_AT, Order};
use crate::ids::ClassId;
use crate::node::ReadyTask;
use crate::rng::Rng;

/// Blocks are split when they are longer.
const BLOCK: usize = 512;

/// Tasks in ascending order, of which the so-manieth can be had. A choice costs as many steps as there are blocks.
#[derive(Debug, Default)]
struct Ascending {
    blocks: Vec<Vec<ReadyTask>>,
    len: usize,
}

impl Ascending {
    fn insert(&mut self, task: ReadyTask) {
        let after = self.blocks.partition_point(|block| block[0].task <= task.task);
        let at = after.saturating_sub(1);
        match self.blocks.get_mut(at) {
            None => self.blocks.push(vec![task]),
            Some(block) => {
                let place = block.partition_point(|other| other.task < task.task);
                block.insert(place, task);
                if block.len() > BLOCK {
                    let half = block.split_off(BLOCK / 2);
                    self.blocks.insert(at + 1, half);
                }
            }
        }
        self.len += 1;
    }

    fn take(&mut self, mut number: usize) -> Option<ReadyTask> {
        for at in 0..self.blocks.len() {
            let block = &mut self.blocks[at];
            if number < block.len() {
                let task = block.remove(number);
                if block.is_empty() {
                    self.blocks.remove(at);
                }
                self.len -= 1;
                return Some(task);
            }
            number -= block.len();
        }
        None
    }
}

/// The order of one queue of one node.
struct Chance {
    rng: Rng,
    lines: BTreeMap<(Reverse<i32>, ClassId), Ascending>,
    waiting: usize,
}

/// The order.
pub fn order(seed: u64) -> impl Order {
    Chance { rng: Rng::new(seed), lines: BTreeMap::new(), waiting: 0 }
}

impl Chance {
    /// Takes one of a line.
    fn take(&mut self, line: (Reverse<i32>, ClassId), number: usize) -> Option<ReadyTask> {
        let tasks = self.lines.get_mut(&line)?;
        let task = tasks.take(number)?;
        if tasks.len == 0 {
            self.lines.remove(&line);
        }
        self.waiting -= 1;
        Some(task)
    }
}

impl Order for Chance {
    fn push(&mut self, task: ReadyTask) {
        self.lines.entry((Reverse(task.priority), task.class)).or_default().insert(task);
        self.waiting += 1;
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let mut choices: Vec<((Reverse<i32>, ClassId), usize)> = Vec::new();
        for (line, tasks) in self.lines.iter().take(CLASSES_LOOKED_AT) {
            if choices.first().is_some_and(|(first, _)| first.0 != line.0) {
                break;
            }
            if admits(line.1) {
                choices.push((*line, tasks.len));
            }
        }
        let all: usize = choices.iter().map(|(_, len)| len).sum();
        if all == 0 {
            return None;
        }
        let mut number = self.rng.below(all as u64) as usize;
        for (line, len) in choices {
            if number < len {
                return self.take(line, number);
            }
            number -= len;
        }
        None
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let mut given = Vec::new();
        while given.len() < count {
            let lines: Vec<_> = self.lines.keys().rev().take(CLASSES_LOOKED_AT).copied().collect();
            let lines: Vec<_> = lines.into_iter().filter(|line| admits(line.1)).collect();
            if lines.is_empty() {
                break;
            }
            for line in lines {
                let of_line = self.lines.get(&line).map_or(0, |tasks| tasks.len.div_ceil(2)).min(count - given.len());
                for _ in 0..of_line {
                    let last = self.lines.get(&line).map_or(0, |tasks| tasks.len.saturating_sub(1));
                    given.extend(self.take(line, last));
                }
            }
        }
        given
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        let lines = self.lines.iter().take(CLASSES_LOOKED_AT);
        lines.filter(|((_, class), _)| admits(*class)).map(|(_, tasks)| tasks.len).sum()
    }

    fn len(&self) -> usize {
        self.waiting
    }
}
