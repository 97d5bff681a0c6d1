//! `foreach`: what the tasks of one entry differ in.

use super::super::problem::Problem;
use super::super::value::{Seen, Text, Value, note_key};
use super::scalar::{boolean, list, map, scalar, text};
use super::unknown_key;

/// Names that move together: one in most cases, several in a `zip`. Different dimensions make a product.
pub(crate) type Dimension = Vec<(Text, Foreach)>;

/// What a `foreach` name runs over.
#[derive(Clone, Debug)]
pub(crate) enum Foreach {
    Range {
        first: i64,
        last: i64,
        step: i64,
    },
    List(Vec<Text>),
    /// Rows with named columns, written out.
    Records(Records),
    Glob {
        pattern: Text,
        except: Vec<Text>,
    },
    /// The lines of a file.
    Lines(Text),
    Table(TableFile),
}

/// Rows with named columns.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Text>>,
}

/// A file of comma or tab separated values.
#[derive(Clone, Debug)]
pub(crate) struct TableFile {
    pub file: Text,
    pub separator: u8,
    pub has_header: bool,
    /// Only this column, as plain values.
    pub column: Option<Text>,
    /// The columns that tell rows apart in the names of tasks; the first if none are given.
    pub key: Vec<Text>,
}

/// A range over decimals becomes a list; more values than this are a slip of the pen.
const DECIMALS_LIMIT: i64 = 10_000_000;
const EXAMPLE: &str = "write `1..100`, `[a, b]`, `\"data/*.csv\"`, `{ lines: FILE }` or `{ csv: FILE }`";

pub(super) fn read_foreach(key: &Text, value: Value) -> Result<Vec<Dimension>, Problem> {
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
    let mut dimensions: Vec<Dimension> = Vec::new();
    let mut seen = Seen::default();
    for (name, value) in entries {
        if name.text == "zip" {
            let zips = match value {
                Value::List { items, .. } => items,
                single => vec![single],
            };
            for zip in zips {
                let names = map(&name, zip, "{ a: [1, 2], b: [x, y] }")?;
                if names.is_empty() {
                    return Err(Problem::new(name.mark, "`zip` is empty", "give it names, or leave it out"));
                }
                let mut dimension = Vec::new();
                for (name, value) in names {
                    dimension.push(read_name(&mut seen, name, value)?);
                }
                dimensions.push(dimension);
            }
            continue;
        }
        dimensions.push(vec![read_name(&mut seen, name, value)?]);
    }
    Ok(dimensions)
}

fn read_name(seen: &mut Seen, name: Text, value: Value) -> Result<(Text, Foreach), Problem> {
    note_key(seen, &name)?;
    if !is_plain_name(&name.text) {
        return Err(Problem::new(
            name.mark,
            format!("`{}` cannot be a name in `foreach`", name.text),
            "use letters, digits and `_`",
        )
        .spanning(&name.text));
    }
    if RESERVED.contains(&name.text.as_str()) {
        return Err(Problem::new(
            name.mark,
            format!("`{{{}}}` has a meaning of its own", name.text),
            format!("choose a name other than {}", RESERVED.join(", ")),
        )
        .spanning(&name.text));
    }
    let over = read_values(&name, value)?;
    Ok((name, over))
}

/// What `{name}` stands for without anybody's doing.
pub(crate) const RESERVED: [&str; 8] = ["in", "out", "cpus", "memory", "gpus", "attempt", "task", "zip"];

pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

fn read_values(name: &Text, value: Value) -> Result<Foreach, Problem> {
    match value {
        Value::List { ref items, .. } if items.iter().any(|item| matches!(item, Value::Map { .. })) => {
            read_records(name, value)
        }
        Value::List { .. } => {
            let values = list(name, value)?;
            if values.is_empty() {
                let message = format!("`{}` runs over an empty list", name.text);
                return Err(Problem::new(name.mark, message, "give it a value").spanning(&name.text));
            }
            Ok(Foreach::List(values))
        }
        Value::Map { .. } => read_source(name, value),
        Value::Scalar { .. } => read_text(scalar(name, value)?),
    }
}

