//! Reading single values and lists of them, with a word for each way in which they can be wrong.

use std::time::Duration;

use super::super::problem::Problem;
use super::super::quantity;
use super::super::value::{Text, Value};

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

pub(super) fn not_empty(text: Text, key: &Text) -> Result<Text, Problem> {
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

/// A single value that is not empty.
pub(super) fn text(key: &Text, value: Value) -> Result<Text, Problem> {
    not_empty(scalar(key, value)?, key)
}

/// The items of a list; a single value counts as a list of one, and nothing as an empty one.
pub(super) fn items(value: Value) -> Vec<Value> {
    match value {
        nothing if nothing.is_null() => Vec::new(),
        Value::List { items, .. } => items,
        single => vec![single],
    }
}

pub(super) fn one_or_list(key: &Text, value: Value) -> Result<Vec<Text>, Problem> {
    items(value).into_iter().map(|value| text(key, value)).collect()
}

pub(super) fn list(key: &Text, value: Value) -> Result<Vec<Text>, Problem> {
    match value {
        Value::List { items, .. } => items.into_iter().map(|value| scalar(key, value)).collect(),
        other => Err(Problem::new(
            other.mark(),
            format!("`{}` needs a list, not {}", key.text, other.shape()),
            format!("write `{}: [first, second]`", key.text),
        )),
    }
}

/// The entries of a map; `example` shows how to write one.
pub(super) fn map(key: &Text, value: Value, example: &str) -> Result<Vec<(Text, Value)>, Problem> {
    let mark = value.mark();
    match value {
        Value::Map { entries, .. } => Ok(entries),
        other => Err(Problem::new(
            mark,
            format!("`{}` needs a map, not {}", key.text, other.shape()),
            format!("write `{}: {example}`", key.text),
        )),
    }
}

pub(super) fn integer(key: &Text, value: Value, least: i64, most: i64) -> Result<i64, Problem> {
    let text = scalar(key, value)?;
    let number = text.text.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| wrong(&text, key, &format!("a whole number from {least} to {most}")))
}

pub(super) fn boolean(key: &Text, value: Value) -> Result<bool, Problem> {
    let text = scalar(key, value)?;
    match text.text.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(&text, key, "true or false")),
    }
}

pub(super) fn bytes(key: &Text, text: &Text) -> Result<u64, Problem> {
    quantity::bytes(&text.text).map_err(|why| wrong(text, key, &format!("an amount such as 300MB or 2GiB ({why})")))
}

pub(super) fn duration(key: &Text, text: &Text) -> Result<Duration, Problem> {
    quantity::duration(&text.text).map_err(|why| wrong(text, key, &format!("a time such as 90s or 5m ({why})")))
}

pub(crate) fn wrong(text: &Text, key: &Text, wanted: &str) -> Problem {
    Problem::new(text.mark, format!("`{}` cannot be `{}`", key.text, text.text), format!("it has to be {wanted}"))
        .spanning(&text.text)
}
