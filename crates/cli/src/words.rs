//! Numbers, times and outcomes in plain words.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use throng_core::plan::Money;

use throng_core::pack::Why;
use throng_core::pack::dominant::Resource;
use throng_core::trace::Outcome;
use throng_runtime::clock::date;

/// A length of time, as short as it can be said.
pub fn duration(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
        s if s < 86400.0 => format!("{} h {:02} min", s as u64 / 3600, s as u64 % 3600 / 60),
        s => format!("{} d {} h", s as u64 / 86400, s as u64 % 86400 / 3600),
    }
}

/// So many seconds; the longest time there is if they are more.
pub fn seconds_long(length: f64) -> Duration {
    Duration::try_from_secs_f64(length.max(0.0)).unwrap_or(Duration::MAX)
}

/// A length of time in seconds.
pub fn seconds(length: f64) -> String {
    duration(seconds_long(length))
}

/// A rate per second.
pub fn rate(per_second: f64) -> String {
    match per_second {
        r if r >= 10_000.0 => format!("{:.0}k/s", r / 1000.0),
        r if r >= 100.0 => format!("{r:.0}/s"),
        r if r >= 1.0 => format!("{r:.1}/s"),
        r => format!("{r:.2}/s"),
    }
}

/// An amount of data.
pub fn bytes(count: u64) -> String {
    match count as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => format!("{b:.0} B"),
    }
}

/// Text as a shell takes it for one word, for commands that are shown to be typed.
pub fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./,:+@%=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `1 task`, `2 tasks`.
pub fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A number with its thousands set apart: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// As [`count`], for numbers that may be large.
pub fn count_many(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// How an attempt ended.
pub fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Exited(code) => format!("exit code {code}"),
        Outcome::Signalled(signal) => format!("killed by signal {signal}{}", signal_name(signal)),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::MadeRoom => "stopped to make room".to_owned(),
        Outcome::TooLarge => "too large for the memory there is".to_owned(),
        Outcome::OutOfMemory => "killed by the kernel, out of memory".to_owned(),
        Outcome::OutputsMissing(count) => self::count(count.into(), "missing output"),
        Outcome::NotStarted(error) => format!("could not be started ({})", system_error(error)),
        Outcome::FilesFailed(0) => "trouble with its files".to_owned(),
        Outcome::FilesFailed(error) => format!("trouble with its files ({})", system_error(error)),
        Outcome::NodeDied => "its node died".to_owned(),
    }
}

fn system_error(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        2 => " (interrupt)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (kill: perhaps out of memory)",
        11 => " (segmentation fault)",
        13 => " (broken pipe)",
        15 => " (terminate)",
        _ => "",
    }
}

/// A moment as date and time in UTC.
pub fn moment(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, of_day) = (seconds / 86400, seconds % 86400);
    let (year, month, day) = date(days as i64);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", of_day / 3600, of_day % 3600 / 60, of_day % 60)
}

/// Text of a task as it can be shown on a terminal: what would move the cursor or change colours is not obeyed.
pub fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }).collect()
}

/// As [`printable`], for text of several lines.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// A text of at most so many letters: the middle is left out, since beginnings and ends tell tasks apart.
pub fn shorten(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let end = (letters - 1) / 3;
    let start = letters - 1 - end;
    text.chars().take(start).chain(['…']).chain(text.chars().skip(count - end)).collect()
}

/// So much of a name is shown in a table: what is wider than a terminal is no table, and more than 65,535 letters no column.
const CELL_LETTERS: usize = 48;

/// A name in a table.
pub fn cell(name: &str) -> String {
    shorten(&printable(name), CELL_LETTERS)
}

/// How long ago a moment was.
pub fn ago(unix_ms: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    format!("{} ago", duration(Duration::from_millis(now.saturating_sub(unix_ms))))
}

/// Why another number of tasks of a kind is to run at once.
pub fn why_width(why: Why) -> String {
    match why {
        Why::Profiled(resource) => format!("single ones need {} most", resource_word(resource)),
        Why::Grows => "more at once may bring more".to_owned(),
        Why::Contention => "so many more brought no more".to_owned(),
        Why::Drifted => "as many as before bring something else".to_owned(),
        Why::Cores => "so many keep the cores busy".to_owned(),
        Why::Fewer => "fewer may bring as much".to_owned(),
        Why::Strangers => "others want the cores as well".to_owned(),
    }
}

/// A resource as people call it.
pub fn resource_word(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "cores",
        Resource::Network => "the network",
        Resource::Disk => "disks",
        Resource::Memory => "memory",
        Resource::Remote => "shared storage",
    }
}

/// What the last digit stands for of an amount of money that is shown.
pub const MONEY_SHOWN: u64 = 100_000_000;

/// An amount of money as people read it: four digits behind the point, rounded up.
pub fn money(currency: &str, amount: Money) -> String {
    let parts = amount.0.div_ceil(MONEY_SHOWN);
    let shown = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    if currency == "$" { format!("${shown}") } else { format!("{shown} {}", printable(currency)) }
}

#[cfg(test)]
mod tests {
    use throng_core::workflow::quantity;

    use super::*;

    #[test]
    fn dates() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_827_696_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(moment(1_794_700_800_000), "2026-11-15 00:00:00 UTC");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("align:sample-2024-left", 10), "align:…eft");
        assert_eq!(shorten("éééééééééééé", 4), "éé…é");
        assert_eq!((cell("m3.large"), cell("\u{1b}[31m")), ("m3.large".to_owned(), "\u{fffd}[31m".to_owned()));
        assert_eq!(cell(&"x".repeat(70_000)).chars().count(), CELL_LETTERS);
    }

    #[test]
    fn large_numbers() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count_many(1, "task") + &count_many(10_000, "task"), "1 task10,000 tasks");
    }

    #[test]
    fn lengths_of_time() {
        let shown = [0.0000005, 0.25, 1.5, 61.0, 3700.0, 90_000.0].map(seconds);
        assert_eq!(shown, ["0 µs", "250 ms", "1.5 s", "1 min 01 s", "1 h 01 min", "1 d 1 h"]);
    }

    #[test]
    fn lengths_of_time_can_be_typed_as_they_are_shown() {
        let mut length = 1e-6;
        while length < 50.0 * 365.0 * 86400.0 {
            let shown = seconds(length);
            let read = quantity::duration(&shown).unwrap_or_else(|error| panic!("{length} {shown}: {error}"));
            let units = [(1e-3, 1e-6), (1.0, 1e-3), (60.0, 0.1), (3600.0, 1.0), (86400.0, 60.0)];
            let last_digit = units.iter().find(|(below, _)| length < *below).map_or(3600.0, |(_, digit)| *digit);
            assert!((read.as_secs_f64() - length).abs() <= last_digit, "{length} {shown}: {read:?}");
            length *= 1.003;
        }
    }
}
