//! The account of a task in plain sentences.

use throng_core::stale::Reason;

use super::facts::{Account, Attempt, End, InputChange, LastTime, OutputChange, Queue, Why};
use crate::words::{self, printable, seconds};

/// Lines shown of a list; `--json` has all.
const LISTED: usize = 8;
/// A wait shorter than this is none.
const NOTABLE_S: f64 = 0.001;

/// The account in sentences.
pub fn of(account: &Account) -> String {
    let mut text = Text::default();
    let name = printable(&account.task);
    let simulated = if account.run_state == "simulated" { "simulated " } else { "" };
    let workflow = printable(&account.workflow);
    text.lines.push(format!("{name} in {simulated}run {} of {workflow}: {}", account.run, end(account)));
    match account.end {
        End::NotPart => not_part(account, &mut text),
        End::UpToDate => up_to_date(account, &mut text),
        _ => {
            text.title("Why it was to run");
            why(account, &mut text);
        }
    }
    waiting(account, &mut text);
    running(account, &mut text);
    skipped(account, &mut text);
    the_end(account, &mut text);
    text.lines.join("\n")
}

#[derive(Default)]
struct Text {
    lines: Vec<String>,
}

impl Text {
    fn title(&mut self, title: &str) {
        self.lines.push(format!("\n{title}"));
    }

    fn say(&mut self, sentence: impl AsRef<str>) {
        self.lines.push(format!("  {}", sentence.as_ref()));
    }

    fn list(&mut self, mark: &str, items: &[String]) {
        for item in items.iter().take(LISTED) {
            self.lines.push(format!("    {mark}{}", printable(item)));
        }
        if items.len() > LISTED {
            self.lines.push(format!("    {mark}… and {} more", items.len() - LISTED));
        }
    }
}

fn end(account: &Account) -> &'static str {
    match (account.end, account.run_state.as_str()) {
        (End::NotPart, _) => "not part of it",
        (End::UpToDate, _) => "up to date",
        (End::Done, _) => "done",
        (End::Failed, _) => "failed",
        (End::Skipped, _) => "skipped",
        (End::Running, "running") => "running",
        (End::Running, _) => "begun, not ended",
        (End::Interrupted, "running") => "waits for its next attempt",
        (End::Interrupted, _) => "stopped",
        (End::Ready, "running") => "ready, waits for a slot",
        (End::Waiting, "running") => "waits for others",
        (End::Ready | End::Waiting, _) => "not reached",
    }
}

fn last_time(time: &LastTime) -> String {
    format!("run {} ({})", time.run, words::moment(time.ended_unix_ms))
}

fn not_part(account: &Account, text: &mut Text) {
    text.title("Why it was not part of the run");
    text.say("The run was asked for certain files or tasks only, and none of them needs this one.");
    match &account.why.last_done {
        Some(time) => text.say(format!("It was last done in {}.", last_time(time))),
        None => text.say("No earlier run on record has done it."),
    }
}

fn up_to_date(account: &Account, text: &mut Text) {
    text.title("Why it did not run");
    if let Some(at) = account.why.looked_again_s {
        text.say(format!(
            "Tasks before it ran, so it was looked at again {} into the run: what they made is what it had read before.",
            seconds(at)
        ));
        text.list("made again: ", &account.why.inputs.iter().map(input_words).collect::<Vec<_>>());
    } else {
        text.say("Its definition, its inputs and its outputs are as they were when it was last done.");
    }
    match &account.why.last_done {
        Some(time) => text.say(format!("That was in {}.", last_time(time))),
        None => {
            text.say("No run on record has done it: its files were taken over (--adopt), or that run has been deleted.")
        }
    }
}

