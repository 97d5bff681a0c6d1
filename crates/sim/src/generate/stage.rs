//! A stage: tasks that are alike but for their numbers.
//!
//! Its keys are ranges of numbers, and every combination of them is a task, as in a `foreach` over ranges. Texts name
//! what differs in braces: columns, which are made of keys, and links, which are drawn. So a stage can be written as
//! one template over ranges, as a table with a row for each task, or task by task.

use std::io;

use super::source::Source;
use super::spread::Spread;

/// A range of numbers, both ends included.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub name: String,
    pub first: u64,
    pub last: u64,
}

/// A number of values from zero on.
pub(super) fn key(name: &str, count: u64) -> Key {
    Key { name: name.to_owned(), first: 0, last: count - 1 }
}

/// A name that texts may use, and what it is made of: text with `{keys}`.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    pub text: String,
}

/// Numbers that are drawn for each task, all different and in order: `{p1}`, `{p2}` and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub count: u64,
    pub below: u64,
}

/// What a task reads.
#[derive(Clone, Debug)]
pub(super) enum Read {
    /// A file, with its size if it comes from outside.
    File { path: String, size: Option<u64> },
    /// Everything that another stage makes.
    All(String),
}

/// Tasks that are alike but for their numbers.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub name: String,
    pub kind: String,
    /// The last moves fastest. None if it is a single task.
    pub keys: Vec<Key>,
    /// The first tells tasks apart.
    pub columns: Vec<Column>,
    pub links: Option<Links>,
    pub reads: Vec<Read>,
    pub writes: Option<String>,
    pub time: Spread,
    pub size: Spread,
}

/// What differs from task to task.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub keys: Vec<u64>,
    pub links: Vec<u64>,
    pub time_ns: u64,
    pub size_bytes: u64,
}

impl Stage {
    /// A stage with these keys; with none, a single task.
    pub(super) fn new(name: impl Into<String>, keys: Vec<Key>) -> Stage {
        let name = name.into();
        let plain = |key: &Key| Column { name: key.name.clone(), text: format!("{{{}}}", key.name) };
        let mut columns: Vec<Column> = keys.iter().map(plain).collect();
        if columns.len() > 1 {
            let parts: Vec<&str> = columns.iter().map(|column| column.text.as_str()).collect();
            columns.insert(0, Column { name: "id".to_owned(), text: parts.join(".") });
        }
        Stage {
            kind: name.clone(),
            name,
            keys,
            columns,
            links: None,
            reads: Vec::new(),
            writes: None,
            time: Spread::Fixed(0),
            size: Spread::Fixed(0),
        }
    }

    pub(super) fn of_kind(mut self, kind: &str) -> Stage {
        self.kind = kind.to_owned();
        self
    }

    /// Other columns than the keys: names, and text made of keys. The first tells tasks apart.
    pub(super) fn with_columns(mut self, columns: &[(&str, String)]) -> Stage {
        self.columns =
            columns.iter().map(|(name, text)| Column { name: (*name).to_owned(), text: text.clone() }).collect();
        self
    }

    /// Reads a file that another stage makes.
    pub(super) fn reads(mut self, path: impl Into<String>) -> Stage {
        self.reads.push(Read::File { path: path.into(), size: None });
        self
    }

    /// Reads a file from outside.
    pub(super) fn reads_outside(mut self, path: impl Into<String>, size: u64) -> Stage {
        self.reads.push(Read::File { path: path.into(), size: Some(size) });
        self
    }

    /// Reads everything that another stage makes.
    pub(super) fn reads_all(mut self, stage: &str) -> Stage {
        self.reads.push(Read::All(stage.to_owned()));
        self
    }

    pub(super) fn writes(mut self, path: impl Into<String>, size: Spread) -> Stage {
        self.writes = Some(path.into());
        self.size = size;
        self
    }

    pub(super) fn takes(mut self, time: Spread) -> Stage {
        self.time = time;
        self
    }

    /// How many tasks there are.
    pub(super) fn count(&self) -> u64 {
        self.keys.iter().map(|key| key.last - key.first + 1).fold(1, u64::saturating_mul)
    }

    /// Whether times or sizes differ from task to task.
    pub(super) fn varies(&self) -> bool {
        self.time.varies() || self.writes.is_some() && self.size.varies()
    }

    /// Draws what differs for each task, in order.
    pub(super) fn rows(&self, source: &mut Source, mut take: impl FnMut(&Row) -> io::Result<()>) -> io::Result<()> {
        let mut row = self.first_row();
        loop {
            (row.time_ns, row.size_bytes) = (source.time(self.time), source.size(self.size));
            if let Some(links) = self.links {
                row.links = source.different(links.count, links.below);
            }
            take(&row)?;
            if !self.advance(&mut row.keys) {
                return Ok(());
            }
        }
    }

    /// The keys of the first task, with nothing drawn.
    pub(super) fn first_row(&self) -> Row {
        Row { keys: self.keys.iter().map(|key| key.first).collect(), ..Row::default() }
    }

    /// Moves on to the next combination of keys, if there is one.
    pub(super) fn advance(&self, keys: &mut [u64]) -> bool {
        for (value, key) in keys.iter_mut().zip(&self.keys).rev() {
            if *value < key.last {
                *value += 1;
                return true;
            }
            *value = key.first;
        }
        false
    }

    /// A text with the values of a task.
    pub(super) fn fill(&self, text: &str, row: &Row) -> String {
        fill(text, &mut |name, out| {
            if let Some(column) = self.columns.iter().find(|column| column.name == name) {
                out.push_str(&self.fill_keys(&column.text, &row.keys));
            } else {
                let number = name.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
                let number = number.expect("texts name columns and links only");
                out.push_str(&row.links[number - 1].to_string());
            }
        })
    }

    /// The value of a column for a task.
    pub(super) fn fill_keys(&self, text: &str, keys: &[u64]) -> String {
        fill(text, &mut |name, out| {
            let at = self.keys.iter().position(|key| key.name == name).expect("columns are made of keys");
            out.push_str(&keys[at].to_string());
        })
    }
}

/// Writes something else for each name in braces.
pub(super) fn fill(text: &str, name: &mut dyn FnMut(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from_brace)) = rest.split_once('{') {
        let (inside, after) = from_brace.split_once('}').expect("braces of shapes come in pairs");
        out.push_str(before);
        name(inside, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}
