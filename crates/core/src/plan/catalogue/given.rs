//! A catalogue of machines as people write it.

use crate::workflow::quantity;
use crate::workflow::reading::{Mark, Problem, Problems, Text, Value, unknown_key};

use super::super::money::Money;
use super::written::{count, cpus, cpus_wanted, entries, is_xml, map, positive, value};
use super::{ANY_MEMORY, Billing, Catalogue, HOUR_NS, MINUTE_NS, Machine, SECOND_NS, Transfer, xml};

const TOP: [&str; 4] = ["currency", "billing", "transfer", "machines"];
const OF_MACHINE: [&str; 9] = ["cpus", "memory", "clock", "speed", "price", "count", "start", "bandwidth", "billing"];
const EXAMPLE: &str = "{ cpus: 2, memory: 8GB, price: 0.10 }";
/// A machine without any other word has such a network.
const BANDWIDTH: u64 = 125_000_000;

/// Reads a catalogue; `name` is that of the file, which says how it is written.
pub fn read(text: &str, name: &str) -> Result<Catalogue, Problems> {
    let catalogue = if is_xml(name, text) { xml::machines(text)? } else { catalogue(text, name)? };
    if catalogue.machines.is_empty() {
        let remedy = format!("write `machines: {{ small: {EXAMPLE} }}`");
        return Err(Problem::new(Mark::default(), "there is no type of machine in this file", remedy).into());
    }
    if catalogue.machines.len() > Catalogue::MOST_TYPES {
        let message = format!("there are more than {} types of machines", Catalogue::MOST_TYPES);
        return Err(Problem::new(Mark::default(), message, "leave out those that nobody wants").into());
    }
    Ok(catalogue)
}

fn catalogue(text: &str, name: &str) -> Result<Catalogue, Problems> {
    let mut catalogue = Catalogue { currency: "$".to_owned(), ..Catalogue::default() };
    let (mut billing, mut machines) = (Billing::default(), Vec::new());
    for (key, value) in entries(text, name)? {
        match key.text.as_str() {
            "currency" => catalogue.currency = self::value(&key, value, "a word", |text| Ok(text.to_owned()))?,
            "billing" => billing = read_billing(&key, value)?,
            "transfer" => catalogue.transfer = read_transfer(&key, value)?,
            "machines" => machines = map(&key, value, &format!("{{ small: {EXAMPLE} }}"))?,
            _ => return Err(unknown_key(&key, "in a file of machines", &TOP).into()),
        }
    }
    for (name, value) in machines {
        catalogue.machines.push(read_machine(name, value, billing)?);
    }
    Ok(catalogue)
}

fn read_machine(name: Text, value: Value, billing: Billing) -> Result<Machine, Problem> {
    let mut machine = Machine {
        name: name.text.clone(),
        cpus: 1,
        memory_bytes: ANY_MEMORY,
        clock_khz: None,
        speed: 1.0,
        price: Money::ZERO,
        count: None,
        start_ns: 0,
        bandwidth: BANDWIDTH,
        billing,
    };
    let mut has_price = false;
    for (key, value) in map(&name, value, EXAMPLE)? {
        match key.text.as_str() {
            "cpus" => machine.cpus = self::value(&key, value, &cpus_wanted(), cpus)?,
            "memory" => machine.memory_bytes = self::value(&key, value, "an amount such as 8GB", quantity::bytes)?,
            "clock" => machine.clock_khz = Some(self::value(&key, value, "a clock such as 2.5GHz", clock)?),
            "speed" => machine.speed = self::value(&key, value, "a number above 0", positive)?,
            "price" => {
                machine.price = self::value(&key, value, "what it costs for an hour, such as 0.067", Money::parse)?;
                has_price = true;
            }
            "count" => machine.count = Some(self::value(&key, value, "a whole number from 1 to 1000000", count)?),
            "start" => machine.start_ns = time(&key, value)?,
            "bandwidth" => {
                machine.bandwidth = self::value(&key, value, "a speed such as 1Gbit", quantity::bandwidth)?;
            }
            "billing" => machine.billing = read_billing(&key, value)?,
            _ => return Err(unknown_key(&key, &format!("of the machine `{}`", name.text), &OF_MACHINE)),
        }
    }
    if has_price {
        return Ok(machine);
    }
    let message = format!("the machine `{}` has no price", name.text);
    Err(Problem::new(name.mark, message, "write `price: 0.10`, what it costs for an hour; 0 if it costs nothing")
        .spanning(&name.text))
}

fn time(key: &Text, value: Value) -> Result<u64, Problem> {
    let read = |text: &str| quantity::duration(text).map(|time| time.as_nanos() as u64);
    self::value(key, value, "a time such as 90s", read)
}

