//! The analytic bound of a workflow: what the literature expects it to take.
//!
//! Tasks of the same depth are taken to queue for the cores together, as many for each core as there are tasks for each;
//! they wait as equation 1 says, with the mean length of tasks of that depth.

use super::{Analytic, Cost, Parents, queue_wait};
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// What is sent to start a task near its data: a few numbers, since the workflow itself is everywhere.
const SPECIFICATION_BYTES: f64 = 100.0;

/// How long a workflow is expected to take on so many slots, with data that moves so fast.
pub fn expected_seconds(
    flow: &Workflow,
    slots: u32,
    bytes_per_second: f64,
    seconds: impl Fn(TaskId) -> f64,
    bytes: impl Fn(ObjectId) -> u64,
) -> f64 {
    let (depths, waits) = waits(flow, slots, &flow.topological(), |task| Some(seconds(task)));
    let parents = Parents::of_workflow(flow, bytes);
    let cost = |task: TaskId| Cost {
        execution_seconds: seconds(task),
        wait_seconds: waits[depths[task.index()] as usize],
        specification_bytes: SPECIFICATION_BYTES,
    };
    Analytic::of(parents.order(), bytes_per_second, |task| parents.of(task), cost).timespan
}

/// The same where all data are at hand, as on one machine: for tasks that ran, since what did not run waits for no core.
///
/// It has a function of its own because it needs no look at files: it costs little even right after a run of a million tasks.
pub fn expected_at_hand_seconds(flow: &Workflow, slots: u32, seconds: impl Fn(TaskId) -> Option<f64>) -> f64 {
    let order = flow.topological();
    let (depths, waits) = waits(flow, slots, &order, &seconds);
    let mut begins = vec![0.0f64; flow.task_count()];
    let mut timespan = 0.0f64;
    for task in order {
        let own = seconds(task).map_or(0.0, |seconds| seconds + waits[depths[task.index()] as usize]);
        let end = begins[task.index()] + own;
        timespan = timespan.max(end);
        for child in flow.children(task) {
            let begin = &mut begins[child.index()];
            *begin = end.max(*begin);
        }
    }
    timespan
}

/// The depth of each task, and how long tasks of each depth wait for a core.
fn waits(
    flow: &Workflow,
    slots: u32,
    order: &[TaskId],
    seconds: impl Fn(TaskId) -> Option<f64>,
) -> (Vec<u32>, Vec<f64>) {
    let depths = depths(flow, order);
    let mut levels: Vec<(u64, f64)> = Vec::new();
    for task in flow.tasks() {
        let depth = depths[task.index()] as usize;
        if depth >= levels.len() {
            levels.resize(depth + 1, (0, 0.0));
        }
        if let Some(seconds) = seconds(task) {
            let (count, sum) = &mut levels[depth];
            *count += 1;
            *sum += seconds;
        }
    }
    let wait = |(count, sum): &(u64, f64)| {
        let for_each_core = (*count as f64 / f64::from(slots.max(1))).max(1.0);
        queue_wait(for_each_core, sum / (*count).max(1) as f64)
    };
    let waits = levels.iter().map(wait).collect();
    (depths, waits)
}

/// How many tasks lie before each task, at most, one behind the other.
fn depths(flow: &Workflow, order: &[TaskId]) -> Vec<u32> {
    let mut depths = vec![0; flow.task_count()];
    for task in order {
        let below = depths[task.index()] + 1;
        for child in flow.children(*task) {
            let depth = &mut depths[child.index()];
            *depth = below.max(*depth);
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    fn expected(text: &str, slots: u32) -> f64 {
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let seconds = |task| flow.sleep_time(task).unwrap_or_default().as_secs_f64();
        expected_seconds(&flow, slots, 125e6, seconds, |object| flow.declared_size(object).unwrap_or(0))
    }

    #[test]
    fn a_bag_waits_half_of_what_the_others_take() {
        let bag = "tasks: { a: { foreach: { i: 1..12 }, sleep: 2s } }";
        assert_eq!(expected(bag, 12), 2.0);
        assert_eq!(expected(bag, 100), 2.0);
        assert_eq!(expected(bag, 4), 2.0 + (3.0 - 1.0) * 2.0 / 2.0);
    }

    #[test]
    fn with_data_at_hand_it_is_as_with_a_network_without_limit() {
        let text = "tasks:
            a: { foreach: { i: 1..7 }, sleep: 3s, out: ['x{i}'] }
            b: { foreach: { i: 1..7 }, sleep: 1s, in: ['x{i}'] }
            c: { sleep: 2s, in: [x1, x5], after: b }
            d: { sleep: 5s }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let seconds = |task| flow.sleep_time(task).unwrap_or_default().as_secs_f64();
        for slots in [1, 2, 5, 100] {
            let whole = expected_seconds(&flow, slots, f64::INFINITY, seconds, |_| 7);
            let at_hand = expected_at_hand_seconds(&flow, slots, |task| Some(seconds(task)));
            assert!((whole - at_hand).abs() < 1e-9, "{slots} slots: {whole} {at_hand}");
        }
    }

    #[test]
    fn what_did_not_run_waits_for_no_core() {
        let bag = "tasks: { a: { foreach: { i: 1..1000 }, sleep: 10s } }";
        let flow = Workflow::parse(bag, Format::Yaml, "x", &NoFiles).unwrap();
        assert_eq!(expected_at_hand_seconds(&flow, 2, |task| (task.0 == 7).then_some(10.0)), 10.0);
        assert_eq!(expected_at_hand_seconds(&flow, 2, |task| (task.0 < 4).then_some(10.0)), 15.0);
        assert_eq!(expected_at_hand_seconds(&flow, 2, |_| None), 0.0);
    }

    #[test]
    fn a_chain_goes_to_its_data_and_a_join_waits_for_the_rest() {
        let make = |name: &str| format!("{name}: {{ sleep: 1s, out: [{{ path: {name}, size: 125MB }}] }}");
        let specification = 100.0 / 125e6;
        let chain = format!("tasks: {{ {}, b: {{ sleep: 1s, in: a }} }}", make("a"));
        assert!((expected(&chain, 1) - (2.0 + specification)).abs() < 1e-9);
        let join = format!("tasks: {{ {}, {}, c: {{ sleep: 1s, in: [a, b] }} }}", make("a"), make("b"));
        assert!((expected(&join, 2) - (3.0)).abs() < 1e-9, "away is as soon, and needs no specification");
    }
}
