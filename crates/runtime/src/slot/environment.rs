//! The environment of an attempt: the engine's own, what the workflow sets, and what the task is told about itself.

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;

use super::Job;
use crate::node_loop::Shared;
use crate::process::leftover::RUN_VARIABLE;

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Environment that all tasks share, ready to be handed to a program.
#[derive(Debug)]
pub struct BaseEnvironment {
    variables: Vec<(Vec<u8>, CString)>,
    path: String,
}

impl BaseEnvironment {
    /// The engine's own environment, and the mark by which its tasks can be told.
    pub fn new(mark: &str) -> Self {
        let own = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
        let ours = (RUN_VARIABLE.as_bytes().to_vec(), mark.as_bytes().to_vec());
        let variables = own
            .filter(|(name, _)| !name.starts_with(b"THRONG_"))
            .chain([ours])
            .filter_map(|(name, value)| {
                let text = CString::new([name.as_slice(), b"=", &value].concat()).ok()?;
                Some((name, text))
            })
            .collect();
        BaseEnvironment { variables, path: std::env::var("PATH").unwrap_or_else(|_| DEFAULT_PATH.to_owned()) }
    }
}

/// A variable of a task's environment, borrowed where all tasks have the same.
enum Variable<'a> {
    Shared(&'a CString),
    Own(CString),
}

/// The environment of an attempt.
pub(super) struct Environment<'a> {
    variables: Vec<Variable<'a>>,
    /// The names of those that are not the engine's own.
    pub names: Vec<String>,
    /// Where programs are looked for.
    pub path: String,
}

impl<'a> Environment<'a> {
    /// Puts an attempt's environment together; `holdings` tell what it has been granted.
    pub(super) fn new(shared: &'a Shared, job: Job, holdings: &[(String, String)]) -> Self {
        let base = &shared.environment;
        let own = shared.flow.environment(job.task, job.conditions());
        let is_set = |name: &[u8]| {
            own.iter().any(|(own_name, _)| own_name.as_bytes() == name)
                || holdings.iter().any(|(own_name, _)| own_name.as_bytes() == name)
        };
        let mut variables: Vec<Variable<'_>> = Vec::with_capacity(base.variables.len() + own.len() + 2);
        variables
            .extend(base.variables.iter().filter(|(name, _)| !is_set(name)).map(|(_, text)| Variable::Shared(text)));
        let about = [("THRONG_TASK", shared.flow.name(job.task)), ("THRONG_ATTEMPT", job.attempt.to_string())];
        let granted = holdings.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let mut names = vec![RUN_VARIABLE.to_owned()];
        let mut path = None;
        // What was granted comes first: the workflow may know better and say otherwise.
        let granted = granted.filter(|(name, _)| !own.iter().any(|(own_name, _)| own_name == name)).collect::<Vec<_>>();
        for (name, value) in about.into_iter().chain(granted).chain(own) {
            // No NUL can be in it: the workflow's text was checked, and values come from it or from file names.
            if let Ok(text) = CString::new(format!("{name}={value}")) {
                variables.push(Variable::Own(text));
                names.push(name.to_owned());
            }
            if name == "PATH" {
                path = Some(value);
            }
        }
        Environment { variables, names, path: path.unwrap_or_else(|| base.path.clone()) }
    }

    /// As a program is handed it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &CString> {
        self.variables.iter().map(|variable| match variable {
            Variable::Shared(text) => *text,
            Variable::Own(text) => text,
        })
    }
}

/// What a task is told of something that it has been granted: which variable, and what is in it.
pub(crate) fn holding(name: &str, ids: &[&str], amount_milli: u64) -> Option<(String, String)> {
    match (name, ids.is_empty()) {
        ("gpus", false) => Some(("CUDA_VISIBLE_DEVICES".to_owned(), ids.join(","))),
        ("gpus", true) => None,
        (name, has_no_ids) => {
            let variable = format!("THRONG_RESOURCE_{}", name.to_uppercase());
            let value = if has_no_ids { (amount_milli as f64 / 1000.0).to_string() } else { ids.join(",") };
            Some((variable, value))
        }
    }
}
