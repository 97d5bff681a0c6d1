//! Watching a run: bars on a terminal, a plain line now and then elsewhere, failures at once on both.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use throng_runtime::driver::Engine;
use throng_runtime::progress::{KindProgress, Notice, Progress, Waiting};

use crate::words;

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Quiet,
    /// One line per kind, drawn again and again.
    Bars,
    /// A line every few seconds.
    Lines,
}

/// Often enough to look alive, seldom enough to cost nothing.
const BAR_INTERVAL: Duration = Duration::from_millis(100);
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Failures must not wait for the next line.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// More failures than this are only counted: the first ones tell the story.
const FAILURES_SHOWN: usize = 10;
/// Kinds beyond this share a line: it must fit into a small terminal.
const KINDS_SHOWN: usize = 12;
/// With more kinds than this, only the first are followed: a look must cost little.
const KINDS_FOLLOWED: usize = 1000;
/// The rate is that of the last seconds, so that it follows changes.
const RATE_WINDOW: Duration = Duration::from_secs(10);

/// Failed tasks by name, the first few.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// Their names.
    pub names: Vec<String>,
    /// One of them that has printed something.
    pub printed: Option<String>,
}

/// A view that is being kept up to date.
pub struct View {
    stop: Sender<()>,
    thread: JoinHandle<Failures>,
}

/// Starts to show a run; `logs` is the command that shows what a task printed, but for its name.
pub fn start(engine: Engine, style: Style, logs: String) -> View {
    let (stop, stopped) = channel();
    let thread = std::thread::spawn(move || match style {
        Style::Bars => watch_bars(&engine, &stopped, &logs),
        Style::Lines | Style::Quiet => watch_lines(&engine, &stopped, &logs, style == Style::Quiet),
    });
    View { stop, thread }
}

impl View {
    /// Ends the view; what is still to be told is told.
    pub fn finish(self) -> Failures {
        drop(self.stop);
        self.thread.join().expect("showing progress does not panic")
    }
}

fn is_over(stopped: &Receiver<()>, wait: Duration) -> bool {
    !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

fn watch_lines(engine: &Engine, stopped: &Receiver<()>, logs: &str, quiet: bool) -> Failures {
    let mut failures = Failures::default();
    let mut speed = RunSpeed::default();
    let mut stop_told = false;
    let mut next_line = LINE_INTERVAL;
    loop {
        let over = is_over(stopped, LOOK_INTERVAL);
        let mut notices = engine.take_notices();
        // A failure is an error; that something is tried again is not.
        notices.retain(|notice| !quiet || notice.retry_in.is_none());
        for text in tell(notices, logs, &mut failures) {
            note!("{text}");
        }
        if over {
            return failures;
        }
        let progress = engine.progress();
        let estimate = speed.of_run(&progress);
        if let Some(text) = stop_notice(&progress, &mut stop_told).filter(|_| !quiet) {
            note!("{text}");
        }
        if !quiet && progress.elapsed >= next_line {
            next_line = progress.elapsed + LINE_INTERVAL;
            note!("[{:>6.1}s] {}", progress.elapsed.as_secs_f64(), line(&progress, &estimate));
        }
    }
}

/// What to say, once, when somebody has asked the run to stop.
fn stop_notice(progress: &Progress, told: &mut bool) -> Option<String> {
    if !progress.asked_to_stop || progress.running == 0 || std::mem::replace(told, true) {
        return None;
    }
    let running = words::count(progress.running as u64, "running task");
    Some(format!("stopping: waiting for {running} to end; ask once more (Ctrl-C) to end at once"))
}

/// In a line, so many kinds are named with how many of them may run.
const WIDTHS_SHOWN: usize = 3;

fn line(progress: &Progress, estimate: &Estimate) -> String {
    let tally = &progress.tally;
    let settled = tally.total() - tally.open;
    let failed = if tally.failed > 0 { format!(", {} failed", tally.failed) } else { String::new() };
    let stopping = if progress.stopping { ", stopping" } else { "" };
    let running = running(progress.running, None, progress.waiting);
    let widths = widths(&progress.kinds);
    format!("{settled}/{} done, {running}{widths}{failed}{stopping}, {estimate}", tally.total())
}

/// How many run, of how many that may if that is learnt, and who waits for something else than a slot.
fn running(running: usize, width: Option<u32>, Waiting { for_data, for_memory }: Waiting) -> String {
    let mut text = width.map_or_else(|| format!("{running} running"), |width| format!("{running} of {width} running"));
    for (waiting, what) in [(for_data, "data"), (for_memory, "memory")] {
        if waiting > 0 {
            text += &format!(", {waiting} waiting for {what}");
        }
    }
    text
}

/// How many of some kinds may run at once, where that is learnt.
fn widths(kinds: &[KindProgress]) -> String {
    let open = kinds.iter().filter(|kind| kind.settled() < kind.total);
    let learnt = open.filter_map(|kind| Some(format!("{} {}", words::printable(&kind.name), kind.width?)));
    let learnt: Vec<String> = learnt.take(WIDTHS_SHOWN).collect();
    if learnt.is_empty() { String::new() } else { format!(" (at once: {})", learnt.join(", ")) }
}

/// How fast a run is going, from its last seconds.
#[derive(Default)]
struct Speed {
    samples: VecDeque<(Duration, u64)>,
}

struct Estimate {
    per_second: f64,
    left: Option<Duration>,
    /// Of some kind that is still to come nothing is known yet.
    is_least: bool,
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&words::rate(self.per_second))?;
        match self.left {
            Some(left) => {
                let about = if self.is_least { "at least" } else { "about" };
                write!(f, ", {about} {} left", words::duration(left))
            }
            None => Ok(()),
        }
    }
}

