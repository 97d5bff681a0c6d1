//! Text with `{names}` in it: what a template says once and each of its tasks reads with its own values.
//!
//! ```text
//!   {NAME}  {NAME.FIELD}  {NAME:FORMAT}      {{ and }} are the braces themselves
//! ```
//!
//! A name is a value of `foreach` (or a column of a table), a parameter, or something about the task: `in`, `out`,
//! `cpus`, `memory`, `gpus`, `attempt`, `task`. A pattern is kept as flat pieces of eight bytes.

mod parse;
mod render;

use bytemuck::{Pod, Zeroable};

pub(crate) use parse::{check_number_values, parse};
pub(crate) use render::{InCorner, Quoting, Values, in_corners, part_of, render};

use super::params::Params;
use super::strings::Interner;

/// One piece of a pattern: literal text, a value of the task, or the end of a word of a command.
///
/// `form` holds, from its lowest bits up: what it is (4), which field (4), how it is written (24).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
pub(crate) struct Piece {
    form: u32,
    value: u32,
}

/// What a piece stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Literal,
    WordEnd,
    Column,
    /// A parameter: its text is known already, but it is still a value.
    Constant,
    Paths(Side),
    Fact(Fact),
}

const WHATS: [What; 11] = [
    What::Literal,
    What::WordEnd,
    What::Column,
    What::Constant,
    What::Paths(Side::In),
    What::Paths(Side::Out),
    What::Fact(Fact::Cpus),
    What::Fact(Fact::Memory),
    What::Fact(Fact::Gpus),
    What::Fact(Fact::Attempt),
    What::Fact(Fact::Task),
];

/// What a task reads, or what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    In,
    Out,
}

/// Something about a task that only its start decides, or its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Cpus,
    Memory,
    Gpus,
    Attempt,
    Task,
}

/// Which files of a side are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// The one with this number.
    At(u32),
    /// Those under this name.
    Group(u32),
}

const ALL: u32 = u32::MAX;
const GROUP: u32 = 1 << 31;

impl Selection {
    fn to_number(self) -> u32 {
        match self {
            Selection::All => ALL,
            Selection::At(number) => number,
            Selection::Group(name) => GROUP | name,
        }
    }

    fn from_number(number: u32) -> Selection {
        match number {
            ALL => Selection::All,
            group if group & GROUP != 0 => Selection::Group(group & !GROUP),
            number => Selection::At(number),
        }
    }
}

/// The part of a value that a pattern asks for, as in `{img.stem}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Whole,
    Name,
    Stem,
    Directory,
    Extension,
    /// Bytes as a whole number of these.
    Unit(u64),
}

const FIELDS: [(&str, Field); 11] = [
    ("", Field::Whole),
    ("name", Field::Name),
    ("stem", Field::Stem),
    ("dir", Field::Directory),
    ("ext", Field::Extension),
    ("kb", Field::Unit(1000)),
    ("mb", Field::Unit(1_000_000)),
    ("gb", Field::Unit(1_000_000_000)),
    ("kib", Field::Unit(1 << 10)),
    ("mib", Field::Unit(1 << 20)),
    ("gib", Field::Unit(1 << 30)),
];
const PATH_FIELDS: std::ops::Range<usize> = 1..5;
const UNIT_FIELDS: std::ops::Range<usize> = 5..11;

/// How a value is written: as it is, raw, or as a number with so many digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    is_raw: bool,
    /// Filled up with zeros to this width.
    width: u8,
    /// With this many decimals.
    decimals: Option<u8>,
}

/// Wider than any number that is meant.
const WIDTH_LIMIT: u8 = 64;
/// All that a floating-point number holds.
const DECIMALS_LIMIT: u8 = 17;

impl Style {
    fn parse(text: &str) -> Option<Style> {
        if text == "raw" {
            return Some(Style { is_raw: true, ..Style::default() });
        }
        let (width, decimals) = text.split_once('.').map_or((text, None), |(width, decimals)| (width, Some(decimals)));
        let decimals = match decimals {
            Some(digits) => Some(digits.parse().ok().filter(|digits| *digits <= DECIMALS_LIMIT)?),
            None => None,
        };
        let width = match width {
            "" if decimals.is_some() => 0,
            padded => padded.strip_prefix('0')?.parse().ok().filter(|width| *width <= WIDTH_LIMIT)?,
        };
        Some(Style { is_raw: false, width, decimals })
    }

