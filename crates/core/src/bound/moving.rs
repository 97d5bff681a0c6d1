//! The longest way through a graph, with the data that has to be moved however cleverly tasks are placed.
//!
//! Whatever a task reads must be on its node when it begins. It was made there, which took the cores of that node, or it lay there,
//! or it came over that node's one network card. However the inputs are shared among these ways, the node has had to compute for
//! so long and to receive for so long: the least of it over all ways is when the task can begin at the soonest. That is a
//! fractional knapsack for each task, since whoever makes most bytes in the least time is best kept near.

use std::collections::BTreeMap;

use crate::ids::{NodeId, ObjectId, TaskId};
use crate::workflow::Workflow;

/// Where an object from outside lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// On one node.
    On(NodeId),
    /// On no node.
    Elsewhere,
    /// On every node.
    Everywhere,
}

/// The best node there is, and what is known of objects.
pub struct Moving<'a> {
    /// How many bytes a second it receives.
    pub bytes_per_second: f64,
    /// How many tasks it runs at once.
    pub cores: f64,
    /// How large an object is.
    pub bytes: &'a dyn Fn(ObjectId) -> u64,
    /// Where an object from outside lies.
    pub lies: &'a dyn Fn(ObjectId) -> Lies,
}

impl Moving<'_> {
    /// The longest way through the graph, by the lengths of the tasks on it and the data that must reach them.
    pub fn chain_ns(&self, flow: &Workflow, length_ns: impl Fn(TaskId) -> u64) -> u64 {
        let mut begins = vec![0u64; flow.task_count()];
        let mut chain_ns = 0;
        for task in flow.topological() {
            let begin = begins[task.index()].max(self.soonest_ns(flow, task, &length_ns));
            let end = begin.saturating_add(length_ns(task));
            chain_ns = chain_ns.max(end);
            for child in flow.children(task) {
                let begin = &mut begins[child.index()];
                *begin = end.max(*begin);
            }
        }
        chain_ns
    }

    /// When everything that a task reads can be in one place.
    fn soonest_ns(&self, flow: &Workflow, task: TaskId, length_ns: &impl Fn(TaskId) -> u64) -> u64 {
        if flow.inputs(task).len() == 0 {
            return 0;
        }
        // What each parent has made for it, and what lies on each node.
        let (mut made, mut lying) = (BTreeMap::new(), BTreeMap::new());
        let mut coming = 0u64;
        for object in flow.inputs(task) {
            let bytes = (self.bytes)(object);
            if let Some(parent) = flow.producer(object) {
                let sum = made.entry(parent).or_insert(0u64);
                *sum = sum.saturating_add(bytes);
            } else if let Lies::On(node) = (self.lies)(object) {
                let sum = lying.entry(node).or_insert(0u64);
                *sum = sum.saturating_add(bytes);
            } else if (self.lies)(object) == Lies::Everywhere {
                continue;
            }
            coming = coming.saturating_add(bytes);
        }
        let nearest = lying.into_values().max().unwrap_or(0);
        let made = made.into_iter().map(|(parent, bytes)| (bytes as f64, length_ns(parent) as f64 / 1e9)).collect();
        let seconds = self.soonest(coming.saturating_sub(nearest) as f64, made);
        // A little less than it is, so that rounding never makes it more.
        ((seconds * (1.0 - 1e-12) * 1e9) as u64).saturating_sub(1)
    }

    /// The least time in which so many bytes come, or are made near by some of these: bytes, and seconds of a core.
    fn soonest(&self, coming: f64, mut made: Vec<(f64, f64)>) -> f64 {
        // Who makes nothing is no better kept near than far; of the others, those come first who take least for a byte.
        made.retain(|(bytes, _)| *bytes > 0.0);
        made.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
        let (mut time, mut coming) = (0.0, coming);
        for (bytes, seconds) in made {
            if coming <= self.bytes_per_second * time {
                break;
            }
            let after = time + seconds / self.cores;
            if coming - bytes <= self.bytes_per_second * after {
                if seconds == 0.0 {
                    return time.max((coming - bytes) / self.bytes_per_second);
                }
                let slope = bytes / (seconds / self.cores);
                return time.max((coming + slope * time) / (self.bytes_per_second + slope));
            }
            (time, coming) = (after, coming - bytes);
        }
        time.max(coming / self.bytes_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    fn chain(text: &str, cores: f64, lies: &dyn Fn(ObjectId) -> Lies) -> u64 {
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let moving = Moving { bytes_per_second: 10.0, cores, bytes: &|_| 100, lies };
        moving.chain_ns(&flow, |_| 2_000_000_000) / 1_000_000
    }

    #[test]
    fn what_lies_elsewhere_has_to_come() {
        let text = "tasks: { a: { noop: true, in: [x, y, z] } }";
        let apart = |object: ObjectId| Lies::On(NodeId(object.0));
        assert_eq!(chain(text, 1.0, &apart), 21_999, "two of three files, 10 s each");
        assert_eq!(chain(text, 1.0, &|_| Lies::On(NodeId(7))), 2000);
        assert_eq!(chain(text, 1.0, &|_| Lies::Everywhere), 2000);
        assert_eq!(chain(text, 1.0, &|_| Lies::Elsewhere), 31_999);
    }

    #[test]
    fn what_is_made_is_best_made_near() {
        let text = "tasks: { a: { noop: true, out: [x] }, b: { noop: true, out: [y] }, \
                    c: { noop: true, in: [x, y] } }";
        assert_eq!(chain(text, 1.0, &|_| Lies::Elsewhere), 5333, "one is made here, and most of the other");
        assert_eq!(chain(text, 2.0, &|_| Lies::Elsewhere), 4000, "both are made here");
    }

    #[test]
    fn who_makes_nothing_is_as_good_as_not_there() {
        let (bytes, lies): (&dyn Fn(ObjectId) -> u64, &dyn Fn(ObjectId) -> Lies) = (&|_| 0, &|_| Lies::Elsewhere);
        let moving = Moving { bytes_per_second: 10.0, cores: 1.0, bytes, lies };
        let made: Vec<(f64, f64)> =
            (1..100u32).map(|n| (f64::from(n * 7 % 5) * 100.0, f64::from(n * 11 % 3))).collect();
        let coming: f64 = made.iter().map(|(bytes, _)| bytes).sum();
        let useful = made.iter().copied().filter(|(bytes, _)| *bytes > 0.0).collect();
        assert_eq!(moving.soonest(coming, made), moving.soonest(coming, useful));
    }
}
