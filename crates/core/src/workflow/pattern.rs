//! Text with `{names}` in it: what a template says once and each of its tasks reads with its own values.
//!
//! A pattern is kept as flat pieces. `{{` and `}}` stand for the braces themselves.

use bytemuck::{Pod, Zeroable};

use super::path;
use super::shell;
use super::strings::{Interner, Strings};

/// One piece of a pattern: literal text, a value of the task, or the end of a word of a command.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Piece {
    form: u32,
    value: u32,
}

const LITERAL: u32 = 0;
const WORD_END: u32 = 1;
/// Forms from here on are a column's value, seen through a [`Field`].
const COLUMN: u32 = 2;

/// The part of a value that a pattern asks for, as in `{img.stem}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Whole,
    Name,
    Stem,
    Directory,
    Extension,
}

const FIELDS: [(&str, Field); 5] = [
    ("", Field::Whole),
    ("name", Field::Name),
    ("stem", Field::Stem),
    ("dir", Field::Directory),
    ("ext", Field::Extension),
];

impl Piece {
    pub(crate) const WORD_END: Piece = Piece { form: WORD_END, value: 0 };

    pub(crate) fn is_word_end(self) -> bool {
        self.form == WORD_END
    }

    /// Whether the piece differs from task to task.
    pub(crate) fn varies(self) -> bool {
        self.form >= COLUMN
    }
}

/// Parses a pattern into pieces; the error is the message and the remedy.
pub(crate) fn parse(
    text: &str,
    columns: &[String],
    strings: &mut Interner,
    pieces: &mut Vec<Piece>,
) -> Result<(), (String, String)> {
    if !text.contains(['{', '}']) {
        pieces.push(Piece { form: LITERAL, value: strings.add(text).0 });
        return Ok(());
    }
    let mut literal = String::new();
    let mut rest = text;
    while let Some(brace) = rest.find(['{', '}']) {
        literal.push_str(&rest[..brace]);
        let from_brace = &rest[brace..];
        if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
            literal.push_str(&from_brace[..1]);
            rest = &from_brace[2..];
            continue;
        }
        let double = "write `{{` and `}}` for braces that are not Throng's";
        let Some(end) = from_brace.find('}').filter(|_| from_brace.starts_with('{')) else {
            return Err(("a brace without its partner".to_owned(), double.to_owned()));
        };
        let inside = &from_brace[1..end];
        if !literal.is_empty() {
            pieces.push(Piece { form: LITERAL, value: strings.add(&literal).0 });
            literal.clear();
        }
        pieces.push(named(inside, columns).map_err(|(message, known)| (message, format!("{known}; {double}")))?);
        rest = &from_brace[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() || text.is_empty() {
        pieces.push(Piece { form: LITERAL, value: strings.add(&literal).0 });
    }
    Ok(())
}

fn named(inside: &str, columns: &[String]) -> Result<Piece, (String, String)> {
    let (name, field) = inside.split_once('.').unwrap_or((inside, ""));
    let Some(column) = columns.iter().position(|column| column == name) else {
        let known = if columns.is_empty() {
            "this task has no `foreach`, so there are no names to use".to_owned()
        } else {
            format!("known names are {}", columns.join(", "))
        };
        return Err((format!("unknown name `{{{inside}}}`"), known));
    };
    match FIELDS.iter().position(|(known, _)| *known == field) {
        Some(field) => Ok(Piece { form: COLUMN + field as u32, value: column as u32 }),
        None => Err((format!("`{name}` has no field `{field}`"), "known fields are name, stem, dir, ext".to_owned())),
    }
}

/// The columns whose values stand where only harmless ones may: in a dark corner of shell text.
pub(crate) fn columns_in_corners(pieces: &[Piece], strings: &Strings) -> Vec<u32> {
    let mut shell = shell::Surroundings::default();
    let mut columns = Vec::new();
    for piece in pieces {
        if piece.form == LITERAL {
            shell.follow(strings.get(piece.value));
        } else if piece.varies() {
            if shell.place() == shell::Place::Corner {
                columns.push(piece.value);
            }
            shell.write("x", &mut String::new());
        }
    }
    columns
}

/// How values are written into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As they are.
    Plain,
    /// So that a shell takes them as data.
    Shell,
}

/// Writes pieces with one task's values; `value` writes the value of a column.
pub(crate) fn render(
    pieces: &[Piece],
    strings: &Strings,
    quoting: Quoting,
    value: &dyn Fn(u32, &mut String),
    out: &mut String,
) {
    let mut whole = String::new();
    let mut shell = shell::Surroundings::default();
    for piece in pieces {
        match piece.form {
            LITERAL => {
                let text = strings.get(piece.value);
                // Only where a value follows does it matter what the text before it means.
                if quoting == Quoting::Shell && pieces.len() > 1 {
                    shell.follow(text);
                }
                out.push_str(text);
            }
            WORD_END => {}
            form => {
                whole.clear();
                value(piece.value, &mut whole);
                let part = match FIELDS[(form - COLUMN) as usize].1 {
                    Field::Whole => &whole,
                    Field::Name => path::file_name(&whole),
                    Field::Stem => path::stem(&whole),
                    Field::Directory => path::directory(&whole),
                    Field::Extension => path::extension(&whole),
                };
                match quoting {
                    Quoting::Plain => out.push_str(part),
                    Quoting::Shell => shell.write(part, out),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, value: &str, quoting: Quoting) -> String {
        let (mut strings, mut pieces, mut out) = (Interner::default(), Vec::new(), String::new());
        parse(text, &["x".to_owned()], &mut strings, &mut pieces).unwrap();
        render(&pieces, &strings.strings, quoting, &|_, out| out.push_str(value), &mut out);
        out
    }

    #[test]
    fn fields_and_braces() {
        assert_eq!(rendered("a {x} {{b}} {x.stem}{x.ext}", "d/f.c", Quoting::Plain), "a d/f.c {b} f.c");
        assert_eq!(rendered("{x.dir}/{x.name}", "d/f.c", Quoting::Plain), "d/f.c");
    }

    #[test]
    fn values_are_quoted_for_a_shell_and_literals_are_not() {
        assert_eq!(rendered("rm $A {x}", "it's; rm -rf /", Quoting::Shell), "rm $A 'it'\\''s; rm -rf /'");
        assert_eq!(rendered("rm {x}", "", Quoting::Shell), "rm ''");
        assert_eq!(rendered("rm {x}", "a/b-1.txt", Quoting::Shell), "rm a/b-1.txt");
    }

    #[test]
    fn bad_patterns() {
        let mut strings = Interner::default();
        for text in ["{y}", "{x", "x}", "{x.size}"] {
            assert!(parse(text, &["x".to_owned()], &mut strings, &mut Vec::new()).is_err(), "{text}");
        }
    }
}
