//! From a [`Value`] to a task as it was written: the keys, their types and their ranges.
//!
//! The keys themselves are listed in [`super::keys`]; each is read here or in the file of its subject.

mod files;
mod foreach;
mod resources;
mod scalar;

use std::time::Duration;

pub(crate) use files::Entry;
pub(crate) use foreach::{Dimension, Foreach, RESERVED, Records, TableFile, is_plain_name};
pub(crate) use resources::{Demand, GPUS};
pub(crate) use scalar::{scalar, wrong};

use super::command;
use super::container::CONTAINER_RUNNERS;
use super::keys;
use super::params::{Params, holds};
use super::problem::Problem;
use super::value::{Seen, Text, Value, note_key};
use crate::spelling::distance;
use scalar::{boolean, bytes, duration, integer, items, list, map, one_or_list, text};

/// A task, or many, as the file says it.
#[derive(Clone, Debug)]
pub(crate) struct TaskSpec {
    pub name: Text,
    pub foreach: Vec<Dimension>,
    pub action: Action,
    pub inputs: Vec<Entry>,
    pub uses: Vec<Entry>,
    pub outputs: Vec<Entry>,
    pub after: Vec<Text>,
    /// What it asks for apart from `resources`.
    pub demand: Demand,
    /// Ways to run of which one has to be had; none if there is only `demand`.
    pub alternatives: Vec<Demand>,
    pub retries: Retries,
    pub timeout: Option<Duration>,
    pub priority: i32,
    pub env: Vec<(Text, Text)>,
    pub kind: Option<Text>,
    pub estimate: Estimate,
    pub streams: Streams,
    pub dir: Option<Text>,
    pub shell: Option<Vec<String>>,
    pub container: Option<Container>,
    pub is_temp: bool,
}

/// Files that a task's standard streams are joined to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    pub stdin: Option<Text>,
    pub stdout: Option<Text>,
    pub stderr: Option<Text>,
}

/// When to try again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retries {
    pub times: u32,
    /// Only after these exit codes; after any if there are none.
    pub codes: Vec<(u8, u8)>,
}

/// What somebody expects of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    pub time: Option<Duration>,
    pub memory_bytes: Option<u64>,
    pub out_bytes: Option<u64>,
}

/// The image that a task runs in.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub image: Text,
    /// The program that runs it, if not just any that is there.
    pub with: Option<Text>,
    pub options: Vec<Text>,
}

/// What a task does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Run(Text),
    Exec(Vec<Text>),
    Noop,
    Sleep(Text),
}

/// Words for the same things in other engines.
const SYNONYMS: [(&str, &str); 22] = [
    ("output", "out"),
    ("outputs", "out"),
    ("input", "in"),
    ("inputs", "in"),
    ("depends", "after"),
    ("deps", "after"),
    ("needs", "after"),
    ("requires", "after"),
    ("command", "run"),
    ("cmd", "run"),
    ("script", "run"),
    ("cores", "cpus"),
    ("threads", "cpus"),
    ("mem", "memory"),
    ("gpu", "gpus"),
    ("workdir", "dir"),
    ("cwd", "dir"),
    ("environment", "env"),
    ("image", "container"),
    ("if", "when"),
    ("log", "stderr"),
    ("rnu", "run"),
];
/// With the longest pause between attempts, this is most of a day: more is no longer a retry.
const RETRIES_LIMIT: i64 = 1_000;
/// Room for any scale that somebody thinks in, and far from the ends of a 32-bit number.
const PRIORITY_LIMIT: i64 = 1_000_000_000;

impl TaskSpec {
    /// A task of which nothing is said yet.
    pub(crate) fn new() -> TaskSpec {
        TaskSpec {
            name: Text { text: String::new(), mark: Default::default() },
            foreach: Vec::new(),
            action: Action::Noop,
            inputs: Vec::new(),
            uses: Vec::new(),
            outputs: Vec::new(),
            after: Vec::new(),
            demand: Demand::default(),
            alternatives: Vec::new(),
            retries: Retries::default(),
            timeout: None,
            priority: 0,
            env: Vec::new(),
            kind: None,
            estimate: Estimate::default(),
            streams: Streams::default(),
            dir: None,
            shell: None,
            container: None,
            is_temp: false,
        }
    }
}

