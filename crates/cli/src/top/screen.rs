//! A snapshot as rows of text that fit a terminal, down to 80 by 24 and less.

use super::snapshot::{FailedAttempt, Kind, RunningTask, Snapshot};
use crate::words::{self, printable, seconds, thousands};

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Letters in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// How a row is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As usual.
    Plain,
    /// A heading.
    Title,
    /// Something went wrong.
    Bad,
    /// Beside the point.
    Faint,
}

/// A row of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it says; no longer than the screen is wide.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
}

/// Failures shown: the last few.
const FAILURES_SHOWN: usize = 3;
/// How wide the plain text is, and how much of it there may be.
const PLAIN: Size = Size { columns: 80, rows: 40 };

/// The snapshot on a screen of this size.
pub fn draw(snapshot: &Snapshot, size: Size) -> Vec<Row> {
    let mut page = Page { rows: Vec::new(), columns: size.columns };
    heading(snapshot, &mut page);
    // The last row says how to leave.
    let room = size.rows.saturating_sub(page.rows.len() + 1);
    let failures = if snapshot.failures.is_empty() { 0 } else { snapshot.failures.len().min(FAILURES_SHOWN) + 2 };
    let failures = if room >= failures + 8 { failures } else { 0 };
    let wanted = if snapshot.running.is_empty() { 0 } else { snapshot.running.len() + 2 };
    let slots = wanted.min((room - failures.min(room)) / 2);
    let kinds_room = room.saturating_sub(failures + slots);
    kinds(&snapshot.kinds, kinds_room, &mut page);
    // What kinds have left is for slots.
    let used_by_kinds = page.rows.len().saturating_sub(size.rows.saturating_sub(room + 1));
    running(&snapshot.running, room.saturating_sub(failures + used_by_kinds).min(wanted), &mut page);
    if failures > 0 {
        failed(&snapshot.failures, FAILURES_SHOWN, &mut page);
    }
    page.rows.truncate(size.rows.saturating_sub(1));
    while page.rows.len() + 1 < size.rows {
        page.add(Tone::Plain, String::new());
    }
    page.add(Tone::Faint, "q: leave (the run goes on)".to_owned());
    page.rows
}

/// The snapshot as plain text.
pub fn plain(snapshot: &Snapshot) -> String {
    let mut page = Page { rows: Vec::new(), columns: PLAIN.columns };
    heading(snapshot, &mut page);
    kinds(&snapshot.kinds, PLAIN.rows / 2, &mut page);
    running(&snapshot.running, PLAIN.rows / 4, &mut page);
    failed(&snapshot.failures, FAILURES_SHOWN, &mut page);
    let lines: Vec<&str> = page.rows.iter().map(|row| row.text.trim_end()).collect();
    lines.join("\n")
}

struct Page {
    rows: Vec<Row>,
    columns: usize,
}

impl Page {
    fn add(&mut self, tone: Tone, text: String) {
        let text = fit(&text, self.columns);
        self.rows.push(Row { text, tone });
    }
}

fn heading(snapshot: &Snapshot, page: &mut Page) {
    let state = if snapshot.is_stopping { "stopping" } else { &snapshot.state };
    let left = snapshot.left_s.map_or(String::new(), |left| format!(", about {} left", seconds(left)));
    let name = fit(&printable(&snapshot.workflow), 24);
    let name = name.trim_end();
    page.add(Tone::Title, format!("run {} of {name}: {state}, {}{left}", snapshot.run, seconds(snapshot.elapsed_s)));
    let settled = snapshot.done + snapshot.up_to_date + snapshot.failed + snapshot.skipped;
    let numbers =
        format!("{} of {}, {}", thousands(settled), thousands(snapshot.total), percent(settled, snapshot.total));
    let bar_width = page.columns.saturating_sub(numbers.chars().count() + 3).min(60);
    page.add(Tone::Plain, format!("[{}] {numbers}", bar(settled, snapshot.total, bar_width)));
    let is_running = snapshot.state == "running";
    let slots = format!("{} of {}", snapshot.running.len(), words::count(snapshot.slots.into(), "slot"));
    let mut parts: Vec<String> = is_running.then_some(slots).into_iter().collect();
    parts.push(format!("{} done", thousands(snapshot.done)));
    for (number, what) in [
        (snapshot.up_to_date, "up to date"),
        (snapshot.failed, "failed"),
        (snapshot.skipped, "skipped"),
        (snapshot.put_off, "to try again"),
        (snapshot.for_memory, "without memory"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", thousands(number)));
        }
    }
    page.add(if snapshot.failed > 0 { Tone::Bad } else { Tone::Plain }, parts.join(", "));
    let now = if is_running { format!("now {}, ", words::rate(snapshot.rate_now)) } else { String::new() };
    let machine = &snapshot.machine;
    let busy = machine.busy.map_or(String::new(), |busy| format!(" {:.0} % busy", busy * 100.0));
    let used = machine.memory_bytes.saturating_sub(machine.available_bytes);
    page.add(
        Tone::Plain,
        format!(
            "{now}mean {}; {}{busy}, load {:.1}, memory {} of {}",
            words::rate(snapshot.rate_mean),
            words::count(machine.cores, "core"),
            machine.averages[0],
            words::bytes(used),
            words::bytes(machine.memory_bytes)
        ),
    );
}

