//! Policies as people name them: `name` or `name:key=value,key=value`, everywhere in the same way.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::spelling;
use crate::workflow::quantity;

/// A policy chosen by name, with its parameters as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which policy.
    pub name: String,
    /// Its parameters, in the order written.
    pub parameters: Vec<(String, String)>,
}

/// A policy that cannot be had.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadPolicy {
    /// No policy has this name.
    #[error("there is no {decision} policy `{name}`; {}known are {known}", meant(name, known))]
    Unknown {
        /// Which of the four decisions it was for.
        decision: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The policy does not have this parameter.
    #[error("the policy `{policy}` has no parameter `{parameter}`{}", if known.is_empty() { "; it takes none".to_owned() } else { format!("; {}known are {known}", meant(parameter, known)) })]
    Parameter {
        /// The policy.
        policy: String,
        /// What was given.
        parameter: String,
        /// What there is.
        known: String,
    },
    /// A parameter has a value that it cannot have.
    #[error("`{value}` is not a value for the parameter `{parameter}` of the policy `{policy}`: it takes {expected}")]
    Value {
        /// The policy.
        policy: String,
        /// The parameter.
        parameter: String,
        /// What was given.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A parameter is given more than once.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A parameter is not written as `key=value`.
    #[error("`{0}` is not of the form key=value")]
    Form(String),
}

/// What may have been meant, of words with commas between them.
fn meant(word: &str, known: &str) -> String {
    let nearest = spelling::nearest(word, known.split(", "));
    nearest.map_or_else(String::new, |nearest| format!("did you mean `{nearest}`? "))
}

impl FromStr for Policy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let parameters = rest
            .split(',')
            .filter(|part| !part.is_empty())
            .map(|part| match part.split_once('=') {
                Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
                None => Err(BadPolicy::Form(part.to_owned())),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let name = name.trim().to_owned();
        for (at, (parameter, _)) in parameters.iter().enumerate() {
            if parameters[..at].iter().any(|(earlier, _)| earlier == parameter) {
                return Err(BadPolicy::Twice(parameter.clone()));
            }
        }
        Ok(Policy { name, parameters })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (key, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl Policy {
    /// Refuses parameters, for a policy that takes none.
    pub(crate) fn takes_none(&self) -> Result<(), BadPolicy> {
        self.takes(&[])
    }

    /// Refuses parameters that are not among these.
    pub(crate) fn takes(&self, known: &[&str]) -> Result<(), BadPolicy> {
        match self.parameters.iter().find(|(parameter, _)| !known.contains(&parameter.as_str())) {
            None => Ok(()),
            Some((parameter, _)) => Err(BadPolicy::Parameter {
                policy: self.name.clone(),
                parameter: parameter.clone(),
                known: known.join(", "),
            }),
        }
    }

    /// The value of a parameter, or a default.
    pub(crate) fn value<T>(
        &self,
        parameter: &str,
        default: T,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, BadPolicy> {
        let Some((_, value)) = self.parameters.iter().find(|(key, _)| key == parameter) else {
            return Ok(default);
        };
        read(value).ok_or_else(|| BadPolicy::Value {
            policy: self.name.clone(),
            parameter: parameter.to_owned(),
            value: value.clone(),
            expected,
        })
    }

    /// A parameter that is a number from zero, perhaps `inf`.
    pub(crate) fn number(&self, parameter: &str, default: f64) -> Result<f64, BadPolicy> {
        let read = |text: &str| text.parse().ok().filter(|number: &f64| *number >= 0.0);
        self.value(parameter, default, "a number that is not negative, or inf", read)
    }

    /// A parameter that is a whole number from one.
    pub(crate) fn count(&self, parameter: &str, default: u32) -> Result<u32, BadPolicy> {
        let read = |text: &str| text.parse().ok().filter(|number: &u32| *number > 0);
        self.value(parameter, default, "a whole number from 1", read)
    }

    /// A parameter that is a whole number from zero.
    pub(crate) fn whole(&self, parameter: &str, default: u64) -> Result<u64, BadPolicy> {
        self.value(parameter, default, "a whole number", |text| text.parse().ok())
    }

    /// A parameter that is a length of time, not zero. Its unit is said: whoever writes 200 may well mean milliseconds.
    pub(crate) fn time(&self, parameter: &str, default: Duration) -> Result<Duration, BadPolicy> {
        let read = |text: &str| {
            let time = quantity::duration(text).ok().filter(|time| !time.is_zero());
            time.filter(|_| text.ends_with(char::is_alphabetic))
        };
        self.value(parameter, default, "a length of time with its unit, such as 10s or 1ms", read)
    }

    pub(crate) fn unknown(&self, decision: &'static str, known: &[&str]) -> BadPolicy {
        BadPolicy::Unknown { decision, name: self.name.clone(), known: known.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read_again() {
        for text in ["fifo", "flds:t=0.5,tt=10s"] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
        assert!("flds:t".parse::<Policy>().is_err());
        let twice = "flds:t=1,tt=1s,t=2".parse::<Policy>().unwrap_err();
        assert_eq!(twice.to_string(), "`t` is given twice");
    }

    #[test]
    fn mistakes_are_told_with_their_remedy() {
        let policy: Policy = "lern:intervall=1s,interval=200".parse().unwrap();
        let unknown = policy.unknown("pack", &["fixed", "learn"]).to_string();
        assert_eq!(unknown, "there is no pack policy `lern`; did you mean `learn`? known are fixed, learn");
        let parameter = policy.takes(&["interval", "most"]).unwrap_err().to_string();
        assert!(parameter.ends_with("no parameter `intervall`; did you mean `interval`? known are interval, most"));
        let unit = policy.time("interval", Duration::MAX).unwrap_err().to_string();
        assert!(unit.ends_with("a length of time with its unit, such as 10s or 1ms"), "{unit}");
    }
}