/// A list of maps: a small table, written out.
fn read_records(name: &Text, value: Value) -> Result<Foreach, Problem> {
    let Value::List { items, .. } = value else { unreachable!("the caller has seen a list") };
    let mut records = Records { columns: Vec::new(), rows: Vec::new() };
    for item in items {
        let mark = item.mark();
        let Value::Map { entries, .. } = item else {
            return Err(Problem::new(
                mark,
                format!("`{}` mixes maps with other values", name.text),
                "write either plain values or maps with the same keys",
            ));
        };
        let mut seen = Seen::default();
        let mut row = vec![None; records.columns.len()];
        for (key, value) in entries {
            note_key(&mut seen, &key)?;
            let value = scalar(&key, value)?;
            match records.columns.iter().position(|column| *column == key.text) {
                Some(column) => row[column] = Some(value),
                None if records.rows.is_empty() => {
                    records.columns.push(key.text);
                    row.push(Some(value));
                }
                None => {
                    return Err(Problem::new(
                        key.mark,
                        format!("the first entry of `{}` has no `{}`", name.text, key.text),
                        "give all entries the same keys",
                    )
                    .spanning(&key.text));
                }
            }
        }
        let missing = row.iter().position(Option::is_none).map(|column| records.columns[column].clone());
        if let Some(missing) = missing.or_else(|| records.columns.is_empty().then(|| "any key".to_owned())) {
            return Err(Problem::new(
                mark,
                format!("this entry of `{}` lacks `{missing}`", name.text),
                "give all entries the same keys",
            ));
        }
        records.rows.push(row.into_iter().flatten().collect());
    }
    Ok(Foreach::Records(records))
}

/// `{ glob: … }`, `{ lines: FILE }`, `{ csv: FILE }` or `{ tsv: FILE }`, with their options.
fn read_source(name: &Text, value: Value) -> Result<Foreach, Problem> {
    let mark = value.mark();
    let entries = map(name, value, "{ csv: FILE }")?;
    let mut seen = Seen::default();
    let mut source: Option<(Text, Text)> = None;
    let (mut except, mut key, mut column, mut has_header) = (Vec::new(), Vec::new(), None, None);
    for (word, value) in entries {
        note_key(&mut seen, &word)?;
        match word.text.as_str() {
            "glob" | "lines" | "csv" | "tsv" => {
                if let Some((first, _)) = &source {
                    let message = format!("`{}` runs over both `{}` and `{}`", name.text, first.text, word.text);
                    return Err(Problem::new(word.mark, message, "keep one of them").spanning(&word.text));
                }
                let file = text(&word, value)?;
                source = Some((word, file));
            }
            "except" => except = super::scalar::one_or_list(&word, value)?,
            "key" => key = super::scalar::one_or_list(&word, value)?,
            "column" => column = Some(text(&word, value)?),
            "header" => has_header = Some(boolean(&word, value)?),
            _ => {
                let known = ["glob", "lines", "csv", "tsv", "except", "key", "column", "header"];
                return Err(unknown_key(&word, &format!("for `{}`", name.text), &known));
            }
        }
    }
    let Some((word, file)) = source else {
        return Err(Problem::new(mark, format!("`{}` does not say what it runs over", name.text), EXAMPLE));
    };
    let is_table = matches!(word.text.as_str(), "csv" | "tsv");
    let stray = seen.iter().find(|(option, _)| match option.as_str() {
        "except" => word.text != "glob",
        "key" | "column" | "header" => !is_table,
        _ => false,
    });
    if let Some((option, mark)) = stray {
        return Err(Problem::new(
            *mark,
            format!("`{option}` has no meaning for `{}`", word.text),
            "leave it out: `except` belongs to `glob`, and `key`, `column`, `header` belong to `csv` and `tsv`",
        )
        .spanning(option));
    }
    Ok(match word.text.as_str() {
        "glob" => Foreach::Glob { pattern: file, except },
        "lines" => Foreach::Lines(file),
        kind => {
            let separator = if kind == "csv" { b',' } else { b'\t' };
            Foreach::Table(TableFile { file, separator, has_header: has_header.unwrap_or(true), column, key })
        }
    })
}