impl Speed {
    /// Takes in how many tasks had ended at a time, and how many were left.
    fn update(&mut self, elapsed: Duration, ended: u64, left: u64) -> Estimate {
        self.samples.push_back((elapsed, ended));
        while self.samples.front().is_some_and(|(time, _)| elapsed - *time > RATE_WINDOW) {
            self.samples.pop_front();
        }
        // Time in which nothing could end yet says nothing about the rate.
        while self.samples.get(1).is_some_and(|(_, next)| *next == self.samples[0].1) {
            self.samples.pop_front();
        }
        let (since, before) = *self.samples.front().expect("one has just been added");
        let seconds = (elapsed - since).as_secs_f64();
        let per_second = if seconds > 0.0 { (ended - before) as f64 / seconds } else { 0.0 };
        let left = (per_second > 0.0).then(|| words::seconds_long(left as f64 / per_second));
        Estimate { per_second, left, is_least: false }
    }

    fn of_kind(&mut self, elapsed: Duration, kind: &KindProgress) -> Estimate {
        self.update(elapsed, kind.done + kind.failed, kind.total - kind.settled())
    }
}

/// How fast a run is going as a whole: it lasts at least as long as the slowest of its kinds.
#[derive(Default)]
struct RunSpeed {
    all: Speed,
    kinds: Vec<Speed>,
}

impl RunSpeed {
    fn of_run(&mut self, progress: &Progress) -> Estimate {
        let tally = &progress.tally;
        let mut estimate = self.all.update(progress.elapsed, tally.done + tally.failed, tally.open);
        self.kinds.resize_with(progress.kinds.len().min(KINDS_FOLLOWED), Speed::default);
        for (speed, kind) in self.kinds.iter_mut().zip(&progress.kinds) {
            let is_open = kind.total > kind.settled();
            let own = speed.of_kind(progress.elapsed, kind);
            estimate.left = estimate.left.max(own.left);
            estimate.is_least |= is_open && own.left.is_none();
        }
        estimate
    }
}

