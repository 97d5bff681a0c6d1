//! What a start would add to a measure, kept up as tasks start.
//!
//! Of every item it is known when it was last read, so that the items read since some moment are a sum over the end of a list, and
//! a distance costs the logarithm of its length. The definitions work on sets of items for each item; that these sums give the
//! same is tested.
//!
//! A moment is the number of a start that reads something (of an access, for `lru`). An item's distance counts what was read
//! after its **mark**. Whoever makes an item has read all his inputs before; whoever reads one, reads the others with it. So the mark of an
//! item that was made during start 7 is 7, and that of one that was read by it is 6.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::items::Items;
use super::rank_tree::RankTree;
use crate::ids::TaskId;

/// A measure of how far apart uses of data are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Stack distance: items read between two uses of an item, for all uses.
    Sd,
    /// Total maximum bandwidth: items read between the first and the last use of an item.
    Tmb,
    /// Stack distance in bytes.
    Wsd,
    /// Total maximum bandwidth in bytes.
    Wtmb,
    /// Stack distance in the order of accesses: inputs one by one, then outputs.
    Lru,
    /// The same in bytes.
    Wlru,
}

impl Metric {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Metric); 6] = [
        ("sd", Metric::Sd),
        ("tmb", Metric::Tmb),
        ("wsd", Metric::Wsd),
        ("wtmb", Metric::Wtmb),
        ("lru", Metric::Lru),
        ("wlru", Metric::Wlru),
    ];

    fn weighs(self) -> bool {
        matches!(self, Metric::Wsd | Metric::Wtmb | Metric::Wlru)
    }

    fn is_of_accesses(self) -> bool {
        matches!(self, Metric::Lru | Metric::Wlru)
    }

    fn is_from_first(self) -> bool {
        matches!(self, Metric::Tmb | Metric::Wtmb)
    }
}

impl FromStr for Metric {
    type Err = ();

