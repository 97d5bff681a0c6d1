//! What a trace says of its run and of itself, to be written as it was: a trace that is exported is still a trace of that run.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use throng_core::workflow::wfformat::{OWN_SYSTEM, unescape};

/// The parts of a trace that a workflow does not hold.
pub struct PassedOn {
    /// Author, description, time of creation and the like.
    pub head: Map<String, Value>,
    /// Who ran it.
    pub system: Option<Value>,
    /// What was measured.
    pub execution: Option<Map<String, Value>>,
    /// The free names of tasks, by what they are called here.
    pub names: BTreeMap<String, String>,
}

/// Parts that are written anew.
const OWN: [&str; 3] = ["schemaVersion", "runtimeSystem", "workflow"];

impl PassedOn {
    /// Takes them from a text that has been read as a trace.
    pub fn read(text: &str) -> serde_json::Result<PassedOn> {
        let mut document: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        let [_, system, workflow] = OWN.map(|name| document.remove(name));
        let mut workflow = workflow.unwrap_or_default();
        let execution = match workflow["execution"].take() {
            Value::Object(execution) => Some(whole(execution)).filter(|execution| execution["tasks"] != json!([])),
            _ => None,
        };
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let tasks = workflow["specification"]["tasks"].as_array();
        let is_own = system.as_ref().is_some_and(|system| system["name"] == OWN_SYSTEM);
        let original = |id: String| if is_own { unescape(&id) } else { id };
        let name = |task: &Value| Some((original(text(&task["id"])?), text(&task["name"])?));
        let names = tasks.into_iter().flatten().filter_map(name).collect();
        Ok(PassedOn { head: document, system, execution, names })
    }
}

/// With what the format insists on, where it was left out.
fn whole(mut execution: Map<String, Value>) -> Map<String, Value> {
    if !execution.get("makespanInSeconds").is_some_and(Value::is_number) {
        execution.insert("makespanInSeconds".to_owned(), json!(0));
    }
    if execution.get("executedAt").and_then(Value::as_str).is_none_or(str::is_empty) {
        execution.insert("executedAt".to_owned(), json!("1970-01-01T00:00:00Z"));
    }
    if !execution.get("tasks").is_some_and(Value::is_array) {
        execution.insert("tasks".to_owned(), json!([]));
    }
    if execution.get("machines").is_some_and(|machines| machines.as_array().is_none_or(Vec::is_empty)) {
        execution.remove("machines");
    }
    execution
}