fn why(account: &Account, text: &mut Text) {
    let why = &account.why;
    let is_first = why.last_done.is_none() && why.last_tried.is_none();
    match why.noted {
        Some(Reason::ParentRuns) => {
            text.say("Because tasks before it ran, and what they made was not what it had read.")
        }
        _ => text.say(format!("Because {}.", why.reason)),
    }
    if let Some(time) = &why.last_done {
        text.say(format!("It was last done in {}.", last_time(time)));
    }
    if let Some(time) = &why.last_tried {
        text.say(format!("It was tried in {}: {}.", last_time(time), time.outcome));
    }
    if is_first && why.noted != Some(Reason::NeverDone) {
        text.say("No earlier run on record has done it, so there is nothing to compare it with.");
    }
    definition(why, text);
    inputs(account, text);
    outputs(why, text);
    if !why.needed_by.is_empty() {
        text.say("Tasks of this run that read what it makes:");
        text.list("", &why.needed_by);
    }
}

fn definition(why: &Why, text: &mut Text) {
    if why.noted != Some(Reason::DefinitionChanged) || why.last_done.is_none() {
        return;
    }
    if why.differences.is_empty() {
        text.say("It does the same, but is written in another way: its shell, or `run` and `exec`.");
    }
    for difference in &why.differences {
        text.say(format!("Its {} changed:", difference.what));
        text.list("- ", &difference.before);
        text.list("+ ", &difference.now);
    }
}

fn input_words(input: &InputChange) -> String {
    let file = &input.file;
    match (&input.made_by, input.made_in_run, input.modified_unix_ms) {
        (Some(task), Some(run), _) => format!("{file}, by {task} in run {run}"),
        (_, _, Some(modified)) => format!("{file}, modified {}", words::moment(modified)),
        _ => format!("{file}, which is gone now"),
    }
}

fn inputs(account: &Account, text: &mut Text) {
    let why = &account.why;
    let listed: Vec<String> = why.inputs.iter().map(input_words).collect();
    if why.noted == Some(Reason::ParentRuns) && !listed.is_empty() {
        text.say("Inputs that were made in this run:");
        text.list("", &listed);
    } else if !listed.is_empty() {
        text.say("Inputs that are newer than that:");
        text.list("", &listed);
    } else if why.noted == Some(Reason::InputChanged) && why.last_done.is_some() {
        text.say("Which one cannot be told any more: none of them is newer than that.");
    }
}

fn outputs(why: &Why, text: &mut Text) {
    let (gone, there): (Vec<_>, Vec<_>) = why.outputs.iter().partition(|output| output.is_gone);
    let names =
        |outputs: &[&OutputChange]| -> Vec<String> { outputs.iter().map(|output| output.file.clone()).collect() };
    let kept: Vec<String> = (why.outputs.iter())
        .filter_map(|output| Some(format!("{}, now {}", output.file, output.kept_as.as_ref()?)))
        .collect();
    if !kept.is_empty() {
        text.say("What was there, and was not what it had made, is kept:");
        text.list("", &kept);
    } else if why.noted == Some(Reason::OutputChanged) {
        text.say("It makes:");
        text.list("", &names(&[&gone[..], &there[..]].concat()));
    } else if !gone.is_empty() {
        text.say("Still missing now:");
        text.list("", &names(&gone));
    } else if let [only] = there[..] {
        text.say(format!("Missing was {}: it makes nothing else.", printable(&only.file)));
    } else if !there.is_empty() {
        text.say("At least one of these was missing; since then they have been made again:");
        text.list("", &names(&there));
    }
}

fn waiting(account: &Account, text: &mut Text) {
    let Some(parents) = &account.parents else { return };
    text.title("What it waited for");
    let tasks = words::count_many(parents.count, "task");
    let ran = match parents.ran {
        ran if ran == parents.count => String::new(),
        0 if parents.open == 0 => ", none of which had to run".to_owned(),
        ran if parents.open == 0 => format!(", {} of which had to run", words::thousands(ran)),
        0 => ", none of which has begun".to_owned(),
        ran => format!(", {} of which have begun", words::thousands(ran)),
    };
    if parents.open > 0 {
        text.say(format!("It comes after {tasks}{ran}. Not done: {}.", words::thousands(parents.open)));
        text.list("", &parents.open_names);
        return;
    }
    match (parents.waited_s, &parents.last) {
        (Some(waited), Some(last)) if waited >= NOTABLE_S => {
            let task = printable(&last.task);
            let done = match (last.is_up_to_date, last.ran_s) {
                (true, _) => format!("{task}, found to be up to date {} into the run", seconds(last.done_s)),
                (_, Some(ran)) => {
                    format!("{task}, done {} into the run after running for {}", seconds(last.done_s), seconds(ran))
                }
                (_, None) => format!("{task}, done {} into the run", seconds(last.done_s)),
            };
            text.say(format!("It waited {} for {tasks}{ran}.", seconds(waited)));
            text.say(format!("The last was {done}."));
        }
        _ => text.say(format!("It comes after {tasks}{ran}.")),
    }
    if parents.lost_inputs > 0 {
        let times = words::count_many(parents.lost_inputs, "time");
        text.say(format!("Something that it reads was lost {times}, and had to be made again."));
    }
}