    fn from_str(text: &str) -> Result<Metric, ()> {
        Metric::NAMES.iter().find(|(name, _)| *name == text).map(|(_, metric)| *metric).ok_or(())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Metric::NAMES.iter().find(|(_, metric)| metric == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// What is known of an item's uses so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Uses {
    /// What was read after this counts.
    mark: u32,
    /// When it was last read, or 0.
    read: u32,
    /// What its distance counts of itself, and, from the first use, what has been counted already.
    counted: i64,
}

/// The uses of all items so far.
#[derive(Clone, Debug)]
pub struct Recency {
    items: Arc<Items>,
    metric: Metric,
    uses: Vec<Option<Uses>>,
    moments: RankTree,
    now: u32,
    total: i128,
}

impl Recency {
    /// Before anything has started.
    pub fn new(items: Arc<Items>, metric: Metric) -> Recency {
        let uses = vec![None; items.count()];
        Recency { items, metric, uses, moments: RankTree::default(), now: 0, total: 0 }
    }

    /// The items.
    pub fn items(&self) -> &Arc<Items> {
        &self.items
    }

    /// The measure of all that has started.
    pub fn total(&self) -> i128 {
        self.total
    }

    fn weight(&self, item: u32) -> i64 {
        if self.metric.weighs() { self.items.weight(item) as i64 } else { 1 }
    }

    /// The mark of an item, if it has been used.
    pub(crate) fn mark(&self, item: u32) -> Option<u32> {
        self.uses[item as usize].map(|uses| uses.mark)
    }

    /// What was read after a mark. It never becomes less.
    pub(crate) fn reach(&self, mark: u32) -> i64 {
        self.moments.after(mark)
    }

    /// What an item's distance counts of itself, and what has been counted already.
    pub(crate) fn counted(&self, item: u32) -> i64 {
        self.uses[item as usize].map_or(0, |uses| uses.counted)
    }

    /// What a start adds is the reach of all its items' marks without this. It changes only when one of them is used.
    pub(crate) fn discount(&self, task: TaskId) -> i128 {
        let inputs = self.items.inputs(task);
        if self.metric.is_of_accesses() {
            return -self.read_on_the_way(inputs);
        }
        inputs.iter().filter_map(|item| self.uses[*item as usize]).map(|uses| i128::from(uses.counted)).sum()
    }

    /// What a start would add to the measure.
    pub fn added_by(&self, task: TaskId) -> i128 {
        let inputs = self.items.inputs(task);
        let marks = inputs.iter().filter_map(|item| self.mark(*item));
        let reach: i128 = marks.map(|mark| i128::from(self.reach(mark))).sum();
        reach - self.discount(task)
    }

    /// For each input in turn, those before it that were last used before it: the task itself has used them since.
    fn read_on_the_way(&self, inputs: &[u32]) -> i128 {
        let mut marks: Vec<u32> = inputs.iter().map(|item| self.mark(*item).unwrap_or(0)).collect();
        marks.sort_unstable();
        let mut earlier = RankTree::default();
        let mut sum = 0;
        for item in inputs {
            let mark = self.mark(*item);
            // Places from the end, so that older is after.
            let place = |mark: u32| (marks.len() - marks.partition_point(|other| *other < mark)) as u32;
            sum += mark.map_or(0, |mark| i128::from(earlier.after(place(mark))));
            earlier.add(place(mark.unwrap_or(0)), self.weight(*item));
        }
        sum
    }

    /// The distance of an item that would be used now, if it has been used before: for those who want every gap.
    pub fn distance(&self, item: u32) -> Option<i64> {
        let uses = self.uses[item as usize]?;
        Some(self.reach(uses.mark) - uses.counted)
    }

    /// A task has started.
    pub fn start(&mut self, task: TaskId) {
        self.total += self.added_by(task);
        let items = self.items.clone();
        if self.metric.is_of_accesses() {
            items.inputs(task).iter().chain(items.outputs(task)).for_each(|item| self.access(*item));
            return;
        }
        let inputs = items.inputs(task);
        self.now += u32::from(!inputs.is_empty());
        let distances: Vec<Option<i64>> = inputs.iter().map(|item| self.distance(*item)).collect();
        let before: Vec<Option<Uses>> = inputs.iter().map(|item| self.uses[*item as usize]).collect();
        for item in inputs {
            self.read(*item);
        }
        for ((item, before), distance) in inputs.iter().zip(before).zip(distances) {
            let itself = self.weight(*item);
            let uses = self.uses[*item as usize].get_or_insert(Uses { mark: 0, read: 0, counted: 0 });
            uses.read = self.now;
            match before {
                // It counts itself from now on, and what has been counted is not counted again.
                Some(before) if self.metric.is_from_first() => {
                    let counted_itself = if before.read > 0 { itself } else { 0 };
                    uses.mark = before.mark;
                    uses.counted = itself + distance.unwrap_or(0) + before.counted - counted_itself;
                }
                _ => {
                    uses.mark = self.now - 1;
                    uses.counted = itself;
                }
            }
        }
        for item in items.outputs(task) {
            self.uses[*item as usize] = Some(Uses { mark: self.now, read: 0, counted: 0 });
        }
    }

    /// Moves an item's last read to the present moment.
    fn read(&mut self, item: u32) {
        let weight = self.weight(item);
        if let Some(uses) = self.uses[item as usize].filter(|uses| uses.read > 0) {
            self.moments.add(uses.read, -weight);
        }
        self.moments.add(self.now, weight);
    }

    fn access(&mut self, item: u32) {
        self.now += 1;
        self.read(item);
        self.uses[item as usize] = Some(Uses { mark: self.now, read: self.now, counted: 0 });
    }

    /// For every item that a task which is not done will read: the items in between, by number, and what has been counted of them.
    /// It tells situations apart that differ in what is to come, for few tasks.
    pub(super) fn between(&self, done: u64) -> Vec<(u32, Vec<u32>, i64)> {
        let is_live = |item: &u32| self.items.readers(*item).any(|reader| done >> reader.0 & 1 == 0);
        let items = (0..self.items.count() as u32).filter(is_live);
        let used = items.filter_map(|item| self.uses[item as usize].map(|uses| (item, uses)));
        used.map(|(item, uses)| {
            let since =
                |other: &u32| *other != item && self.uses[*other as usize].is_some_and(|other| other.read > uses.mark);
            (item, (0..self.items.count() as u32).filter(since).collect(), self.reach(uses.mark) - uses.counted)
        })
        .collect()
    }
}
