//! A piece of YAML or JSON with the places where it stands.
//!
//! Only one task's worth of it exists at a time: a file that lists a million tasks is turned into the flat
//! arrays of the workflow entry by entry.

use std::collections::BTreeMap;

use super::problem::{Mark, Problem};

/// Text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub text: String,
    pub mark: Mark,
}

/// One value of the file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Numbers, booleans and null too: each key says how it reads its text.
    Scalar {
        text: String,
        quoted: bool,
        mark: Mark,
    },
    List {
        items: Vec<Value>,
        mark: Mark,
    },
    Map {
        entries: Vec<(Text, Value)>,
        mark: Mark,
    },
}

/// What the readers of a text format hand over, in the order of the file.
pub(crate) enum Item {
    /// An entry of the document, other than `tasks`.
    Top(Text, Value),
    /// An entry of `tasks`.
    Task(Text, Value),
}

/// Nobody writes deeper by hand, and a bound keeps hostile files from exhausting the stack.
pub(crate) const DEPTH_LIMIT: usize = 64;

impl Value {
    pub(crate) fn mark(&self) -> Mark {
        match self {
            Value::Scalar { mark, .. } | Value::List { mark, .. } | Value::Map { mark, .. } => *mark,
        }
    }

    pub(crate) fn shape(&self) -> &'static str {
        match self {
            Value::Scalar { .. } => "a single value",
            Value::List { .. } => "a list",
            Value::Map { .. } => "a map",
        }
    }

    /// Whether it is the absence of a value, as `key:` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Value::Scalar { text, quoted: false, .. } if matches!(text.as_str(), "" | "~" | "null"))
    }
}

/// The problem of a document whose outermost value is no map, whatever the format.
pub(crate) fn not_a_map(mark: Mark) -> Problem {
    Problem::new(mark, "a workflow is a map with the key `tasks`", "see the example in `throng run --help`")
}

/// The entries of a file that is only names and values.
pub(crate) fn entries(value: Value) -> Result<Vec<(Text, Value)>, Problem> {
    let mark = value.mark();
    let Value::Map { entries, .. } = value else {
        let message = format!("a file of parameters is a map, not {}", value.shape());
        return Err(Problem::new(mark, message, "write a line `name: value` for each of them"));
    };
    let mut seen = Seen::default();
    for (name, _) in &entries {
        note_key(&mut seen, name)?;
    }
    Ok(entries)
}

/// Notes a key of a map, which must not have been there before.
pub(crate) fn note_key(seen: &mut Seen, key: &Text) -> Result<(), Problem> {
    match seen.insert(key.text.clone(), key.mark) {
        None => Ok(()),
        Some(first) => Err(Problem::new(key.mark, format!("the key `{}` is here twice", key.text), "keep one of them")
            .spanning(&key.text)
            .with_related(first, "the first is here")),
    }
}

/// Keys of a map that have been read, and where.
pub(crate) type Seen = BTreeMap<String, Mark>;

/// The problem of nesting beyond [`DEPTH_LIMIT`].
pub(crate) fn too_deep(mark: Mark) -> Problem {
    Problem::new(
        mark,
        format!("nested more than {DEPTH_LIMIT} levels deep"),
        "no key of a workflow needs that: look for a bracket that is not closed",
    )
}
