//! What somebody wants of a shape, as text: every shape reads the options that it takes, with one word for each way in
//! which they can be wrong.

use std::collections::BTreeMap;

use throng_core::workflow::quantity;

use super::Shape;
use super::spread::{Spread, size_text};

/// More tasks than this do not fit into a workflow.
pub(super) const TASKS_LIMIT: u64 = 200_000_000;
/// Degrees and lengths are written out, an entry or a template for each.
pub(super) const DEGREE_LIMIT: u64 = 10_000;

/// An option that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Wrong {
    pub(super) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), remedy: remedy.into() }
    }
}

/// What somebody wants.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the drawing of random numbers begins.
    pub seed: u64,
    /// Whether every task gets the mean of its times and sizes instead of a number that is drawn.
    pub means: bool,
    /// Whether tasks carry their true time and output as an estimate.
    pub estimates: bool,
    given: BTreeMap<&'static str, String>,
    defaults: BTreeMap<&'static str, &'static str>,
}

impl Options {
    /// Sets an option of some shape; a flag is set by an empty text.
    pub fn set(&mut self, name: &'static str, text: impl Into<String>) {
        self.given.insert(name, text.into());
    }

    /// The options as one shape has them: none that it does not take, and defaults for the rest.
    pub(super) fn for_shape(&self, shape: &Shape) -> Result<Options, Wrong> {
        if let Some(stray) = self.given.keys().find(|name| shape.takes.iter().all(|known| known.name != **name)) {
            let known: Vec<String> = shape.takes.iter().map(|known| format!("--{}", known.name)).collect();
            return Err(Wrong::new(
                format!("`--{stray}` means nothing for `{}`", shape.name),
                format!("leave it out: `{}` takes {}", shape.name, known.join(", ")),
            ));
        }
        let defaults = shape.takes.iter().filter(|known| !known.default.is_empty());
        Ok(Options { defaults: defaults.map(|known| (known.name, known.default)).collect(), ..self.clone() })
    }

    /// Whether somebody has set an option.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The text of an option, if it has one.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str).or_else(|| self.defaults.get(name).copied())
    }

    /// A whole number between bounds.
    pub(super) fn count(&self, name: &str, least: u64, most: u64) -> Result<u64, Wrong> {
        let text = self.text(name).unwrap_or_default();
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong_value(name, text, &format!("it has to be a whole number from {least} to {most}")))
    }

    /// A number that follows from `--tasks` where that is given instead: `of` says which makes about so many tasks.
    pub(super) fn count_or_tasks(&self, name: &str, most: u64, of: impl Fn(u64) -> u64) -> Result<u64, Wrong> {
        if !self.is_given("tasks") {
            return self.count(name, 1, most);
        }
        if self.is_given(name) {
            return Err(Wrong::new(
                format!("`--tasks` and `--{name}` say the same in two ways"),
                "give only one of them",
            ));
        }
        Ok(of(self.count("tasks", 1, TASKS_LIMIT)?).clamp(1, most))
    }

    /// An amount of data between bounds.
    pub(super) fn bytes(&self, name: &str, least: u64, most: u64) -> Result<u64, Wrong> {
        let text = self.text(name).unwrap_or_default();
        let number = quantity::bytes(text).ok().filter(|number| (least..=most).contains(number));
        let [least, most] = [least, most].map(size_text);
        number.ok_or_else(|| wrong_value(name, text, &format!("write an amount such as 120GB, from {least} to {most}")))
    }

    /// How long tasks take, in nanoseconds.
    pub(super) fn times(&self) -> Result<Spread, Wrong> {
        let read = |text: &str| quantity::duration(text).map(|time| time.as_nanos() as u64);
        self.spread("times", "50ms or 0ms..100ms", &read)
    }

    /// How large files are, in bytes.
    pub(super) fn sizes(&self) -> Result<Spread, Wrong> {
        self.spread("sizes", "5MB or 0MB..10MB", &quantity::bytes)
    }

    fn spread(&self, name: &str, example: &str, read: &dyn Fn(&str) -> Result<u64, String>) -> Result<Spread, Wrong> {
        let text = self.text(name).unwrap_or_default();
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let remedy = format!("write {example}");
        let one = |part: &str| read(part).map_err(|why| wrong_value(name, text, &format!("{remedy} ({why})")));
        let (low, high) = (one(low)?, one(high)?);
        if low > high {
            return Err(wrong_value(name, text, &format!("{remedy}, the smaller end first and each with its unit")));
        }
        Ok(if low == high { Spread::Fixed(low) } else { Spread::Even { low, high } })
    }

    /// The options as they would be typed, to make the same again.
    pub(super) fn as_typed(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.given {
            let separator = if value.is_empty() { "" } else { " " };
            text.push_str(&format!(" --{name}{separator}{value}"));
        }
        for (name, is_set) in [("means", self.means), ("estimates", self.estimates)] {
            if is_set {
                text.push_str(&format!(" --{name}"));
            }
        }
        format!("{text} --seed {}", self.seed)
    }
}

fn wrong_value(name: &str, text: &str, remedy: &str) -> Wrong {
    Wrong::new(format!("`--{name}` cannot be `{text}`"), remedy)
}
