//! When a run was executed. There are three ways to write it in the traces, and none of them can be had without the others:
//! `20190829T203450+0000`, `03-23-21T05:57:32Z` (month first), and ISO 8601 with or without parts of a second.

/// Milliseconds since 1970; without a zone, it counts as universal time.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
    // So that it can be cut anywhere.
    let text = Some(text.trim()).filter(|text| text.is_ascii())?;
    let (date, time) = text.split_once(['T', ' '])?;
    let (year, month, day) = match date.split('-').collect::<Vec<_>>()[..] {
        [whole] if whole.len() == 8 => (digits(&whole[..4])?, digits(&whole[4..6])?, digits(&whole[6..])?),
        [year, month, day] if year.len() == 4 => (digits(year)?, digits(month)?, digits(day)?),
        [month, day, year] if year.len() == 2 => (2000 + digits(year)?, digits(month)?, digits(day)?),
        _ => return None,
    };
    let zone_at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let clock = clock.replace(':', "");
    if clock.len() != 6 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (hour, minute, second) = (digits(&clock[..2])?, digits(&clock[2..4])?, digits(&clock[4..])?);
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let ms = (format!("0.{fraction}").parse::<f64>().ok()? * 1000.0) as i64;
    let seconds = days_from_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone_seconds(zone)?;
    Some(seconds * 1000 + ms)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let Some(sign) = zone.chars().next().filter(|sign| *sign != 'Z') else { return Some(0) };
    let rest = zone[1..].replace(':', "");
    let offset = match rest.len() {
        2 => digits(&rest)? * 3600,
        4 => digits(&rest[..2])? * 3600 + digits(&rest[2..])? * 60,
        _ => return None,
    };
    Some(if sign == '-' { -offset } else { offset })
}

fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Counts days by years that begin in March, so that the day that only some years have comes last.
fn days_from_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    const BEFORE_1970: i64 = 719_468;
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::unix_ms;

    #[test]
    fn all_ways_to_write_a_moment() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("20190829T203450+0000", 1_567_110_890_000),
            ("03-23-21T05:57:32Z", 1_616_479_052_000),
            ("2020-12-25T20:10:08+00:00", 1_608_927_008_000),
            ("2023-03-27T22:38:56-10:00", 1_679_992_736_000),
            ("2020-02-29T12:00:00.25", 1_582_977_600_250),
        ] {
            assert_eq!(unix_ms(text), Some(expected), "{text}");
        }
        for wrong in ["", "yesterday", "2020-13-01T00:00:00Z", "2020-01-01", "2020-01-01T1:2:3Z", "20-2-ä1T00:00:00Z"]
        {
            assert_eq!(unix_ms(wrong), None, "{wrong}");
        }
    }
}