/// Reads `defaults`: what holds for every task of a file that says nothing else.
pub(crate) fn read_defaults(key: &Text, value: Value, params: &Params) -> Result<TaskSpec, Problem> {
    let mut spec = TaskSpec::new();
    let mut seen = Seen::default();
    let known: Vec<&str> = keys::TASK.iter().filter(|key| key.in_defaults).map(|key| key.name).collect();
    for (key, value) in map(key, value, "{ retries: 1 }")? {
        note_key(&mut seen, &key)?;
        if !known.contains(&key.text.as_str()) {
            return Err(unknown_key(&key, "in `defaults`", &known));
        }
        read_key(&mut spec, &key, value, params)?;
    }
    Ok(spec)
}

/// Reads one entry of `tasks`; nothing if its `when` does not hold.
pub(crate) fn read_task(
    name: Text,
    value: Value,
    params: &Params,
    defaults: &TaskSpec,
) -> Result<Option<TaskSpec>, Problem> {
    let name_is_plain = name.text.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        && name.text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
    if !name_is_plain {
        return Err(Problem::new(
            name.mark,
            format!("`{}` cannot be the name of a task", name.text),
            "use letters, digits, `_`, `-` and `.`",
        )
        .spanning(&name.text));
    }
    let mark = value.mark();
    let Value::Map { entries, .. } = value else {
        return Err(Problem::new(
            mark,
            format!("task `{}` is {}, not a map", name.text, value.shape()),
            format!("write its keys below it, for example `{}: {{ run: echo hello }}`", name.text),
        ));
    };
    let mut spec = TaskSpec { name, ..defaults.clone() };
    let mut action: Option<Text> = None;
    let mut seen = Seen::default();
    let mut is_wanted = true;
    for (key, value) in entries {
        note_key(&mut seen, &key)?;
        if matches!(key.text.as_str(), "run" | "exec" | "noop" | "sleep") {
            if let Some(first) = &action {
                return Err(Problem::new(
                    key.mark,
                    format!("task `{}` has both `{}` and `{}`", spec.name.text, first.text, key.text),
                    "a task does one thing: keep one of them, or make two tasks",
                )
                .spanning(&key.text)
                .with_related(first.mark, "the first is here"));
            }
            action = Some(key.clone());
        }
        if key.text == "when" {
            is_wanted = holds(&text(&key, value)?, params)?;
            continue;
        }
        read_key(&mut spec, &key, value, params)?;
    }
    if action.is_none() {
        return Err(Problem::new(
            spec.name.mark,
            format!("task `{}` says nothing to do", spec.name.text),
            "give it `run: COMMAND`, `exec: [PROGRAM, ARGUMENT]`, `sleep: TIME` or `noop: true`",
        )
        .spanning(&spec.name.text));
    }
    if spec.is_temp {
        spec.outputs.iter_mut().for_each(|output| output.is_temp = true);
    }
    Ok(is_wanted.then_some(spec))
}

