//! A simulated run in words, for people.

use std::time::Duration;

use throng_core::pack;
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Faults, Outcome};

use super::machines::nodes_words;
use super::options::bandwidth_words;
use super::{Simulated, faults, loads};
use crate::words;

/// Tells how a simulated run went.
pub fn tell(flow: &Workflow, cluster: &Cluster, simulated: &Simulated) {
    for line in lines(flow, cluster, simulated) {
        tell!("{line}");
    }
}

fn lines(flow: &Workflow, cluster: &Cluster, simulated: &Simulated) -> Vec<String> {
    let Simulated { outcome, took } = simulated;
    let mut lines = vec![heading(flow, cluster), policies(cluster)];
    let loads = cluster.crowd.as_ref().map(loads::written).unwrap_or_default();
    if !loads.is_empty() {
        lines.push(format!("loads {}", loads.join(" ")));
    }
    if cluster.faults != Faults::default() {
        lines.push(format!("faults {}", faults::written(&cluster.faults).join(" ")));
    }
    lines.push(String::new());
    if let Some(why) = &outcome.stuck {
        let mut name = ("stuck after", time(outcome.makespan));
        for line in why.lines() {
            lines.push(row(name.0, &name.1, line));
            name = ("", String::new());
        }
        lines.push(row("tasks", &words::thousands(outcome.done), "done"));
    } else {
        lines.extend(times(cluster, outcome));
    }
    lines.push(String::new());
    lines.extend(data(outcome));
    lines.push(String::new());
    if cluster.faults != Faults::default() {
        lines.extend(damage(outcome));
        lines.push(String::new());
    }
    let seconds = took.as_secs_f64().max(1e-9);
    lines.push(row(
        "simulated in",
        &words::duration(*took),
        &format!(
            "{} at {}, {} times as fast as the run itself",
            words::count_many(outcome.events, "event"),
            words::rate(outcome.events as f64 / seconds),
            words::thousands((outcome.makespan.as_secs_f64() / seconds) as u64),
        ),
    ));
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// What a figure is called, the figure, and what it means.
pub fn row(name: &str, value: &str, meaning: &str) -> String {
    format!("  {name:<12} {value:>13}  {meaning}")
}

/// What was simulated.
pub fn heading(flow: &Workflow, cluster: &Cluster) -> String {
    format!(
        "{}: {} simulated on {}",
        words::printable(flow.title()),
        words::count_many(flow.task_count() as u64, "task"),
        nodes_words(cluster),
    )
}

/// How it was decided, and what chance was made of.
pub fn policies(cluster: &Cluster) -> String {
    let disks = cluster.disk_bandwidth.map_or_else(String::new, |bandwidth| {
        let (speed, memory) = (words::bytes(bandwidth), words::bytes(cluster.memory_tier_bytes));
        format!("{speed}/s disks behind {memory} of memory, ")
    });
    format!(
        "place {}, order {}, pack {}; {} network, {disks}seed {}",
        cluster.place,
        cluster.order,
        cluster.pack,
        bandwidth_words(cluster.bandwidth),
        cluster.seed,
    )
}

fn times(cluster: &Cluster, outcome: &Outcome) -> Vec<String> {
    let mut lines = vec![row("makespan", &time(outcome.makespan), "from the beginning to the last end")];
    let limit = if outcome.shared_ns >= outcome.bound.ns() {
        "what the shared file system gives out"
    } else if outcome.bound.chain_ns >= outcome.bound.ns() {
        "tasks and data that wait for each other"
    } else {
        "the work on all cores"
    };
    // The bounds are those of all tasks: a run that left some out says nothing against them.
    if outcome.not_done == 0 {
        lines.push(row(
            "lower bound",
            &time(Duration::from_nanos(outcome.bound_ns())),
            &format!("{} of the makespan; no schedule is faster: {limit}", percent(outcome.of_bound())),
        ));
        lines.push(row(
            "analytic",
            &seconds(outcome.analytic_seconds),
            &format!(
                "{} of the makespan; what the literature expects, often too little",
                percent(outcome.of_analytic())
            ),
        ));
    } else {
        lines.push(row("lower bound", "-", "bounds are those of all tasks, and some were not done"));
    }
    lines.push(row("tasks", &words::thousands(outcome.done), &not_done(outcome)));
    lines.push(row("throughput", &words::rate(outcome.throughput()), "tasks"));
    let has_slots = cluster.width.is_some() || pack::learns(&cluster.pack);
    let (one, all) = if has_slots { ("a slot", "used slots'") } else { ("a core", "the cores'") };
    lines.push(row("a task costs", &seconds(outcome.seconds_per_task()), &format!("of {one}, idle time shared out")));
    lines.push(row("efficiency", &percent(outcome.efficiency()), &format!("of {all} time was work that counts")));
    lines.push(row("utilisation", &percent(outcome.utilisation()), &format!("of {all} time they were busy")));
    lines
}

fn data(outcome: &Outcome) -> Vec<String> {
    let inputs = outcome.hits + outcome.misses;
    let many = |number| words::thousands(number);
    let mut lines = vec![
        row("data moved", &words::bytes(outcome.moved_bytes), &words::count_many(outcome.moves, "transfer")),
        match inputs {
            0 => row("cache", "-", "no task has read anything"),
            inputs => row(
                "cache",
                &percent(outcome.hits as f64 / inputs as f64),
                &format!("of inputs were there already: {} hits, {} brought", many(outcome.hits), many(outcome.misses)),
            ),
        },
        row(
            "stolen",
            &many(outcome.stolen),
            &format!("tasks, by {} of {} tries", many(outcome.hunts_won), many(outcome.hunts)),
        ),
        row("pushed", &many(outcome.pushed), "tasks sent to where their data are"),
        row("migrated", &many(outcome.migrated), "tasks put up for others to steal"),
        row("store", &many(outcome.store_verbs), &format!("operations in {}", batches(outcome.store_batches))),
        row("messages", &many(outcome.messages), "between nodes"),
    ];
    if outcome.never_fitted > 0 {
        let meaning = "tasks, failed: what they read and write is more than --cache";
        lines.push(row("never fit", &many(outcome.never_fitted), meaning));
    }
    if outcome.made_room + outcome.out_of_memory > 0 {
        let meaning =
            format!("attempts, for want of memory; {} more killed when it had run out", many(outcome.out_of_memory));
        lines.push(row("stopped", &many(outcome.made_room), &meaning));
    }
    if outcome.disk_read_bytes + outcome.disk_written_bytes > 0 {
        let meaning = format!("read from disks; {} written", words::bytes(outcome.disk_written_bytes));
        lines.insert(1, row("disks", &words::bytes(outcome.disk_read_bytes), &meaning));
    }
    lines
}

/// What broke, and what it cost.
fn damage(outcome: &Outcome) -> Vec<String> {
    let many = |number| words::thousands(number);
    let restarts = match outcome.restarts {
        0 => String::new(),
        some => format!("; {} one that was cut off had to begin anew", words::count_many(some, "time")),
    };
    let mut attempts =
        format!("of cores: {} that ended with their node", words::count_many(outcome.killed_attempts, "attempt"));
    if outcome.failed_attempts > 0 {
        attempts += &format!(", {} that failed", many(outcome.failed_attempts));
    }
    if outcome.reopened > 0 {
        attempts += ", and results that were lost";
    }
    let mut lines = vec![
        row("crashes", &many(outcome.crashes), &format!("of nodes{restarts}")),
        row("work lost", &seconds(outcome.lost_ns as f64 / 1e9), &attempts),
        row("taken over", &many(outcome.claimed), "tasks of dead nodes, by others"),
        row("made again", &many(outcome.reopened), "tasks, because what they had made was lost"),
        row("undelivered", &many(outcome.lost_messages), "messages, and answers of the store"),
    ];
    if outcome.lost_inputs > 0 {
        let meaning = "files from outside, with the nodes that had them; not with --inputs shared";
        lines.push(row("inputs lost", &many(outcome.lost_inputs), meaning));
    }
    lines
}

/// What became of the tasks that are not done.
fn not_done(outcome: &Outcome) -> String {
    let open = outcome.not_done - outcome.failed - outcome.quarantined - outcome.skipped;
    let kinds = [
        (outcome.failed, "failed"),
        (outcome.quarantined, "given up, after three nodes had died while they ran them"),
        (outcome.skipped, "skipped after those"),
        (open, "without a verdict"),
    ];
    let some: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", words::thousands(count)))
        .collect();
    if some.is_empty() { "all done".to_owned() } else { format!("done; {}", some.join(", ")) }
}

fn batches(count: u64) -> String {
    format!("{} {}", words::thousands(count), if count == 1 { "batch" } else { "batches" })
}

/// A length of time to four digits: runs that are compared differ by little.
pub fn time(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    match seconds {
        s if s < 0.001 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.3} s"),
        s if s < 60.0 => format!("{s:.2} s"),
        s if s < 3600.0 => format!("{} min {:04.1} s", s as u64 / 60, s % 60.0),
        _ => words::duration(length),
    }
}