fn percent(part: u64, all: u64) -> String {
    // Not complete is not 100.
    let percent = (part * 100).checked_div(all).unwrap_or(100);
    format!("{percent} %")
}

fn bar(part: u64, all: u64, width: usize) -> String {
    let filled = if all == 0 { width } else { (part as u128 * width as u128 / u128::from(all)) as usize };
    format!("{}{}", "#".repeat(filled), "-".repeat(width - filled))
}

/// Kinds that are at work first, then those that wait, then those that are finished; the rest in one row.
fn kinds(kinds: &[Kind], room: usize, page: &mut Page) {
    if room < 3 {
        return;
    }
    let stage = |kind: &Kind| match kind {
        kind if kind.running > 0 || kind.rate_now > 0.0 && kind.settled() < kind.total => 0,
        kind if kind.settled() < kind.total => 1,
        _ => 2,
    };
    let rows = room - 2;
    let mut sorted: Vec<&Kind> = kinds.iter().collect();
    // Where all can be seen, they keep their order, so that they do not jump about.
    let does_not_fit = sorted.len() > rows;
    sorted.sort_by_key(|kind| (stage(kind), std::cmp::Reverse(if does_not_fit { kind.running } else { 0 })));
    let shown = if does_not_fit { rows - 1 } else { sorted.len() };
    page.add(Tone::Plain, String::new());
    let name_width = page.columns.saturating_sub(65).clamp(8, 40);
    let line = |name: &str, [done, percent, run, fail, skip, rate, each]: [&str; 7]| {
        let name = fit(name, name_width);
        format!("{name} {done:>19} {percent:>5} {run:>8} {fail:>5} {skip:>6} {rate:>6} {each:>8}")
    };
    page.add(Tone::Title, line("KIND", ["DONE OF", "", "RUN", "FAIL", "SKIP", "RATE", "EACH"]));
    let if_any = |number: u64| if number > 0 { thousands(number) } else { String::new() };
    let row = |kind: &Kind| {
        let done = format!("{}/{}", thousands(kind.settled()), thousands(kind.total));
        let rate = if kind.rate_now > 0.0 { words::rate(kind.rate_now) } else { String::new() };
        let (mut run, fail, skip) = (if_any(kind.running), if_any(kind.failed), if_any(kind.skipped));
        if let Some(at_once) = kind.at_once.filter(|_| kind.running > 0) {
            run = format!("{run}/{at_once}");
        }
        let (percent, each) = (percent(kind.settled(), kind.total), kind.mean_s.map_or(String::new(), seconds));
        line(&printable(&kind.kind), [&done, &percent, &run, &fail, &skip, &rate, &each])
    };
    for kind in &sorted[..shown] {
        page.add(if kind.failed > 0 { Tone::Bad } else { Tone::Plain }, row(kind));
    }
    if does_not_fit {
        let rest = &sorted[shown..];
        let mut sum = Kind { kind: format!("{} others", rest.len()), ..Kind::default() };
        for kind in rest {
            sum.total += kind.total;
            sum.done += kind.done;
            sum.up_to_date += kind.up_to_date;
            sum.running += kind.running;
            sum.failed += kind.failed;
            sum.skipped += kind.skipped;
            sum.rate_now += kind.rate_now;
        }
        page.add(Tone::Faint, row(&sum));
    }
}

/// What runs longest.
fn running(running: &[RunningTask], room: usize, page: &mut Page) {
    if room < 3 || running.is_empty() {
        return;
    }
    page.add(Tone::Plain, String::new());
    let name_width = page.columns.saturating_sub(32).max(8);
    page.add(Tone::Title, format!("{:>5}  {:name_width$} {:>7} {:>14}", "SLOT", "RUNNING", "ATTEMPT", "FOR"));
    for one in &running[..running.len().min(room - 2)] {
        let attempt = if one.attempt > 1 { one.attempt.to_string() } else { String::new() };
        let name = fit(&printable(&one.task), name_width);
        page.add(Tone::Plain, format!("{:>5}  {name} {attempt:>7} {:>14}", one.slot, seconds(one.for_s)));
    }
}

