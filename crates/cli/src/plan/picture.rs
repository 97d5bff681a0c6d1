//! The curve of cost and makespan as SVG.

use std::fmt::Write;

use throng_core::plan::frontier::{Frontier, Point};

use super::Case;
use super::words::{money, time};
use crate::graph::text::escape_xml;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 52.0;
/// Lines across, and words below.
const PARTS: u64 = 4;
/// With more plans than this, a mark for each would be a thick line.
const MARKED: usize = 80;

/// The curve, with its knee and its ends marked.
pub fn svg(case: &Case<'_>, frontier: &Frontier) -> String {
    let points = &frontier.points;
    let (least, most) = (points.first().map_or(0, |point| point.cost), points.last().map_or(1, |point| point.cost));
    let slowest = points.first().map_or(1, |point| point.makespan).max(1);
    let across = |cost: u64| {
        let part = (cost - least) as f64 / (most - least).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * part
    };
    let upwards = |time: u64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (time as f64 / slowest as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\" fill=\"#57606a\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"16\" y=\"24\" font-size=\"15\" fill=\"#1f2328\">{}: makespan by cost, planned by {}</text>\n",
        escape_xml(case.flow.title()),
        escape_xml(&case.policy.to_string())
    );
    for part in 0..=PARTS {
        let y = upwards(slowest / PARTS * part);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#d8dee4\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            time(slowest / PARTS * part)
        );
        let cost = least + (most - least) / PARTS * part;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            across(cost),
            HEIGHT - 28.0,
            escape_xml(&money(case, cost))
        );
    }
    // Money that buys no faster plan buys the one before it: steps, not slopes.
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let (x, y) = (across(point.cost), upwards(point.makespan));
        let _ = if at == 0 { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
    }
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#3b66c9\" stroke-width=\"2\"/>");
    let mut mark = |point: &Point, colour: &str, radius: f64, word: &str| {
        let (x, y) = (across(point.cost), upwards(point.makespan));
        let told = escape_xml(&format!("{} for {}", time(point.makespan), money(case, point.cost)));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"><title>{told}</title></circle>"
        );
        if !word.is_empty() {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1f2328\">{word}: {told}</text>",
                (x + 8.0).min(WIDTH - 230.0),
                y - 8.0
            );
        }
    };
    if points.len() <= MARKED {
        points.iter().for_each(|point| mark(point, "#3b66c9", 3.2, ""));
    }
    if let Some(knee) = points.get(frontier.knee) {
        mark(knee, "#d9822b", 5.0, "knee");
    }
    out.push_str("</svg>\n");
    out
}
