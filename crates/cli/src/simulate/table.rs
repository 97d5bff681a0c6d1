//! The table of a comparison: columns as wide as what is in them, the best row marked.

use throng_sim::Outcome;

use super::spread::Spread;
use super::summary::{percent, seconds};
use crate::words;

/// So much of the value of an option is shown: a column has an end.
const VALUE_LETTERS: usize = 200;

/// Rows of cells, the first of them the heading.
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that hold text, which begins at the left; figures end at the right.
    texts: usize,
    has_range: bool,
}

impl Table {
    /// A table with columns for the options that are compared, and then for the figures.
    pub fn new<'a>(options: impl Iterator<Item = &'a str>, has_range: bool) -> Table {
        let mut cells: Vec<String> = options.map(str::to_owned).collect();
        let texts = cells.len();
        let range = has_range.then_some("min .. max");
        let figures = [
            Some("makespan"),
            range,
            Some("of bound"),
            Some("of analytic"),
            Some("efficiency"),
            Some("moved"),
            Some("hits"),
            Some("stolen"),
        ];
        cells.extend(figures.into_iter().flatten().map(str::to_owned));
        cells.push(String::new());
        Table { rows: vec![cells], texts, has_range }
    }

    /// Adds a row.
    pub fn row(&mut self, values: &[String], outcomes: &[Outcome], is_best: bool) {
        let mut cells: Vec<String> = values.iter().map(|value| words::shorten(value, VALUE_LETTERS)).collect();
        if outcomes.iter().any(|outcome| outcome.stuck.is_some()) {
            // Means of runs that did not end would look like results.
            cells.resize(self.rows[0].len() - 1, "-".to_owned());
        } else {
            cells.extend(self.figures(outcomes));
        }
        cells.push(remark(outcomes, is_best));
        self.rows.push(cells);
    }

    fn figures(&self, outcomes: &[Outcome]) -> Vec<String> {
        let makespan = Spread::of(outcomes, |outcome| outcome.makespan.as_secs_f64());
        let mut cells = vec![seconds(makespan.mean)];
        if self.has_range {
            cells.push(format!("{} .. {}", seconds(makespan.min), seconds(makespan.max)));
        }
        let mean = |figure: fn(&Outcome) -> f64| Spread::of(outcomes, figure).mean;
        // The bounds are those of all tasks.
        let is_whole = outcomes.iter().all(|outcome| outcome.not_done == 0);
        for figure in [Outcome::of_bound, Outcome::of_analytic] {
            cells.push(if is_whole { percent(mean(figure)) } else { "-".to_owned() });
        }
        cells.push(percent(mean(Outcome::efficiency)));
        cells.push(words::bytes(mean(|outcome| outcome.moved_bytes as f64) as u64));
        let hits = mean(|outcome| outcome.hits as f64);
        let inputs = hits + mean(|outcome| outcome.misses as f64);
        cells.push(if inputs > 0.0 { percent(hits / inputs) } else { "-".to_owned() });
        cells.push(words::thousands(mean(|outcome| outcome.stolen as f64).round() as u64));
        cells
    }

    /// The table as lines of text.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |column: usize| {
            let lengths = self.rows.iter().filter_map(move |row| Some(row.get(column)?.chars().count()));
            lengths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        self.rows.iter().map(move |row| {
            let cells = row.iter().enumerate().map(|(column, cell)| match column {
                column if column < self.texts || column + 1 == columns => format!("{cell:<0$}", widths[column]),
                column => format!("{cell:>0$}", widths[column]),
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
        })
    }
}

fn remark(outcomes: &[Outcome], is_best: bool) -> String {
    let stuck = outcomes.iter().filter(|outcome| outcome.stuck.is_some()).count();
    let not_done: u64 = outcomes.iter().map(|outcome| outcome.not_done).sum();
    match (stuck, not_done) {
        (0, 0) if is_best => "<- best".to_owned(),
        (0, 0) => String::new(),
        (0, tasks) => format!("{} not done", words::count_many(tasks, "task")),
        (stuck, _) => format!("stuck in {}", words::count_many(stuck as u64, "run")),
    }
}
