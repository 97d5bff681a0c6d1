//! A simulated run as a picture: how many slots were busy when, and below it what each of them did.
//!
//! Like the graph of a workflow, it is one SVG that needs nothing else, follows the reader's choice of light or dark, and has all its style bound
//! to one class. However large the run is, the picture stays small: what would not be seen is put together.

mod axis;
mod gantt;
mod shares;

use std::fmt::Write;
use std::path::PathBuf;

use throng_core::account::Account;
use throng_core::workflow::Workflow;
use throng_sim::Cluster;

use self::axis::{TimeAxis, whole_steps};
use self::shares::Shares;
use crate::graph::text::{escape_xml, width};
use crate::words::{self, shorten};

/// What a picture is made from.
pub struct Plot<'a> {
    /// What it is about.
    pub title: String,
    /// How it went, and how it was decided: a line each.
    pub subtitle: [String; 2],
    /// The workflow.
    pub flow: &'a Workflow,
    /// What happened.
    pub account: &'a Account,
    /// Whose slots these are.
    pub cluster: &'a Cluster,
    /// How long the run took.
    pub length_ns: u64,
    /// What no schedule can beat.
    pub bound_ns: u64,
}

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 24.0;
/// How wide the charts themselves are.
const INNER: f64 = WIDTH - LEFT - RIGHT;
const HEADING: f64 = 106.0;
const AREA_HEIGHT: f64 = 170.0;
/// Between the two charts: room for the legend of the lower one.
const GAP: f64 = 42.0;
const FOOT: f64 = 46.0;
/// Steps of the upper chart: one for each pixel.
const AREA_STEPS: usize = INNER as usize;
const SMALL_SIZE: f64 = 11.0;

