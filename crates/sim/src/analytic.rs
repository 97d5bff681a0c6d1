//! The analytic bound of a workflow on a cluster: what the literature expects it to take.
//!
//! Tasks of the same depth are taken to queue for the cores together, as many for each core as there are tasks for each;
//! they wait as equation 1 says, with the mean length of tasks of that depth.

use throng_core::bound::{Analytic, Cost, Parents, queue_wait};
use throng_core::ids::TaskId;
use throng_core::workflow::Workflow;

use crate::work::Work;

/// What is sent to start a task near its data: a few numbers, since the workflow itself is everywhere.
const SPECIFICATION_BYTES: f64 = 100.0;

/// How long a workflow is expected to take on so many slots.
pub fn expected_seconds(flow: &Workflow, slots: u32, bytes_per_second: u64, work: &Work<'_>) -> f64 {
    let depths = depths(flow);
    let mut levels: Vec<(u64, f64)> = Vec::new();
    for task in flow.tasks() {
        let depth = depths[task.index()] as usize;
        if depth >= levels.len() {
            levels.resize(depth + 1, (0, 0.0));
        }
        let (count, seconds) = &mut levels[depth];
        *count += 1;
        *seconds += work.length(task).as_secs_f64();
    }
    let wait = |(count, seconds): &(u64, f64)| {
        let for_each_core = (*count as f64 / f64::from(slots.max(1))).max(1.0);
        queue_wait(for_each_core, seconds / (*count).max(1) as f64)
    };
    let waits: Vec<f64> = levels.iter().map(wait).collect();
    let parents = Parents::of_workflow(flow, |object| work.bytes(object));
    let cost = |task: TaskId| Cost {
        execution_seconds: work.length(task).as_secs_f64(),
        wait_seconds: waits[depths[task.index()] as usize],
        specification_bytes: SPECIFICATION_BYTES,
    };
    Analytic::of(parents.order(), bytes_per_second as f64, |task| parents.of(task), cost).timespan
}

/// How many tasks lie before each task, at most, one behind the other.
fn depths(flow: &Workflow) -> Vec<u32> {
    let mut depths = vec![0; flow.task_count()];
    for task in flow.topological() {
        let below = depths[task.index()] + 1;
        for child in flow.children(task) {
            let depth = &mut depths[child.index()];
            *depth = below.max(*depth);
        }
    }
    depths
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use throng_core::workflow::{Format, NoFiles};

    use super::*;
    use crate::cluster::Variation;

    fn seconds(text: &str, slots: u32) -> f64 {
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        expected_seconds(&flow, slots, 125_000_000, &Work::new(&flow, Variation::default(), 1))
    }

    #[test]
    fn a_bag_waits_half_of_what_the_others_take() {
        let bag = "tasks: { a: { foreach: { i: 1..12 }, sleep: 2s } }";
        assert_eq!(seconds(bag, 12), 2.0);
        assert_eq!(seconds(bag, 100), 2.0);
        assert_eq!(seconds(bag, 4), 2.0 + (3.0 - 1.0) * 2.0 / 2.0);
    }

    #[test]
    fn a_chain_goes_to_its_data_and_a_join_waits_for_the_rest() {
        let make = |name: &str| format!("{name}: {{ sleep: 1s, out: [{{ path: {name}, size: 125MB }}] }}");
        let specification = 100.0 / 125e6;
        let chain = format!("tasks: {{ {}, b: {{ sleep: 1s, in: a }} }}", make("a"));
        assert!((seconds(&chain, 1) - (2.0 + specification)).abs() < 1e-9);
        let join = format!("tasks: {{ {}, {}, c: {{ sleep: 1s, in: [a, b] }} }}", make("a"), make("b"));
        assert!((seconds(&join, 2) - (3.0)).abs() < 1e-9, "away is as soon, and needs no specification");
    }
}
