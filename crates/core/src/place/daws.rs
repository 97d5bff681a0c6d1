//! Data-aware work stealing: the decisions of MATRIX's schedulers, each a function of what one node knows.
//!
//! ```text
//!                 ┌── little to read ──▶ shared queue ◀──── too long to wait for (FLDS) ───┐
//!   ready ──▶ decide                        │ ▲                                            │
//!                 ├── most of it is here ───┼─┼───────────▶ local queue ───────────────────┘
//!                 └── most of it is there ──┼─┼─ push ────▶ local queue of that node
//!                                           ▼ │ stolen by a node that has nothing
//!                                         another shared queue
//! ```
//!
//! A task whose inputs are quickly moved may run anywhere; any other goes where the largest of its inputs lies. How
//! quick is quick is the threshold t, a share of the length of a task; how long a local queue may become is the
//! horizon tt. They make four variants: see [`Variant`].
//!
//! It comes from "Load-balanced and locality-aware scheduling for data-intensive workloads at extreme scales" (Wang
//! and others, 2015). It loses where the largest input is not most of the data, since the others are moved
//! whatever is decided; and where one node holds what everybody reads, until FLDS opens that node's queue.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::ids::NodeId;
use crate::rng::Rng;

/// The length that tasks are taken to have before any has finished: long enough that small files do not bind tasks to
/// nodes, short enough that large ones do.
pub const UNKNOWN_LENGTH: Duration = Duration::from_secs(1);

/// How load and locality are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Most load-balanced: every task is shared (t infinite).
    Mlb,
    /// Most data-local: every task with data goes to its data, and stays there (t = 0).
    Mdl,
    /// Rigid: a task above the threshold goes to its data, and stays there.
    Rlds,
    /// Flexible: like rigid, but what the local queue will not get to within the horizon is shared after all.
    Flds,
}

impl Variant {
    /// The threshold that this variant compares with, when t is what was configured.
    pub fn threshold(self, t: f64) -> f64 {
        match self {
            Variant::Mlb => f64::INFINITY,
            Variant::Mdl => 0.0,
            Variant::Rlds | Variant::Flds => t,
        }
    }
}

/// What a node knows of a task's inputs: all that its record carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// All inputs together.
    pub total_bytes: u64,
    /// The largest of them; the first, if several are.
    pub largest_bytes: u64,
    /// The node where the largest lies; `None` if that is a place outside the cluster, equally far from all nodes.
    pub holder: Option<NodeId>,
    /// Whether there is a copy of the largest here, too.
    pub is_cached: bool,
}

impl Inputs {
    /// Adds one more input.
    pub fn add(&mut self, bytes: u64, holder: Option<NodeId>, is_cached: bool) {
        let total_bytes = self.total_bytes.saturating_add(bytes);
        if bytes > self.largest_bytes {
            *self = Inputs { total_bytes, largest_bytes: bytes, holder, is_cached };
        }
        self.total_bytes = total_bytes;
    }
}

/// What decides whether data are worth moving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The share t of a task's length that moving its data may take; may be infinite.
    pub threshold: f64,
    /// What the network carries to one node.
    pub bytes_per_second: f64,
    /// How long tasks take, as far as is known.
    pub length_seconds: f64,
}

impl Terms {
    /// So many bytes are quickly moved. A product, so that tasks may take no time at all.
    fn limit_bytes(&self) -> u64 {
        // The conversion rounds down, which changes no comparison with whole bytes, and stops at the largest number.
        (self.threshold * self.bytes_per_second * self.length_seconds) as u64
    }
}

/// Where a ready task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Into the shared queue, from which others may steal.
    Shared,
    /// Into the local queue.
    Local,
    /// To another node, which puts it into its local queue without a look.
    Push(NodeId),
}

/// Decides about one ready task, for the node `here`.
pub fn decide(here: NodeId, inputs: &Inputs, terms: &Terms) -> Choice {
    if terms.threshold == f64::INFINITY || inputs.total_bytes == 0 {
        return Choice::Shared;
    }
    // The largest alone decides: it cannot be above the limit while all together are not.
    if inputs.largest_bytes <= terms.limit_bytes() {
        return Choice::Shared;
    }
    match inputs.holder {
        _ if inputs.is_cached => Choice::Local,
        Some(holder) if holder == here => Choice::Local,
        Some(holder) => Choice::Push(holder),
        None => Choice::Shared,
    }
}

