//! From a [`Value`] to a task as it was written: the keys, their types and their ranges.

use std::time::Duration;

use super::problem::Problem;
use super::quantity;
use super::value::{Text, Value, note_key};

/// A task, or many, as the file says it.
#[derive(Debug)]
pub(crate) struct TaskSpec {
    pub name: Text,
    pub foreach: Vec<(Text, Foreach)>,
    pub action: Action,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Text>,
    pub after: Vec<Text>,
    pub cpus_milli: u32,
    pub memory_bytes: u64,
    pub retries: u32,
    pub timeout: Option<Duration>,
    pub priority: i32,
    pub env: Vec<(Text, Text)>,
    pub kind: Option<Text>,
}

/// What a task does.
#[derive(Debug)]
pub(crate) enum Action {
    Run(Text),
    Exec(Vec<Text>),
    Noop,
    Sleep(Text),
}

/// What a `foreach` name runs over.
#[derive(Debug)]
pub(crate) enum Foreach {
    Range { first: i64, last: i64 },
    List(Vec<Text>),
    Glob(Text),
}

/// An entry of `in`.
#[derive(Debug)]
pub(crate) enum Input {
    Path(Text),
    All(Text),
}

const TASK_KEYS: [&str; 15] = [
    "run", "exec", "noop", "sleep", "in", "out", "after", "foreach", "cpus", "memory", "retries", "timeout",
    "priority", "env", "kind",
];
/// Words for the same things in other engines.
const SYNONYMS: [(&str, &str); 16] = [
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
    ("shell", "run"),
    ("script", "run"),
    ("cores", "cpus"),
    ("threads", "cpus"),
    ("mem", "memory"),
    ("rnu", "run"),
];
const CPUS_LIMIT: f64 = 100_000.0;
const RETRIES_LIMIT: i64 = 1_000;
const PRIORITY_LIMIT: i64 = 1_000_000_000;

/// Reads one entry of `tasks`.
pub(crate) fn read_task(name: Text, value: Value) -> Result<TaskSpec, Problem> {
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
    let mut spec = TaskSpec {
        action: Action::Noop,
        name,
        foreach: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        after: Vec::new(),
        cpus_milli: 1000,
        memory_bytes: 0,
        retries: 0,
        timeout: None,
        priority: 0,
        env: Vec::new(),
        kind: None,
    };
    let mut action: Option<Text> = None;
    let mut seen: Vec<Text> = Vec::with_capacity(entries.len());
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
        read_key(&mut spec, &key, value)?;
    }
    if action.is_none() {
        return Err(Problem::new(
            spec.name.mark,
            format!("task `{}` says nothing to do", spec.name.text),
            "give it `run: COMMAND`, `exec: [PROGRAM, ARGUMENT]`, `sleep: TIME` or `noop: true`",
        )
        .spanning(&spec.name.text));
    }
    Ok(spec)
}

