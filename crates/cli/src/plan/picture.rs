//! The curve of cost and makespan as SVG.

use std::fmt::Write;

use throng_core::plan::frontier::{Frontier, Point};
use throng_core::plan::planner::Planned;

use super::Case;
use super::words::{money, time, time_enough};
use crate::graph::text::escape_xml;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 52.0;
/// So many lines across at most, and so many words below.
const MOST_TICKS: u64 = 5;
/// With more plans than this, a mark for each would be a thick line.
const MARKED: usize = 80;

/// The curve, with its knee, its ends and the plan marked.
pub fn svg(case: &Case<'_>, planned: Option<&Planned>, frontier: &Frontier) -> String {
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
    for at in ticks(0, slowest, &time_steps()) {
        let y = upwards(at);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#d8dee4\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            if at == 0 { "0".to_owned() } else { time(at) }
        );
    }
    for at in ticks(least, most, &money_steps()) {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            across(at),
            HEIGHT - 28.0,
            escape_xml(&money(case, at))
        );
    }
    // Money that buys no faster plan buys the one before it: steps, not slopes.
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let (x, y) = (across(point.cost), upwards(point.makespan));
        let _ = if at == 0 { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
    }
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#3b66c9\" stroke-width=\"2\"/>");
    let mut mark = |point: &Point, colour: &str, radius: f64, word: &str, is_below: bool| {
        let (x, y) = (across(point.cost), upwards(point.makespan));
        let told = escape_xml(&format!("{} for {}", time_enough(point.makespan), money(case, point.cost)));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"><title>{told}</title></circle>"
        );
        if !word.is_empty() {
            // Words lean to where there is room.
            let (at, anchor) = if x > WIDTH * 0.6 { (x - 8.0, "end") } else { (x + 8.0, "start") };
            let y = if is_below { y + 20.0 } else { y - 8.0 };
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#1f2328\">{word}: {told}</text>"
            );
        }
    };
    if points.len() <= MARKED {
        points.iter().for_each(|point| mark(point, "#3b66c9", 3.2, "", false));
    }
    let knee = frontier.knee.map(|knee| points[knee]);
    let planned = planned.map(|planned| Point { cost: planned.cost(), makespan: planned.makespan() });
    let ends = [(points.first(), "the least budget"), (points.last(), "the fastest")];
    let ends = ends.into_iter().filter_map(|(end, word)| Some((*end?, word)));
    ends.filter(|(end, _)| points.len() > 1 && Some(*end) != planned)
        .for_each(|(end, word)| mark(&end, "#3b66c9", 5.0, word, false));
    if let Some(knee) = knee.as_ref().filter(|knee| Some(**knee) != planned) {
        mark(knee, "#d9822b", 5.0, "knee", false);
    }
    if let Some(plan) = &planned {
        mark(plan, "#1a7f37", 6.0, if knee == planned { "this plan, the knee" } else { "this plan" }, true);
    }
    out.push_str("</svg>\n");
    out
}

/// Steps of time that people count in: seconds, minutes and hours, in parts that divide the next.
fn time_steps() -> Vec<u64> {
    const SECOND: u64 = 1_000_000_000;
    let small = decimal_steps(1).into_iter().take_while(|step| *step < SECOND);
    let clock = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
    let days = decimal_steps(86_400 * SECOND);
    small.chain(clock.map(|seconds| seconds * SECOND)).chain(days).collect()
}

fn money_steps() -> Vec<u64> {
    decimal_steps(1)
}

/// One, two, five, ten and so on of something.
fn decimal_steps(unit: u64) -> Vec<u64> {
    let tens = std::iter::successors(Some(unit), |ten| ten.checked_mul(10));
    tens.flat_map(|ten| [1, 2, 5].into_iter().filter_map(move |part| ten.checked_mul(part))).collect()
}

/// Round numbers from one to another, not many of them; both ends, if none is round.
fn ticks(least: u64, most: u64, steps: &[u64]) -> Vec<u64> {
    let of_step = |step: u64| (most / step).saturating_add(1).saturating_sub(least.div_ceil(step));
    let step = steps.iter().copied().find(|step| of_step(*step) <= MOST_TICKS);
    let step = step.filter(|step| of_step(*step) >= 2);
    let Some(step) = step else { return if least == most { vec![least] } else { vec![least, most] } };
    (least.div_ceil(step)..=most / step).map(|at| at * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        const MINUTE: u64 = 60_000_000_000;
        assert_eq!(ticks(0, 54 * MINUTE, &time_steps()), [0, 15, 30, 45].map(|minutes| minutes * MINUTE));
        assert_eq!(ticks(24, 126, &money_steps()), [40, 60, 80, 100, 120]);
        assert_eq!(ticks(24, 226, &money_steps()), [50, 100, 150, 200]);
        assert_eq!(ticks(7, 7, &money_steps()), [7]);
        for most in [0, 1, 3, 999, 1_000_000_007, 3 * MINUTE, 61 * MINUTE, 5000 * MINUTE, u64::MAX] {
            for least in [0, most / 3, most - most / 50, most] {
                for steps in [time_steps(), money_steps()] {
                    let ticks = ticks(least, most, &steps);
                    let is_inside = ticks.iter().all(|at| (least..=most).contains(at));
                    assert!(
                        is_inside && (1..=MOST_TICKS as usize).contains(&ticks.len()),
                        "{least}..{most}: {ticks:?}"
                    );
                    assert!(ticks.len() > 1 || least == most, "{least}..{most}");
                }
            }
        }
    }
}
