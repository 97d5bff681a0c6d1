//! A plan as a file: a person can read it, compare it with another, and change it.
//!
//! ```yaml
//! throng-plan: 1
//! workflow: sipht
//! planner: greedy-stage
//! makespan: 312s
//! cost: 0.1398
//! tasks:
//!   blast: m3.medium
//!   blast:3: m3.large          # but for this one
//! ```
//!
//! If instances are rented, they are listed, and each task has one, from some time to another:
//!
//! ```yaml
//! instances:
//!   m3.medium-1: { type: m3.medium, from: 0s, until: 312s, cost: 0.067 }
//! tasks:
//!   blast:1: { instance: m3.medium-1, from: 60s, until: 90s }
//! ```

mod reading;
mod writing;

use super::catalogue::Catalogue;
use super::instances::{Instance, Run, Schedule};
use super::layout::Layout;
use super::planner::{Decided, Planned};

/// The version of the format.
const VERSION: &str = "1";
/// No machine, or no instance.
pub(super) const NOBODY: u16 = u16::MAX;
pub(super) const NOWHERE: u32 = u32::MAX;

/// Instances that are rented, and when each task runs on which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The instances.
    pub instances: Vec<Instance>,
    /// For each task when and where it runs.
    pub runs: Vec<Run>,
}

/// What a plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanFile {
    /// Lines of its head: names and values, as they are written.
    pub head: Vec<(String, String)>,
    /// For each task, the number of its type of machine in the catalogue.
    pub machine_of: Vec<u16>,
    /// What is rented, if that was planned.
    pub rented: Option<Placed>,
}

/// The names of instances: their types, counted.
pub fn instance_names(instances: &[Instance], catalogue: &Catalogue) -> Vec<String> {
    let mut counts = vec![0u32; catalogue.machines.len()];
    let name = |instance: &Instance| {
        let count = &mut counts[usize::from(instance.machine)];
        *count += 1;
        format!("{}-{count}", catalogue.machines[usize::from(instance.machine)].name)
    };
    instances.iter().map(name).collect()
}

/// Seconds to the last digit.
pub fn exact_seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

impl PlanFile {
    /// A plan without a head.
    pub fn of(planned: &Planned, layout: &Layout) -> PlanFile {
        let rented = match &planned.decided {
            Decided::Types(_) => None,
            Decided::Instances(Schedule { instances, runs, .. }) => {
                Some(Placed { instances: instances.clone(), runs: runs.clone() })
            }
        };
        PlanFile { head: Vec::new(), machine_of: planned.machine_of(layout), rented }
    }

    /// What its head says under a name.
    pub fn said(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::read_machines;
    use super::*;
    use crate::workflow::{Format, NoFiles, Workflow};

    #[test]
    fn written_read_and_refused() {
        let text = "tasks: { a: { noop: true, foreach: { i: 1..3 } }, b: { noop: true } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let catalogue = read_machines("machines: { small: { price: 1 }, large: { price: 2 } }", "m.yaml").unwrap();
        let head = vec![("workflow".to_owned(), "f: g".to_owned()), ("cost".to_owned(), "0.10".to_owned())];
        let plan = PlanFile { head, machine_of: vec![0, 1, 0, 1], rented: None };
        let text = plan.write(&flow, &catalogue);
        assert_eq!(
            text,
            "throng-plan: 1\nworkflow: \"f: g\"\ncost: 0.10\ntasks:\n  a: small\n  \"a:2\": large\n  b: large\n"
        );
        assert_eq!(PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap(), plan);
        let run = |instance, begin, end| Run { instance, begin, end };
        let rented = Placed {
            instances: vec![
                Instance { machine: 0, from: 0, until: 1_500_000_000 },
                Instance { machine: 1, from: 7, until: 8 },
                Instance { machine: 0, from: 3, until: 4 },
            ],
            runs: vec![run(0, 1, 2), run(1, 7, 8), run(2, 3, 4), run(0, 5, 1_500_000_000)],
        };
        let plan = PlanFile { head: Vec::new(), machine_of: vec![0, 1, 0, 0], rented: Some(rented) };
        let text = plan.write(&flow, &catalogue);
        assert!(text.contains("  small-1: { type: small, from: 0s, until: 1.5s, cost: "), "{text}");
        assert!(text.contains("  \"a:3\": { instance: small-2, from: 0.000000003s, until: 0.000000004s }"), "{text}");
        assert_eq!(PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap(), plan);
        let with = |instances: &str, tasks: &str| format!("throng-plan: 1\ninstances: {instances}\ntasks: {tasks}");
        for (text, message) in [
            (with("{ x: { type: smal } }", "{}"), "did you mean `small`?"),
            (with("{ x: { from: 1s } }", "{}"), "`x` has no type"),
            (with("{ x: { type: small, from: 2s, until: 1s } }", "{}"), "given back before"),
            (with("{ x: { type: small, when: 2s } }", "{}"), "unknown key `when`"),
            (with("{ x: { type: small } }", "{ a: { instance: y } }"), "there is no instance `y`"),
            (with("{ x: { type: small } }", "{ a: { from: 1s } }"), "is on no instance"),
            (with("{ x: { type: small } }", "{ a: { instance: x, from: 2s, until: 1s } }"), "ends before it begins"),
            (with("{ x: { type: small }, x: { type: large } }", "{}"), "`x`"),
            (with("{ x: { type: small } }", "{ a: { instance: x }, a: { instance: x } }"), "`a`"),
            (
                with("{ x: { type: small } }", "{ a: { instance: x }, b: small }"),
                "not on which instance, is the task `b`",
            ),
        ] {
            let error = PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let large = "tasks: { a: { noop: true, cpus: 2, foreach: { i: 1..3 } }, b: { noop: true } }";
        let large = Workflow::parse(large, Format::Yaml, "f", &NoFiles).unwrap();
        let cores = "machines: { small: { price: 1 }, large: { price: 2, cpus: 2 } }";
        let cores = read_machines(cores, "m.yaml").unwrap();
        let with = |a: &str| format!("throng-plan: 1\ntasks:\n  b: small\n  a: {a}");
        let error = PlanFile::read(&with("large\n  'a:2': small"), "p.yaml", &large, &cores).unwrap_err().to_string();
        assert!(
            error.starts_with("5:3: ") && error.contains("`a:2` asks for more than a machine of type `small`"),
            "{error}"
        );
        let mended = with("small\n  'a:1': large\n  'a:2': large\n  'a:3': large");
        assert!(PlanFile::read(&mended, "p.yaml", &large, &cores).is_ok(), "nobody runs where only others could not");
        let one_first = "throng-plan: 1\ntasks: { 'a:2': large, a: small, b: small }";
        assert_eq!(PlanFile::read(one_first, "p.yaml", &flow, &catalogue).unwrap().machine_of, [0, 1, 0, 0]);
        for (text, message) in [
            ("tasks: {}", "this is no plan"),
            ("throng-plan: 2\ntasks: {}", "of version `2`"),
            ("throng-plan: 1\ntasks: { a: small }", "says nothing of the task `b`"),
            ("throng-plan: 1\ntasks: { a: smal, b: large }", "did you mean `small`?"),
            ("throng-plan: 1\ntasks: { c: small }", "the workflow has no task `c`"),
        ] {
            let error = PlanFile::read(text, "p.yaml", &flow, &catalogue).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
