//! A workflow as templates, for people: a stage is a `foreach` over ranges where its tasks are alike, and over a small
//! table where times, sizes or links were drawn. Tables are what gives tasks values that are no part of their names.
//!
//! An estimate holds for all tasks of a template. Where each task has its own, tasks are written one by one, and so are
//! the tasks of shapes that are lists of jobs.

use std::io::{self, Write};

use super::plan::{Body, Plan};
use super::single;
use super::source::Source;
use super::spread::{size_text, time_text};
use super::stage::{Read, Stage, fill};

/// Lists go on in the next line from about here.
const LINE_WIDTH: usize = 110;

/// How the tasks of a stage are told apart.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// There is only one.
    One,
    /// By ranges.
    Ranges,
    /// By the rows of a table.
    Table,
}

/// Writes a plan as YAML.
pub(super) fn write(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}: {}.", plan.shape.name, plan.shape.summary)?;
    writeln!(out, "# {}", plan.command)?;
    writeln!(out, "name: {}", plan.shape.name)?;
    let stages = match &plan.body {
        Body::Stages(stages) => stages.as_slice(),
        Body::Jobs(_) => &[],
    };
    let is_plain = |kind: &str| stages.len() == 1 && stages[0].name == kind;
    let common = plan.common_kind();
    let is_one_by_one =
        stages.is_empty() || plan.estimates && stages.iter().any(|stage| !stage.keys.is_empty() && plan.varies(stage));
    if let Some(kind) = common.filter(|kind| is_one_by_one || !is_plain(kind)) {
        writeln!(out, "defaults: {{ kind: {kind} }}")?;
    }
    write!(out, "tasks:")?;
    if is_one_by_one {
        single::write_tasks(plan, out, |name, out| write!(out, "\n  {name}: "))?;
        return writeln!(out);
    }
    writeln!(out)?;
    let mut source = plan.source();
    for stage in stages {
        writeln!(out, "  {}:", stage.name)?;
        if common.is_none() && stage.kind != stage.name {
            writeln!(out, "    kind: {}", stage.kind)?;
        }
        write_stage(plan, stage, &mut source, out)?;
    }
    Ok(())
}

fn write_stage(plan: &Plan, stage: &Stage, source: &mut Source, out: &mut dyn Write) -> io::Result<()> {
    let form = match () {
        () if stage.keys.is_empty() => Form::One,
        () if plan.varies(stage) || stage.links.is_some() => Form::Table,
        () => Form::Ranges,
    };
    let is_drawn = plan.varies(stage) && form == Form::Table;
    let own = [is_drawn && stage.time.varies(), is_drawn && stage.size.varies()];
    let mut time = if own[0] { "\"{t.time}\"".to_owned() } else { time_text(stage.time.mean()) };
    let mut size = if own[1] { "\"{t.size}\"".to_owned() } else { size_text(stage.size.mean()) };
    if form == Form::One {
        stage.rows(source, |row| {
            (time, size) = (time_text(row.time_ns), size_text(row.size_bytes));
            Ok(())
        })?;
    }
    writeln!(out, "    sleep: {time}")?;
    write_reads(stage, form, out)?;
    if let Some(path) = &stage.writes {
        writeln!(
            out,
            "    out: [{{ path: {}, size: {size}, optional: true }}]",
            quoted(&as_written(stage, form, path))
        )?;
    }
    if plan.estimates {
        let made = if stage.writes.is_some() { format!(", out: {size}") } else { String::new() };
        writeln!(out, "    estimate: {{ time: {time}{made} }}")?;
    }
    match form {
        Form::One => Ok(()),
        Form::Ranges => {
            let ranges: Vec<String> =
                stage.keys.iter().map(|key| format!("{}: {}..{}", key.name, key.first, key.last)).collect();
            writeln!(out, "    foreach: {{ {} }}", ranges.join(", "))
        }
        Form::Table => write_table(stage, own, source, out),
    }
}

fn write_reads(stage: &Stage, form: Form, out: &mut dyn Write) -> io::Result<()> {
    if stage.reads.is_empty() {
        return Ok(());
    }
    let mut line = "    in: [".to_owned();
    for (number, read) in stage.reads.iter().enumerate() {
        let entry = match read {
            Read::All(name) => format!("{{ all: {name} }}"),
            Read::File { path, size } => {
                let path = quoted(&as_written(stage, form, path));
                match size {
                    None => path,
                    Some(size) => format!("{{ path: {path}, size: {} }}", size_text(*size)),
                }
            }
        };
        line.push_str(&entry);
        let is_last = number + 1 == stage.reads.len();
        line.push_str(if is_last { "]" } else { ", " });
        if line.len() > LINE_WIDTH && !is_last {
            writeln!(out, "{}", line.trim_end())?;
            line = " ".repeat(9);
        }
    }
    writeln!(out, "{line}")
}

/// A row for each task: what tells it apart, what it is linked to, its time and size as far as they are its own.
fn write_table(stage: &Stage, own: [bool; 2], source: &mut Source, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "    foreach:\n      t:")?;
    let is_used = |name: &str| {
        let text = format!("{{{name}}}");
        let mut paths = stage.reads.iter().filter_map(|read| match read {
            Read::File { path, .. } => Some(path),
            Read::All(_) => None,
        });
        paths.any(|path| path.contains(&text)) || stage.writes.as_ref().is_some_and(|path| path.contains(&text))
    };
    let columns: Vec<_> = stage
        .columns
        .iter()
        .enumerate()
        .filter(|(number, column)| *number == 0 || is_used(&column.name))
        .map(|(_, column)| column)
        .collect();
    stage.rows(source, |row| {
        let mut line = "        - {".to_owned();
        let mut separator = " ";
        let mut add = |name: &str, value: &str| {
            line.push_str(&format!("{separator}{name}: {value}"));
            separator = ", ";
        };
        for column in &columns {
            add(&column.name, &stage.fill_keys(&column.text, &row.keys));
        }
        for (number, link) in row.links.iter().enumerate() {
            add(&format!("p{}", number + 1), &link.to_string());
        }
        if own[0] {
            add("time", &time_text(row.time_ns));
        }
        if own[1] {
            add("size", &size_text(row.size_bytes));
        }
        writeln!(out, "{line} }}")
    })
}

/// A text with names as the workflow has them.
fn as_written(stage: &Stage, form: Form, text: &str) -> String {
    fill(text, &mut |name, out| match form {
        Form::Table if stage.columns[0].name == name => out.push_str("{t}"),
        Form::Table => out.push_str(&format!("{{t.{name}}}")),
        Form::One | Form::Ranges => {
            let column = stage.columns.iter().find(|column| column.name == name);
            out.push_str(&column.expect("links are written as a table").text);
        }
    })
}

/// Braces would be a map to YAML.
fn quoted(text: &str) -> String {
    if text.contains('{') { format!("\"{text}\"") } else { text.to_owned() }
}
