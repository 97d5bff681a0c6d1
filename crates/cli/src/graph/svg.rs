//! A picture as SVG, which every browser shows and a page can hold.
//!
//! All style is bound to one class, and nothing has an identifier, so that several pictures can stand in a page
//! without disturbing it or each other. It follows the reader's choice of light or dark.

use std::fmt::Write;

use super::layout::{self, Direction, Layout, Line, Placed, Point, Route, Size};
use super::picture::{Arrow, Box, Picture};
use super::standing::{Standing, Tally};
use super::text::{escape_xml, width};
use crate::words::{self, shorten};

const NAME_SIZE: f64 = 13.0;
const SMALL_SIZE: f64 = 11.0;
const TITLE_SIZE: f64 = 17.0;
/// Longer names are cut in the middle; pointing at them shows them whole.
const NAME_LETTERS: usize = 34;
const REMARK_LETTERS: usize = 48;
const MARGIN: f64 = 20.0;
const PADDING: f64 = 12.0;
const ARROW_LENGTH: f64 = 8.0;

const STYLE: &str = "
.throng-graph{--t-ground:#ffffff;--t-text:#1f2328;--t-muted:#59636e;--t-line:#8b949e;--t-box:#f6f8fa;--t-border:#afb8c1;\
--t-done:#1a7f37;--t-current:#4ac26b;--t-running:#0969da;--t-failed:#cf222e;--t-skipped:#bf8700;--t-open:#d0d7de;\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif}
@media (prefers-color-scheme:dark){.throng-graph{--t-ground:#0d1117;--t-text:#e6edf3;--t-muted:#9198a1;--t-line:#7d8590;\
--t-box:#161b22;--t-border:#4a525c;--t-done:#3fb950;--t-current:#2b7a3b;--t-running:#58a6ff;--t-failed:#f85149;\
--t-skipped:#d29922;--t-open:#3d444d}}
.throng-graph .ground{fill:var(--t-ground)}
.throng-graph text{fill:var(--t-text);font-size:13px}
.throng-graph .title{font-size:17px;font-weight:600}
.throng-graph .small,.throng-graph .label{fill:var(--t-muted);font-size:11px}
.throng-graph .label{text-anchor:middle}
.throng-graph .name{font-weight:600}
.throng-graph .count{font-weight:400;fill:var(--t-muted)}
.throng-graph .middle{text-anchor:middle}
.throng-graph .box .frame{fill:var(--t-box);stroke:var(--t-border);stroke-width:1.2px}
.throng-graph .outside .frame{fill:none;stroke-dasharray:4 3}
.throng-graph .outside .name{font-weight:400;font-style:italic}
.throng-graph .line path{fill:none;stroke:var(--t-line);stroke-width:1.3px}
.throng-graph .line polygon{fill:var(--t-line)}
.throng-graph .order path{stroke-dasharray:2 3}
.throng-graph .back path{stroke-dasharray:6 4}
.throng-graph .line:hover path{stroke:var(--t-text);stroke-width:2px}
.throng-graph .line:hover polygon{fill:var(--t-text)}
.throng-graph .box:hover .frame{stroke:var(--t-text)}
.throng-graph .done{fill:var(--t-done)}.throng-graph .current{fill:var(--t-current)}
.throng-graph .running{fill:var(--t-running)}.throng-graph .failed{fill:var(--t-failed)}
.throng-graph .skipped{fill:var(--t-skipped)}.throng-graph .open{fill:var(--t-open)}
.throng-graph .box.has-failed .frame{stroke:var(--t-failed);stroke-width:2px}
";

/// The picture as SVG; with a heading if it has to speak for itself.
pub fn write(picture: &Picture, with_heading: bool) -> String {
    let mut text = String::new();
    draw(picture, with_heading, &mut text).expect("writing to a string cannot fail");
    text
}

fn draw(picture: &Picture, with_heading: bool, out: &mut String) -> std::fmt::Result {
    let sizes: Vec<Size> = picture.boxes.iter().map(box_size).collect();
    let has_labels = picture.has_labels();
    let label = |arrow: &Arrow| {
        let size = Size { width: width(&arrow.label, SMALL_SIZE) + 8.0, height: SMALL_SIZE + 6.0 };
        (has_labels && !arrow.label.is_empty()).then_some(size)
    };
    let lines: Vec<Line> =
        picture.arrows.iter().map(|arrow| Line { from: arrow.from, to: arrow.to, label: label(arrow) }).collect();
    let layout = layout::lay_out(&sizes, &lines);
    let heading = if with_heading { Heading::of(picture) } else { Heading::default() };
    let size = Size {
        width: layout.size.width.max(heading.size.width) + 2.0 * MARGIN,
        height: layout.size.height + heading.size.height + 2.0 * MARGIN,
    };
    let spoken = escape_xml(&format!("{}: {}", picture.title, picture.summary));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"throng-graph\" role=\"img\" aria-label=\"{spoken}\" \
         width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"0 0 {0:.0} {1:.0}\">",
        size.width, size.height
    )?;
    writeln!(out, "<title>{spoken}</title>\n<style>{STYLE}</style>")?;
    writeln!(out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>")?;
    heading.draw(out)?;
    // What is narrower than its heading stands in the middle below it.
    let left = MARGIN + ((size.width - 2.0 * MARGIN - layout.size.width) / 2.0).clamp(0.0, 40.0);
    writeln!(out, "<g transform=\"translate({left:.1} {:.1})\">", MARGIN + heading.size.height)?;
    for (arrow, route) in picture.arrows.iter().zip(&layout.routes) {
        draw_line(arrow, route, &layout, out)?;
    }
    for (shown, placed) in picture.boxes.iter().zip(&layout.boxes) {
        draw_box(shown, placed, out)?;
    }
    // Labels last: no line is drawn over them.
    for (arrow, route) in picture.arrows.iter().zip(&layout.routes) {
        if let Some(Point { x, y }) = route.label {
            let wide = width(&arrow.label, SMALL_SIZE) + 4.0;
            writeln!(
                out,
                "<rect class=\"ground\" x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"16\" rx=\"3\"/>",
                x - wide / 2.0,
                y - 8.0
            )?;
            writeln!(
                out,
                "<text class=\"label\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + 4.0,
                escape_xml(&arrow.label)
            )?;
        }
    }
    writeln!(out, "</g>\n</svg>")
}

fn name_and_count(shown: &Box) -> (String, String) {
    let count = if shown.count > 1 { format!(" × {}", words::thousands(shown.count)) } else { String::new() };
    (shorten(&shown.name, NAME_LETTERS), count)
}

fn box_size(shown: &Box) -> Size {
    let (name, count) = name_and_count(shown);
    // Names are set in bold.
    let name_width = width(&name, NAME_SIZE * 1.04) + width(&count, NAME_SIZE);
    let remark_width = width(&shorten(&shown.remark, REMARK_LETTERS), SMALL_SIZE);
    let height = if shown.remark.is_empty() { 32.0 } else { 48.0 };
    let strip = if shows_strip(shown) { 6.0 } else { 0.0 };
    Size { width: name_width.max(remark_width).max(36.0) + 2.0 * PADDING, height: height + strip }
}

fn shows_strip(shown: &Box) -> bool {
    shown.standing.is_some()
}

fn title(lines: &[String]) -> String {
    let text = lines.iter().filter(|line| !line.is_empty()).map(|line| escape_xml(line)).collect::<Vec<_>>().join("\n");
    if text.is_empty() { text } else { format!("<title>{text}</title>") }
}

fn draw_box(shown: &Box, placed: &Placed, out: &mut String) -> std::fmt::Result {
    let Placed { corner: Point { x, y }, size } = *placed;
    let has_failed = shown.standing.as_ref().is_some_and(|tally| tally.count(Standing::Failed) > 0);
    let outside = if shown.is_outside { " outside" } else { "" };
    let failed = if has_failed { " has-failed" } else { "" };
    let (name, count) = name_and_count(shown);
    let heading = [vec![format!("{}{count}", shown.name)], vec![shown.remark.clone()], shown.details.clone()].concat();
    writeln!(out, "<g class=\"box{outside}{failed}\">{}", title(&heading))?;
    let corner = if shown.is_outside { size.height / 2.0 } else { 6.0 };
    writeln!(
        out,
        "<rect class=\"frame\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{corner:.0}\"/>",
        size.width, size.height
    )?;
    let middle = x + size.width / 2.0;
    let strip = if shows_strip(shown) { 6.0 } else { 0.0 };
    let text_top = y + (size.height - strip) / 2.0;
    let name_y = if shown.remark.is_empty() { text_top + 4.5 } else { text_top - 3.0 };
    let count = if count.is_empty() { count } else { format!("<tspan class=\"count\">{}</tspan>", escape_xml(&count)) };
    writeln!(
        out,
        "<text class=\"name middle\" x=\"{middle:.1}\" y=\"{name_y:.1}\">{}{count}</text>",
        escape_xml(&name)
    )?;
    if !shown.remark.is_empty() {
        writeln!(
            out,
            "<text class=\"small middle\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
            text_top + 13.0,
            escape_xml(&shorten(&shown.remark, REMARK_LETTERS))
        )?;
    }
    if let Some(tally) = &shown.standing {
        draw_strip(tally, x + 6.0, y + size.height - 8.0, size.width - 12.0, out)?;
    }
    writeln!(out, "</g>")
}

/// A strip whose parts are as long as tasks stand there.
fn draw_strip(tally: &Tally, left: f64, top: f64, length: f64, out: &mut String) -> std::fmt::Result {
    let mut at = left;
    for standing in Standing::ALL {
        let part = length * tally.count(standing) as f64 / tally.total().max(1) as f64;
        if part > 0.0 {
            // A single failure among thousands must not vanish.
            let shown = part.max(2.0).min(left + length - at);
            let class = standing.class();
            writeln!(out, "<rect class=\"{class}\" x=\"{at:.1}\" y=\"{top:.1}\" width=\"{shown:.1}\" height=\"4\"/>")?;
            at += shown;
        }
    }
    Ok(())
}

fn draw_line(arrow: &Arrow, route: &Route, layout: &Layout, out: &mut String) -> std::fmt::Result {
    let (Some(&first), Some(&tip)) = (route.points.first(), route.points.last()) else { return Ok(()) };
    let order = if arrow.is_order_only { " order" } else { "" };
    let back = if route.is_back { " back" } else { "" };
    write!(out, "<g class=\"line{order}{back}\">{}<path d=\"M{:.1} {:.1}", title(&arrow.details), first.x, first.y)?;
    let sign = if route.is_back { -1.0 } else { 1.0 };
    let is_right = layout.direction == Direction::Right;
    let along = |length: f64, point: Point| match is_right {
        true => Point { x: point.x + sign * length, y: point.y },
        false => Point { x: point.x, y: point.y + sign * length },
    };
    let mut points = route.points.clone();
    if let Some(last) = points.last_mut() {
        *last = along(1.0 - ARROW_LENGTH, *last);
    }
    for (at, pair) in points.windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        if at % 2 == 1 {
            write!(out, " L{:.1} {:.1}", to.x, to.y)?;
            continue;
        }
        let half = if is_right { (to.x - from.x).abs() } else { (to.y - from.y).abs() } / 2.0;
        let (leave, enter) = (along(half, from), along(-half, to));
        write!(out, " C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", leave.x, leave.y, enter.x, enter.y, to.x, to.y)?;
    }
    let end = along(-ARROW_LENGTH, tip);
    let (left, right) = if is_right {
        (Point { y: end.y - 3.5, ..end }, Point { y: end.y + 3.5, ..end })
    } else {
        (Point { x: end.x - 3.5, ..end }, Point { x: end.x + 3.5, ..end })
    };
    writeln!(
        out,
        "\"/><polygon points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/></g>",
        tip.x, tip.y, left.x, left.y, right.x, right.y
    )
}

/// What stands above a picture.
#[derive(Default)]
struct Heading {
    size: Size,
    title: String,
    lines: Vec<String>,
    legend: Vec<(Standing, String)>,
}

impl Heading {
    fn of(picture: &Picture) -> Heading {
        let title = shorten(&picture.title, 60);
        let lines: Vec<String> = [vec![picture.summary.clone()], picture.notes.clone()].concat();
        let legend: Vec<(Standing, String)> = (picture.standing.iter())
            .flat_map(|tally| Standing::ALL.map(|standing| (standing, tally.count(standing))))
            .filter(|(_, count)| *count > 0)
            .map(|(standing, count)| (standing, format!("{} {}", words::thousands(count), standing.words())))
            .collect();
        let widest = lines.iter().map(|line| width(line, SMALL_SIZE)).fold(width(&title, TITLE_SIZE * 1.04), f64::max);
        let legend_width: f64 = legend.iter().map(|(_, text)| width(text, SMALL_SIZE) + 30.0).sum();
        let legend_height = if legend.is_empty() { 0.0 } else { 18.0 };
        let height = 20.0 + lines.len() as f64 * 16.0 + legend_height + 18.0;
        Heading { size: Size { width: widest.max(legend_width), height }, title, lines, legend }
    }

    fn draw(&self, out: &mut String) -> std::fmt::Result {
        if self.size.height == 0.0 {
            return Ok(());
        }
        let mut y = MARGIN + 14.0;
        writeln!(out, "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", escape_xml(&self.title))?;
        for line in &self.lines {
            y += 17.0;
            writeln!(out, "<text class=\"small\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", escape_xml(line))?;
        }
        let mut x = MARGIN;
        y += 18.0;
        for (standing, text) in &self.legend {
            let class = standing.class();
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" rx=\"2\"/>",
                y - 9.0
            )?;
            writeln!(out, "<text class=\"small\" x=\"{:.1}\" y=\"{y}\">{}</text>", x + 15.0, escape_xml(text))?;
            x += width(text, SMALL_SIZE) + 30.0;
        }
        Ok(())
    }
}
