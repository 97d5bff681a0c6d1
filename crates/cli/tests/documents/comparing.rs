//! Comparing what a page shows with what was printed: times, rates, sizes and dates differ from run to run.

/// Whether the printed lines are what the page shows. A line `…` stands for any number of lines, and `…` in a line for any text.
pub fn is_alike(shown: &[String], printed: &[String]) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| masked(line)).collect();
    let printed: Vec<String> = printed.iter().filter(|line| !is_progress(line)).map(|line| masked(line)).collect();
    lines_match(&shown, &printed)
}

/// A line that a run prints every few seconds when nobody watches: a busy machine has more of them.
pub fn is_progress(line: &str) -> bool {
    line.starts_with('[') && line.contains("s] ") && line.contains(" running")
}

fn lines_match(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "…" => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        (Some((line, rest)), Some((actual, others))) => line_matches(line, actual) && lines_match(rest, others),
        _ => false,
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return shown == printed };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    after.is_empty()
        || rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
}

const UNITS: [&str; 12] = ["ns", "µs", "ms", "s", "min", "h", "d", "B", "kB", "MB", "GB", "UTC"];

/// A line in which amounts that differ from run to run are all written the same.
fn masked(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut pieces = line.split_whitespace().peekable();
    let is_of_run = line.starts_with("makespan ");
    while let Some(piece) = pieces.next() {
        let (core, mut tail) = split_tail(piece);
        let (open, core) = core.strip_prefix('(').map_or(("", core), |core| ("(", core));
        // A number and its unit, as two words; rates are one. `5m` in a command is meant as it is.
        let unit = pieces.peek().map(|next| split_tail(next)).filter(|(unit, _)| UNITS.contains(unit));
        let mut is_amount = core.strip_suffix("/s").is_some_and(|rate| is_number(rate.trim_end_matches('k')));
        if let Some((_, after)) = unit.filter(|_| is_number(core) && tail.is_empty()) {
            pieces.next();
            (is_amount, tail) = (true, after);
        }
        let follows = |word: &str| words.last().is_some_and(|last| last.ends_with(word));
        is_amount |= is_date(core) || follows("process") && is_number(core);
        // What part of a run's time its bounds are differs, too; in tables of simulated runs nothing does.
        is_amount |= is_of_run && is_number(core) && pieces.next_if(|next| split_tail(next).0 == "%").is_some();
        match words.last_mut() {
            _ if !is_amount => words.push(piece.to_owned()),
            // `1 min 05 s` is one amount.
            Some(last) if last.ends_with('#') => last.push_str(tail),
            _ => words.push(format!("{open}#{tail}")),
        }
    }
    words.join(" ")
}

fn split_tail(word: &str) -> (&str, &str) {
    let core = word.trim_end_matches([',', ')', ':', ';', '.']);
    (core, &word[core.len()..])
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// `2026-11-15` or `12:31:55`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', ':']).collect();
    parts.len() == 3 && parts.iter().all(|part| part.len() >= 2 && part.chars().all(|letter| letter.is_ascii_digit()))
}

#[test]
fn times_do_not_matter_but_counts_do() {
    let alike = |shown: &str, printed: &str| is_alike(&[shown.to_owned()], &[printed.to_owned()]);
    assert!(alike("run 2: 18 tasks: 8 done in 4.4 s, 206/s", "run 2: 18 tasks: 8 done in 1 min 02 s, 12k/s"));
    assert!(!alike("run 2: 18 tasks: 8 done in 4.4 s", "run 2: 18 tasks: 9 done in 4.4 s"));
    assert!(alike("  1  2026-11-15 12:31:55 UTC  done", "  1  2027-01-02 00:00:00 UTC  done"));
    assert!(alike("failed: t (exit code 3, 844 µs)", "failed: t (exit code 3, 1.2 ms)"));
    let makespan = |time: &str, part: &str| format!("makespan {time}; lower bound 1.2 s, {part} of the makespan");
    assert!(alike(&makespan("1.30 s", "92.3 %"), &makespan("1 min 00.1 s", "2.0 %")));
    assert!(!alike("  1Gbit  61.7 %", "  1Gbit  61.8 %"));
    assert!(alike("a … z", "a b c z") && !alike("a … z", "a b c"));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(is_alike(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(!is_alike(&lines("a\n…\nd"), &lines("a\nb\nc")));
}
