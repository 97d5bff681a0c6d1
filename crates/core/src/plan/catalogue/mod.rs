//! Machines that can be rented: what each type has, what it costs, and how that is charged.
//!
//! ```yaml
//! currency: USD
//! billing: { by: hour, minimum: 1h }
//! transfer: { between: 0.01 }            # for a GB
//! machines:
//!   m3.medium: { cpus: 1, memory: 3.75GiB, clock: 2.5GHz, speed: 1, price: 0.067, count: 30, start: 90s, bandwidth: 300Mbit }
//! ```

mod given;
mod times;
mod written;
mod xml;

pub use given::read as read_machines;
pub use times::{TaskTime, Times, plain, read as read_times};
pub(super) use written::map;

use super::instances::Need;
use super::money::Money;

/// Seconds, minutes or hours, in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
/// A minute.
pub const MINUTE_NS: u64 = 60 * SECOND_NS;
/// An hour.
pub const HOUR_NS: u64 = 60 * MINUTE_NS;

/// How the time of a machine is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Billing {
    /// What is begun of this is charged as a whole.
    pub unit_ns: u64,
    /// No less than this is charged.
    pub least_ns: u64,
}

impl Default for Billing {
    fn default() -> Billing {
        Billing { unit_ns: SECOND_NS, least_ns: 0 }
    }
}

impl Billing {
    /// For how long a machine is charged that was had for so long. Whoever has had it for no time at all has had it.
    pub fn charged_ns(&self, time_ns: u64) -> u64 {
        let time_ns = time_ns.max(self.least_ns).max(1);
        time_ns.div_ceil(self.unit_ns.max(1)).saturating_mul(self.unit_ns.max(1))
    }

    /// What a machine of this price costs that was had for so long.
    pub fn charge(&self, price_an_hour: Money, time_ns: u64) -> Money {
        price_an_hour.for_time(self.charged_ns(time_ns))
    }
}

/// What moving data costs, for a GB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// From outside to a machine.
    pub into: Money,
    /// From a machine to outside.
    pub out: Money,
    /// From one machine to another.
    pub between: Money,
}

/// What so many bytes cost at a price for a GB.
pub fn for_bytes(price_a_gb: Money, bytes: u64) -> Money {
    let charge = (u128::from(price_a_gb.0) * u128::from(bytes)).div_ceil(1_000_000_000);
    Money(u64::try_from(charge).unwrap_or(u64::MAX))
}

/// A type of machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// How many cores it has.
    pub cpus: u32,
    /// How much memory.
    pub memory_bytes: u64,
    /// How fast its cores run, in thousands of cycles a second; nothing if that is not said.
    pub clock_khz: Option<u64>,
    /// How many times as fast as an ordinary one it runs tasks.
    pub speed: f64,
    /// What it costs, for an hour.
    pub price: Money,
    /// How many can be had, if not as many as anyone likes.
    pub count: Option<u32>,
    /// How long one takes to be there.
    pub start_ns: u64,
    /// How many bytes a second it sends, and receives.
    pub bandwidth: u64,
    /// How its time is charged.
    pub billing: Billing,
}

/// What a machine has of memory of which nobody says how much: nobody who does not say so wants to be limited by it.
pub const ANY_MEMORY: u64 = 1 << 50;

impl Machine {
    /// More cores than any machine has. A simulation makes a place for each core of each machine.
    pub const MOST_CPUS: u32 = 4096;

    /// What it has for tasks.
    pub fn capacity(&self) -> Need {
        Need { cpus_milli: u64::from(self.cpus) * 1000, memory_bytes: self.memory_bytes }
    }

    /// How long it takes to bring so many bytes to it.
    pub fn moving(&self, bytes: u64) -> u64 {
        // Rounded up, so that no bytes come sooner one by one than together.
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.bandwidth.max(1)));
        // Nobody waits for longer than centuries, and sums of it have to stay numbers.
        u64::try_from(ns).unwrap_or(u64::MAX).min(u64::MAX / 8)
    }
}

/// All types of machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// In what prices are, for people.
    pub currency: String,
    /// The types, as they come.
    pub machines: Vec<Machine>,
    /// What moving data costs.
    pub transfer: Transfer,
}

/// What is known of a real machine; nothing where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// How fast its cores run, in thousands of cycles a second.
    pub clock_khz: Option<u64>,
    /// How many cores it has.
    pub cpus: Option<u32>,
    /// How much memory.
    pub memory_bytes: Option<u64>,
}

impl Catalogue {
    /// So many types can be told apart: a class of tasks has a bit for each.
    pub const MOST_TYPES: usize = 64;

    /// How many tasks can run at once on all machines that can be had.
    pub fn slots(&self) -> u64 {
        let of_type = |machine: &Machine| Some(u64::from(machine.count?) * u64::from(machine.cpus));
        self.machines.iter().map(of_type).sum::<Option<u64>>().unwrap_or(u64::MAX)
    }

