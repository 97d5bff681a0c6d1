//! A workflow as the machine sees it: who waits for whom, what is read, and how long things take.

use std::sync::Arc;
use std::time::Duration;

use crate::ids::TaskId;
use crate::locality::{Items, Knowledge, Precedence};

/// A workflow with times.
#[derive(Clone, Debug, Default)]
pub struct Model {
    items: Arc<Items>,
    children: Vec<Vec<TaskId>>,
    parent_counts: Vec<u32>,
    compute: Vec<u64>,
    outside: Vec<u64>,
    load: Vec<u64>,
    bytes_per_second: u64,
}

/// What a model is made of.
#[derive(Debug)]
pub struct ModelBuilder {
    /// The items.
    pub items: Arc<Items>,
    /// Who waits for whom: parent and child.
    pub edges: Vec<(TaskId, TaskId)>,
    /// How long each task computes.
    pub compute: Vec<u64>,
    /// How long each task takes to bring what is not an item.
    pub outside: Vec<u64>,
    /// How long each item takes to load.
    pub load: Vec<u64>,
}

impl ModelBuilder {
    /// The model.
    pub fn build(self) -> Model {
        let ModelBuilder { items, mut edges, compute, outside, load } = self;
        let (mut children, mut parent_counts) = (vec![Vec::new(); compute.len()], vec![0; compute.len()]);
        edges.sort_unstable();
        edges.dedup();
        for (parent, child) in edges {
            children[parent.index()].push(child);
            parent_counts[child.index()] += 1;
        }
        Model { items, children, parent_counts, compute, outside, load, bytes_per_second: 0 }
    }
}

impl Model {
    /// A workflow on storage that delivers so many bytes a second to whoever asks, with times in nanoseconds. Tasks compute as long as they
    /// sleep or are expected to take. Files from outside that one task alone reads are no items: it brings them whatever is in the cache.
    pub fn of(known: &Knowledge, bytes_per_second: u64) -> Model {
        let (flow, items) = (known.flow(), known.items().clone());
        let loading = |bytes: u64| {
            let time = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
            u64::try_from(time).unwrap_or(u64::MAX)
        };
        let computing = |task| {
            let time = flow.sleep_time(task).or_else(|| flow.estimated_time(task)).unwrap_or(Duration::ZERO);
            u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
        };
        let alone = |task| {
            let objects = known.inputs(task).filter(|object| items.of_object(*object).is_none());
            loading(objects.filter_map(|object| flow.expected_size(object)).fold(0, u64::saturating_add))
        };
        let edges = flow.tasks().flat_map(|parent| flow.children(parent).map(move |child| (parent, child))).collect();
        let (compute, outside) = (flow.tasks().map(computing).collect(), flow.tasks().map(alone).collect());
        let load = (0..items.count() as u32).map(|item| loading(items.weight(item))).collect();
        let model = ModelBuilder { items, edges, compute, outside, load }.build();
        Model { bytes_per_second, ..model }
    }

