//! A picture as DOT, for Graphviz and everything else that reads it.

use std::fmt::Write;

use super::picture::{Box, Picture};
use super::standing::Standing;
use super::text::escape_dot;
use crate::words;

/// The picture as DOT.
pub fn write(picture: &Picture) -> String {
    let mut text = String::new();
    draw(picture, &mut text).expect("writing to a string cannot fail");
    text
}

fn draw(picture: &Picture, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph \"{}\" {{", escape_dot(&picture.title))?;
    let heading = std::iter::once(format!("{}: {}", picture.title, picture.summary)).chain(picture.notes.clone());
    writeln!(out, "  label=\"{}\"; labelloc=t; rankdir=LR;", lines(heading))?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", fontname=\"Helvetica\"];")?;
    writeln!(out, "  edge [color=\"#6e7781\", fontname=\"Helvetica\", fontsize=10];")?;
    for (at, shown) in picture.boxes.iter().enumerate() {
        let name = if shown.count > 1 {
            format!("{} × {}", shown.name, words::thousands(shown.count))
        } else {
            shown.name.clone()
        };
        let label = lines([name, shown.remark.clone()].into_iter().filter(|line| !line.is_empty()));
        write!(out, "  n{at} [label=\"{label}\"")?;
        if !shown.details.is_empty() {
            write!(out, ", tooltip=\"{}\"", lines(shown.details.iter().cloned()))?;
        }
        writeln!(out, "{}];", colour(shown))?;
    }
    let has_labels = picture.has_labels();
    for arrow in &picture.arrows {
        write!(out, "  n{} -> n{} [", arrow.from, arrow.to)?;
        if has_labels && !arrow.label.is_empty() {
            write!(out, "label=\"{}\", ", escape_dot(&arrow.label))?;
        }
        write!(out, "tooltip=\"{}\"", lines(arrow.details.iter().cloned()))?;
        writeln!(out, "{}];", if arrow.is_order_only { ", style=dashed" } else { "" })?;
    }
    writeln!(out, "}}")
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| escape_dot(&line)).collect::<Vec<_>>().join("\\n")
}

fn colour(shown: &Box) -> &'static str {
    if shown.is_outside {
        return ", style=\"dashed\"";
    }
    let Some(tally) = &shown.standing else { return "" };
    let all = |standing: &[Standing]| standing.iter().map(|at| tally.count(*at)).sum::<u64>() == tally.total();
    if tally.count(Standing::Failed) > 0 {
        ", fillcolor=\"#ffcecb\", color=\"#cf222e\""
    } else if tally.count(Standing::Running) > 0 {
        ", fillcolor=\"#b6e3ff\", color=\"#0969da\""
    } else if all(&[Standing::Done, Standing::UpToDate]) {
        ", fillcolor=\"#aceebb\", color=\"#1a7f37\""
    } else {
        ""
    }
}