fn watch_bars(engine: &Engine, stopped: &Receiver<()>, logs: &str) -> Failures {
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let kinds = engine.progress().kinds;
    let name_width = kinds.iter().map(|kind| kind.name.chars().count()).max().unwrap_or(0).clamp(5, 20);
    let style =
        ProgressStyle::with_template(&format!("{{prefix:{name_width}}} {{bar:24}} {{pos:>8}}/{{len:<8}} {{msg}}"))
            .expect("the template is well formed")
            .progress_chars("━╸ ");
    let add = || bars.add(ProgressBar::new(0).with_style(style.clone()));
    let mut shown: Vec<(ProgressBar, Speed)> =
        kinds.iter().take(KINDS_SHOWN).map(|_| (add(), Speed::default())).collect();
    let mut others = (kinds.len() > KINDS_SHOWN).then(|| (add(), Speed::default()));
    let mut total = (kinds.len() > 1).then(|| (add(), RunSpeed::default()));
    let mut failures = Failures::default();
    let mut stop_told = false;
    loop {
        let over = is_over(stopped, BAR_INTERVAL);
        for text in tell(engine.take_notices(), logs, &mut failures) {
            bars.suspend(|| note!("{text}"));
        }
        let progress = engine.progress();
        if let Some(text) = stop_notice(&progress, &mut stop_told) {
            bars.suspend(|| note!("{text}"));
        }
        // What waits is told once, where all tasks are.
        let waiting = if total.is_some() { Waiting::default() } else { progress.waiting };
        for ((bar, speed), kind) in shown.iter_mut().zip(&progress.kinds) {
            show(bar, kind, waiting, &speed.of_kind(progress.elapsed, kind));
        }
        if let Some((bar, speed)) = &mut others {
            let rest = &progress.kinds[KINDS_SHOWN..];
            let all = sum(&format!("{} others", rest.len()), rest);
            show(bar, &all, Waiting::default(), &speed.of_kind(progress.elapsed, &all));
        }
        if let Some((bar, speed)) = &mut total {
            let all = sum("all", &progress.kinds);
            show(bar, &all, progress.waiting, &speed.of_run(&progress));
        }
        if over {
            bars.clear().ok();
            return failures;
        }
    }
}

fn show(bar: &ProgressBar, kind: &KindProgress, waiting: Waiting, estimate: &Estimate) {
    bar.set_length(kind.total);
    bar.set_position(kind.settled());
    bar.set_prefix(kind.name.clone());
    let mut parts = vec![running(kind.running as usize, kind.width, waiting)];
    if kind.failed > 0 {
        parts.push(format!("{} failed", kind.failed));
    }
    if kind.skipped > 0 {
        parts.push(format!("{} skipped", kind.skipped));
    }
    if kind.settled() < kind.total && estimate.per_second > 0.0 {
        parts.push(estimate.to_string());
    }
    parts.extend(kind.why.filter(|_| kind.settled() < kind.total).map(words::why_width));
    bar.set_message(parts.join(", "));
}

fn sum(name: &str, kinds: &[KindProgress]) -> KindProgress {
    kinds.iter().fold(KindProgress { name: name.to_owned(), ..KindProgress::default() }, |mut sum, kind| {
        sum.total += kind.total;
        sum.running += kind.running;
        sum.done += kind.done;
        sum.up_to_date += kind.up_to_date;
        sum.failed += kind.failed;
        sum.skipped += kind.skipped;
        sum
    })
}

/// Turns notices into text, noting which tasks have failed for good.
fn tell(notices: Vec<Notice>, logs: &str, failures: &mut Failures) -> Vec<String> {
    let mut texts = Vec::new();
    for notice in notices {
        if notice.retry_in.is_none() {
            if failures.names.len() >= FAILURES_SHOWN {
                continue;
            }
            failures.names.push(notice.task.clone());
            if !notice.tail.is_empty() && notice.tail_file.is_none() {
                failures.printed.get_or_insert(notice.task.clone());
            }
        }
        texts.push(words_of(&notice, logs));
    }
    texts
}

fn words_of(notice: &Notice, logs: &str) -> String {
    let attempt = if notice.attempts_allowed > 1 {
        format!(", attempt {} of {}", notice.attempt, notice.attempts_allowed)
    } else {
        String::new()
    };
    let verb = if notice.retry_in.is_some() { "retry" } else { "failed" };
    let outcome = words::outcome(notice.outcome);
    let mut text =
        format!("{verb}: {} ({outcome}{attempt}, {})", words::printable(&notice.task), words::seconds(notice.seconds));
    if let Some(remark) = &notice.remark {
        text += &format!("\n    {remark}");
    }
    for line in notice.tail.lines() {
        text += &format!("\n    | {}", words::printable(line));
    }
    match (notice.retry_in, &notice.tail_file) {
        (Some(wait), _) if wait.is_zero() => {}
        (Some(wait), _) => text += &format!("\n    again in {}", words::duration(wait)),
        (None, Some(file)) => {
            let here = std::env::current_dir().unwrap_or_default();
            text += &format!("\n    all of it: {}", file.strip_prefix(here).unwrap_or(file).display());
        }
        (None, None) if !notice.tail.is_empty() => {
            text += &format!("\n    all of it: {logs} {}", words::printable(&words::quoted(&notice.task)))
        }
        (None, None) => {}
    }
    text
}
