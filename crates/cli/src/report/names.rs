//! Names of tasks packed for the page.
//!
//! Most names differ from the one before by a number that is one higher, so a million of them are one line:
//! where they begin, how many, and the first. Other names share their beginning with the one before. When there is no
//! room for more, the rest is left out, and the page shows a task's number instead.

use throng_core::ids::TaskId;
use throng_core::workflow::Workflow;

use super::packed::number;

/// Room for names: small beside what a report may take, and still tens of thousands that have nothing in common.
const ROOM: usize = 500_000;

/// Consecutive tasks named alike.
struct Series {
    first: u32,
    count: u64,
    stem: String,
    /// The number after the stem in the first name; without one, the series has one name.
    begin: Option<u64>,
}

/// Packs the names of tasks, which are in order.
pub fn pack(flow: &Workflow, tasks: impl Iterator<Item = TaskId>) -> Vec<u8> {
    let mut packed = Packed::default();
    let mut open: Option<Series> = None;
    for task in tasks {
        let name = flow.name(task);
        let (stem, begin) = split(&name);
        match &mut open {
            Some(series) if series.goes_on_with(task.0, stem, begin) => series.count += 1,
            _ => {
                if let Some(series) = open.take() {
                    packed.add(&series);
                }
                if packed.bytes.len() > ROOM {
                    return packed.bytes;
                }
                open = Some(Series { first: task.0, count: 1, stem: stem.to_owned(), begin });
            }
        }
    }
    if let Some(series) = open {
        packed.add(&series);
    }
    packed.bytes
}

impl Series {
    fn goes_on_with(&self, task: u32, stem: &str, begin: Option<u64>) -> bool {
        let is_next = u64::from(self.first) + self.count == u64::from(task);
        is_next && self.stem == stem && self.begin.is_some_and(|own| Some(own + self.count) == begin)
    }
}

/// A name's beginning, and the number at its end if it is written the usual way.
fn split(name: &str) -> (&str, Option<u64>) {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &name[stem.len()..];
    // The page counts in floating point, which is exact to 15 digits.
    let is_plain = !digits.is_empty() && digits.len() <= 15 && (digits == "0" || !digits.starts_with('0'));
    match digits.parse() {
        Ok(number) if is_plain => (stem, Some(number)),
        _ => (name, None),
    }
}

#[derive(Default)]
struct Packed {
    bytes: Vec<u8>,
    last_task: u32,
    last_stem: String,
}

impl Packed {
    fn add(&mut self, series: &Series) {
        let shared = series.stem.bytes().zip(self.last_stem.bytes()).take_while(|(a, b)| a == b).count();
        let rest = &series.stem.as_bytes()[shared..];
        number(&mut self.bytes, (series.first - self.last_task).into());
        number(&mut self.bytes, series.count);
        number(&mut self.bytes, series.begin.map_or(0, |begin| begin + 1));
        number(&mut self.bytes, shared as u64);
        number(&mut self.bytes, rest.len() as u64);
        self.bytes.extend_from_slice(rest);
        self.last_task = series.first;
        self.last_stem.clone_from(&series.stem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles};

    #[test]
    fn a_million_numbers_are_one_line() {
        let text = "tasks: { t: { foreach: { i: 1..1000000 }, noop: true }, u: { foreach: { x: [a, ab, 07, 8, 9] }, noop: true } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let bytes = pack(&flow, flow.tasks());
        let million = [0, 0xc0, 0x84, 0x3d, 2, 0, 2, b't', b':'];
        let rest = [
            &[0xc0, 0x84, 0x3d, 1, 0, 0, 3][..],
            b"u:a",
            &[1, 1, 0, 3, 1],
            b"b",
            &[1, 1, 0, 2, 2],
            b"07",
            &[1, 2, 9, 2, 0],
        ];
        assert_eq!(bytes, [&million[..], &rest.concat()].concat());
    }
}
