//! What each slot did: every attempt by itself while they can be told apart, otherwise what filled each small stretch.

use std::fmt::Write;

use throng_core::account::Stint;
use throng_core::ids::{KindId, NodeId};

use super::shares::{Shares, row_of};
use super::{INNER, LEFT, Plot, SMALL_SIZE, key, line, text, x};
use crate::graph::text::{escape_xml, width};
use crate::words::{self, shorten};

/// How tall all rows together are, about.
const TALL: f64 = 400.0;
const ROW_MOST: f64 = 20.0;
/// With more slots than this, several share a row.
const ROWS_MOST: usize = 80;
/// More attempts than this are not drawn one by one.
const ATTEMPTS_MOST: usize = 3000;
/// Steps of time otherwise.
const STEPS: usize = 152;
/// How busy a cell can look.
const LEVELS: usize = 4;
/// Kinds with a colour of their own: those with most time. The others share one.
const KINDS_SHOWN: usize = 8;
const NAME_LETTERS: usize = 28;
const LEGEND_LINE: f64 = 18.0;

/// The lower chart.
pub struct Gantt {
    slots: usize,
    rows: usize,
    row_height: f64,
    /// The colour of each kind.
    colours: Vec<usize>,
    /// What each colour stands for, and where that is said.
    legend: Vec<(usize, String, f64, f64)>,
}

impl Gantt {
    /// Lays out the chart.
    pub fn of(plot: &Plot<'_>) -> Gantt {
        let slots = plot.account.slots.max(1) as usize;
        let rows = slots.min(ROWS_MOST);
        let mut kinds: Vec<(u128, KindId)> = (0..plot.flow.kind_count()).map(|kind| (0, KindId::at(kind))).collect();
        for stint in &plot.account.stints {
            kinds[plot.flow.kind(stint.task).index()].0 += u128::from(stint.finished.0 - stint.decided.0);
        }
        kinds.sort_by_key(|(time, kind)| (std::cmp::Reverse(*time), *kind));
        let mut colours = vec![KINDS_SHOWN; kinds.len()];
        let mut names = Vec::new();
        for (colour, (_, kind)) in kinds.iter().take(KINDS_SHOWN).enumerate() {
            colours[kind.index()] = colour;
            names.push((colour, shorten(plot.flow.kind_name(*kind), NAME_LETTERS)));
        }
        if kinds.len() > KINDS_SHOWN {
            names.push((KINDS_SHOWN, words::count_many((kinds.len() - KINDS_SHOWN) as u64, "other kind")));
        }
        let row_height = (TALL / rows as f64).min(ROW_MOST);
        Gantt { slots, rows, row_height, colours, legend: place_legend(names) }
    }

    /// How tall the rows are together.
    pub fn height(&self) -> f64 {
        self.row_height * self.rows as f64
    }

    /// How much room the legend needs beyond its first line.
    pub fn legend_height(&self) -> f64 {
        self.legend.last().map_or(0.0, |(.., down)| *down)
    }

    /// Says which colour stands for what.
    pub fn draw_legend(&self, top: f64, out: &mut String) -> std::fmt::Result {
        text("heading", 20.0, top - 12.0, "Kinds", out)?;
        for (colour, name, along, down) in &self.legend {
            key_of(*colour, LEFT + along, top - 12.0 + down, name, out)?;
        }
        Ok(())
    }

    /// Draws the rows.
    pub fn draw(&self, plot: &Plot<'_>, top: f64, out: &mut String) -> std::fmt::Result {
        let height = self.height();
        writeln!(
            out,
            "<rect class=\"field\" x=\"{LEFT:.1}\" y=\"{top:.1}\" width=\"{INNER:.1}\" height=\"{height:.1}\"/>"
        )?;
        colour_style(out)?;
        if self.rows == self.slots && plot.account.stints.len() <= ATTEMPTS_MOST {
            self.draw_attempts(plot, top, out)?;
        } else {
            self.draw_cells(plot, top, out)?;
        }
        self.draw_nodes(plot, top, out)
    }

    fn colour(&self, plot: &Plot<'_>, stint: &Stint) -> usize {
        self.colours[plot.flow.kind(stint.task).index()]
    }

    fn draw_attempts(&self, plot: &Plot<'_>, top: f64, out: &mut String) -> std::fmt::Result {
        let inset = if self.row_height >= 6.0 { 1.0 } else { 0.0 };
        for stint in &plot.account.stints {
            let (from, to) = (x(plot, stint.decided.0), x(plot, stint.finished.0));
            let (colour, (node, core)) = (self.colour(plot, stint), plot.cluster.node_of(stint.slot));
            writeln!(
                out,
                "<rect class=\"stint c{colour}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}, slot \
                 {}.{}: {} to {}</title></rect>",
                top + stint.slot.index() as f64 * self.row_height + inset,
                (to - from).max(0.4),
                self.row_height - 2.0 * inset,
                escape_xml(&plot.flow.name(stint.task)),
                node.0,
                core,
                words::seconds(stint.decided.as_secs_f64()),
                words::seconds(stint.finished.as_secs_f64()),
            )?;
        }
        Ok(())
    }