fn read_key(spec: &mut TaskSpec, key: &Text, value: Value) -> Result<(), Problem> {
    match key.text.as_str() {
        "run" => spec.action = Action::Run(not_empty(scalar(key, value)?, key)?),
        "exec" => {
            let words = list(key, value)?;
            if words.is_empty() {
                return Err(Problem::new(key.mark, "`exec` is empty", "write `exec: [PROGRAM, ARGUMENT, …]`"));
            }
            spec.action = Action::Exec(words);
        }
        "noop" => {
            if !value.is_null() {
                let text = scalar(key, value)?;
                if text.text != "true" {
                    return Err(Problem::new(text.mark, "`noop` is only ever `true`", "write `noop: true`"));
                }
            }
            spec.action = Action::Noop;
        }
        "sleep" => spec.action = Action::Sleep(not_empty(scalar(key, value)?, key)?),
        "in" => {
            spec.inputs = items(value).into_iter().map(|value| read_input(key, value)).collect::<Result<_, _>>()?;
        }
        "out" => spec.outputs = one_or_list(key, value)?,
        "after" => spec.after = one_or_list(key, value)?,
        "foreach" => spec.foreach = read_foreach(key, value)?,
        "cpus" => {
            let text = scalar(key, value)?;
            let cpus = text.text.parse::<f64>().ok().filter(|cpus| (0.0..=CPUS_LIMIT).contains(cpus));
            let cpus = cpus.ok_or_else(|| wrong(&text, key, "a number of cores from 0 to 100000, such as 2 or 0.5"))?;
            spec.cpus_milli = (cpus * 1000.0).round() as u32;
        }
        "memory" => {
            let text = scalar(key, value)?;
            spec.memory_bytes = quantity::bytes(&text.text)
                .map_err(|why| wrong(&text, key, &format!("an amount such as 300MB or 2GiB ({why})")))?;
        }
        "retries" => spec.retries = integer(key, value, 0, RETRIES_LIMIT)? as u32,
        "priority" => spec.priority = integer(key, value, -PRIORITY_LIMIT, PRIORITY_LIMIT)? as i32,
        "timeout" => {
            let text = scalar(key, value)?;
            let timeout = quantity::duration(&text.text)
                .map_err(|why| wrong(&text, key, &format!("a time such as 90s or 5m ({why})")))?;
            if timeout.is_zero() {
                return Err(wrong(&text, key, "longer than nothing; leave the key out for no limit"));
            }
            spec.timeout = Some(timeout);
        }
        "env" => spec.env = read_env(key, value)?,
        "kind" => spec.kind = Some(not_empty(scalar(key, value)?, key)?),
        _ => return Err(unknown_key(key, &format!("in task `{}`", spec.name.text), &TASK_KEYS)),
    }
    Ok(())
}

fn read_input(key: &Text, value: Value) -> Result<Input, Problem> {
    if let Value::Map { mut entries, mark } = value {
        let name = entries.pop().filter(|(name, _)| name.text == "all" && entries.is_empty());
        let Some((_, value)) = name else {
            return Err(Problem::new(
                mark,
                "a map in `in` can only be `{ all: TASK }`",
                "write a path, or `{ all: TASK }` for everything that a task makes",
            ));
        };
        return Ok(Input::All(not_empty(scalar(key, value)?, key)?));
    }
    Ok(Input::Path(scalar(key, value)?))
}

fn read_foreach(key: &Text, value: Value) -> Result<Vec<(Text, Foreach)>, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else {
        return Err(Problem::new(
            mark,
            "`foreach` needs a name for its values",
            "write `foreach: { i: 1..100 }` or `foreach: { file: \"data/*.csv\" }`",
        ));
    };
    if entries.is_empty() {
        return Err(Problem::new(key.mark, "`foreach` is empty", "give it a name, or leave it out"));
    }
    let mut names: Vec<(Text, Foreach)> = Vec::new();
    let mut seen: Vec<Text> = Vec::new();
    for (name, value) in entries {
        note_key(&mut seen, &name)?;
        if name.text.is_empty() || !name.text.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            return Err(Problem::new(
                name.mark,
                format!("`{}` cannot be a name in `foreach`", name.text),
                "use letters, digits and `_`",
            )
            .spanning(&name.text));
        }
        let over = read_values(&name, value)?;
        names.push((name, over));
    }
    Ok(names)
}

fn read_values(name: &Text, value: Value) -> Result<Foreach, Problem> {
    if matches!(value, Value::List { .. }) {
        let values = list(name, value)?;
        if values.is_empty() {
            return Err(Problem::new(name.mark, format!("`{}` runs over an empty list", name.text), "give it a value"));
        }
        return Ok(Foreach::List(values));
    }
    let text = scalar(name, value)?;
    if let Some((first, last)) = text.text.split_once("..") {
        if let (Ok(first), Ok(last)) = (first.trim().parse::<i64>(), last.trim().parse::<i64>()) {
            if first > last {
                return Err(Problem::new(
                    text.mark,
                    format!("the range {} runs backwards, so it is empty", text.text),
                    format!("write `{last}..{first}`; both ends are included"),
                )
                .spanning(&text.text));
            }
            return Ok(Foreach::Range { first, last });
        }
        if !text.text.contains(['*', '?', '[', '/']) {
            return Err(Problem::new(
                text.mark,
                format!("`{}` is not a range of whole numbers", text.text),
                "write `1..100`; both ends are included",
            )
            .spanning(&text.text));
        }
    }
    if text.text.contains(['*', '?', '[']) {
        return Ok(Foreach::Glob(text));
    }
    Err(Problem::new(
        text.mark,
        format!("`{}` is neither a range, nor a list, nor a pattern of file names", text.text),
        "write `1..100`, `[a, b]` or `\"data/*.csv\"`",
    )
    .spanning(&text.text))
}

