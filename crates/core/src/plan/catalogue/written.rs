//! What files about machines have in common: maps of keys, each known, each once, with a value that can be read.

use crate::workflow::reading::{Problem, Problems, Seen, Text, Value, json, note_key, scalar, wrong, yaml};
use crate::workflow::{Format, path};

use super::Machine;

/// Whether a file is written in XML: by its name, or because it begins like that.
pub(super) fn is_xml(name: &str, text: &str) -> bool {
    path::extension(name).eq_ignore_ascii_case(".xml") || text.trim_start().starts_with('<')
}

/// The entries of a file, each once.
pub(super) fn entries(text: &str, name: &str) -> Result<Vec<(Text, Value)>, Problems> {
    let entries = match Format::of(name) {
        Format::Json => json::read_map(text, 0),
        Format::Yaml => yaml::read_map(text, 0),
    };
    Ok(entries?)
}

/// The entries of a map below a key, each once.
pub(in crate::plan) fn map(key: &Text, value: Value, example: &str) -> Result<Vec<(Text, Value)>, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else {
        let message = format!("`{}` needs a map, not {}", key.text, value.shape());
        return Err(Problem::new(mark, message, format!("write `{}: {example}`", key.text)));
    };
    let mut seen = Seen::default();
    for (name, _) in &entries {
        note_key(&mut seen, name)?;
    }
    Ok(entries)
}

/// A single value that `read` understands; it says why not.
pub(super) fn value<T>(
    key: &Text,
    value: Value,
    wanted: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Problem> {
    let text = scalar(key, value)?;
    read(&text.text).map_err(|why| match why {
        why if why.is_empty() => wrong(&text, key, wanted),
        why => wrong(&text, key, &format!("{wanted} ({why})")),
    })
}

/// A number that is more than nothing.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite()).ok_or_else(String::new)
}

/// A whole number from one.
pub(super) fn count(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|number| (1..=1_000_000).contains(number)).ok_or_else(String::new)
}

/// The number of cores of a machine.
pub(super) fn cpus(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|number| (1..=Machine::MOST_CPUS).contains(number)).ok_or_else(String::new)
}

/// What [`cpus`] understands.
pub(super) fn cpus_wanted() -> String {
    format!("a whole number from 1 to {}", Machine::MOST_CPUS)
}
