//! Whether an answer holds what was expected.

use serde_json::{Number, Value};

/// Fractional numbers may differ by this share of their size.
const TOLERANCE: f64 = 1e-9;

/// A case that is wrong throughout shows this many of its differences.
const SHOWN: usize = 10;

/// What is expected and missing, or different, in an answer: a line each.
pub fn differences(expected: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", expected, Some(got), &mut found);
    if found.len() > SHOWN {
        let more = found.len() - SHOWN;
        found.truncate(SHOWN);
        found.push(format!("  … and {more} more"));
    }
    found
}

/// Goes only as deep as an answer can: recursion follows the nesting of the file, which its reader has limited.
fn compare(path: &str, expected: &Value, got: Option<&Value>, found: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(fields), Some(Value::Object(got))) => {
            let dot = if path.is_empty() { "" } else { "." };
            for (name, expected) in fields {
                compare(&format!("{path}{dot}{name}"), expected, got.get(name), found);
            }
        }
        (Value::Array(items), Some(Value::Array(got))) if items.len() == got.len() => {
            for (at, (expected, got)) in items.iter().zip(got).enumerate() {
                compare(&format!("{path}[{at}]"), expected, Some(got), found);
            }
        }
        (Value::Number(expected), Some(Value::Number(got))) if are_equal(expected, got) => {}
        (expected, Some(got)) if expected == got || (is_infinite(expected) && is_infinite(got)) => {}
        (_, got) => {
            let got = got.map_or("nothing".to_owned(), Value::to_string);
            found.push(format!("  {path}: expected {expected}, got {got}"));
        }
    }
}

/// Infinity has no number in JSON, and two ways to write it here.
fn is_infinite(value: &Value) -> bool {
    value.is_null() || value == "inf"
}

fn are_equal(expected: &Number, got: &Number) -> bool {
    if !expected.is_f64() && !got.is_f64() {
        return expected == got;
    }
    let (Some(a), Some(b)) = (expected.as_f64(), got.as_f64()) else { return false };
    // An answer that was worked out in fractions may still have to be whole.
    a == b || (expected.is_f64() && (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()))
}
