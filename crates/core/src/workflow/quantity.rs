//! Lengths of time, amounts of memory and speeds of networks as people write them.

use std::time::Duration;

/// A century: anything longer is a slip of the pen, and arithmetic on it would overflow.
pub const LONGEST_SECONDS: f64 = 100.0 * 365.0 * 86400.0;

/// Reads `90`, `1.5s`, `250ms`, `5m`, `2h`, `1d`, and sums with falling units as tools print them: `1h30m`, `10 h 23 min`. A bare
/// number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (mut rest, mut nanos, mut last) = (text.trim(), 0.0, None);
    loop {
        let part = Part::of(rest, last.as_ref())?;
        nanos += part.number * part.nanos_per_unit;
        rest = rest[part.text.len()..].trim_start();
        if rest.is_empty() {
            break;
        }
        last = Some(part);
    }
    if nanos > LONGEST_SECONDS * 1e9 {
        return Err(format!("`{text}` is longer than a century"));
    }
    Ok(Duration::from_nanos(nanos.round() as u64))
}

/// A part of a length of time: `30` and `m`.
struct Part<'a> {
    text: &'a str,
    number: f64,
    nanos_per_unit: f64,
}

impl<'a> Part<'a> {
    /// The first part of a text, which may stand behind another.
    fn of(text: &'a str, before: Option<&Part>) -> Result<Part<'a>, String> {
        let (number, behind) = split(text)?;
        let ends = |letter: char| letter.is_whitespace() || letter.is_ascii_digit() || letter == '.';
        let (unit, behind) = behind.split_at(behind.find(ends).unwrap_or(behind.len()));
        let text = text[..text.len() - behind.len()].trim_end();
        let nanos_per_unit = match unit {
            "" if before.is_some() || !behind.is_empty() => {
                return Err(format!("`{text}` has no unit, and only a time of one number can do without: write 1h30m"));
            }
            "" | "s" => 1e9,
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            "d" => 86400e9,
            _ => return Err(format!("unknown unit of time `{unit}`; use ms, s, m, h or d")),
        };
        match before {
            Some(before) if before.nanos_per_unit <= nanos_per_unit => {
                Err(format!("`{text}` stands behind `{}`; write larger units first, each once: 1h30m", before.text))
            }
            _ => Ok(Part { text, number, nanos_per_unit }),
        }
    }
}

/// Reads `300MB`, `2GiB`, `512k`, `1e9`; a bare number is bytes, decimal units count in thousands.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let bytes_per_unit: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" | "ki" => 1024.0,
        "mib" | "mi" => 1024.0 * 1024.0,
        "gib" | "gi" => 1024.0 * 1024.0 * 1024.0,
        "tib" | "ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("unknown unit of memory `{unit}`; use kB, MB, GB, KiB, MiB or GiB")),
    };
    let bytes = number * bytes_per_unit;
    if bytes > 1e18 {
        return Err(format!("`{text}` is more than an exabyte"));
    }
    Ok(bytes.round() as u64)
}

/// Reads `1Gbit`, `10Gbit/s`, `100Mbps`, `125MB`, `125MB/s`: bytes a second. A bare number is bytes a second, too; a small `b`
/// with a larger unit before it is refused, since half of its readers take it for bits.
pub fn bandwidth(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let amount = ["/s", "/sec", "ps"].iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(unit);
    let is_per_second = amount.len() < unit.len();
    let bits = amount.strip_suffix("bits").or_else(|| amount.strip_suffix("bit"));
    // `Mbps` is bits everywhere; `MBps` is bytes.
    let bits = bits.or_else(|| amount.strip_suffix('b').filter(|_| is_per_second && unit.ends_with("ps")));
    let bytes = match bits {
        Some(prefix) => bytes(&format!("{number}{prefix}"))? / 8,
        None if amount.len() > 1 && amount.ends_with('b') => {
            return Err(format!(
                "`{text}` may mean bits or bytes: write {number}{amount}it or {number}{}",
                amount.to_uppercase()
            ));
        }
        None => bytes(&format!("{number}{amount}")).map_err(|error| match error {
            error if error.starts_with("unknown") => {
                format!("unknown unit of bandwidth `{unit}`; use Mbit, Gbit, MB or GB, with or without /s")
            }
            error => error,
        })?,
    };
    match bytes {
        bytes if bytes < 1000 => Err(format!(
            "`{text}` is {bytes} bytes a second, too little to get anywhere: write a unit, such as 1Gbit or 100MB"
        )),
        bytes => Ok(bytes),
    }
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let digits = text
        .char_indices()
        .find(|(at, letter)| {
            let exponent =
                matches!(letter, 'e' | 'E') && text[at + 1..].starts_with(|next: char| next.is_ascii_digit());
            !(letter.is_ascii_digit() || *letter == '.' || exponent)
        })
        .map_or(text.len(), |(at, _)| at);
    let number: f64 = text[..digits].parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
    Ok((number, text[digits..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250 ms"), Ok(Duration::from_millis(250)));
        assert!(duration("5 weeks").is_err());
        assert!(duration("-1s").is_err());
        assert!(duration("1e30").is_err());
    }

    #[test]
    fn lengths_of_time_in_parts() {
        for (text, millis) in [
            ("1h30m", 5_400_000),
            ("10 h 23 min", 37_380_000),
            ("1m 30.5s", 90_500),
            (" 2 min 41.5 s ", 161_500),
            ("1d1h1m1s1ms", 90_061_001),
            ("1 d 1 h", 90_000_000),
            ("1.5h 30m", 7_200_000),
            ("1m2e3ms", 62_000),
            ("1 h 00 min", 3_600_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for (text, message) in [
            ("30m1h", "`1h` stands behind `30m`; write larger units first, each once: 1h30m"),
            ("1h 1h", "`1h` stands behind `1h`"),
            ("1 m 1 min", "`1 min` stands behind `1 m`"),
            ("1h 30", "`30` has no unit"),
            ("1h30", "`30` has no unit"),
            ("30 1s", "`30` has no unit"),
            ("1h and 30m", "`and 30m` does not begin with a number"),
            ("1h30x", "unknown unit of time `x`"),
            ("1h -30m", "`-30m` does not begin with a number"),
            ("99y 1d", "unknown unit of time `y`"),
            ("36400d 200000h", "`36400d 200000h` is longer than a century"),
            ("", "`` does not begin with a number"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn speeds_of_networks() {
        for text in
            ["1Gbit", "1 Gbit/s", "1000Mbps", "1e9bit/s", "125MB", "125MB/s", "125MBps", "0.125GB/s", "125000000"]
        {
            assert_eq!(bandwidth(text), Ok(125_000_000), "{text}");
        }
        assert_eq!(bandwidth("10Gbit/s"), Ok(1_250_000_000));
        assert_eq!(bandwidth("1GiB/s"), Ok(1 << 30));
        let wrong = bandwidth("1Gb/s").unwrap_err();
        assert_eq!(wrong, "`1Gb/s` may mean bits or bytes: write 1Gbit or 1GB");
        for wrong in ["fast", "1Gbaud", "0", "0Gbit", "1bit", "-1MB", "1MB/h", "1e30Gbit"] {
            assert!(bandwidth(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn amounts_of_memory() {
        assert_eq!(bytes("300MB"), Ok(300_000_000));
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        assert_eq!(bytes("1e9"), Ok(1_000_000_000));
        assert!(bytes("lots").is_err());
        assert!(bytes("1e30").is_err());
    }
}
