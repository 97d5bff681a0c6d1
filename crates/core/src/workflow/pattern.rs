//! Text with `{names}` in it: what a template says once and each of its tasks reads with its own values.
//!
//! ```text
//!   {NAME}  {NAME.FIELD}  {NAME:FORMAT}      {{ and }} are the braces themselves
//! ```
//!
//! A name is a value of `foreach` (or a column of a table), a parameter, or something about the task: `in`, `out`,
//! `cpus`, `memory`, `gpus`, `attempt`, `task`. A pattern is kept as flat pieces of eight bytes.

use bytemuck::{Pod, Zeroable};

use super::params::{Params, in_text};
use super::path;
use super::shell;
use super::strings::{Interner, Strings};
use super::value::Value;

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

const WIDTH_LIMIT: u8 = 64;
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

    fn literal(text: &str, strings: &mut Interner) -> Piece {
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

/// Parses a pattern into pieces.
pub(crate) fn parse(text: &str, scope: &Scope, strings: &mut Interner, pieces: &mut Vec<Piece>) -> Result<(), Wrong> {
    if !text.contains(['{', '}']) {
        pieces.push(Piece::literal(text, strings));
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
            let line = from_brace.lines().next().unwrap_or(from_brace);
            return Err(("a brace without its partner".to_owned(), double.to_owned(), line.to_owned()));
        };
        if !literal.is_empty() {
            pieces.push(Piece::literal(&literal, strings));
            literal.clear();
        }
        let inside = &from_brace[1..end];
        let is_shells = rest[..brace].ends_with('$');
        let piece = named(inside, scope, strings);
        let explain = |(message, remedy)| {
            let remedy = match is_shells {
                true => format!("for a variable of the shell write `$NAME` or `${{{{{inside}}}}}`"),
                false => format!("{remedy}; {double}"),
            };
            (message, remedy, from_brace[..=end].to_owned())
        };
        pieces.push(piece.map_err(explain)?);
        rest = &from_brace[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() || text.is_empty() {
        pieces.push(Piece::literal(&literal, strings));
    }
    Ok(())
}

/// The piece for what stands between two braces.
fn named(inside: &str, scope: &Scope, strings: &mut Interner) -> Result<Piece, (String, String)> {
    let (path, style) = inside.split_once(':').unwrap_or((inside, ""));
    let style = match style {
        "" => Style::default(),
        text => Style::parse(text).ok_or_else(|| {
            (
                format!("`{text}` is no way to write a value"),
                "use `04` for leading zeros, `.2` for decimals, or `raw` for no quoting".to_owned(),
            )
        })?,
    };
    let (name, field) = path.split_once('.').unwrap_or((path, ""));
    let mut own = scope.columns.iter().enumerate().filter(|(_, column)| column.name == name).peekable();
    if own.peek().is_some() {
        return column(own.collect(), name, field, style);
    }
    if let Some(value) = scope.params.get(name) {
        let Value::Scalar { text, .. } = value else {
            let problem = in_text(name, value, Default::default());
            return Err((problem.message, problem.remedy));
        };
        if style.is_number() {
            check_number_values(std::iter::once(text.as_str()), name)?;
        }
        let field = find_field(name, field, PATH_FIELDS)?;
        return Ok(Piece::new(What::Constant, strings.add(text).0, field, style));
    }
    let fact = match name {
        "in" => return paths(Side::In, field, style, scope, strings),
        "out" => return paths(Side::Out, field, style, scope, strings),
        "cpus" => Fact::Cpus,
        "memory" => Fact::Memory,
        "gpus" => Fact::Gpus,
        "attempt" => Fact::Attempt,
        "task" => Fact::Task,
        _ => return Err(unknown_name(inside, scope)),
    };
    only_in_commands(name, scope)?;
    let field = find_field(name, field, if fact == Fact::Memory { UNIT_FIELDS } else { 0..0 })?;
    Ok(Piece::new(What::Fact(fact), 0, field, style))
}

fn column(own: Vec<(usize, &ColumnName)>, name: &str, field: &str, style: Style) -> Result<Piece, (String, String)> {
    let piece = |column: usize, field| Piece::new(What::Column, column as u32, field, style);
    if own[0].1.column.is_none() {
        return Ok(piece(own[0].0, find_field(name, field, PATH_FIELDS)?));
    }
    // A table: the name alone means its first column. A column's own name may have dots in it.
    if field.is_empty() {
        return Ok(piece(own[0].0, 0));
    }
    let find = |wanted: &str| own.iter().find(|(_, column)| column.column.as_deref() == Some(wanted));
    if let Some((column, _)) = find(field) {
        return Ok(piece(*column, 0));
    }
    let split = field.rsplit_once('.').and_then(|(wanted, part)| Some((find(wanted)?.0, wanted, part)));
    match split {
        Some((column, wanted, part)) => Ok(piece(column, find_field(wanted, part, PATH_FIELDS)?)),
        None => {
            let known: Vec<&str> = own.iter().filter_map(|(_, column)| column.column.as_deref()).collect();
            Err((format!("`{name}` has no column `{field}`"), format!("its columns are {}", known.join(", "))))
        }
    }
}

fn paths(
    side: Side,
    field: &str,
    style: Style,
    scope: &Scope,
    strings: &mut Interner,
) -> Result<Piece, (String, String)> {
    let name = if side == Side::In { "in" } else { "out" };
    only_in_commands(name, scope)?;
    let (groups, count) = (scope.groups[side as usize], scope.counts[side as usize]);
    if count == Some(0) {
        return Err((format!("this task has no `{name}`"), format!("add `{name}: FILE`")));
    }
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    let is_group = groups.iter().any(|group| group == first);
    let (selection, field) = match first.parse::<u32>() {
        Ok(number) if number < GROUP => (Selection::At(number), rest),
        _ if is_group => (Selection::Group(strings.add(first).0), rest),
        _ => (Selection::All, field),
    };
    if let (Selection::At(number), Some(count)) = (selection, count)
        && number as usize >= count
    {
        return Err((
            format!("there is no `{{{name}.{number}}}`"),
            format!(
                "`{name}` has {count} {}, and the first is `{{{name}.0}}`",
                if count == 1 { "entry" } else { "entries" }
            ),
        ));
    }
    let field = find_field(name, field, PATH_FIELDS).map_err(|(message, remedy)| {
        let known = if groups.is_empty() { String::new() } else { format!("; known names are {}", groups.join(", ")) };
        (message, format!("{remedy}{known}"))
    })?;
    Ok(Piece::new(What::Paths(side), selection.to_number(), field, style))
}

fn only_in_commands(name: &str, scope: &Scope) -> Result<(), (String, String)> {
    if scope.in_command {
        return Ok(());
    }
    Err((format!("`{{{name}}}` cannot stand here"), "it is for `run`, `exec` and `env`".to_owned()))
}

fn find_field(name: &str, field: &str, allowed: std::ops::Range<usize>) -> Result<usize, (String, String)> {
    if field.is_empty() {
        return Ok(0);
    }
    let known = FIELDS[allowed.clone()].iter().position(|(known, _)| *known == field);
    known.map(|at| at + allowed.start).ok_or_else(|| {
        let remedy = if allowed.is_empty() {
            format!("`{name}` has no fields")
        } else {
            let known: Vec<&str> = FIELDS[allowed].iter().map(|(known, _)| *known).collect();
            format!("known fields are {}", known.join(", "))
        };
        (format!("`{name}` has no field `{field}`"), remedy)
    })
}

fn unknown_name(inside: &str, scope: &Scope) -> (String, String) {
    let mut known: Vec<&str> = scope.columns.iter().map(|column| column.name.as_str()).collect();
    known.extend(scope.params.names());
    known.dedup();
    let name = inside.split(['.', ':']).next().unwrap_or(inside);
    let nearest = known.iter().map(|known| (super::spec::distance(name, known), *known)).min();
    let remedy = match nearest {
        Some((distance, known)) if distance <= known.len() / 2 && distance < 3 => {
            format!("did you mean `{{{known}}}`?")
        }
        Some(_) => format!("known names are {}", known.join(", ")),
        None if scope.in_command => {
            "this task has no `foreach`, so there are only in, out, cpus, memory, gpus, attempt and task".to_owned()
        }
        None => "this task has no `foreach` and there are no `params`, so there are no names to use".to_owned(),
    };
    (format!("unknown name `{{{inside}}}`"), remedy)
}

/// Refuses to write as a number what is none.
pub(crate) fn check_number_values<'v>(
    mut values: impl Iterator<Item = &'v str>,
    name: &str,
) -> Result<(), (String, String)> {
    match values.find(|value| value.parse::<f64>().is_err()) {
        None => Ok(()),
        Some(value) => Err((
            format!("`{name}` has the value `{value}`, which is not a number"),
            "leave the format out, or give it numbers".to_owned(),
        )),
    }
}

impl Piece {
    /// The column that this piece writes whole and as a number, if it does.
    pub(crate) fn number_column(self) -> Option<u32> {
        let is_number = self.what() == What::Column && self.field() == Field::Whole && self.style().is_number();
        is_number.then_some(self.value)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    struct One(&'static str);

    impl Values for One {
        fn column(&self, _: u32, out: &mut String) {
            out.push_str(self.0);
        }

        fn paths(&self, side: Side, selection: Selection) -> Vec<String> {
            let all = if side == Side::In { vec!["a b.txt", "c.txt"] } else { vec!["o"] };
            match selection {
                Selection::At(number) => vec![all[number as usize].to_owned()],
                _ => all.into_iter().map(str::to_owned).collect(),
            }
        }

        fn fact(&self, fact: Fact, out: &mut String) {
            out.push_str(if fact == Fact::Memory { "2500000000" } else { "4" });
        }
    }

    fn parsed(text: &str) -> Result<(Interner, Vec<Piece>), Wrong> {
        let (mut strings, mut pieces) = (Interner::default(), Vec::new());
        let column =
            |name: &str, column: Option<&str>| ColumnName { name: name.to_owned(), column: column.map(str::to_owned) };
        let columns = [column("x", None), column("row", Some("id")), column("row", Some("file.path"))];
        let groups = ["reads".to_owned()];
        let scope = Scope {
            columns: &columns,
            params: &Params::default(),
            in_command: true,
            groups: [&groups, &[]],
            counts: [Some(2), Some(1)],
        };
        parse(text, &scope, &mut strings, &mut pieces)?;
        Ok((strings, pieces))
    }

    fn rendered(text: &str, value: &'static str, quoting: Quoting) -> String {
        let (strings, pieces) = parsed(text).unwrap();
        let mut out = String::new();
        render(&pieces, &strings.strings, quoting, &One(value), &mut out);
        out
    }

    #[test]
    fn fields_and_braces() {
        assert_eq!(rendered("a {x} {{b}} {x.stem}{x.ext}", "d/f.c", Quoting::Plain), "a d/f.c {b} f.c");
        assert_eq!(rendered("{x.dir}/{x.name}", "d/f.c", Quoting::Plain), "d/f.c");
        assert_eq!(rendered("{row} {row.id} {row.file.path.stem}", "d/f.c", Quoting::Plain), "d/f.c d/f.c f");
    }

    #[test]
    fn files_and_facts() {
        assert_eq!(rendered("cat {in} > {out}", "", Quoting::Shell), "cat 'a b.txt' c.txt > o");
        assert_eq!(rendered("cat \"{in}\" {in.1.stem}", "", Quoting::Shell), "cat \"a b.txt c.txt\" c");
        assert_eq!(rendered("-Xmx{memory.gb}g {memory.mib} {cpus}", "", Quoting::Shell), "-Xmx2g 2384 4");
    }

    #[test]
    fn numbers_are_written_as_asked() {
        assert_eq!(rendered("{x:04} {x:.2} {x:07.1}", "7", Quoting::Plain), "0007 7.00 00007.0");
        assert_eq!(rendered("{x:04} {x:.1}", "-2.25", Quoting::Plain), "-2.25 -2.2");
        assert_eq!(rendered("{x:05}", "-12", Quoting::Plain), "-0012");
    }

    #[test]
    fn values_are_quoted_for_a_shell_and_literals_are_not() {
        assert_eq!(rendered("rm $A {x}", "it's; rm -rf /", Quoting::Shell), "rm $A 'it'\\''s; rm -rf /'");
        assert_eq!(rendered("rm {x}", "", Quoting::Shell), "rm ''");
        assert_eq!(rendered("rm {x}", "a/b-1.txt", Quoting::Shell), "rm a/b-1.txt");
        assert_eq!(rendered("tool {x:raw} {x}", "-a -b", Quoting::Shell), "tool -a -b '-a -b'");
    }

    #[test]
    fn bad_patterns() {
        for text in
            ["{y}", "{x", "x}", "{x.size}", "{x:4}", "{x:099}", "{in.2}", "{in.read}", "{row.none}", "{cpus.mb}"]
        {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
