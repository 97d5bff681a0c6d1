//! How long tasks take on types of machines, as somebody has written it down.
//!
//! ```yaml
//! times:
//!   align: { m3.medium: 30s, m3.large: { time: 24s, spread: 2s } }
//!   "align:7": { m3.medium: 5m }
//! ```
//!
//! A name is that of a kind, or of a single task.

use std::collections::BTreeMap;

use crate::workflow::quantity;
use crate::workflow::reading::{Mark, Problem, Problems, Text, Value, unknown_key};

use super::written::{entries, is_xml, map, value};
use super::xml;

/// How long tasks take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskTime {
    /// On average.
    pub time_ns: u64,
    /// By how much they differ from that; nothing if that is not known.
    pub spread_ns: u64,
}

/// What is said of a kind or a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    /// Its name as it is written.
    name: String,
    of_machine: BTreeMap<String, TaskTime>,
}

/// Times by kind or task, and machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// By its name in plain letters.
    known: BTreeMap<String, Said>,
}

impl Times {
    /// Puts in a time; what was there goes.
    pub fn put(&mut self, name: &str, machine: &str, time: TaskTime) {
        let said = self.known.entry(plain(name)).or_default();
        name.clone_into(&mut said.name);
        said.of_machine.insert(machine.to_owned(), time);
    }

    /// What is said of a kind or a task on a machine.
    pub fn of(&self, name: &str, machine: &str) -> Option<TaskTime> {
        self.known.get(&plain(name))?.of_machine.get(machine).copied()
    }

    /// Kinds and tasks of which something is said.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.values().map(|said| said.name.as_str())
    }

    /// Machines of which something is said.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.known.values().flat_map(|said| said.of_machine.keys().map(String::as_str))
    }
}

/// A name as it is compared: whether its parts are joined by a point, a dash or a stroke makes no difference.
pub fn plain(name: &str) -> String {
    name.replace(['.', '_'], "-")
}

const EXAMPLE: &str = "{ m3.medium: 30s, m3.large: 24s }";

/// Reads a table of times; `name` is that of the file, which says how it is written.
pub fn read(text: &str, name: &str) -> Result<Times, Problems> {
    if is_xml(name, text) {
        return Ok(xml::times(text)?);
    }
    let mut times = Times::default();
    let entries = entries(text, name)?;
    if entries.is_empty() {
        return Err(nothing().into());
    }
    for (key, value) in entries {
        if key.text != "times" {
            return Err(unknown_key(&key, "in a file of times", &["times"]).into());
        }
        for (kind, value) in map(&key, value, &format!("{{ align: {EXAMPLE} }}"))? {
            for (machine, value) in map(&kind, value, EXAMPLE)? {
                let time = time(&machine, value)?;
                if times.of(&kind.text, &machine.text).is_some() {
                    return Err(twice(&kind, &machine).into());
                }
                times.put(&kind.text, &machine.text, time);
            }
        }
    }
    Ok(times)
}

/// Whoever gives a file wants to say something: `times: {}` is a word, no word at all is the wrong file.
pub(super) fn nothing() -> Problem {
    let remedy = format!("write `times: {{ align: {EXAMPLE} }}`, or leave out --times");
    Problem::new(Mark::default(), "there is nothing in this file of times", remedy)
}

/// Within a kind, nothing is here twice: it is another spelling of the same kind that has said it.
fn twice(kind: &Text, machine: &Text) -> Problem {
    let message = format!("the time of `{}` on `{}` is here twice", kind.text, machine.text);
    Problem::new(machine.mark, message, "keep one of them: `a.b`, `a-b` and `a_b` are the same kind")
        .spanning(&machine.text)
}

fn time(machine: &Text, value: Value) -> Result<TaskTime, Problem> {
    let read = |text: &str| quantity::duration(text).map(|time| time.as_nanos() as u64);
    let one = |key: &Text, value| self::value(key, value, "a time such as 90s", read);
    if let Value::Scalar { .. } = value {
        return Ok(TaskTime { time_ns: one(machine, value)?, spread_ns: 0 });
    }
    let mark = value.mark();
    let (mut time, mut has_time) = (TaskTime::default(), false);
    for (key, value) in map(machine, value, "{ time: 30s, spread: 2s }")? {
        match key.text.as_str() {
            "time" => (time.time_ns, has_time) = (one(&key, value)?, true),
            "spread" => time.spread_ns = one(&key, value)?,
            _ => return Err(unknown_key(&key, "of a time", &["time", "spread"])),
        }
    }
    if has_time { Ok(time) } else { Err(Problem::new(mark, "there is no `time`", "write `{ time: 30s, spread: 2s }`")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_spread() {
        let text = "times:\n  align: { a: 30s, b: { time: 24s, spread: 500ms } }\n  sort.map: { a: 1m }\n";
        let times = read(text, "times.yaml").unwrap();
        let time = |kind, machine| times.of(kind, machine).map(|time| (time.time_ns, time.spread_ns));
        assert_eq!(time("align", "a"), Some((30_000_000_000, 0)));
        assert_eq!(time("align", "b"), Some((24_000_000_000, 500_000_000)));
        assert_eq!((time("sort_map", "a").is_some(), time("align", "c")), (true, None));
        assert_eq!(read("times: {}", "times.yaml"), Ok(Times::default()));
        for (text, message) in [
            ("", "0:0: there is nothing in this file of times; write `times: { align: "),
            ("times: { a: { m: soon } }", "`m` cannot be `soon`"),
            ("times: { a: 3s }", "`a` needs a map"),
            ("time: { a: 3s }", "did you mean `times`?"),
            ("times: { a: { m: { spread: 1s } } }", "there is no `time`"),
            ("times: { a.b: { m: 1s }, a_b: { n: 1s, m: 2s } }", "1:40: the time of `a_b` on `m` is here twice"),
        ] {
            let error = read(text, "times.yaml").unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
