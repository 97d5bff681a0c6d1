//! Machines that are not all alike, as people write them: `4x8,2x16@1.5` is four with 8 cores and two with 16 faster ones.

use std::path::{Path, PathBuf};

use throng_core::place::Abilities;
use throng_core::workflow::quantity;
use throng_sim::{Cluster, MachineType};

use super::options::{MOST_CORES, MOST_NODES};
use crate::words;

/// What is written of some machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    count: u32,
    cores: u32,
    speed: f64,
    memory_bytes: Option<u64>,
}

/// The machines of a cluster, as they are written, or the file that says what can be rented.
#[derive(Clone, Debug, PartialEq)]
pub enum Machines {
    Listed(Vec<Listed>),
    File(PathBuf),
}

/// Nobody has cores that differ by more.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// Endings of files about machines.
const FILES: [&str; 4] = ["yaml", "yml", "json", "xml"];

/// Reads the name of a file, or `COUNTxCORES[@SPEED][/MEMORY]`, with commas or, where those mean something else, `+` between.
pub fn machines(text: &str) -> Result<Machines, String> {
    if Path::new(text).extension().is_some_and(|ending| FILES.iter().any(|known| ending == *known)) {
        return Ok(Machines::File(PathBuf::from(text)));
    }
    let read = text.split([',', '+']).map(|part| written(part.trim())).collect::<Result<Vec<_>, _>>()?;
    if read.len() > Abilities::MOST_TYPES {
        return Err(format!("these are {} types of machines, and there may be {}", read.len(), Abilities::MOST_TYPES));
    }
    let nodes: u64 = read.iter().map(|machine| u64::from(machine.count)).sum();
    match i64::try_from(nodes) {
        Ok(nodes) if nodes <= MOST_NODES => Ok(Machines::Listed(read)),
        _ => Err(format!("these are {} nodes, and there may be {MOST_NODES}", words::thousands(nodes))),
    }
}

fn written(text: &str) -> Result<Listed, String> {
    let wrong = || format!("`{text}` is not COUNTxCORES[@SPEED][/MEMORY], such as 4x8, 2x16@1.5 or 2x16@1.5/64GB");
    let (text, memory) = text.split_once('/').map_or((text, None), |(text, memory)| (text, Some(memory)));
    let (text, speed) = text.split_once('@').map_or((text, None), |(text, speed)| (text, Some(speed)));
    let (count, cores) = text.split_once('x').ok_or_else(wrong)?;
    let number = |text: &str, most: i64| {
        let number = text.parse::<u32>().map_err(|_| wrong())?;
        let is_right = (1..=most).contains(&i64::from(number));
        is_right.then_some(number).ok_or_else(|| format!("`{text}` is not a whole number from 1 to {most}"))
    };
    let speed = speed.map_or(Ok(1.0), |speed| speed.parse().map_err(|_| wrong()))?;
    if !SPEEDS.contains(&speed) {
        return Err(format!("no core is {speed} times as fast as another: write a number such as 0.5 or 2"));
    }
    let memory_bytes = memory.map(quantity::bytes).transpose()?;
    Ok(Listed { count: number(count, MOST_NODES)?, cores: number(cores, MOST_CORES)?, speed, memory_bytes })
}

impl Machines {
    /// Those that are listed.
    fn listed(&self) -> &[Listed] {
        match self {
            Machines::Listed(listed) => listed,
            Machines::File(_) => &[],
        }
    }

    /// The file about what can be rented.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Machines::Listed(_) => None,
            Machines::File(file) => Some(file),
        }
    }

    /// How many nodes they are.
    pub fn nodes(&self) -> u32 {
        self.listed().iter().map(|machine| machine.count).sum::<u32>().max(1)
    }

    /// What they are, with what is said of all nodes where it is not said of them.
    pub fn types(&self, memory_bytes: u64, bandwidth: u64) -> Vec<MachineType> {
        let types = self.listed().iter().map(|machine| MachineType {
            count: machine.count,
            cores: machine.cores,
            memory_bytes: machine.memory_bytes.unwrap_or(memory_bytes),
            speed: machine.speed,
            bandwidth,
        });
        types.collect()
    }
}

/// The nodes of a cluster in words: `4 nodes with 8 cores each`.
pub fn nodes_words(cluster: &Cluster) -> String {
    let nodes = words::count(cluster.nodes.into(), "node");
    if cluster.types.is_empty() {
        return format!("{nodes} with {} each", words::count(cluster.cores.into(), "core"));
    }
    let parts = cluster.types.iter().filter(|machine| machine.count > 0).map(|machine| {
        let cores = words::count(machine.cores.into(), "core");
        match machine.speed {
            1.0 => format!("{} with {cores}", machine.count),
            speed => format!("{} with {cores} of speed {speed}", machine.count),
        }
    });
    format!("{nodes}: {}", parts.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn as_written() {
        let read = machines("4x8, 2x16@1.5+1x4@0.5/64GB").unwrap();
        assert_eq!(read.nodes(), 7);
        let types = read.types(5, 9);
        let machine =
            |count, cores, memory_bytes, speed| MachineType { count, cores, memory_bytes, speed, bandwidth: 9 };
        assert_eq!(types, [machine(4, 8, 5, 1.0), machine(2, 16, 5, 1.5), machine(1, 4, 64_000_000_000, 0.5)]);
        let told = nodes_words(&Cluster::new(1, 1).of_types(types));
        assert_eq!(told, "7 nodes: 4 with 8 cores, 2 with 16 cores of speed 1.5, 1 with 4 cores of speed 0.5");
        for wrong in ["", "8", "x8", "0x8", "4x0", "4x8@", "4x8@0", "4x8@-1", "4x8@NaN", "4x8/", "4x8,", "999999x1,2x1"]
        {
            assert!(machines(wrong).is_err(), "{wrong}");
        }
    }
}