/// The last failures.
fn failed(failures: &[FailedAttempt], room: usize, page: &mut Page) {
    if failures.is_empty() {
        return;
    }
    page.add(Tone::Plain, String::new());
    page.add(Tone::Title, format!("{:>12}  {}", "AT", "LAST FAILURES"));
    for failure in failures.iter().take(room) {
        let again = if failure.is_tried_again { ", to be tried again" } else { "" };
        let what = format!("{}, attempt {}{again}", failure.outcome, failure.attempt);
        let name = fit(&printable(&failure.task), page.columns.saturating_sub(what.chars().count() + 18).max(12));
        let tone = if failure.is_tried_again { Tone::Plain } else { Tone::Bad };
        page.add(tone, format!("{:>12}  {}: {what}", seconds(failure.at_s), name.trim_end()));
    }
}

/// How many columns a letter takes.
fn columns(letter: char) -> usize {
    match letter {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// A text made exactly as wide: padded, or cut.
fn fit(text: &str, width: usize) -> String {
    let needed: usize = text.chars().map(columns).sum();
    if needed <= width {
        return format!("{text}{}", " ".repeat(width - needed));
    }
    let (mut cut, mut used) = (String::new(), 0);
    for letter in text.chars() {
        if used + columns(letter) + 1 > width {
            break;
        }
        used += columns(letter);
        cut.push(letter);
    }
    if width > used {
        cut.push('…');
        used += 1;
    }
    format!("{cut}{}", " ".repeat(width - used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::machine::Load;

    fn snapshot(kind_count: u64, running_count: u32, failure_count: u64) -> Snapshot {
        let kind = |at: u64| Kind {
            kind: format!("kind{at}"),
            total: 1000 * (at + 1),
            done: 500,
            failed: u64::from(at == 2),
            running: u64::from(at < 3),
            at_once: (at == 1).then_some(12),
            rate_now: 12.5,
            mean_s: Some(0.004),
            ..Kind::default()
        };
        let running = |at: u32| RunningTask {
            slot: at,
            task: format!("kind0:sample-{at}-with-a-name-that-is-far-too-long-for-eighty-columns,東京,{at}"),
            attempt: 1 + (at % 2) as u16,
            for_s: 12.0 / f64::from(at + 1),
        };
        let failure = |at: u64| FailedAttempt {
            task: format!("kind2:{at}\u{1b}[2J"),
            at_s: 7.5,
            outcome: "exit code 1".to_owned(),
            attempt: 2,
            is_tried_again: at % 2 == 1,
        };
        Snapshot {
            run: 3,
            workflow: "demo".to_owned(),
            state: "running".to_owned(),
            is_stopping: false,
            elapsed_s: 61.2,
            left_s: Some(125.0),
            rate_now: 410.0,
            rate_mean: 398.2,
            total: 1_000_000,
            done: 612_345,
            up_to_date: 7,
            failed: 3,
            skipped: 12,
            put_off: 1,
            for_memory: 2,
            slots: 16,
            running: (0..running_count).map(running).collect(),
            kinds: (0..kind_count).map(kind).collect(),
            failures: (0..failure_count).map(failure).collect(),
            machine: Load {
                averages: [15.9, 8.0, 4.0],
                cores: 16,
                busy: Some(0.98),
                memory_bytes: 64_000_000_000,
                available_bytes: 22_000_000_000,
            },
        }
    }

    fn shown(rows: &[Row]) -> String {
        rows.iter().map(|row| format!("{}|", row.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_busy_run_in_80_by_24() {
        insta::assert_snapshot!(shown(&draw(&snapshot(9, 16, 5), Size { columns: 80, rows: 24 })));
    }

    #[test]
    fn a_quiet_run_as_plain_text() {
        insta::assert_snapshot!(plain(&snapshot(2, 1, 1)));
    }

    #[test]
    fn it_fits_whatever_the_size() {
        for (columns, rows) in [(80, 24), (40, 10), (20, 5), (200, 60), (1, 1), (80, 2)] {
            for (kinds, running, failures) in [(0, 0, 0), (1, 0, 0), (500, 500, 500), (3, 2, 1)] {
                let drawn = draw(&snapshot(kinds, running, failures), Size { columns, rows });
                assert_eq!(drawn.len(), rows, "{kinds} {running} {failures}");
                for row in &drawn {
                    let width: usize = row.text.chars().map(super::columns).sum();
                    assert_eq!(width, columns, "{row:?}");
                    assert!(!row.text.contains('\u{1b}'), "{row:?}");
                }
            }
        }
    }
}
