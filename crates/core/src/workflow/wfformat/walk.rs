//! Going through a document that may hold anything anywhere.

use super::super::json::Reader;
use super::super::problem::{Problem, ProblemList};
use super::super::value::{Text, Value};
use super::fields::kind_of;

/// A single value as it is written; nothing for anything larger, and for null.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Scalar { text, .. } if !value.is_null() => Some(text.clone()),
        _ => None,
    }
}

/// Reads an object entry by entry; anything else is a problem and is skipped.
pub(super) fn each_entry(
    reader: &mut Reader,
    what: &str,
    problems: &mut ProblemList,
    mut take: impl FnMut(&mut Reader, Text, &mut ProblemList) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if reader.peek() == Some(b'{') {
        return reader.map(|reader, key| take(reader, key, problems));
    }
    let value = reader.value(0)?;
    let message = format!("{what} is {}, not an object", kind_of(&value));
    problems.push(Problem::new(value.mark(), message, "write it as { \"field\": value, … }"));
    Ok(())
}

/// Reads a list item by item, each on its own; one that is wrong does not keep the others from being looked at.
pub(super) fn each_item(
    reader: &mut Reader,
    what: &str,
    problems: &mut ProblemList,
    mut take: impl FnMut(Value, &mut ProblemList) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if reader.peek() == Some(b'[') {
        return reader.list(|reader| {
            let value = reader.value(0)?;
            if let Err(problem) = take(value, problems) {
                problems.push(problem);
            }
            Ok(())
        });
    }
    let value = reader.value(0)?;
    let message = format!("{what} is {}, not a list", kind_of(&value));
    problems.push(Problem::new(value.mark(), message, "write a list: [{ … }, { … }]"));
    Ok(())
}