    /// The number of a type by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.machines.iter().position(|machine| machine.name == name)
    }

    /// The type that a real machine is most like, by the distance of the thesis's program: the roots of how far clocks and memories are apart, and how many cores. The
    /// first of several. What is not known of the machine does not count, nor what some type does not say: otherwise whoever says least would be like everybody. Of a machine of
    /// which nothing is known, nobody can say what it is.
    pub fn nearest(&self, attributes: &Attributes) -> Option<usize> {
        if *attributes == Attributes::default() {
            return None;
        }
        let memory = |machine: &Machine| Some(machine.memory_bytes).filter(|bytes| *bytes < ANY_MEMORY);
        let said_by_all =
            |of: &dyn Fn(&Machine) -> Option<u64>| self.machines.iter().all(|machine| of(machine).is_some());
        let clock_khz = attributes.clock_khz.filter(|_| said_by_all(&|machine| machine.clock_khz));
        let memory_bytes = attributes.memory_bytes.filter(|_| said_by_all(&memory));
        let apart = |one: Option<u64>, other: Option<u64>| {
            one.zip(other).map_or(0.0, |(one, other)| (one.abs_diff(other) as f64).sqrt())
        };
        let distance = |machine: &Machine| {
            apart(machine.clock_khz, clock_khz)
                + attributes.cpus.map_or(0.0, |cpus| f64::from(machine.cpus.abs_diff(cpus)))
                + apart(memory(machine), memory_bytes)
        };
        let distances = self.machines.iter().map(distance).enumerate();
        distances.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_begun_is_charged() {
        let hourly = Billing { unit_ns: HOUR_NS, least_ns: HOUR_NS };
        let price = Money::parse("0.10").unwrap();
        assert_eq!(hourly.charge(price, 1), price);
        assert_eq!(hourly.charge(price, HOUR_NS + 1), price + price);
        let by_second = Billing { unit_ns: SECOND_NS, least_ns: MINUTE_NS };
        assert_eq!(by_second.charged_ns(5), MINUTE_NS);
        assert_eq!(by_second.charged_ns(MINUTE_NS + 1), MINUTE_NS + SECOND_NS);
        assert_eq!(for_bytes(price, 1_500_000_000).to_string(), "0.15");
    }

    #[test]
    fn bytes_come_no_sooner_one_by_one() {
        let machines = read_machines("machines: { m: { price: 1, bandwidth: 300Mbit } }", "m.yaml").unwrap();
        let moving = |bytes| machines.machines[0].moving(bytes);
        assert_eq!((moving(0), moving(1), moving(2), moving(3)), (0, 27, 54, 80));
        assert_eq!(moving(u64::MAX), u64::MAX / 8);
    }

    #[test]
    fn a_machine_is_of_the_type_it_is_most_like() {
        let machine = |name: &str, cpus, gib: u64, clock_khz| Machine {
            name: name.to_owned(),
            cpus,
            memory_bytes: gib << 30,
            clock_khz,
            speed: 1.0,
            price: Money::ZERO,
            count: None,
            start_ns: 0,
            bandwidth: 125_000_000,
            billing: Billing::default(),
        };
        let machines = vec![machine("small", 1, 4, Some(2_500_000)), machine("large", 8, 32, None)];
        let catalogue = Catalogue { machines, ..Catalogue::default() };
        let nearest = |cpus, gib: u64| {
            let memory_bytes = Some(gib << 30);
            catalogue.nearest(&Attributes { clock_khz: Some(2_400_000), cpus: Some(cpus), memory_bytes })
        };
        assert_eq!((nearest(2, 5), nearest(6, 30)), (Some(0), Some(1)));
        assert_eq!(catalogue.nearest(&Attributes { cpus: Some(9), ..Attributes::default() }), Some(1));
        assert_eq!(catalogue.nearest(&Attributes::default()), None);
        // Of a type that says nothing of memory, only cores count.
        let mut unsaid = machine("unsaid", 2, 4, None);
        unsaid.memory_bytes = ANY_MEMORY;
        let silent = Catalogue { machines: vec![machine("huge", 96, 4, None), unsaid], ..Catalogue::default() };
        let real = Attributes { cpus: Some(2), memory_bytes: Some(5 << 30), ..Attributes::default() };
        assert_eq!(silent.nearest(&real), Some(1));
        // Nor does one that says nothing of it seem nearer than one that says the right thing.
        let mut vague = machine("vague", 64, 4, None);
        vague.memory_bytes = ANY_MEMORY;
        let mixed = Catalogue { machines: vec![vague, machine("right", 2, 25, None)], ..Catalogue::default() };
        let real = Attributes { cpus: Some(2), memory_bytes: Some((25 << 30) + 1), clock_khz: Some(2_400_000) };
        assert_eq!(mixed.nearest(&real), Some(1));
        assert_eq!(catalogue.find("large"), Some(1));
    }
}