/// Who held the slots.
fn holders(queue: &Queue) -> Option<String> {
    let holders: Vec<String> = (queue.held_by.iter())
        .filter(|holder| holder.share >= 0.005)
        .map(|holder| format!("{} {:.0} %", printable(&holder.kind), holder.share * 100.0))
        .collect();
    let slots = words::count(queue.slots.into(), "slot");
    (!holders.is_empty()).then(|| format!("Meanwhile the {slots} were held by {}.", holders.join(", ")))
}

/// Less than this part of as many as there may be is fewer.
const FEWER: f64 = 0.75;

/// Who ran, where it is learnt how many of a kind are worth running at once: most slots are there only in case more are.
fn beside(queue: &Queue, at_once: u32) -> String {
    let running: Vec<String> = (queue.held_by.iter())
        .map(|holder| (&holder.kind, holder.share * f64::from(queue.slots)))
        .filter(|(_, tasks)| *tasks >= 0.05)
        .map(|(kind, tasks)| format!("{} {tasks:.1}", printable(kind)))
        .collect();
    let running = if running.is_empty() { "none".to_owned() } else { running.join(", ") };
    // Whoever is kept from being so many is short of something else, and that is mostly memory.
    let were_fewer = queue.of_its_kind < f64::from(at_once) * FEWER;
    let room = if were_fewer { ", but there was no room for as many (memory, or cores)" } else { "" };
    format!("Meanwhile there ran, on average, {running}; {at_once} of its kind at once had been found best{room}.")
}

fn queue_words(queue: &Queue, is_started: bool) -> Vec<String> {
    if queue.seconds < NOTABLE_S {
        return Vec::new();
    }
    let verb = if is_started { "It waited" } else { "It had waited" };
    let what = if queue.is_for_memory { "memory" } else { "a slot" };
    let mut said = vec![format!("{verb} {} for {what}.", seconds(queue.seconds))];
    if queue.inputs_came_s >= NOTABLE_S {
        said = vec![format!(
            "{verb} {}, and for {} of that its inputs were on their way.",
            seconds(queue.seconds),
            seconds(queue.inputs_came_s)
        )];
    }
    said.extend(queue.at_once.map_or_else(|| holders(queue), |at_once| Some(beside(queue, at_once))));
    if queue.started_meanwhile > 0 {
        let others = words::count_many(queue.started_meanwhile, "other task");
        let were = if queue.started_meanwhile == 1 { "was" } else { "were" };
        said.push(format!("{others} {were} started before it."));
    }
    if queue.did_not_fit_s >= NOTABLE_S {
        said.push(format!(
            "For {} of that a slot was free, but not the {} it asks for.",
            seconds(queue.did_not_fit_s),
            queue.lacking.join(" and ")
        ));
    }
    said
}

fn running(account: &Account, text: &mut Text) {
    if account.attempts.is_empty() {
        return;
    }
    text.title("How it ran");
    for attempt in &account.attempts {
        if let Some(back_off) = attempt.back_off_s.filter(|back_off| *back_off >= NOTABLE_S) {
            text.say(format!("It was put off for {} before the next attempt.", seconds(back_off)));
        }
        for sentence in queue_words(&attempt.queue, attempt.started_s.is_some()) {
            text.say(sentence);
        }
        attempt_words(account, attempt, text);
    }
}