fn read_env(key: &Text, value: Value) -> Result<Vec<(Text, Text)>, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else {
        return Err(Problem::new(mark, "`env` is a map of names and values", "write `env: { NAME: value }`"));
    };
    let mut pairs: Vec<(Text, Text)> = Vec::new();
    let mut seen: Vec<Text> = Vec::new();
    for (name, value) in entries {
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
        pairs.push((name, value));
    }
    Ok(pairs)
}

pub(crate) fn scalar(key: &Text, value: Value) -> Result<Text, Problem> {
    match value {
        Value::Scalar { text, mark, .. } if !text.contains('\0') => Ok(Text { text, mark }),
        Value::Scalar { mark, .. } => {
            Err(Problem::new(mark, format!("`{}` contains a NUL character", key.text), "remove it"))
        }
        other => Err(Problem::new(
            other.mark(),
            format!("`{}` needs a single value, not {}", key.text, other.shape()),
            format!("write `{}: VALUE`", key.text),
        )),
    }
}

fn not_empty(text: Text, key: &Text) -> Result<Text, Problem> {
    if text.text.trim().is_empty() {
        return Err(Problem::new(
            key.mark,
            format!("`{}` is empty", key.text),
            "give it a value, or leave the key out",
        )
        .spanning(&key.text));
    }
    Ok(text)
}

fn items(value: Value) -> Vec<Value> {
    match value {
        nothing if nothing.is_null() => Vec::new(),
        Value::List { items, .. } => items,
        single => vec![single],
    }
}

fn one_or_list(key: &Text, value: Value) -> Result<Vec<Text>, Problem> {
    items(value).into_iter().map(|value| not_empty(scalar(key, value)?, key)).collect()
}

fn list(key: &Text, value: Value) -> Result<Vec<Text>, Problem> {
    match value {
        Value::List { items, .. } => items.into_iter().map(|value| scalar(key, value)).collect(),
        other => Err(Problem::new(
            other.mark(),
            format!("`{}` needs a list, not {}", key.text, other.shape()),
            format!("write `{}: [first, second]`", key.text),
        )),
    }
}

fn integer(key: &Text, value: Value, least: i64, most: i64) -> Result<i64, Problem> {
    let text = scalar(key, value)?;
    let number = text.text.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| wrong(&text, key, &format!("a whole number from {least} to {most}")))
}

fn wrong(text: &Text, key: &Text, wanted: &str) -> Problem {
    Problem::new(text.mark, format!("`{}` cannot be `{}`", key.text, text.text), format!("it has to be {wanted}"))
        .spanning(&text.text)
}

pub(crate) fn unknown_key(key: &Text, place: &str, known: &[&str]) -> Problem {
    // What other tools call it.
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == key.text).map(|(_, known)| (0, *known));
    let nearest = known.iter().map(|known| (distance(&key.text, known), *known)).min();
    let remedy = match synonym.filter(|(_, word)| known.contains(word)).or(nearest) {
        Some((distance, known)) if distance <= known.len().max(4) / 2 => format!("did you mean `{known}`?"),
        _ => format!("known keys are {}", known.join(", ")),
    };
    Problem::new(key.mark, format!("unknown key `{}` {place}", key.text), remedy).spanning(&key.text)
}

/// How many letters have to change to make one word of the other (Levenshtein).
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, candidate) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *candidate);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
