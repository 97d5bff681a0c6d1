//! From pieces and one task's values to text, quoted for whoever reads it.

use super::super::path;
use super::super::shell;
use super::super::strings::Strings;
use super::{Fact, Field, Piece, Selection, Side, What};

/// Values that stand where no quoting is certain to keep them data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InCorner {
    /// A column: its values have to be harmless.
    Column(u32),
    /// A parameter with this text.
    Constant(u32),
    /// Names of files or of the task, which may be anything.
    Names,
    /// Anything behind a `$`.
    Dollar,
}

/// The values that stand in dark corners of shell text; everything is one if no shell that is known will read it.
pub(crate) fn in_corners(pieces: &[Piece], strings: &Strings, shell_is_known: bool) -> Vec<InCorner> {
    let mut shell = shell::Surroundings::new(shell_is_known);
    let mut corners = Vec::new();
    for piece in pieces {
        let corner = match piece.what() {
            What::Literal => {
                shell.follow(strings.get(piece.value));
                continue;
            }
            What::WordEnd => continue,
            _ if piece.style().is_raw => {
                shell.write("x", None, &mut String::new());
                continue;
            }
            What::Column => Some(InCorner::Column(piece.value)),
            What::Constant => Some(InCorner::Constant(piece.value)),
            What::Paths(_) | What::Fact(Fact::Task) => Some(InCorner::Names),
            What::Fact(_) => None,
        };
        match shell.place() {
            shell::Place::Corner => corners.extend(corner),
            shell::Place::Dollar => corners.push(InCorner::Dollar),
            _ => {}
        }
        shell.write("x", None, &mut String::new());
    }
    corners
}

/// How values are written into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As they are.
    Plain,
    /// So that a shell takes them as data.
    Shell,
    /// As they are, but for a program that no shell is known to be: only harmless ones were let in.
    Foreign,
}

/// Where the values of one task come from.
pub(crate) trait Values {
    /// Writes the value of a column.
    fn column(&self, column: u32, out: &mut String);
    /// Names files that the task reads or makes.
    fn paths(&self, side: Side, selection: Selection) -> Vec<String>;
    /// Writes something about the task.
    fn fact(&self, fact: Fact, out: &mut String);
}

/// Writes pieces with one task's values.
pub(crate) fn render(pieces: &[Piece], strings: &Strings, quoting: Quoting, values: &dyn Values, out: &mut String) {
    let mut whole = String::new();
    let mut shell = shell::Surroundings::default();
    for (at, piece) in pieces.iter().enumerate() {
        whole.clear();
        let next = pieces.get(at + 1).filter(|next| next.what() == What::Literal);
        let next = next.and_then(|next| strings.get(next.value).chars().next());
        match piece.what() {
            What::Literal => {
                let text = strings.get(piece.value);
                // Only where a value follows does it matter what the text before it means.
                if quoting == Quoting::Shell && pieces.len() > 1 {
                    shell.follow(text);
                }
                out.push_str(text);
                continue;
            }
            What::WordEnd => continue,
            What::Paths(side) => {
                let paths = values.paths(side, Selection::from_number(piece.value));
                for (at, path) in paths.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                        shell.follow(" ");
                    }
                    write_value(path, *piece, (quoting, next), &mut shell, out);
                }
                continue;
            }
            What::Column => values.column(piece.value, &mut whole),
            What::Constant => whole.push_str(strings.get(piece.value)),
            What::Fact(fact) => values.fact(fact, &mut whole),
        }
        write_value(&whole, *piece, (quoting, next), &mut shell, out);
    }
}

/// One file's name as a piece asks for it, for a word of its own.
pub(crate) fn part_of(path: &str, piece: Piece) -> String {
    let mut out = String::new();
    write_value(path, piece, (Quoting::Plain, None), &mut shell::Surroundings::default(), &mut out);
    out
}

/// Whether a program would take the name of a file for one of its options.
fn is_like_option(part: &str, piece: Piece) -> bool {
    let is_path = matches!(piece.what(), What::Paths(_)) && matches!(piece.field(), Field::Whole | Field::Directory);
    is_path && part.starts_with('-')
}

/// Writes one value; what it is quoted for, and the letter behind it, decide how.
fn write_value(
    whole: &str,
    piece: Piece,
    (quoting, next): (Quoting, Option<char>),
    shell: &mut shell::Surroundings,
    out: &mut String,
) {
    let in_units;
    let part = match piece.field() {
        Field::Whole => whole,
        Field::Name => path::file_name(whole),
        Field::Stem => path::stem(whole),
        Field::Directory => path::directory(whole),
        Field::Extension => path::extension(whole),
        Field::Unit(unit) => {
            in_units = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), |bytes| (bytes / unit).to_string());
            &in_units
        }
    };
    let style = piece.style();
    let formatted;
    let part = if style.is_number() {
        let mut text = String::new();
        style.write(part, &mut text);
        formatted = text;
        &formatted
    } else if is_like_option(part, piece) {
        formatted = format!("./{part}");
        &formatted
    } else {
        part
    };
    match quoting {
        Quoting::Shell if style.is_raw => {
            shell.follow(part);
            out.push_str(part);
        }
        Quoting::Shell => shell.write(part, next, out),
        Quoting::Plain | Quoting::Foreign => out.push_str(part),
    }
}