    /// One path for each colour and level, which holds all cells that look like that.
    fn draw_cells(&self, plot: &Plot<'_>, top: f64, out: &mut String) -> std::fmt::Result {
        let classes = (KINDS_SHOWN + 1, |stint: &Stint| self.colour(plot, stint));
        let cells = Shares::by_class(plot.account, plot.length_ns, (STEPS, self.rows), classes).leaders();
        let mut slots_in = vec![0usize; self.rows];
        for slot in 0..self.slots {
            slots_in[row_of(slot, self.slots, self.rows)] += 1;
        }
        let look = |row: usize, (colour, busy): (usize, f64)| {
            let share = busy / slots_in[row].max(1) as f64;
            // What is hardly busy at all is not worth a shape; a rounding error less than all still is all.
            (share > 0.02).then(|| (colour, ((share - 1e-6) * LEVELS as f64).floor().min(LEVELS as f64 - 1.0) as usize))
        };
        let mut paths = vec![String::new(); (KINDS_SHOWN + 1) * LEVELS];
        let step = INNER / STEPS as f64;
        let gap = if self.row_height >= 6.0 { 1.0 } else { 0.0 };
        for (row, cells) in cells.chunks(STEPS).enumerate() {
            let looks: Vec<_> = cells.iter().map(|cell| look(row, *cell)).collect();
            let mut at = 0;
            for run in looks.chunk_by(|one, other| one == other) {
                if let Some((colour, level)) = run[0] {
                    let (left, wide) = (LEFT + step * at as f64, step * run.len() as f64);
                    let (up, tall) = (top + row as f64 * self.row_height, self.row_height - gap);
                    write!(paths[colour * LEVELS + level], "M{left:.1} {up:.1}h{wide:.1}v{tall:.1}h-{wide:.1}z")?;
                }
                at += run.len();
            }
        }
        for (number, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            writeln!(out, "<path class=\"c{} l{}\" d=\"{path}\"/>", number / LEVELS, number % LEVELS + 1)?;
        }
        Ok(())
    }

    /// Numbers of nodes, and lines between them where there is room.
    fn draw_nodes(&self, plot: &Plot<'_>, top: f64, out: &mut String) -> std::fmt::Result {
        let nodes = plot.cluster.nodes;
        let node_height = self.height() / f64::from(nodes);
        let slot_height = self.height() / self.slots.max(1) as f64;
        let top_of = |node| top + f64::from(plot.cluster.first_slot(NodeId(node))) * slot_height;
        let every = (13.0 / node_height).ceil().max(1.0) as usize;
        for node in (0..nodes).step_by(every) {
            let below = if node + 1 < nodes { top_of(node + 1) } else { top + self.height() };
            let middle = (top_of(node) + below) / 2.0;
            let name = if node == 0 { "node 0".to_owned() } else { node.to_string() };
            text("end", LEFT - 8.0, middle.max(top + 5.0) + 4.0, &name, out)?;
        }
        if self.slots > nodes as usize && node_height >= 8.0 {
            for node in 1..nodes {
                let at = top_of(node);
                line("axis", (LEFT - 4.0, at), (LEFT + INNER, at), out)?;
            }
        }
        Ok(())
    }
}

/// Puts names one after the other, and into the next line where there is no room.
fn place_legend(names: Vec<(usize, String)>) -> Vec<(usize, String, f64, f64)> {
    let (mut along, mut down) = (0.0, 0.0);
    let mut placed = Vec::new();
    for (colour, name) in names {
        let wide = 31.0 + width(&name, SMALL_SIZE);
        if along > 0.0 && along + wide > INNER {
            (along, down) = (0.0, down + LEGEND_LINE);
        }
        placed.push((colour, name, along, down));
        along += wide;
    }
    placed
}

fn key_of(colour: usize, along: f64, y: f64, name: &str, out: &mut String) -> std::fmt::Result {
    key(&format!("c{colour}"), along, y, name, out).map(drop)
}

fn colour_style(out: &mut String) -> std::fmt::Result {
    let rules = (0..=KINDS_SHOWN).map(|colour| format!(".throng-plot .c{colour}{{fill:var(--t-{colour})}}"));
    writeln!(out, "<style>{}</style>", rules.collect::<String>())
}
