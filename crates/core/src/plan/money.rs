//! Money, in whole numbers: sums are exact, whoever adds them up in whichever order.
//!
//! The unit is a millionth of a millionth of whatever currency prices are in. A task of a millisecond on a machine of a cent an hour costs
//! thousands of them, so rounding a charge to the next whole one is nothing; and a total may be up to eighteen million of the currency.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Sub};

/// How many of the smallest units make one of the currency.
const PER_UNIT: u64 = 1_000_000_000_000;
/// Digits behind the point.
const DIGITS: usize = 12;
/// Nanoseconds of an hour.
const HOUR_NS: u128 = 3_600_000_000_000;

/// An amount of money, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub u64);

impl Money {
    /// None.
    pub const ZERO: Money = Money(0);
    /// More than anybody has.
    pub const MAX: Money = Money(u64::MAX);

    /// Reads `0.067`, `$5`, `12`: exactly, digit by digit.
    pub fn parse(text: &str) -> Result<Money, String> {
        let wrong = || format!("`{text}` is not an amount of money: write a number such as 5 or 0.067");
        // As it is shown: with a sign before it or behind it.
        const SIGNS: [char; 3] = ['$', '€', '£'];
        let digits = text.trim().trim_start_matches(SIGNS).trim_end_matches(SIGNS).trim();
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
        if whole.is_empty() && part.is_empty() || !is_number(whole) || !is_number(part) {
            return Err(wrong());
        }
        let part = part.trim_end_matches('0');
        if part.len() > DIGITS {
            return Err(format!("`{text}` has more than {DIGITS} digits behind the point, which no price needs"));
        }
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_much(text))? };
        let part: u64 = format!("{part:0<DIGITS$}").parse().map_err(|_| wrong())?;
        let all = whole.checked_mul(PER_UNIT).and_then(|whole| whole.checked_add(part));
        all.map(Money).ok_or_else(|| too_much(text))
    }

    /// What something costs that has this price for an hour, for so long; what is left of a smallest unit is charged.
    pub fn for_time(self, time_ns: u64) -> Money {
        let charge = (u128::from(self.0) * u128::from(time_ns)).div_ceil(HOUR_NS);
        Money(u64::try_from(charge).unwrap_or(u64::MAX))
    }

    /// This less that, or none.
    pub fn less(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// As a number that is only shown or drawn.
    pub fn about(self) -> f64 {
        self.0 as f64 / PER_UNIT as f64
    }
}

fn too_much(text: &str) -> String {
    format!("`{text}` is more than eighteen million: is the unit right?")
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl Sub for Money {
    type Output = Money;

    fn sub(self, other: Money) -> Money {
        Money(self.0.checked_sub(other.0).expect("nobody takes away more than there is"))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

/// Every digit that counts, and at least two behind the point.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:0DIGITS$}", self.0 % PER_UNIT);
        let kept = part.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.0 / PER_UNIT, &part[..kept])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_to_the_last_digit() {
        for (text, again) in [("5", "5.00"), ("$0.067", "0.067"), (".5", "0.50"), ("0.000000000001", "0.000000000001")]
        {
            assert_eq!(Money::parse(text).unwrap().to_string(), again);
        }
        assert_eq!(Money::parse("18446744").unwrap().to_string(), "18446744.00");
        for text in ["", ".", "-1", "1e3", "five", "1.2.3", "0.0000000000001", "18446745"] {
            assert!(Money::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_charge_is_rounded_up_once() {
        let price = Money::parse("0.067").unwrap();
        assert_eq!(price.for_time(3_600_000_000_000), price);
        assert_eq!(price.for_time(30_000_000_000).to_string(), "0.000558333334");
        assert_eq!((price.for_time(0), Money(1).for_time(1)), (Money::ZERO, Money(1)));
        assert_eq!(Money::MAX.for_time(u64::MAX), Money::MAX);
    }
}