    /// How many bytes a second the storage delivers, if that is how long things take to load.
    pub fn bytes_per_second(&self) -> u64 {
        self.bytes_per_second
    }

    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..self.compute.len()).map(TaskId::at)
    }

    /// The items.
    pub fn items(&self) -> &Arc<Items> {
        &self.items
    }

    /// The tasks that wait for one.
    pub fn children(&self, task: TaskId) -> &[TaskId] {
        &self.children[task.index()]
    }

    /// How many tasks one waits for.
    pub fn parent_count(&self, task: TaskId) -> u32 {
        self.parent_counts[task.index()]
    }

    /// How long a task computes.
    pub fn compute(&self, task: TaskId) -> u64 {
        self.compute[task.index()]
    }

    /// How long a task takes to bring what no other reads.
    pub fn outside(&self, task: TaskId) -> u64 {
        self.outside[task.index()]
    }

    /// How long an item takes to load.
    pub fn load(&self, item: u32) -> u64 {
        self.load[item as usize]
    }

    /// The same, if what no other task reads cost no time: what is left is what an order can do something about.
    pub fn without_outside(mut self) -> Model {
        self.outside.fill(0);
        self
    }

    /// No order takes less than this on so many units, whatever is in the cache: everything that has to be computed and brought
    /// once, shared out evenly, or the longest chain of it.
    pub fn least_time(&self, units: usize) -> u64 {
        let own = |task: TaskId| self.compute(task).saturating_add(self.outside(task));
        let mut is_made = vec![false; self.load.len()];
        self.tasks().flat_map(|task| self.items.outputs(task)).for_each(|item| is_made[*item as usize] = true);
        let brought = self.load.iter().zip(is_made).filter(|(_, is_made)| !is_made).map(|(load, _)| u128::from(*load));
        let work = self.tasks().map(|task| u128::from(own(task))).chain(brought).sum::<u128>();
        let mut open = self.parent_counts.clone();
        let mut ready: Vec<TaskId> = self.tasks().filter(|task| self.parent_count(*task) == 0).collect();
        let mut ends: Vec<u64> = self.tasks().map(own).collect();
        while let Some(task) = ready.pop() {
            for child in self.children(task) {
                let end = ends[task.index()].saturating_add(own(*child));
                ends[child.index()] = ends[child.index()].max(end);
                open[child.index()] -= 1;
                ready.extend(Some(*child).filter(|child| open[child.index()] == 0));
            }
        }
        let longest = ends.into_iter().max().unwrap_or(0);
        u64::try_from(work.div_ceil(units.max(1) as u128)).unwrap_or(u64::MAX).max(longest)
    }
}

impl Precedence for Model {
    fn children(&self, task: TaskId) -> Vec<TaskId> {
        self.children[task.index()].clone()
    }

    fn parent_count(&self, task: TaskId) -> u32 {
        self.parent_counts[task.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evict::Lru;
    use crate::locality::Brought;
    use crate::predict::{self, Follower, Machine};
    use crate::workflow::{Format, NoFiles, Workflow};

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_workflow_with_its_times() {
        let text = "
tasks:
  first: { sleep: 3s, in: [{ path: raw, size: 1GB }, { path: shared, size: 2GB }], out: [{ path: middle, size: 500MB }] }
  second: { run: x, estimate: { time: 2s }, in: [middle, { path: shared, size: 2GB }], out: [end] }
  third: { run: x, in: [{ path: unknown }], out: [{ path: unread, size: 9GB }], after: first }
";
        let flow = Arc::new(Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap());
        let model = Model::of(&Knowledge::of(&flow, &Brought::All), 100_000_000);
        let seconds = |of: &dyn Fn(TaskId) -> u64| model.tasks().map(|task| of(task) / SECOND).collect::<Vec<_>>();
        assert_eq!(seconds(&|task| model.compute(task)), [3, 2, 0]);
        assert_eq!(seconds(&|task| model.outside(task)), [10, 0, 0], "what one task alone reads is no item");
        let loads: Vec<u64> = (0..model.items().count() as u32).map(|item| model.load(item) / SECOND).collect();
        assert_eq!(loads, [5, 20], "what nobody reads is none, either");
        assert_eq!(model.tasks().map(|task| model.parent_count(task)).collect::<Vec<_>>(), [0, 1, 1]);

        let run = |cache| {
            let order = &mut Follower::new(model.tasks().collect());
            predict::run(&model, Machine { units: 1, cache }, order, Box::new(Lru::default())).makespan / SECOND
        };
        assert_eq!(run(u64::MAX), 10 + 20 + 3 + 2, "what was brought and made is there");
        assert_eq!(run(0), 10 + 20 + 3 + 5 + 20 + 2);

        assert_eq!([1, 2, 3].map(|units| model.least_time(units) / SECOND), [35, 17, 15]);
        assert_eq!(model.without_outside().least_time(1) / SECOND, 20 + 3 + 2);
    }
}