/// `second`, `minute` or `hour`, perhaps with a minimum.
fn read_billing(key: &Text, value: Value) -> Result<Billing, Problem> {
    let unit = |text: &str| match text {
        "second" => Ok(SECOND_NS),
        "minute" => Ok(MINUTE_NS),
        "hour" => Ok(HOUR_NS),
        _ => Err(String::new()),
    };
    let wanted = "second, minute or hour";
    if let Value::Scalar { .. } = value {
        return Ok(Billing { unit_ns: self::value(key, value, wanted, unit)?, least_ns: 0 });
    }
    let mut billing = Billing::default();
    for (key, value) in map(key, value, "{ by: second, minimum: 1m }")? {
        match key.text.as_str() {
            "by" => billing.unit_ns = self::value(&key, value, wanted, unit)?,
            "minimum" => billing.least_ns = time(&key, value)?,
            _ => return Err(unknown_key(&key, "of `billing`", &["by", "minimum"])),
        }
    }
    Ok(billing)
}

fn read_transfer(key: &Text, value: Value) -> Result<Transfer, Problem> {
    let mut transfer = Transfer::default();
    for (key, value) in map(key, value, "{ between: 0.01 }")? {
        let price = match key.text.as_str() {
            "in" => &mut transfer.into,
            "out" => &mut transfer.out,
            "between" => &mut transfer.between,
            _ => return Err(unknown_key(&key, "of `transfer`", &["in", "out", "between"])),
        };
        *price = self::value(&key, value, "what a GB costs, such as 0.01", Money::parse)?;
    }
    Ok(transfer)
}

/// `2.5GHz`, `2500 MHz`, as thousands of cycles a second.
pub(super) fn clock(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let at = text.find(|letter: char| letter.is_ascii_alphabetic()).ok_or("it needs a unit: GHz or MHz")?;
    let (number, unit) = (positive(text[..at].trim())?, &text[at..]);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "ghz" => 1e6,
        "mhz" => 1e3,
        "khz" => 1.0,
        _ => return Err("the unit is GHz or MHz".to_owned()),
    };
    Ok((number * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "currency: EUR\nbilling: hour\ntransfer: { in: 0.02, out: 0.09, between: 0.01 }\nmachines:\n  small: { price: 0.067 }\n  \
                    large: { cpus: 8, memory: 30GiB, clock: 2.5GHz, speed: 1.6, price: 0.532, count: 5, start: 90s, bandwidth: 1Gbit, \
                    billing: { by: second, minimum: 1m } }\n";
        let catalogue = read(text, "machines.yaml").unwrap();
        assert_eq!((catalogue.currency.as_str(), catalogue.transfer.out.to_string().as_str()), ("EUR", "0.09"));
        let [small, large] = catalogue.machines.as_slice() else { panic!("{catalogue:?}") };
        assert_eq!((small.cpus, small.billing.unit_ns, small.count), (1, HOUR_NS, None));
        assert_eq!(
            (large.cpus, large.clock_khz, large.count, large.start_ns),
            (8, Some(2_500_000), Some(5), 90 * SECOND_NS)
        );
        assert_eq!(large.billing, Billing { unit_ns: SECOND_NS, least_ns: MINUTE_NS });
        let json = r#"{"machines": {"small": {"price": 0.067, "cpus": 2}}}"#;
        assert_eq!(read(json, "machines.json").unwrap().machines[0].price.to_string(), "0.067");
    }

    #[test]
    fn every_mistake_has_its_place_and_its_remedy() {
        for (text, message) in [
            ("", "there is no type of machine"),
            ("machine: 3", "1:1: unknown key `machine` in a file of machines; did you mean `machines`?"),
            ("machines: { a: { cpus: 2 } }", "1:13: the machine `a` has no price"),
            ("machines: { a: { price: -1 } }", "`price` cannot be `-1`"),
            ("machines: { a: { price: 1, cpu: 2 } }", "did you mean `cpus`?"),
            ("machines: { a: { price: 1, cpus: 0 } }", "it has to be a whole number from 1 to 4096"),
            ("machines: { a: { price: 1, cpus: 4097 } }", "it has to be a whole number from 1 to 4096"),
            ("machines: { a: { price: 1, count: 1000001 } }", "it has to be a whole number from 1 to 1000000"),
            ("machines: { a: { price: 1, clock: 2.5 } }", "it needs a unit: GHz or MHz"),
            ("machines: { a: { price: 1 }, a: { price: 2 } }", "the key `a` is here twice"),
            ("machines: { a: { price: 1 } }\nbilling: week", "second, minute or hour"),
            ("machines: [a]", "`machines` needs a map, not a list"),
        ] {
            let error = read(text, "m.yaml").unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