fn attempt_words(account: &Account, attempt: &Attempt, text: &mut Text) {
    let number = attempt.attempt;
    let Some(started) = attempt.started_s else {
        text.say(format!("Attempt {number} has not begun."));
        return;
    };
    let slot = attempt.slot.unwrap_or_default();
    let Some(result) = &attempt.result else {
        let so_far = seconds(account.recorded_s - started);
        match account.run_state.as_str() {
            "running" => text.say(format!("Attempt {number} is running in slot {slot}, for {so_far} so far.")),
            state => {
                text.say(format!("Attempt {number} had run for {so_far} in slot {slot} when the run was {state}."))
            }
        }
        return;
    };
    let mut used = Vec::new();
    used.extend(result.cores.map(|cores| format!("{:.0} % of a core", cores * 100.0)));
    used.extend(result.peak_memory_bytes.map(|bytes| {
        let at_most = if result.peak_is_bound { "at most " } else { "" };
        let asked =
            result.asked_memory_bytes.map_or(String::new(), |asked| format!(" of {} asked for", words::bytes(asked)));
        format!("{at_most}{} of memory{asked}", words::bytes(bytes))
    }));
    let used = if used.is_empty() { String::new() } else { format!(" It used {}.", used.join(" and ")) };
    let outcome = &result.outcome;
    text.say(format!(
        "Attempt {number} began {} into the run, in slot {slot}, and ended after {}: {outcome}.{used}",
        seconds(started),
        seconds(result.seconds)
    ));
    if !result.tail.is_empty() {
        text.say("It printed last:");
        text.list("| ", &result.tail);
    }
}

fn skipped(account: &Account, text: &mut Text) {
    let Some(skipped) = &account.skipped else { return };
    text.title("Why it was skipped");
    let failed = skipped.chain.first().map(|name| printable(name)).unwrap_or_default();
    text.say(format!(
        "{failed} failed {} into the run, in attempt {}: {}.",
        seconds(skipped.failed_s),
        skipped.attempt,
        skipped.outcome
    ));
    let chain = &skipped.chain;
    if chain.len() > 2 {
        let shown: Vec<String> = if chain.len() > LISTED {
            let hidden = format!("… {} more …", chain.len() - LISTED);
            [&chain[..LISTED / 2], &[hidden], &chain[chain.len() - LISTED / 2..]].concat()
        } else {
            chain.clone()
        };
        text.say("From there, each needs the one before:");
        text.say(format!("  {}", shown.iter().map(|name| printable(name)).collect::<Vec<_>>().join(" → ")));
    } else {
        text.say("It needs that task.");
    }
    if !skipped.tail.is_empty() {
        text.say(format!("{failed} printed last:"));
        text.list("| ", &skipped.tail);
    }
}

