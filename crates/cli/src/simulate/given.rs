//! Things that are asked for as policies are written, `name:key=value,key=value`, each with an example that names every key.

use std::time::Duration;

use throng_core::policy::{BadPolicy, Policy};
use throng_core::spelling;
use throng_core::workflow::quantity;
use throng_sim::faults::FOREVER;

/// Something that can be asked for: its name, an example with every key that it takes, and what it does.
pub struct Known {
    pub name: &'static str,
    pub example: &'static str,
    pub does: &'static str,
}

/// All of them, each in a line, for those who ask for help.
pub fn list(known: &[Known]) -> String {
    let lines =
        known.iter().map(|Known { name, example, does }| format!("  {:<42}  {does}", format!("{name}:{example}")));
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads something that is known, with no key that is not.
pub fn read(text: &str, what: &str, known: &'static [Known]) -> Result<Policy, String> {
    let policy: Policy = text.parse().map_err(|error: BadPolicy| error.to_string())?;
    let Some(Known { name, example, .. }) = known.iter().find(|known| known.name == policy.name) else {
        let names: Vec<&str> = known.iter().map(|known| known.name).collect();
        let meant = spelling::nearest(&policy.name, names.iter().copied());
        let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        return Err(format!("there is no {what} `{}`; {meant}known are {}", policy.name, names.join(", ")));
    };
    let keys: Vec<&str> = example.split(',').filter_map(|part| Some(part.split_once('=')?.0)).collect();
    for (key, _) in &policy.parameters {
        if !keys.contains(&key.as_str()) {
            return Err(format!("the {what} `{name}` has no `{key}`: write {name}:{example}"));
        }
    }
    Ok(policy)
}

/// What was given.
pub struct Given<'a> {
    pub known: &'static Known,
    what: &'static str,
    policy: &'a Policy,
}

impl<'a> Given<'a> {
    /// What was given for something that has been read.
    pub fn new(policy: &'a Policy, what: &'static str, known: &'static [Known]) -> Given<'a> {
        let known = known.iter().find(|known| known.name == policy.name);
        Given { known: known.expect("what has been read is known"), what, policy }
    }

    /// The value of a key, or a default if there is one.
    pub fn value<T>(
        &self,
        key: &str,
        default: Option<T>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, String> {
        let (what, Known { name, example, .. }) = (self.what, self.known);
        match self.policy.parameters.iter().find(|(given, _)| given == key) {
            Some((_, value)) => read(value).map_err(|error| format!("{key}={value}: {error}")),
            None => default.ok_or_else(|| format!("the {what} `{name}` needs `{key}`: write {name}:{example}")),
        }
    }

    pub fn time(&self, key: &str, default: Option<Duration>) -> Result<Duration, String> {
        self.value(key, default, quantity::duration)
    }

    pub fn back(&self) -> Result<Option<Duration>, String> {
        self.value("back", Some(None), |text| quantity::duration(text).map(Some))
    }

    pub fn number(&self, key: &str, default: Option<u32>) -> Result<u32, String> {
        self.value(key, default, |text| text.parse().map_err(|_| "write a whole number, counted from 0".to_owned()))
    }

    /// A number that need not be whole, up to some.
    pub fn amount(&self, key: &str, default: Option<f64>, most: f64) -> Result<f64, String> {
        self.value(key, default, |text| {
            let amount = text.parse().ok().filter(|amount| (0.0..=most).contains(amount));
            amount.ok_or_else(|| format!("write a number from 0 to {most}"))
        })
    }

    pub fn share(&self) -> Result<f64, String> {
        self.value("share", None, |text| {
            let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            share.ok_or_else(|| "write a number from 0 to 1, such as 0.01".to_owned())
        })
    }

    /// From when to when; to the end of the run if nobody has to say.
    pub fn period(&self, may_be_open: bool) -> Result<(Duration, Duration), String> {
        let from = self.time("from", Some(Duration::ZERO))?;
        let until = self.time("until", may_be_open.then_some(FOREVER))?;
        if until <= from {
            return Err(format!("`until` ({}) has to be later than `from` ({})", time_word(until), time_word(from)));
        }
        Ok((from, until))
    }
}

/// A length of time as it is written, exactly.
pub fn time_word(time: Duration) -> String {
    let ns = time.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
    let (per_unit, unit) = units.into_iter().find(|(per_unit, _)| ns.is_multiple_of(*per_unit)).unwrap_or((1, "ns"));
    format!("{}{unit}", ns / per_unit)
}