const STYLE: &str = "
.throng-plot{--t-ground:#ffffff;--t-text:#1f2328;--t-muted:#59636e;--t-line:#d8dee4;--t-strong:#8b949e;--t-free:#dbe9f9;--t-busy:#3b76c4;\
--t-bound:#cf222e;--t-0:#4269d0;--t-1:#e8a612;--t-2:#f0634b;--t-3:#4fb3a0;--t-4:#3ca951;--t-5:#e56fa3;--t-6:#9a5ee0;--t-7:#8c6d4f;\
--t-8:#8b949e;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif}
@media (prefers-color-scheme:dark){.throng-plot{--t-ground:#0d1117;--t-text:#e6edf3;--t-muted:#9198a1;--t-line:#262c35;--t-strong:#6e7681;\
--t-free:#1a2a41;--t-busy:#5b95e0;--t-bound:#f85149;--t-0:#6d8df0;--t-1:#eab83b;--t-2:#ff8470;--t-3:#6cc5b0;--t-4:#56c267;--t-5:#f091bd;\
--t-6:#b587f5;--t-7:#b08f70;--t-8:#6e7681}}
.throng-plot .ground{fill:var(--t-ground)}
.throng-plot text{fill:var(--t-muted);font-size:11px}
.throng-plot .title{fill:var(--t-text);font-size:17px;font-weight:600}
.throng-plot .subtitle{font-size:12px}
.throng-plot .heading{fill:var(--t-text);font-size:12px;font-weight:600}
.throng-plot .end{text-anchor:end}.throng-plot .middle{text-anchor:middle}
.throng-plot .grid{stroke:var(--t-line);stroke-width:1px}
.throng-plot .over{stroke:var(--t-ground);stroke-opacity:.28}
.throng-plot .axis{stroke:var(--t-strong);stroke-width:1px}
.throng-plot .free{fill:var(--t-free)}.throng-plot .busy{fill:var(--t-busy)}
.throng-plot .bound{stroke:var(--t-bound);stroke-width:1.5px;stroke-dasharray:5 4}
.throng-plot .bound-word{fill:var(--t-bound)}
.throng-plot .field{fill:var(--t-line);fill-opacity:.35}
.throng-plot .l1{fill-opacity:.3}.throng-plot .l2{fill-opacity:.52}.throng-plot .l3{fill-opacity:.76}
.throng-plot .stint{stroke:var(--t-ground);stroke-width:.6px}
.throng-plot .stint:hover{stroke:var(--t-text);stroke-width:1.2px}
";

/// What `--plot` takes: a name that does not promise another kind of picture.
pub fn file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("png" | "pdf" | "jpg" | "jpeg" | "gif" | "webp" | "eps" | "ps") => {
            Err(format!("pictures are written as SVG: name it {}", path.with_extension("svg").display()))
        }
        _ => Ok(path),
    }
}

/// The picture as SVG.
pub fn svg(plot: &Plot<'_>) -> String {
    let mut text = String::new();
    draw(plot, &mut text).expect("writing to a string cannot fail");
    text
}

fn draw(plot: &Plot<'_>, out: &mut String) -> std::fmt::Result {
    let chart = gantt::Gantt::of(plot);
    let lower_top = HEADING + AREA_HEIGHT + GAP + chart.legend_height();
    let height = lower_top + chart.height() + FOOT;
    let axis = TimeAxis::of(plot.length_ns);
    let spoken = escape_xml(&format!("{}: {}", plot.title, plot.subtitle[0]));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"throng-plot\" role=\"img\" aria-label=\"{spoken}\" \
         width=\"{WIDTH:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\">"
    )?;
    writeln!(out, "<title>{spoken}</title>\n<style>{STYLE}</style>")?;
    writeln!(out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>")?;
    let title = escape_xml(&shorten(&plot.title, 90));
    writeln!(out, "<text class=\"title\" x=\"20\" y=\"32\">{title}</text>")?;
    for (line, y) in plot.subtitle.iter().zip([51.0, 68.0]) {
        text("subtitle", 20.0, y, &shorten(line, 150), out)?;
    }
    draw_area(plot, &axis, out)?;
    chart.draw_legend(HEADING + AREA_HEIGHT + GAP, out)?;
    chart.draw(plot, lower_top, out)?;
    let bottom = lower_top + chart.height();
    for tick in &axis.ticks {
        // Above and below, so that one can be compared with the other.
        line("grid over", (x(plot, tick.ns), lower_top), (x(plot, tick.ns), bottom), out)?;
        text("middle", x(plot, tick.ns), bottom + 16.0, &tick.label, out)?;
    }
    line("axis", (LEFT, bottom), (LEFT + INNER, bottom), out)?;
    text("middle", LEFT + INNER / 2.0, bottom + 34.0, &format!("time, {}", axis.unit), out)?;
    writeln!(out, "</svg>")
}

/// Where a moment is.
fn x(plot: &Plot<'_>, ns: u64) -> f64 {
    LEFT + INNER * ns as f64 / plot.length_ns.max(1) as f64
}

fn line(class: &str, from: (f64, f64), to: (f64, f64), out: &mut String) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(out, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

fn text(class: &str, x: f64, y: f64, words: &str, out: &mut String) -> std::fmt::Result {
    writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape_xml(words))
}

/// A coloured square and what it stands for; returns where the next one may begin.
fn key(class: &str, x: f64, y: f64, words: &str, out: &mut String) -> Result<f64, std::fmt::Error> {
    writeln!(out, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" rx=\"2\"/>", y - 9.0)?;
    text("", x + 15.0, y, words, out)?;
    Ok(x + 15.0 + width(words, SMALL_SIZE) + 16.0)
}

/// Busy slots over time, in front of all there are.
fn draw_area(plot: &Plot<'_>, axis: &TimeAxis, out: &mut String) -> std::fmt::Result {
    let slots = f64::from(plot.account.slots.max(1));
    let (top, bottom) = (HEADING, HEADING + AREA_HEIGHT);
    let y = |busy: f64| bottom - AREA_HEIGHT * busy / slots;
    text("heading", 20.0, top - 12.0, "Slots", out)?;
    let next = key("busy", LEFT, top - 12.0, "busy", out)?;
    key("free", next, top - 12.0, "available", out)?;
    writeln!(
        out,
        "<rect class=\"free\" x=\"{LEFT:.1}\" y=\"{top:.1}\" width=\"{INNER:.1}\" height=\"{AREA_HEIGHT:.1}\"/>"
    )?;
    let busy = Shares::of(plot.account, plot.length_ns, AREA_STEPS, 1).all();
    let step = INNER / AREA_STEPS as f64;
    let mut path = format!("M{LEFT:.1} {bottom:.1}");
    let mut at = 0;
    while at < busy.len() {
        let same = busy[at..].iter().take_while(|next| (**next - busy[at]).abs() < 1e-9).count();
        write!(path, "V{:.1}H{:.1}", y(busy[at]), LEFT + step * (at + same) as f64)?;
        at += same;
    }
    writeln!(out, "<path class=\"busy\" d=\"{path}V{bottom:.1}Z\"/>")?;
    for tick in &axis.ticks {
        line("grid over", (x(plot, tick.ns), top), (x(plot, tick.ns), bottom), out)?;
    }
    for count in whole_steps(plot.account.slots, 4) {
        let at = y(f64::from(count));
        line("grid over", (LEFT, at), (LEFT + INNER, at), out)?;
        text("end", LEFT - 8.0, at + 4.0, &words::thousands(count.into()), out)?;
    }
    line("axis", (LEFT, bottom), (LEFT + INNER, bottom), out)?;
    if plot.bound_ns > 0 && plot.bound_ns <= plot.length_ns {
        let at = x(plot, plot.bound_ns);
        line("bound", (at, top - 6.0), (at, bottom), out)?;
        text("bound-word end", at.max(LEFT + 80.0), top - 12.0, "lower bound", out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
