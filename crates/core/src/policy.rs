//! Policies as people name them: `name` or `name:key=value,key=value`, everywhere in the same way.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

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
    #[error("there is no {decision} policy `{name}`; known are {known}")]
    Unknown {
        /// Which of the four decisions it was for.
        decision: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The policy does not have this parameter.
    #[error("the policy `{policy}` has no parameter `{parameter}`{}", if known.is_empty() { "; it takes none".to_owned() } else { format!("; known are {known}") })]
    Parameter {
        /// The policy.
        policy: String,
        /// What was given.
        parameter: String,
        /// What there is.
        known: String,
    },
    /// A parameter is not written as `key=value`.
    #[error("`{0}` is not of the form key=value")]
    Form(String),
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
            .collect::<Result<_, _>>()?;
        Ok(Policy { name: name.trim().to_owned(), parameters })
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
        match self.parameters.first() {
            None => Ok(()),
            Some((parameter, _)) => Err(BadPolicy::Parameter {
                policy: self.name.clone(),
                parameter: parameter.clone(),
                known: String::new(),
            }),
        }
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
    }
}
