//! What a task asks of a machine: cores, memory, GPUs, and anything else that has a name and an amount.

use super::super::problem::Problem;
use super::super::value::{Seen, Text, Value, note_key};
use super::foreach::is_plain_name;
use super::scalar::{bytes, items, map, scalar, wrong};

/// What a task asks for, in one of the ways that would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demand {
    pub cpus_milli: Option<u32>,
    pub memory: Option<Memory>,
    /// Names and thousandths, sorted by name.
    pub named: Vec<(String, u32)>,
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub bytes: u64,
    /// Times the number of the attempt.
    pub grows: bool,
}

/// Thousandths of it still fit into 32 bits, and no machine has more of anything that is counted.
const AMOUNT_LIMIT: f64 = 100_000.0;
/// The name under which GPUs are counted.
pub(crate) const GPUS: &str = "gpus";
/// Beyond that, a choice between ways to run is no longer one that somebody made.
const ALTERNATIVES_LIMIT: usize = 16;

pub(super) fn read_cpus(key: &Text, value: Value) -> Result<u32, Problem> {
    let text = scalar(key, value)?;
    let cpus = text.text.parse::<f64>().ok().filter(|cpus| (0.0..=AMOUNT_LIMIT).contains(cpus));
    let cpus = cpus.ok_or_else(|| wrong(&text, key, "a number of cores from 0 to 100000, such as 2 or 0.5"))?;
    Ok((cpus * 1000.0).round() as u32)
}

pub(super) fn read_memory(key: &Text, value: Value) -> Result<Memory, Problem> {
    let text = scalar(key, value)?;
    let (amount, grows) = match text.text.split_once('*') {
        Some((amount, "attempt" | " attempt")) => (Text { text: amount.trim().to_owned(), mark: text.mark }, true),
        Some(_) => return Err(wrong(&text, key, "an amount such as 2GB, or one that grows: `2GB * attempt`")),
        None => (text, false),
    };
    let bytes = bytes(key, &amount)?;
    // A bare small number is a slip: nobody means three bytes.
    if bytes > 0 && bytes < 1000 {
        return Err(wrong(&amount, key, "an amount with its unit, such as 300MB or 2GiB"));
    }
    Ok(Memory { bytes, grows })
}

fn read_amount(key: &Text, value: Value) -> Result<u32, Problem> {
    let text = scalar(key, value)?;
    let amount = text.text.parse::<f64>().ok().filter(|amount| (0.001..=AMOUNT_LIMIT).contains(amount));
    let amount = amount.ok_or_else(|| wrong(&text, key, "a number from 0.001 to 100000, such as 1 or 0.5"))?;
    Ok((amount * 1000.0).round() as u32)
}

/// Reads `gpus`.
pub(super) fn read_gpus(key: &Text, value: Value) -> Result<Option<u32>, Problem> {
    if matches!(&value, Value::Scalar { text, .. } if text == "0") {
        return Ok(None);
    }
    read_amount(key, value).map(Some)
}

/// Reads `resources`: a map of amounts, or a list of such maps of which one has to be had.
pub(super) fn read_resources(key: &Text, value: Value) -> Result<Vec<Demand>, Problem> {
    let alternatives = items(value);
    if alternatives.is_empty() || alternatives.len() > ALTERNATIVES_LIMIT {
        return Err(Problem::new(
            key.mark,
            format!("`resources` has {} alternatives", alternatives.len()),
            format!("give it from 1 to {ALTERNATIVES_LIMIT}, such as `[{{ gpus: 1 }}, {{ cpus: 8 }}]`"),
        )
        .spanning(&key.text));
    }
    alternatives.into_iter().map(|value| read_demand(key, value)).collect()
}

fn read_demand(key: &Text, value: Value) -> Result<Demand, Problem> {
    let mut demand = Demand::default();
    let mut seen = Seen::default();
    for (name, value) in map(key, value, "{ gpus: 1, license: 2 }")? {
        note_key(&mut seen, &name)?;
        match name.text.as_str() {
            "cpus" => demand.cpus_milli = Some(read_cpus(&name, value)?),
            "memory" => demand.memory = Some(read_memory(&name, value)?),
            other if is_plain_name(other) => demand.named.push((other.to_owned(), read_amount(&name, value)?)),
            other => {
                return Err(Problem::new(
                    name.mark,
                    format!("`{other}` cannot be the name of a resource"),
                    "use letters, digits and `_`",
                )
                .spanning(other));
            }
        }
    }
    demand.named.sort();
    Ok(demand)
}