    fn is_number(self) -> bool {
        self.width > 0 || self.decimals.is_some()
    }

    fn to_bits(self) -> u32 {
        u32::from(self.is_raw) << 8
            | u32::from(self.width) << 16
            | u32::from(self.decimals.map_or(0, |digits| digits + 1)) << 24
    }

    fn from_bits(form: u32) -> Style {
        Style { is_raw: form >> 8 & 1 == 1, width: (form >> 16) as u8, decimals: ((form >> 24) as u8).checked_sub(1) }
    }

    /// Writes a number; what is none stays as it is (the builder has refused it where it could be known).
    fn write(self, text: &str, out: &mut String) {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.starts_with(|first: char| first.is_ascii_digit()) {
            return out.push_str(text);
        }
        let rounded;
        let digits = match self.decimals.and_then(|decimals| Some((decimals, digits.parse::<f64>().ok()?))) {
            Some((decimals, number)) => {
                rounded = format!("{number:.*}", usize::from(decimals));
                &rounded
            }
            None => digits,
        };
        let sign = if text.starts_with('-') { "-" } else { "" };
        out.push_str(sign);
        for _ in digits.len() + sign.len()..usize::from(self.width) {
            out.push('0');
        }
        out.push_str(digits);
    }
}

impl Piece {
    pub(crate) const WORD_END: Piece = Piece { form: 1, value: 0 };

    fn new(what: What, value: u32, field: usize, style: Style) -> Piece {
        let what = WHATS.iter().position(|known| *known == what).expect("every sort of piece is listed");
        Piece { form: what as u32 | (field as u32) << 4 | style.to_bits(), value }
    }

    pub(crate) fn literal(text: &str, strings: &mut Interner) -> Piece {
        Piece::new(What::Literal, strings.add(text).0, 0, Style::default())
    }

    fn what(self) -> What {
        WHATS[(self.form & 15) as usize]
    }

    fn field(self) -> Field {
        FIELDS[(self.form >> 4 & 15) as usize].1
    }

    fn style(self) -> Style {
        Style::from_bits(self.form)
    }

    pub(crate) fn is_word_end(self) -> bool {
        self.what() == What::WordEnd
    }

    /// Whether the piece differs from task to task by its column.
    pub(crate) fn varies(self) -> bool {
        self.what() == What::Column
    }

    /// Which files it stands for, if it does.
    pub(crate) fn paths(self) -> Option<(Side, Selection)> {
        match self.what() {
            What::Paths(side) => Some((side, Selection::from_number(self.value))),
            _ => None,
        }
    }
}

/// A name that `foreach` gives: of a value, or of a column of a table.
#[derive(Clone, Debug)]
pub(crate) struct ColumnName {
    pub name: String,
    /// The column's own name, in a table.
    pub column: Option<String>,
}

/// What `{names}` may stand in a text.
pub(crate) struct Scope<'a> {
    pub columns: &'a [ColumnName],
    pub params: &'a Params,
    /// Whether it is a command or its environment, which may speak of the task's files and resources.
    pub in_command: bool,
    /// The groups of `in` and `out`.
    pub groups: [&'a [String]; 2],
    /// How many entries `in` and `out` have, or nothing if a task's worth of files may stand for one.
    pub counts: [Option<usize>; 2],
}

/// What is wrong with a pattern: the message, the remedy, and the words in question.
pub(crate) type Wrong = (String, String, String);

impl Piece {
    /// The column that this piece writes whole and as a number, if it does.
    pub(crate) fn number_column(self) -> Option<u32> {
        let is_number = self.what() == What::Column && self.field() == Field::Whole && self.style().is_number();
        is_number.then_some(self.value)
    }
}

#[cfg(test)]
mod tests;
