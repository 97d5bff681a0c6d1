//! Workflows written in YAML.
//!
//! The parser's events are turned into [`Value`]s one entry at a time. Aliases are copied where they are
//! used, within a bound: a few lines of YAML can otherwise ask for more nodes than there is memory.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput};

use super::problem::{Mark, Problem};
use super::value::{DEPTH_LIMIT, Item, Seen, Text, Value, entries, not_a_map, note_key, too_deep};

/// More than any honest use of aliases needs; an alias bomb asks for billions.
const ALIASED_NODES_LIMIT: usize = 1_000_000;

/// Reads a document, handing over its entries in order.
pub(crate) fn read(text: &str, file: u32, take: &mut dyn FnMut(Item)) -> Result<(), Problem> {
    Reader::new(text, file).document(take)
}

/// Reads a document that is a map and nothing more.
pub(crate) fn read_map(text: &str, file: u32) -> Result<Vec<(Text, Value)>, Problem> {
    let mut reader = Reader::new(text, file);
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd, _) => return Ok(Vec::new()),
            (event, mark) => return entries(reader.value_from(event, mark, 0)?),
        }
    }
}

/// Reads a single value, as somebody writes it on a command line.
pub(crate) fn read_value(text: &str) -> Result<Value, Problem> {
    let mut reader = Reader::new(text, 0);
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd, mark) => return Ok(Value::Scalar { text: String::new(), quoted: false, mark }),
            (event, mark) => return reader.value_from(event, mark, 0),
        }
    }
}

struct Reader<'text> {
    parser: Parser<'text, StrInput<'text>>,
    anchors: BTreeMap<usize, Value>,
    aliased_nodes: usize,
    file: u32,
}

impl<'text> Reader<'text> {
    fn new(text: &'text str, file: u32) -> Self {
        Reader { parser: Parser::new_from_str(text), anchors: BTreeMap::new(), aliased_nodes: 0, file }
    }

    fn next(&mut self) -> Result<(Event<'text>, Mark), Problem> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, mark(span.start, self.file))),
            Some(Err(error)) => Err(syntax(&error, self.file)),
            None => Ok((Event::StreamEnd, Mark::default())),
        }
    }

    fn document(&mut self, take: &mut dyn FnMut(Item)) -> Result<(), Problem> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
                (Event::MappingStart(..), _) => break,
                (_, mark) => return Err(not_a_map(mark)),
            }
        }
        let mut seen = Seen::default();
        while let Some(key) = self.key()? {
            note_key(&mut seen, &key)?;
            match self.next()? {
                (Event::MappingStart(..), _) if key.text == "tasks" => {
                    while let Some(name) = self.key()? {
                        let value = self.value(0)?;
                        take(Item::Task(name, value));
                    }
                }
                (event, mark) => {
                    let value = self.value_from(event, mark, 0)?;
                    take(Item::Top(key, value));
                }
            }
        }
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd | Event::Nothing, _) => {}
                (_, mark) => {
                    return Err(Problem::new(
                        mark,
                        "a second YAML document begins here",
                        "put each workflow into a file of its own",
                    ));
                }
            }
        }
    }

    /// The next key of the mapping that is being read, or nothing at its end.
    fn key(&mut self) -> Result<Option<Text>, Problem> {
        match self.next()? {
            (Event::MappingEnd, _) => Ok(None),
            (Event::Scalar(text, ..), mark) => Ok(Some(Text { text: text.into_owned(), mark })),
            (_, mark) => Err(Problem::new(mark, "a key has to be plain text", "write it as `key: value`")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        let (event, mark) = self.next()?;
        self.value_from(event, mark, depth)
    }

    fn value_from(&mut self, event: Event<'text>, mark: Mark, depth: usize) -> Result<Value, Problem> {
        if depth > DEPTH_LIMIT {
            return Err(too_deep(mark));
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let quoted = style != ScalarStyle::Plain;
                (Value::Scalar { text: text.into_owned(), quoted, mark }, anchor)
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, mark) => items.push(self.value_from(event, mark, depth + 1)?),
                    }
                }
                (Value::List { items, mark }, anchor)
            }
            Event::MappingStart(anchor, _) => {
                let mut entries: Vec<(Text, Value)> = Vec::new();
                while let Some(key) = self.key()? {
                    let value = self.value(depth + 1)?;
                    entries.push((key, value));
                }
                (Value::Map { entries, mark }, anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, mark, depth),
            _ => return Err(Problem::new(mark, "a value is missing here", "write one after the key")),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn alias(&mut self, anchor: usize, mark: Mark, depth: usize) -> Result<Value, Problem> {
        let Some(value) = self.anchors.get(&anchor) else {
            return Err(Problem::new(mark, "an alias refers to itself", "write the value out"));
        };
        // Aliases inside of what aliases refer to would otherwise go deeper than any text.
        if depth + height(value) > DEPTH_LIMIT {
            return Err(too_deep(mark));
        }
        self.aliased_nodes += nodes(value);
        if self.aliased_nodes > ALIASED_NODES_LIMIT {
            return Err(Problem::new(
                mark,
                format!("aliases expand to more than {ALIASED_NODES_LIMIT} values"),
                "write fewer aliases inside what aliases refer to",
            ));
        }
        Ok(value.clone())
    }
}

/// How deep a value is nested.
fn height(value: &Value) -> usize {
    match value {
        Value::Scalar { .. } => 0,
        Value::List { items, .. } => 1 + items.iter().map(height).max().unwrap_or(0),
        Value::Map { entries, .. } => 1 + entries.iter().map(|(_, value)| height(value)).max().unwrap_or(0),
    }
}

/// How much a value takes, in units of a small one.
fn nodes(value: &Value) -> usize {
    match value {
        Value::Scalar { text, .. } => 1 + text.len() / 16,
        Value::List { items, .. } => 1 + items.iter().map(nodes).sum::<usize>(),
        Value::Map { entries, .. } => 1 + entries.iter().map(|(_, value)| nodes(value)).sum::<usize>(),
    }
}

fn mark(marker: Marker, file: u32) -> Mark {
    Mark { line: marker.line() as u32, column: marker.col() as u32 + 1, file }
}

fn syntax(error: &ScanError, file: u32) -> Problem {
    Problem::new(
        mark(*error.marker(), file),
        format!("this is not valid YAML: {}", error.info()),
        "check the indentation (no tabs), and quote text that has `: ` or `#` in it, or begins with `{`, `[`, `*`, `&`, `!` or `%`",
    )
}