/// As [`time`], of seconds.
pub fn seconds(length: f64) -> String {
    time(words::seconds_long(length))
}

/// A part of a whole; what is not quite all of it never looks like all.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 100.0 && percent > 99.9 { "99.9 %".to_owned() } else { format!("{percent:.1} %") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use throng_core::workflow::{Format, NoFiles};

    use super::*;

    #[test]
    fn a_run_that_is_stuck_says_why_and_shows_no_results() {
        let flow = Workflow::parse("tasks: { a: { noop: true } }", Format::Yaml, "x", &NoFiles).unwrap();
        let outcome = Outcome { stuck: Some("nobody wants to".to_owned()), not_done: 1, ..Outcome::default() };
        assert_eq!(super::super::code(&outcome), crate::exit::Code::TaskFailed);
        let simulated = Simulated { outcome, took: Duration::from_millis(1) };
        let text = lines(&flow, &Cluster::new(2, 3), &simulated).join("\n");
        assert!(text.starts_with("x: 1 task simulated on 2 nodes with 3 cores each\n"), "{text}");
        assert!(text.contains("  stuck after         0.0 µs  nobody wants to\n"), "{text}");
        assert!(!text.contains("efficiency") && !text.contains("lower bound"), "{text}");
    }

    #[test]
    fn times_have_four_digits() {
        let shown = [0.0000015, 0.25, 2.0006, 35.264, 161.53, 4000.0].map(seconds);
        assert_eq!(shown, ["1.5 µs", "250.0 ms", "2.001 s", "35.26 s", "2 min 41.5 s", "1 h 06 min"]);
        assert_eq!([0.99999, 1.0, 0.5].map(percent), ["99.9 %", "100.0 %", "50.0 %"]);
    }
}
