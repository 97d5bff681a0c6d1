//! How long tasks of each kind took on each machine: what a trace teaches whoever plans the next run.

use std::collections::BTreeMap;

use super::super::problem::{ProblemList, Problems};
use super::super::value::Value;
use super::document::Document;
use super::walk::plain;
use super::{check_version, names};
use crate::past::Sample;

/// A machine of a trace, as far as the trace tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedMachine {
    /// Its name.
    pub name: String,
    /// How many cores it has.
    pub cores: Option<u32>,
    /// How much memory.
    pub memory_bytes: Option<u64>,
    /// How fast its cores run, in thousands of cycles a second.
    pub clock_khz: Option<u64>,
}

impl RecordedMachine {
    /// Reads what can be read: nobody has to know anything about a machine.
    pub(super) fn of(value: Value) -> RecordedMachine {
        let mut machine = RecordedMachine::default();
        let Value::Map { entries, .. } = value else { return machine };
        let number = |value: &Value| plain(value)?.parse::<f64>().ok().filter(|number| (1.0..1e18).contains(number));
        for (key, value) in entries {
            match (key.text.as_str(), value) {
                ("nodeName", value) => machine.name = plain(&value).unwrap_or_default(),
                ("memoryInBytes", value) => machine.memory_bytes = number(&value).map(|bytes| bytes as u64),
                ("cpu", Value::Map { entries, .. }) => {
                    for (key, value) in entries {
                        match key.text.as_str() {
                            "coreCount" => machine.cores = number(&value).map(|cores| cores as u32),
                            "speedInMHz" => machine.clock_khz = number(&value).map(|mhz| (mhz * 1e3) as u64),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        machine
    }
}

/// How long tasks of a kind took on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The machine.
    pub machine: RecordedMachine,
    /// The kind.
    pub kind: String,
    /// In seconds.
    pub seconds: Sample,
}

/// Reads a trace for what it tells of times. Tasks of which it does not tell the machine are left out, unless there is but one.
pub fn observed(text: &str) -> Result<Vec<Observed>, Problems> {
    let mut problems = ProblemList::default();
    let document = Document::read(text, &mut problems)?;
    check_version(&document)?;
    problems.check()?;
    let kinds = names(&document)?.kinds;
    let machines = document.execution.as_ref().map_or(&[][..], |execution| &execution.machines);
    let only = if let [only] = machines { Some(only) } else { None };
    let mut found: BTreeMap<(&str, &str), Sample> = BTreeMap::new();
    for (task, kind) in document.tasks.iter().zip(&kinds) {
        let Some(measured) = document.measured(task.id.id) else { continue };
        let said = measured.machine.map(|name| document.machine_names.strings.get(name));
        let Some(name) = said.or(only.map(|machine| machine.name.as_str())) else { continue };
        found.entry((name, kind)).or_default().join(&Sample::one(measured.seconds));
    }
    let listed: BTreeMap<&str, &RecordedMachine> =
        machines.iter().map(|machine| (machine.name.as_str(), machine)).collect();
    let machine = |name: &str| match listed.get(name) {
        Some(machine) => (*machine).clone(),
        None => RecordedMachine { name: name.to_owned(), ..RecordedMachine::default() },
    };
    let observed = found.into_iter().map(|((name, kind), seconds)| Observed {
        machine: machine(name),
        kind: kind.to_owned(),
        seconds,
    });
    Ok(observed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_by_machine_and_kind() {
        let text = r#"{"schemaVersion":"1.5","name":"n","workflow":{
            "specification":{"tasks":[
                {"id":"a_1","name":"a_1","parents":[],"children":["b_1"]},
                {"id":"a_2","name":"a_2","parents":[],"children":["b_1"]},
                {"id":"a_3","name":"a_3","parents":[],"children":["b_1"]},
                {"id":"b_1","name":"b_1","parents":["a_1","a_2","a_3"],"children":[]}],"files":[]},
            "execution":{"makespanInSeconds":9,"executedAt":"2026-01-01T00:00:00Z","tasks":[
                {"id":"a_1","runtimeInSeconds":3,"machines":["slow"]},
                {"id":"a_2","runtimeInSeconds":5,"machines":["slow"]},
                {"id":"a_3","runtimeInSeconds":1,"machines":["m3.large"]},
                {"id":"b_1","runtimeInSeconds":2}],
            "machines":[{"nodeName":"slow","memoryInBytes":4000000000,"cpu":{"coreCount":2,"speedInMHz":2500}},{"nodeName":7,"cpu":"?"}]}}}"#;
        let observed = observed(text).unwrap();
        let told: Vec<_> = observed.iter().map(|of| (of.machine.name.as_str(), of.kind.as_str(), of.seconds)).collect();
        assert_eq!(told[0], ("m3.large", "a", Sample::one(1.0)));
        assert_eq!((told[1].0, told[1].2.tasks, told[1].2.figure.mean, told[1].2.figure.spread), ("slow", 2, 4.0, 1.0));
        assert_eq!(told.len(), 2, "of the last task, no machine is told");
        let slow = &observed[1].machine;
        assert_eq!((slow.cores, slow.memory_bytes, slow.clock_khz), (Some(2), Some(4_000_000_000), Some(2_500_000)));
        assert!(super::observed("{\"schemaVersion\":\"1.3\",\"workflow\":{}}").is_err());
        for (text, message) in [
            ("", "1:1: this is no trace: it does not begin with `{`"),
            (" \n\t ", "2:3: this is no trace"),
            ("[]", "1:1: this is no trace"),
            ("{", "1:2: this is not valid JSON"),
            ("{}", "schemaVersion"),
        ] {
            let error = super::observed(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