fn read_key(spec: &mut TaskSpec, key: &Text, value: Value, params: &Params) -> Result<(), Problem> {
    // Where values stay values (in commands and paths), parameters are left for later; everywhere else they are text.
    let is_pattern = keys::TASK.iter().any(|known| known.name == key.text && known.is_pattern);
    let value = if is_pattern { params.splice(value)? } else { params.expand_value(value)? };
    match key.text.as_str() {
        "run" if matches!(value, Value::List { .. }) => {
            return Err(Problem::new(
                value.mark(),
                "`run` is one text, not a list",
                "write `run: |` and a command on each line below it, or `exec: [PROGRAM, ARGUMENT]`",
            ));
        }
        "run" => spec.action = Action::Run(text(key, value)?),
        "exec" => {
            let words = list(key, value)?;
            if words.is_empty() {
                return Err(Problem::new(key.mark, "`exec` is empty", "write `exec: [PROGRAM, ARGUMENT, …]`"));
            }
            spec.action = Action::Exec(words);
        }
        "noop" => {
            if !value.is_null() && !boolean(key, value)? {
                return Err(Problem::new(key.mark, "`noop` is only ever `true`", "write `noop: true`"));
            }
            spec.action = Action::Noop;
        }
        "sleep" => spec.action = Action::Sleep(text(key, value)?),
        "in" => spec.inputs = files::read_inputs(key, value)?,
        "uses" => spec.uses = files::read_inputs(key, value)?,
        "out" => spec.outputs = files::read_outputs(key, value)?,
        "after" => spec.after = one_or_list(key, value)?,
        "foreach" => spec.foreach = foreach::read_foreach(key, value)?,
        "cpus" => spec.demand.cpus_milli = Some(resources::read_cpus(key, value)?),
        "memory" => spec.demand.memory = Some(resources::read_memory(key, value)?),
        "gpus" => {
            spec.demand.named.retain(|(name, _)| name != GPUS);
            spec.demand.named.extend(resources::read_gpus(key, value)?.map(|amount| (GPUS.to_owned(), amount)));
        }
        "resources" => spec.alternatives = resources::read_resources(key, value)?,
        "retries" => spec.retries = read_retries(key, value)?,
        "priority" => spec.priority = integer(key, value, -PRIORITY_LIMIT, PRIORITY_LIMIT)? as i32,
        "timeout" => {
            let text = scalar(key, value)?;
            let timeout = duration(key, &text)?;
            if timeout.is_zero() {
                return Err(wrong(&text, key, "longer than nothing; leave the key out for no limit"));
            }
            spec.timeout = Some(timeout);
        }
        "env" => read_env(key, value, &mut spec.env)?,
        "kind" => spec.kind = Some(text(key, value)?),
        "estimate" => spec.estimate = read_estimate(key, value)?,
        "stdin" => spec.streams.stdin = Some(text(key, value)?),
        "stdout" => spec.streams.stdout = Some(text(key, value)?),
        "stderr" => spec.streams.stderr = Some(text(key, value)?),
        "dir" => spec.dir = Some(text(key, value)?),
        "shell" => spec.shell = Some(read_shell(key, value)?),
        "container" => spec.container = Some(read_container(key, value)?),
        "temp" => spec.is_temp = boolean(key, value)?,
        "description" => drop(scalar(key, value)?),
        "checkpoint" => {
            let message = "tasks cannot be checkpointed yet: one that is stopped starts from its beginning";
            return Err(Problem::new(key.mark, message, "leave the key out, or split the task").spanning(&key.text));
        }
        _ => {
            let known: Vec<&str> = keys::TASK.iter().map(|key| key.name).collect();
            let place = if spec.name.text.is_empty() {
                "in `defaults`".to_owned()
            } else {
                format!("in task `{}`", spec.name.text)
            };
            return Err(unknown_key(key, &place, &known));
        }
    }
    Ok(())
}

/// `retries: 3`, or `retries: { times: 3, codes: [75, 100..110] }`.
fn read_retries(key: &Text, value: Value) -> Result<Retries, Problem> {
    if !matches!(value, Value::Map { .. }) {
        return Ok(Retries { times: integer(key, value, 0, RETRIES_LIMIT)? as u32, codes: Vec::new() });
    }
    let mut retries = Retries { times: 1, codes: Vec::new() };
    let mut seen = Seen::default();
    for (word, value) in map(key, value, "{ times: 3, codes: [75] }")? {
        note_key(&mut seen, &word)?;
        match word.text.as_str() {
            "times" => retries.times = integer(&word, value, 0, RETRIES_LIMIT)? as u32,
            "codes" => {
                for item in items(value) {
                    let text = scalar(&word, item)?;
                    let (first, last) = text.text.split_once("..").unwrap_or((&text.text, &text.text));
                    let range = first.trim().parse::<u8>().ok().zip(last.trim().parse::<u8>().ok());
                    let range = range.filter(|(first, last)| 0 < *first && first <= last);
                    retries.codes.push(range.ok_or_else(|| {
                        wrong(&text, &word, "an exit code from 1 to 255, or a range such as 64..78; a signal counts as 128 and its number, a timeout as 124")
                    })?);
                }
                if retries.codes.is_empty() {
                    return Err(Problem::new(
                        word.mark,
                        "`codes` is empty",
                        "leave it out to try again after any failure",
                    ));
                }
            }
            _ => return Err(unknown_key(&word, "in `retries`", &["times", "codes"])),
        }
    }
    Ok(retries)
}

