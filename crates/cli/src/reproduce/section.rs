//! What is told of an experiment: tables, charts, what was assumed and where we differ. One thing, shown as text, JSON or a page.

use serde_json::{Value, json};

use super::chart::Chart;

/// An experiment as it is told.
pub struct Section {
    /// What it is called.
    pub title: &'static str,
    /// What was done, in a sentence or two.
    pub about: String,
    /// Figures.
    pub tables: Vec<Table>,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// What the publication leaves open, and how it is filled here.
    pub assumptions: Vec<String>,
    /// Where the figures differ from those published, and why.
    pub differences: Vec<String>,
}

/// Points of a list, as they are written.
pub fn points<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// A table of figures.
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The heads of its columns; those of published figures begin with [`PUBLISHED`].
    pub head: Vec<String>,
    /// Its rows; the first column is text.
    pub rows: Vec<Vec<String>>,
}

/// How the head of a column begins that holds published figures.
pub const PUBLISHED: &str = "published";
/// How the name of a row or a column begins that shows what Throng does by itself, beside what reproduces a publication. They
/// come last and are set apart.
pub const OWN: &str = "Throng";

impl Table {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, head: &[&str]) -> Table {
        Table { caption: caption.into(), head: head.iter().map(|cell| (*cell).to_owned()).collect(), rows: Vec::new() }
    }

    /// Whether a column holds published figures.
    pub fn is_published(&self, column: usize) -> bool {
        self.head[column].starts_with(PUBLISHED)
    }

    /// Whether a column shows what Throng does by itself.
    pub fn is_own_column(&self, column: usize) -> bool {
        self.head[column].starts_with(OWN)
    }

    /// Whether a row does.
    pub fn is_own_row(row: &[String]) -> bool {
        row.first().is_some_and(|name| name.starts_with(OWN))
    }

    fn lines(&self) -> Vec<String> {
        let all: Vec<&Vec<String>> = std::iter::once(&self.head).chain(&self.rows).collect();
        let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |row: &&Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ if self.is_own_column(column) && !self.is_own_column(column - 1) => format!("  |  {cell:>width$}"),
                _ => format!("  {cell:>width$}"),
            });
            format!("    {}", cells.collect::<String>()).trim_end().to_owned()
        };
        let mut lines = vec![format!("  {}", self.caption)];
        let mut is_apart = false;
        for row in all {
            if Table::is_own_row(row) && !is_apart {
                lines.push(format!("    {}", "-".repeat(widths[0])));
                is_apart = true;
            }
            lines.push(line(&row));
        }
        lines
    }
}

impl Section {
    /// The section as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.title.to_owned(), "=".repeat(self.title.chars().count())];
        lines.extend(wrapped(&self.about, ""));
        for table in &self.tables {
            lines.push(String::new());
            lines.extend(table.lines());
        }
        for (heading, points) in self.lists() {
            lines.push(format!("\n  {heading}"));
            lines.extend(points.iter().flat_map(|point| wrapped(point, "  * ")));
        }
        lines.push(String::new());
        lines
    }

    /// The lists that end a section, with their headings, as far as there is anything in them.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let lists = [(ASSUMED, &self.assumptions), (DIFFERENT, &self.differences)];
        lists.into_iter().filter(|(_, points)| !points.is_empty())
    }

    /// The section for programs.
    pub fn as_json(&self) -> Value {
        let table = |table: &Table| json!({ "caption": table.caption, "columns": table.head, "rows": table.rows });
        let chart = |chart: &Chart| {
            let line = |line: &super::chart::Line| json!({ "name": line.name, "is_published": line.is_published, "points": line.points });
            let lines: Vec<_> = chart.lines.iter().map(line).collect();
            json!({ "title": chart.title, "across": chart.across, "upwards": chart.upwards, "lines": lines })
        };
        json!({
            "title": self.title,
            "about": self.about,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "charts": self.charts.iter().map(chart).collect::<Vec<_>>(),
            "assumptions": self.assumptions,
            "differences": self.differences,
        })
    }
}

/// What the publication leaves open.
const ASSUMED: &str = "What the paper leaves open, and what is assumed here";
/// Where we differ.
const DIFFERENT: &str = "Where this differs from what was published, and why";

/// Lines are not longer than this on a terminal.
const LINE_LENGTH: usize = 110;

/// A paragraph that stands before all sections, with an empty line behind it.
pub fn paragraph(text: &str) -> Vec<String> {
    wrapped(text, "").into_iter().chain([String::new()]).collect()
}

/// Text in lines of a terminal; all but the first are indented as far as the mark is wide.
fn wrapped(text: &str, mark: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = mark.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > LINE_LENGTH {
            lines.push(std::mem::replace(&mut line, " ".repeat(mark.len())));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_behind_its_mark() {
        let text = "word ".repeat(40);
        let lines = wrapped(text.trim(), "  * ");
        assert!(lines.len() == 2 && lines.iter().all(|line| line.len() <= LINE_LENGTH), "{lines:?}");
        assert!(lines[0].starts_with("  * word") && lines[1].starts_with("    word"), "{lines:?}");
    }

    #[test]
    fn figures_end_at_the_right() {
        let mut table = Table::new("Speed", &["what", "published", "ours"]);
        table.rows.push(["a", "1", "1000"].map(str::to_owned).to_vec());
        assert_eq!(table.lines(), ["  Speed", "    what  published  ours", "    a             1  1000"]);
        assert!(table.is_published(1) && !table.is_published(2));
    }

    #[test]
    fn what_throng_does_by_itself_is_set_apart() {
        let mut table = Table::new("Speed", &["what", "ours", "Throng"]);
        table.rows.push(["a", "1", "2"].map(str::to_owned).to_vec());
        table.rows.push(["Throng too", "3", "4"].map(str::to_owned).to_vec());
        let lines = table.lines();
        assert_eq!(lines[1..3], ["    what        ours  |  Throng", "    a              1  |       2"]);
        assert_eq!(lines[3..], ["    ----------", "    Throng too     3  |       4"]);
    }
}
