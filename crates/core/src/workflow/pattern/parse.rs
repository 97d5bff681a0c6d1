//! From text to pieces: what stands between braces, and every word for what cannot.

use super::super::params::in_text;
use super::super::strings::Interner;
use super::super::value::Value;
use super::{
    ColumnName, FIELDS, Fact, GROUP, PATH_FIELDS, Piece, Scope, Selection, Side, Style, UNIT_FIELDS, What, Wrong,
};
use crate::spelling::distance;

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
    let nearest = known.iter().map(|known| (distance(name, known), *known)).min();
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