fn read_estimate(key: &Text, value: Value) -> Result<Estimate, Problem> {
    let mut estimate = Estimate::default();
    let mut seen = Seen::default();
    for (word, value) in map(key, value, "{ time: 2s, memory: 1GB, out: 40kB }")? {
        note_key(&mut seen, &word)?;
        let known = ["time", "memory", "out"];
        if !known.contains(&word.text.as_str()) {
            return Err(unknown_key(&word, "in `estimate`", &known));
        }
        let text = scalar(&word, value)?;
        match word.text.as_str() {
            "time" => estimate.time = Some(duration(&word, &text)?),
            "memory" => estimate.memory_bytes = Some(bytes(&word, &text)?),
            _ => estimate.out_bytes = Some(bytes(&word, &text)?),
        }
    }
    Ok(estimate)
}

fn read_shell(key: &Text, value: Value) -> Result<Vec<String>, Problem> {
    if matches!(value, Value::List { .. }) {
        let words: Vec<String> = list(key, value)?.into_iter().map(|word| word.text).collect();
        return match words.first() {
            Some(first) if !first.is_empty() => Ok(words),
            _ => Err(Problem::new(key.mark, "`shell` is empty", "write `shell: bash -euo pipefail`")),
        };
    }
    let text = text(key, value)?;
    command::split_plain(&text.text).ok_or_else(|| {
        wrong(
            &text,
            key,
            "a program and its options, such as `bash -euo pipefail`; the command is added as `-c COMMAND`",
        )
    })
}

/// `container: IMAGE`, or `container: { image: IMAGE, with: podman, options: [--network, none] }`.
fn read_container(key: &Text, value: Value) -> Result<Container, Problem> {
    if !matches!(value, Value::Map { .. }) {
        return Ok(Container { image: text(key, value)?, with: None, options: Vec::new() });
    }
    let mark = value.mark();
    let (mut image, mut with, mut options) = (None, None, Vec::new());
    let mut seen = Seen::default();
    for (word, value) in map(key, value, "{ image: IMAGE }")? {
        note_key(&mut seen, &word)?;
        match word.text.as_str() {
            "image" => image = Some(text(&word, value)?),
            "with" => {
                let runner = text(&word, value)?;
                if !CONTAINER_RUNNERS.contains(&runner.text.as_str()) {
                    return Err(wrong(&runner, &word, &format!("one of {}", CONTAINER_RUNNERS.join(", "))));
                }
                with = Some(runner);
            }
            "options" => options = list(&word, value)?,
            _ => return Err(unknown_key(&word, "in `container`", &["image", "with", "options"])),
        }
    }
    match image {
        Some(image) => Ok(Container { image, with, options }),
        None => Err(Problem::new(mark, "`container` names no image", "write `container: IMAGE`")),
    }
}

fn read_env(key: &Text, value: Value, pairs: &mut Vec<(Text, Text)>) -> Result<(), Problem> {
    let mut seen = Seen::default();
    for (name, value) in map(key, value, "{ NAME: value }")? {
        note_key(&mut seen, &name)?;
        if name.text.starts_with("THRONG_") {
            return Err(Problem::new(
                name.mark,
                format!("`{}` is one of Throng's own variables", name.text),
                "choose a name that does not begin with `THRONG_`",
            )
            .spanning(&name.text));
        }
        if name.text.is_empty() || name.text.contains(['=', '\0']) {
            return Err(Problem::new(
                name.mark,
                format!("`{}` cannot be the name of an environment variable", name.text),
                "use letters, digits and `_`",
            ));
        }
        let value = scalar(key, value)?;
        // What a task says itself comes before its defaults.
        pairs.retain(|(known, _)| known.text != name.text);
        pairs.push((name, value));
    }
    Ok(())
}

pub(crate) fn unknown_key(key: &Text, place: &str, known: &[&str]) -> Problem {
    // What other tools call it.
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == key.text).map(|(_, known)| (0, *known));
    // Of words that are equally near, the one that begins alike.
    let begins_apart =
        |known: &str| usize::MAX - known.chars().zip(key.text.chars()).take_while(|(a, b)| a == b).count();
    let nearest = known.iter().map(|known| (distance(&key.text, known), begins_apart(known), *known)).min();
    let nearest = nearest.map(|(distance, _, known)| (distance, known));
    let remedy = match synonym.filter(|(_, word)| known.contains(word)).or(nearest) {
        Some((distance, known)) if distance <= known.len().max(4) / 2 => format!("did you mean `{known}`?"),
        _ => format!("known keys are {}", known.join(", ")),
    };
    Problem::new(key.mark, format!("unknown key `{}` {place}", key.text), remedy).spanning(&key.text)
}
