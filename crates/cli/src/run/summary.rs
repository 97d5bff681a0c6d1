//! The last words of a run.

use throng_runtime::progress::KindProgress;
use throng_runtime::state::{RunEnd, StateDirectory};

use super::bounds::Judged;
use crate::progress_view::Failures;
use crate::simulate::summary::seconds as time;
use crate::words::{self, shorten};

/// Says how a run went and what can be done next. `place` is the flag by which commands find the run.
pub fn summarize(
    run: u64,
    (end, judged): (&RunEnd, Judged),
    failures: &Failures,
    again: &str,
    place: &str,
    (kept, kinds): (u64, &[KindProgress]),
    state: &StateDirectory,
) {
    let mut parts = vec![format!("{} done", end.done)];
    for (number, what) in [(end.up_to_date, "up to date"), (end.failed, "failed"), (end.skipped, "skipped")] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    let left = end.total - end.done - end.up_to_date - end.failed - end.skipped;
    if left > 0 {
        parts.push(format!("{left} left"));
    }
    let speed = if end.done > 1 { format!(", {}", words::rate(end.tasks_per_s)) } else { String::new() };
    let total = words::count(end.total, "task");
    note!("run {run}: {total}: {} in {}{speed}", parts.join(", "), words::seconds(end.seconds));
    match judged {
        // A single task is as fast as it is.
        _ if end.done < 2 => {}
        Judged::Nothing => {}
        Judged::Bounds(bounds) => note!("makespan {}", bounds.in_words(end.makespan_s)),
        Judged::TooShort => note!(
            "makespan {}; its bounds would take a while to find out for tasks this short: see `throng report{place} {run}`",
            time(end.makespan_s)
        ),
    }
    if let Some(learnt) = learnt_in_words(kinds) {
        note!("learnt: {learnt}; see `throng kinds{place}` and `throng report{place}`");
    }
    if let Some(error) = &end.not_kept {
        note!("warning: what was learnt could not be kept: {error}\n  = help: the next run learns it again");
    }
    if let Some(data) = &end.data {
        note!("memory tier: {}", super::tier::in_words(data));
    }
    if !failures.names.is_empty() {
        let more = end.failed - failures.names.len() as u64;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note!("failed: {}{more}", failures.names.join(", "));
        let look = failures.printed.as_ref().map_or(String::new(), |task| {
            format!("see `throng logs{place} {run} {}`; ", words::printable(&words::quoted(task)))
        });
        note!("  = help: {look}correct it, then `{again}` goes on");
    }
    if kept > 0 {
        let files = words::count(kept, "file");
        let was_killed = run > 1 && state.run(run - 1).read_about().is_ok_and(|about| about.end.is_none());
        let what = if was_killed { "or made just before the run before was killed" } else { "or changed since" };
        note!(
            "note: {files} in the way of an output, not on record as made by Throng {what}, moved to {}",
            state.kept(run).display()
        );
    }
    if end.state == "interrupted" {
        note!("interrupted: `{again}` goes on where it was");
    }
}

/// So much of a kind's name is shown.
const NAME_LETTERS: usize = 40;

/// Kinds that are named at the end of a run; the rest are counted.
const KINDS_NAMED: usize = 5;

/// How many tasks of each kind were best at once and why, where that was learnt in this run.
fn learnt_in_words(kinds: &[KindProgress]) -> Option<String> {
    let mut learnt = kinds.iter().filter_map(|kind| Some((kind.width?, kind.why?, kind)));
    let named: Vec<String> = learnt
        .by_ref()
        .take(KINDS_NAMED)
        .map(|(width, why, kind)| {
            let (name, changes) =
                (shorten(&words::printable(&kind.name), NAME_LETTERS), words::count(kind.changes.into(), "change"));
            format!("{name} came to {width} at once ({}; {changes})", words::why_width(why))
        })
        .collect();
    let more = learnt.count();
    let more = if more > 0 { format!(" and {more} more kinds") } else { String::new() };
    (!named.is_empty()).then(|| named.join(", ") + &more)
}