fn the_end(account: &Account, text: &mut Text) {
    let is_open = matches!(account.end, End::Running | End::Interrupted | End::Ready | End::Waiting);
    let mut said = Vec::new();
    match &account.stopped {
        Some(stopped) if is_open => match &stopped.failed_task {
            Some(task) => said.push(format!(
                "Nothing was started after {} failed {} into the run (--fail-fast).",
                printable(task),
                seconds(stopped.at_s)
            )),
            None => said.push(format!("The run was asked to stop {} after it began.", seconds(stopped.at_s))),
        },
        _ => {}
    }
    if account.run_state == "killed" && account.end != End::NotPart {
        said.push(format!("The engine was killed: its recording ends {} into the run.", seconds(account.recorded_s)));
        if is_open {
            said.push("The next run goes on with it.".to_owned());
        }
    }
    if let Some(chain) = &account.last_chain {
        let last = printable(&chain.last_task);
        said.push(match (chain.place, chain.length) {
            (Some(_), 1) => "It was the last task of the run to end.".to_owned(),
            (Some(place), length) => format!(
                "The end of the run hung on it: it is number {place} in the chain of {length} tasks, each the last that \
                 the next one waited for, that ends with {last}."
            ),
            (None, _) => format!("The end of the run did not hang on it, but on {last} and what that waited for."),
        });
    }
    if !said.is_empty() {
        text.title("The end of the run");
        said.iter().for_each(|sentence| text.say(sentence));
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::{AttemptResult, Difference, Holder, LastChain, LastParent, Parents, Skipped};
    use super::*;

    fn account() -> Account {
        Account {
            run: 4,
            workflow: "photos".to_owned(),
            task: "sheet".to_owned(),
            kind: "sheet".to_owned(),
            run_state: "failed".to_owned(),
            recorded_s: 14.0,
            end: End::Failed,
            why: Why { noted: Some(Reason::NeverDone), reason: Reason::NeverDone.words().to_owned(), ..Why::default() },
            parents: None,
            attempts: Vec::new(),
            stopped: None,
            skipped: None,
            last_chain: None,
        }
    }

    fn result(outcome: &str, tail: &[&str]) -> AttemptResult {
        AttemptResult {
            outcome: outcome.to_owned(),
            is_done: false,
            seconds: 2.5,
            cores: Some(0.93),
            peak_memory_bytes: Some(1_300_000_000),
            peak_is_bound: false,
            asked_memory_bytes: Some(2_000_000_000),
            tail: tail.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn who_could_not_be_as_many_as_are_worth_it_is_told_so() {
        let said = |of_its_kind| {
            let held_by = vec![Holder { kind: "hog".to_owned(), share: of_its_kind / 256.0 }];
            beside(&Queue { slots: 256, held_by, of_its_kind, ..Queue::default() }, 8)
        };
        assert!(said(2.0).contains("hog 2.0; 8 of its kind at once") && said(2.0).contains("no room for as many"));
        assert!(said(7.5).contains("hog 7.5; 8 of its kind at once") && !said(7.5).contains("no room"));
    }

    #[test]
    fn a_task_that_was_written_differently_waited_and_failed() {
        let mut account = account();
        account.why = Why {
            noted: Some(Reason::DefinitionChanged),
            reason: Reason::DefinitionChanged.words().to_owned(),
            last_done: Some(LastTime { run: 2, ended_unix_ms: 951_827_696_000, outcome: "done".to_owned() }),
            differences: vec![Difference {
                what: "command",
                before: vec!["montage small/*.jpg sheet.png".to_owned()],
                now: vec!["montage -tile 10x small/*.jpg sheet.png".to_owned()],
            }],
            ..Why::default()
        };
        account.parents = Some(Parents {
            count: 10_000,
            ran: 12,
            open: 0,
            open_names: Vec::new(),
            lost_inputs: 0,
            waited_s: Some(3.2),
            last: Some(LastParent { task: "shrink:7".to_owned(), done_s: 3.4, ran_s: Some(0.8), is_up_to_date: false }),
        });
        let queue = Queue {
            seconds: 1.5,
            inputs_came_s: 0.0,
            slots: 4,
            started_meanwhile: 31,
            held_by: vec![
                Holder { kind: "shrink".to_owned(), share: 0.7 },
                Holder { kind: "tag".to_owned(), share: 0.05 },
            ],
            did_not_fit_s: 0.9,
            lacking: vec!["memory".to_owned()],
            ..Queue::default()
        };
        account.attempts = vec![
            Attempt {
                attempt: 1,
                back_off_s: None,
                ready_s: 3.4,
                queue,
                started_s: Some(4.9),
                slot: Some(1),
                result: Some(result("exit code 1", &["montage: unable to open image", "\u{1b}[31mgiving up"])),
            },
            Attempt {
                attempt: 2,
                back_off_s: Some(0.5),
                ready_s: 7.9,
                queue: Queue::default(),
                started_s: Some(7.9),
                slot: Some(0),
                result: Some(result("exit code 1", &[])),
            },
        ];
        account.last_chain = Some(LastChain { length: 2, place: Some(2), last_task: "sheet".to_owned() });
        insta::assert_snapshot!(of(&account));
    }

    #[test]
    fn a_task_far_behind_a_failure() {
        let mut account = account();
        account.end = End::Skipped;
        account.skipped = Some(Skipped {
            chain: (1..=20).map(|step| format!("step{step}")).collect(),
            outcome: "killed by signal 9 (kill: perhaps out of memory)".to_owned(),
            attempt: 1,
            failed_s: 12.0,
            tail: vec!["loading".to_owned()],
        });
        insta::assert_snapshot!(of(&account));
    }
}
