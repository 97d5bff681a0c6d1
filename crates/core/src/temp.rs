//! Temporary objects: which of them nobody needs any more.
//!
//! An object marked `temp` goes when the last task that reads it is done. It stays when somebody asked for it, when
//! nobody reads it, when it was not made but taken over, when a reader failed, and when a reader is not part of the run: that one may want it next time.

use std::collections::BTreeMap;

use crate::ids::{ObjectId, TaskId};
use crate::stale::Verdict;
use crate::workflow::Workflow;

/// The temporary objects of a run, and how many readers each still has.
#[derive(Clone, Debug, Default)]
pub struct Temps {
    readers_left: BTreeMap<ObjectId, u32>,
}

impl Temps {
    /// Counts readers; also returns the objects that nobody needs from the start.
    pub fn new(
        flow: &Workflow,
        verdict: impl Fn(TaskId) -> Verdict,
        is_adopted: impl Fn(ObjectId) -> bool,
        targets: &[TaskId],
    ) -> (Temps, Vec<ObjectId>) {
        let mut readers: BTreeMap<ObjectId, (u32, bool)> = BTreeMap::new();
        if !flow.has_temps() {
            return (Temps::default(), Vec::new());
        }
        for task in flow.tasks() {
            for object in flow.inputs(task).filter(|object| flow.is_temp(*object)) {
                let (left, is_kept) = readers.entry(object).or_default();
                match verdict(task) {
                    Verdict::UpToDate | Verdict::Adopted => {}
                    Verdict::Outside => *is_kept = true,
                    Verdict::Maybe | Verdict::Run(_) => *left += 1,
                }
            }
        }
        for object in targets.iter().flat_map(|task| flow.outputs(*task)) {
            readers.remove(&object);
        }
        // What was taken over is somebody's own, unless this run makes it anew.
        let is_ours = |object: ObjectId| match flow.producer(object).map(&verdict) {
            Some(Verdict::Run(_)) => true,
            Some(Verdict::UpToDate | Verdict::Maybe) => !is_adopted(object),
            Some(Verdict::Adopted | Verdict::Outside) | None => false,
        };
        readers.retain(|object, (_, is_kept)| !*is_kept && is_ours(*object));
        let stands =
            |object: &ObjectId| flow.producer(*object).is_some_and(|task| matches!(verdict(task), Verdict::UpToDate));
        let unneeded = readers.iter().filter(|(object, (left, _))| *left == 0 && stands(object));
        let unneeded = unneeded.map(|(object, _)| *object).collect();
        let readers_left =
            readers.into_iter().filter(|(_, (left, _))| *left > 0).map(|(object, (left, _))| (object, left));
        (Temps { readers_left: readers_left.collect() }, unneeded)
    }

    /// A task is done, or did not have to run: objects that nobody needs any more go into `unneeded`.
    pub fn reader_done(&mut self, flow: &Workflow, task: TaskId, unneeded: &mut Vec<ObjectId>) {
        if self.readers_left.is_empty() {
            return;
        }
        for object in flow.inputs(task) {
            let Some(left) = self.readers_left.get_mut(&object) else { continue };
            *left -= 1;
            if *left == 0 {
                self.readers_left.remove(&object);
                unneeded.push(object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stale::Reason;
    use crate::workflow::{Format, NoFiles};

    const FLOW: &str = "tasks: { a: { run: x, out: [{ path: t, temp: true }] }, b: { run: x, in: t }, \
                        c: { run: x, in: t }, d: { run: x, temp: true, out: last } }";

    const RUN: Verdict = Verdict::Run(Reason::NeverDone);

    fn temps(verdicts: [Verdict; 4], targets: &[TaskId]) -> (Workflow, Temps, Vec<ObjectId>) {
        let flow = Workflow::parse(FLOW, Format::Yaml, "x", &NoFiles).unwrap();
        let (temps, unneeded) = Temps::new(&flow, |task| verdicts[task.index()], |_| false, targets);
        (flow, temps, unneeded)
    }

    #[test]
    fn gone_with_the_last_reader() {
        let (flow, mut temps, mut unneeded) = temps([RUN; 4], &[]);
        temps.reader_done(&flow, TaskId(1), &mut unneeded);
        assert_eq!(unneeded, []);
        temps.reader_done(&flow, TaskId(2), &mut unneeded);
        assert_eq!(unneeded, [ObjectId(0)]);
    }

    #[test]
    fn what_a_killed_run_left_goes_at_once_and_what_is_wanted_stays() {
        let done = [Verdict::UpToDate, Verdict::UpToDate, Verdict::UpToDate, Verdict::UpToDate];
        assert_eq!(temps(done, &[]).2, [ObjectId(0)]);
        assert_eq!(temps(done, &[TaskId(0)]).2, []);
        let (flow, mut temps, mut unneeded) = temps([RUN, RUN, Verdict::Outside, RUN], &[]);
        temps.reader_done(&flow, TaskId(1), &mut unneeded);
        assert_eq!(unneeded, []);
    }
}