/// How many tasks of a local queue are more than a node can do within `horizon`, if it goes on as it `finished` tasks
/// in the time `elapsed`; these are shared, from the queue's tail. Without a horizon, or before anything has finished,
/// none are.
pub fn surplus(length: usize, finished: u64, elapsed: Duration, horizon: Option<Duration>) -> usize {
    let Some(horizon) = horizon.filter(|_| finished > 0) else { return 0 };
    let kept = (u128::from(finished) * u128::from(nanoseconds(horizon))).checked_div(u128::from(nanoseconds(elapsed)));
    // In no time, any number of tasks is done within any horizon.
    let kept = kept.and_then(|kept| usize::try_from(kept).ok()).unwrap_or(usize::MAX);
    length.saturating_sub(kept)
}

/// A length as one number; 585 years are as good as longer.
fn nanoseconds(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// How many of the other nodes a thief asks: about the square root of all `n`.
pub fn neighbour_count(n: u32) -> u32 {
    let root = n.isqrt();
    // Rounded to the nearest: (root + 1/2)² = root² + root + 1/4.
    let rounded = if n > root * root + root { root + 1 } else { root };
    rounded.max(1).min(n.saturating_sub(1))
}

/// The nodes that the thief `me` asks, one of `n`: each set of them is as likely as any other.
///
/// This shuffles the front of the list of all others, but writes down only the places that differ from the list: with
/// a hundred thousand nodes, three hundred matter.
pub fn polled(rng: &mut Rng, me: NodeId, n: u32) -> Vec<NodeId> {
    drawn(rng, me, n, neighbour_count(n))
}

/// So many nodes other than `me`, of `n`: fewer if there are not as many.
pub fn drawn(rng: &mut Rng, me: NodeId, n: u32, count: u32) -> Vec<NodeId> {
    assert!(me.0 < n, "a thief is one of the nodes");
    let others = n - 1;
    let mut moved: BTreeMap<u32, u32> = BTreeMap::new();
    let draw = |place: u32| {
        let drawn = place + rng.below(u64::from(others - place)) as u32;
        let at_place = moved.get(&place).copied().unwrap_or(place);
        let other = moved.insert(drawn, at_place).unwrap_or(drawn);
        NodeId(if other < me.0 { other } else { other + 1 })
    };
    (0..count.min(others)).map(draw).collect()
}

/// Whom to rob, and of how long a queue: the longest shared queue among those asked, the first of several; `None` if
/// all are empty.
pub fn victim(lengths: impl IntoIterator<Item = (NodeId, usize)>) -> Option<(NodeId, usize)> {
    let longer = |best: (NodeId, usize), next: (NodeId, usize)| if next.1 > best.1 { next } else { best };
    lengths.into_iter().reduce(longer).filter(|(_, length)| *length > 0)
}

/// How many tasks of a shared queue a thief gets, from its tail: half, and the last one too.
pub fn share(length: usize) -> usize {
    length.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    // The prelude of proptest has one as well.
    use crate::rng::Rng;

    const HERE: NodeId = NodeId(0);

    fn inputs(objects: &[(u64, Option<u32>, bool)]) -> Inputs {
        let mut inputs = Inputs::default();
        for (bytes, holder, is_cached) in objects {
            inputs.add(*bytes, holder.map(NodeId), *is_cached);
        }
        inputs
    }

    fn terms(threshold: f64) -> Terms {
        Terms { threshold, bytes_per_second: 100.0, length_seconds: 1.0 }
    }

    #[test]
    fn the_first_largest_counts() {
        let seen = inputs(&[(3, Some(1), false), (9, Some(2), true), (9, Some(3), false), (0, None, false)]);
        assert_eq!(seen, Inputs { total_bytes: 21, largest_bytes: 9, holder: Some(NodeId(2)), is_cached: true });
    }

    #[test]
    fn extremes() {
        let there = inputs(&[(u64::MAX, Some(4), false), (u64::MAX, Some(5), false)]);
        assert_eq!(decide(HERE, &there, &terms(f64::INFINITY)), Choice::Shared);
        assert_eq!(decide(HERE, &there, &terms(1e300)), Choice::Shared);
        assert_eq!(decide(HERE, &there, &terms(1.0)), Choice::Push(NodeId(4)));
        let at_once = Terms { length_seconds: 0.0, ..terms(5.0) };
        assert_eq!(decide(HERE, &inputs(&[(1, Some(4), false)]), &at_once), Choice::Push(NodeId(4)));
        assert_eq!(decide(HERE, &inputs(&[(0, Some(4), false)]), &at_once), Choice::Shared);
        assert_eq!(decide(HERE, &inputs(&[(1, None, false)]), &at_once), Choice::Shared);
        assert_eq!(decide(HERE, &inputs(&[(1, None, true)]), &at_once), Choice::Local);
    }

    #[test]
    fn variants_by_their_thresholds() {
        let thresholds = [Variant::Mlb, Variant::Mdl, Variant::Rlds, Variant::Flds].map(|v| v.threshold(0.5));
        assert_eq!(thresholds, [f64::INFINITY, 0.0, 0.5, 0.5]);
    }

    #[test]
    fn surplus_of_a_queue() {
        let seconds = Duration::from_secs;
        assert_eq!(surplus(5000, 1000, seconds(10), Some(seconds(30))), 2000);
        assert_eq!(surplus(5000, 1000, seconds(10), None), 0);
        assert_eq!(surplus(5000, 0, seconds(10), Some(seconds(30))), 0);
        assert_eq!(surplus(5000, 1, Duration::ZERO, Some(seconds(30))), 0);
        assert_eq!(surplus(5000, 1, seconds(10), Some(Duration::ZERO)), 5000);
        assert_eq!(surplus(5, 2, seconds(10), Some(seconds(9))), 4, "rounded down: one is kept");
        assert_eq!(surplus(5, u64::MAX, Duration::MAX, Some(Duration::MAX)), 0);
    }

    #[test]
    fn the_number_of_neighbours_is_a_rounded_root() {
        assert_eq!([0, 1, 2, 3, 4, 6, 7, 12, 13].map(neighbour_count), [0, 0, 1, 2, 2, 2, 3, 3, 4]);
        for n in 2..100_000 {
            let rounded = (f64::from(n).sqrt() + 0.5).floor() as u32;
            assert_eq!(neighbour_count(n), rounded.clamp(1, n - 1), "{n}");
        }
        assert_eq!(neighbour_count(u32::MAX), 65536);
    }

    #[test]
    fn nobody_to_rob() {
        assert_eq!(victim([]), None);
        assert_eq!(victim([(NodeId(3), 0), (NodeId(1), 0)]), None);
        assert_eq!(victim([(NodeId(3), 0), (NodeId(2), 7), (NodeId(1), 7)]), Some((NodeId(2), 7)));
        assert_eq!([0, 1, 2, 3, 8].map(share), [0, 1, 1, 2, 4]);
        assert_eq!(polled(&mut Rng::new(1), NodeId(0), 1), []);
    }

    proptest! {
        #[test]
        fn a_higher_threshold_never_binds_a_task(
            sizes in prop::collection::vec((0u64..1000, prop::option::of(0u32..4), any::<bool>()), 0..6),
            low in 0.0..10.0f64,
            more in 0.0..10.0f64,
        ) {
            let inputs = inputs(&sizes);
            let (before, after) = (decide(HERE, &inputs, &terms(low)), decide(HERE, &inputs, &terms(low + more)));
            prop_assert!(after == before || after == Choice::Shared, "{before:?} became {after:?}");
        }

        #[test]
        fn a_task_goes_only_where_its_largest_input_lies(
            sizes in prop::collection::vec((0u64..1000, prop::option::of(0u32..4), any::<bool>()), 0..6),
            threshold in 0.0..10.0f64,
        ) {
            let inputs = inputs(&sizes);
            // As the publication has it: first all inputs together, then the largest.
            let limit = threshold * 100.0;
            let is_bound = inputs.total_bytes as f64 > limit && inputs.largest_bytes as f64 > limit;
            match decide(HERE, &inputs, &terms(threshold)) {
                Choice::Shared => prop_assert!(!is_bound || inputs.holder.is_none()),
                Choice::Local => prop_assert!(is_bound && (inputs.is_cached || inputs.holder == Some(HERE))),
                Choice::Push(to) => prop_assert!(is_bound && to != HERE && inputs.holder == Some(to)),
            }
        }

        #[test]
        fn polling_shuffles_the_list_of_the_others(seed: u64, n in 1u32..200, me in 0u32..200) {
            let me = NodeId(me % n);
            let mut whole: Vec<NodeId> = (0..n).map(NodeId).filter(|other| *other != me).collect();
            let mut rng = Rng::new(seed);
            let count = neighbour_count(n) as usize;
            for place in 0..count {
                let drawn = place + rng.below((whole.len() - place) as u64) as usize;
                whole.swap(place, drawn);
            }
            whole.truncate(count);
            prop_assert_eq!(polled(&mut Rng::new(seed), me, n), whole);
        }
    }
}