fn read_text(text: Text) -> Result<Foreach, Problem> {
    if let Some((first, rest)) = text.text.split_once("..") {
        let (last, step) = rest.split_once(" by ").unwrap_or((rest, "1"));
        let parts = [first, last, step].map(str::trim);
        if let [Ok(first), Ok(last), Ok(step)] = parts.map(str::parse::<i64>) {
            return range(&text, first, last, step);
        }
        if let [Some(first), Some(last), Some(step)] = parts.map(Decimal::parse) {
            return decimals(&text, first, last, step);
        }
        if !text.text.contains(['*', '?', '[', '/']) {
            return Err(Problem::new(
                text.mark,
                format!("`{}` is not a range of numbers", text.text),
                "write `1..100` or `0..1 by 0.25`; both ends are included",
            )
            .spanning(&text.text));
        }
    }
    if text.text.contains(['*', '?', '[']) {
        return Ok(Foreach::Glob { pattern: text, except: Vec::new() });
    }
    Err(Problem::new(
        text.mark,
        format!("`{}` is neither a range, nor a list, nor a pattern of file names", text.text),
        EXAMPLE,
    )
    .spanning(&text.text))
}

fn range(text: &Text, first: i64, last: i64, step: i64) -> Result<Foreach, Problem> {
    if step < 1 {
        let message = format!("the range {} does not move forward", text.text);
        return Err(Problem::new(text.mark, message, "write a step of at least 1").spanning(&text.text));
    }
    if first > last {
        return Err(Problem::new(
            text.mark,
            format!("the range {} runs backwards, so it is empty", text.text),
            format!("write `{last}..{first}`; both ends are included"),
        )
        .spanning(&text.text));
    }
    Ok(Foreach::Range { first, last, step })
}

/// A number with decimals, kept exactly.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i64,
    decimals: u32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let unsigned = whole.strip_prefix('-').unwrap_or(whole);
        if unsigned.is_empty() || !is_digits(unsigned) || !is_digits(fraction) || fraction.len() > 9 {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, decimals: fraction.len() as u32 })
    }

    fn scaled(self, decimals: u32) -> Option<i64> {
        self.digits.checked_mul(10i64.checked_pow(decimals - self.decimals)?)
    }
}

fn decimals(text: &Text, first: Decimal, last: Decimal, step: Decimal) -> Result<Foreach, Problem> {
    let wrong = |message: String, remedy: &str| Problem::new(text.mark, message, remedy).spanning(&text.text);
    let places = first.decimals.max(last.decimals).max(step.decimals);
    let scaled = [first, last, step].map(|number| number.scaled(places));
    let [Some(first), Some(last), Some(step)] = scaled else {
        return Err(wrong(format!("the numbers of `{}` are too large", text.text), "write fewer digits"));
    };
    let Ok(Foreach::Range { .. }) = range(text, first, last, step) else {
        return Err(wrong(
            format!("the range {} is empty", text.text),
            "write the smaller end first, and a step above 0; both ends are included",
        ));
    };
    if last.saturating_sub(first) / step > DECIMALS_LIMIT {
        let message = format!("the range {} has more than {DECIMALS_LIMIT} values", text.text);
        return Err(wrong(message, "write a larger step"));
    }
    let unit = 10i64.pow(places);
    let mut values = Vec::new();
    // The last step may lead beyond any number.
    let mut next = Some(first);
    while let Some(value) = next.filter(|value| *value <= last) {
        let sign = if value < 0 { "-" } else { "" };
        let (whole, fraction) = (value.unsigned_abs() / unit as u64, value.unsigned_abs() % unit as u64);
        let width = places as usize;
        values.push(Text { text: format!("{sign}{whole}.{fraction:0width$}"), mark: text.mark });
        next = value.checked_add(step);
    }
    Ok(Foreach::List(values))
}
