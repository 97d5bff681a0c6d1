//! A chart of lines as SVG, drawn for the page that it stands in: colours and letters are the page's.

use std::fmt::Write;

use crate::graph::text::escape_xml;

/// A chart of lines.
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What goes across.
    pub across: &'static str,
    /// What goes upwards, from zero.
    pub upwards: &'static str,
    /// Whether steps across are factors.
    pub is_logarithmic: bool,
    /// Whether both axes are: then upwards begins at the least value, not at zero.
    pub is_steep: bool,
    /// What is drawn.
    pub lines: Vec<Line>,
}

/// A line of a chart.
pub struct Line {
    /// What it is.
    pub name: String,
    /// Published lines are dashed.
    pub is_published: bool,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A line of our own.
    pub fn ours(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), is_published: false, points }
    }

    /// A published line.
    pub fn published(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), is_published: true, points }
    }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Lines with more points than this are curves, which have no marks.
const MARKED_MOST: usize = 20;
/// Colours that a page has.
const COLOURS: usize = 8;

/// From values to places on one axis.
struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn at(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_logarithmic { value.max(1e-12).ln() } else { value };
        let (low, high) = (scaled(self.low), scaled(self.high));
        let part = if high > low { (scaled(value) - low) / (high - low) } else { 0.5 };
        self.from + (self.to - self.from) * part
    }

    /// Round values to write beside the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let factor = if self.high / self.low.max(1e-12) > 300.0 { 10.0f64 } else { 2.0 };
            let first = (self.low.max(1e-12).ln() / factor.ln() - 1e-9).ceil() as i32;
            let powers = (first..).map(|power| factor.powi(power));
            return powers.take_while(|value| *value <= self.high * 1.000_001).collect();
        }
        let step = step(self.high - self.low, 5.0);
        (0..).map(|number| f64::from(number) * step).take_while(|value| *value <= self.high * 1.000_001).collect()
    }
}

/// A round step that goes so many times into a length.
fn step(length: f64, times: f64) -> f64 {
    let rough = (length / times).max(1e-12);
    let ten = 10f64.powf(rough.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|part| part * ten);
    round.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(ten * 10.0)
}

/// A number beside an axis, as short as can be.
fn label(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        v if v >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The chart as SVG, with a legend as HTML before it.
pub fn svg(chart: &Chart) -> String {
    let mut out = String::new();
    draw(chart, &mut out).expect("writing to a string cannot fail");
    out
}

fn draw(chart: &Chart, out: &mut String) -> std::fmt::Result {
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let (low, high) = (least(|point| point.0), most(|point| point.0));
    let across = Axis {
        low: if chart.is_logarithmic { low } else { 0.0 },
        high,
        is_logarithmic: chart.is_logarithmic,
        from: LEFT,
        to: WIDTH - RIGHT,
    };
    let top = most(|point| point.1).max(1e-9);
    let rise = step(top, 5.0);
    let (floor, ceiling) = if chart.is_steep {
        (10f64.powf(least(|point| point.1).max(1e-9).log10().floor()), 10f64.powf(top.log10().ceil()))
    } else {
        (0.0, (top / rise).ceil() * rise)
    };
    let upwards = Axis { low: floor, high: ceiling, is_logarithmic: chart.is_steep, from: HEIGHT - BOTTOM, to: TOP };
    let title = escape_xml(&chart.title);
    writeln!(out, "<figure><figcaption>{title}</figcaption><div class=\"legend\">")?;
    for (number, line) in chart.lines.iter().enumerate() {
        let dashed = if line.is_published { " dashed" } else { "" };
        let name = escape_xml(&line.name);
        write!(out, "<span><i class=\"k{}{dashed}\"></i>{name}</span>", number % COLOURS)?;
    }
    writeln!(out, "</div><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">")?;
    let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
    for value in upwards.ticks() {
        let (y, word) = (upwards.at(value), label(value));
        writeln!(out, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")?;
        writeln!(out, "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{word}</text>", left - 7.0, y + 4.0)?;
    }
    for value in across.ticks() {
        let (x, word) = (across.at(value), label(value));
        writeln!(out, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom}\" y2=\"{:.1}\"/>", bottom + 4.0)?;
        writeln!(out, "<text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{word}</text>", bottom + 17.0)?;
    }
    writeln!(out, "<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>")?;
    let (middle, low) = ((left + right) / 2.0, HEIGHT - 8.0);
    writeln!(out, "<text class=\"middle\" x=\"{middle:.1}\" y=\"{low}\">{}</text>", escape_xml(chart.across))?;
    let half = (TOP + bottom) / 2.0;
    let word = escape_xml(chart.upwards);
    writeln!(out, "<text class=\"middle\" transform=\"translate(14 {half:.1}) rotate(-90)\">{word}</text>")?;
    for (number, line) in chart.lines.iter().enumerate() {
        draw_line(line, number % COLOURS, (&across, &upwards), out)?;
    }
    writeln!(out, "</svg></figure>")
}

fn draw_line(line: &Line, colour: usize, (across, upwards): (&Axis, &Axis), out: &mut String) -> std::fmt::Result {
    let dashed = if line.is_published { " dashed" } else { "" };
    let mut path = String::new();
    for (x, y) in &line.points {
        let begin = if path.is_empty() { 'M' } else { 'L' };
        write!(path, "{begin}{:.1} {:.1}", across.at(*x), upwards.at(*y))?;
    }
    let name = escape_xml(&line.name);
    writeln!(out, "<path class=\"line c{colour}{dashed}\" d=\"{path}\"><title>{name}</title></path>")?;
    if line.points.len() <= MARKED_MOST {
        for (x, y) in &line.points {
            let told = format!("{name}: {} at {}", label(*y), label(*x));
            let (x, y) = (across.at(*x), upwards.at(*y));
            writeln!(
                out,
                "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"><title>{told}</title></circle>"
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_labels_are_round() {
        assert_eq!([1.0, 7.0, 93.0, 0.4].map(|length| step(length, 5.0)), [0.2, 2.0, 20.0, 0.1]);
        assert_eq!([0.0, 0.25, 500.0, 25_000.0, 2e6].map(label), ["0", "0.25", "500", "25k", "2M"]);
    }

    #[test]
    fn a_chart_shows_every_line_and_escapes_names() {
        let lines =
            vec![Line::ours("a < b", vec![(2.0, 1.0), (200.0, 3.0)]), Line::published("theirs", vec![(2.0, 2.0)])];
        let chart = Chart {
            title: "T".to_owned(),
            across: "cores",
            upwards: "speed",
            is_logarithmic: true,
            is_steep: false,
            lines,
        };
        let text = svg(&chart);
        assert!(text.contains("a &lt; b: 3 at 200") && text.contains("line c1 dashed"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
