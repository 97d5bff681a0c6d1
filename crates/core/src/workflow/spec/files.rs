//! `in`, `uses` and `out`: files by their paths, alone, in lists, or under names.

use super::super::problem::Problem;
use super::super::value::{Seen, Text, Value, note_key};
use super::foreach::is_plain_name;
use super::scalar::{boolean, items, scalar, text};

/// An entry of `in`, `uses` or `out`.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub path: Text,
    /// The path is the name of a task, and all that it makes is meant.
    pub is_all: bool,
    /// The name under which the entry stands, as `{in.NAME}` finds it.
    pub group: Option<Text>,
    pub is_temp: bool,
    pub is_optional: bool,
    /// How large somebody expects the file to be.
    pub size: Option<Text>,
}

impl Entry {
    pub(crate) fn path(path: Text) -> Entry {
        Entry { path, is_all: false, group: None, is_temp: false, is_optional: false, size: None }
    }
}

/// Words that `{in.WORD}` has a meaning for already.
const FIELD_WORDS: [&str; 4] = ["name", "stem", "dir", "ext"];

/// Reads entries; maps that `reads_one` knows are one entry, other maps give names to entries.
fn read_entries(
    key: &Text,
    value: Value,
    reads_one: &dyn Fn(&Text, Value) -> Result<Entry, Problem>,
    is_one: &dyn Fn(&str) -> bool,
) -> Result<Vec<Entry>, Problem> {
    let single = |value: &Value| match value {
        Value::Map { entries, .. } => entries.iter().any(|(word, _)| is_one(&word.text)),
        _ => true,
    };
    if single(&value) {
        return items(value).into_iter().map(|value| reads_one(key, value)).collect();
    }
    let Value::Map { entries, .. } = value else { unreachable!("anything else is single") };
    let mut seen = Seen::default();
    let mut all = Vec::new();
    for (group, value) in entries {
        note_key(&mut seen, &group)?;
        let is_usable = is_plain_name(&group.text)
            && !FIELD_WORDS.contains(&group.text.as_str())
            && !group.text.starts_with(|first: char| first.is_ascii_digit());
        if !is_usable {
            return Err(Problem::new(
                group.mark,
                format!("`{}` cannot be a name in `{}`", group.text, key.text),
                format!("use letters, digits and `_`, and none of {}", FIELD_WORDS.join(", ")),
            )
            .spanning(&group.text));
        }
        // `in: {img}` without quotes is a map to YAML, and would otherwise mean nothing at all.
        if value.is_null() {
            return Err(Problem::new(
                group.mark,
                format!("the name `{0}` in `{1}` has no files", group.text, key.text),
                format!(
                    "for a value, write it in quotes: `{1}: \"{{{0}}}\"`; for a name, add a path",
                    group.text, key.text
                ),
            )
            .spanning(&group.text));
        }
        for value in items(value) {
            all.push(Entry { group: Some(group.clone()), ..reads_one(key, value)? });
        }
    }
    Ok(all)
}

/// Reads `in` or `uses`.
pub(super) fn read_inputs(key: &Text, value: Value) -> Result<Vec<Entry>, Problem> {
    read_entries(key, value, &read_input, &|word| matches!(word, "all" | "path"))
}

fn read_input(key: &Text, value: Value) -> Result<Entry, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else { return Ok(Entry::path(text(key, value)?)) };
    let mut seen = Seen::default();
    let (mut path, mut all, mut size) = (None, None, None);
    for (word, value) in entries {
        note_key(&mut seen, &word)?;
        match word.text.as_str() {
            "path" => path = Some(text(&word, value)?),
            "all" => all = Some(text(&word, value)?),
            "size" => size = Some(text(&word, value)?),
            _ => return Err(super::unknown_key(&word, "of an input", &["path", "size", "all"])),
        }
    }
    match (path, all, size) {
        (Some(path), None, size) => Ok(Entry { size, ..Entry::path(path) }),
        (None, Some(task), None) => Ok(Entry { is_all: true, ..Entry::path(task) }),
        (None, Some(_), Some(size)) => Err(Problem::new(
            size.mark,
            "`{ all: TASK }` has no `size` of its own",
            "give the files sizes where they are made, in the `out` of that task",
        )
        .spanning(&size.text)),
        (Some(_), Some(task), _) => Err(Problem::new(
            task.mark,
            "an input has a `path` or is `{ all: TASK }`, not both",
            "write them as two entries of a list",
        )
        .spanning(&task.text)),
        (None, None, _) => Err(Problem::new(
            mark,
            format!("this entry of `{}` has no `path`", key.text),
            "write a path, `{ path: FILE, size: 12MB }`, or `{ all: TASK }` for everything that a task makes",
        )),
    }
}

/// Reads `out`.
pub(super) fn read_outputs(key: &Text, value: Value) -> Result<Vec<Entry>, Problem> {
    read_entries(key, value, &read_output, &|word| word == "path")
}

fn read_output(key: &Text, value: Value) -> Result<Entry, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else { return Ok(Entry::path(text(key, value)?)) };
    let mut seen = Seen::default();
    let (mut path, mut size, mut is_temp, mut is_optional) = (None, None, false, false);
    for (word, value) in entries {
        note_key(&mut seen, &word)?;
        match word.text.as_str() {
            "path" => path = Some(scalar(&word, value)?),
            "size" => size = Some(text(&word, value)?),
            "temp" => is_temp = boolean(&word, value)?,
            "optional" => is_optional = boolean(&word, value)?,
            _ => return Err(super::unknown_key(&word, "of an output", &["path", "size", "temp", "optional"])),
        }
    }
    let Some(path) = path else {
        return Err(Problem::new(mark, "this output has no `path`", "write `{ path: FILE, temp: true }`"));
    };
    Ok(Entry { is_temp, is_optional, size, ..Entry::path(path) })
}
