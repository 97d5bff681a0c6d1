//! How tasks are to be run: what `throng run` and `throng map` have in common.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use throng_core::policy::Policy;
use throng_core::stale::Wish;
use throng_core::workflow::{Pool, quantity};
use throng_core::{order, pack};
use throng_runtime::clock::Clock;
use throng_runtime::host;
use throng_runtime::run::{Options, Verify};
use throng_runtime::tier;

use crate::exit::Failure;

/// What may run at once if nobody says otherwise.
const DEFAULT_PACK: &str = pack::NAMES[0];

/// Says what type of machine this is, once for all that is done on it.
pub const MACHINE_TYPE: &str = "THRONG_MACHINE_TYPE";

/// A name is a line of a table.
const LONGEST_NAME: usize = 100;

/// The name of a type of machine.
pub fn machine_type(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST_NAME || text.chars().any(char::is_control) {
        return Err("write the name that the type has in a file of machines, such as m3.large".to_owned());
    }
    Ok(text.to_owned())
}

/// How to run.
#[derive(Args, Clone)]
pub struct RunArguments {
    /// How many tasks to run at once, and how many cores they may ask for together [default: the number of cores]
    #[arg(long, short = 'w', visible_short_alias = 'j', visible_alias = "jobs", value_parser = clap::value_parser!(u32).range(1..=i64::from(pack::MOST_WIDTH)))]
    pub width: Option<u32>,
    /// Which ready task comes next: aware, fifo, lifo, largest, critical-path, random, heft, ps, og or gcs
    #[arg(long, default_value = order::NAMES[0])]
    pub order: String,
    /// What may run at once: requests (cores and memory as asked for), fixed (only --width), learn or weasel (learnt, up to --width)
    #[arg(long, default_value = DEFAULT_PACK)]
    pub pack: String,
    /// Memory that tasks may ask for together [default: what the machine has]
    #[arg(long, value_parser = some_bytes)]
    pub memory: Option<u64>,
    /// Do not hold tasks to the memory that they ask for, even where the system can do that
    #[arg(long)]
    pub no_memory_limits: bool,
    /// What else there is for tasks to ask for: an amount (`license=3`) or ids (`gpus=[0,1]`). May be given several times
    #[arg(long = "resource", value_name = "NAME=AMOUNT", value_parser = pool)]
    pub resources: Vec<Pool>,
    /// The type of machine that this is, as a file of machines calls it: what is learnt here is learnt of that type [default: what it is like]
    #[arg(long, value_name = "NAME", env = MACHINE_TYPE, value_parser = machine_type)]
    pub machine_type: Option<String>,
    /// By what files are compared
    #[arg(long, value_enum, default_value_t = VerifyBy::Mtime)]
    pub verify: VerifyBy,
    /// Start nothing more once a task has failed
    #[arg(long)]
    pub fail_fast: bool,
    /// How long a task that is asked to end may take before it is killed
    #[arg(long, default_value = "5s", value_parser = quantity::duration)]
    pub grace: Duration,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// By what files are compared.
#[derive(Clone, Copy, ValueEnum)]
pub enum VerifyBy {
    /// Size and time of modification
    Mtime,
    /// Their bytes
    Content,
}

/// What a run is about, apart from how it is run.
pub struct About {
    /// The directory that paths start from.
    pub directory: PathBuf,
    /// The directory that the state belongs to.
    pub home: PathBuf,
    /// The file of the workflow.
    pub file: PathBuf,
    /// Where the state is.
    pub state: PathBuf,
    /// The workflow's text.
    pub definition: String,
    /// Forget all records first.
    pub fresh: bool,
    /// What is wanted.
    pub wish: Wish,
    /// Room into which inputs are brought.
    pub tier: Option<tier::Options>,
}

impl RunArguments {
    /// What has to be typed again to go on in the same way.
    pub fn as_typed(&self) -> String {
        let mut text = self.width.map_or(String::new(), |width| format!(" --width {width}"));
        if self.order != order::NAMES[0] {
            text.push_str(&format!(" --order {}", crate::words::quoted(&self.order)));
        }
        if matches!(self.verify, VerifyBy::Content) {
            text.push_str(" --verify content");
        }
        if self.pack != DEFAULT_PACK {
            text.push_str(&format!(" --pack {}", crate::words::quoted(&self.pack)));
        }
        if let Some(name) = &self.machine_type {
            text.push_str(&format!(" --machine-type {}", crate::words::quoted(name)));
        }
        text.push_str(&self.memory.map_or(String::new(), |bytes| format!(" --memory {bytes}")));
        if self.no_memory_limits {
            text.push_str(" --no-memory-limits");
        }
        for Pool { name, ids, amount_milli } in &self.resources {
            let amount = match ids.as_slice() {
                [] => (*amount_milli as f64 / 1000.0).to_string(),
                ids => format!("[{}]", ids.join(",")),
            };
            text.push_str(&format!(" --resource {}", crate::words::quoted(&format!("{name}={amount}"))));
        }
        text
    }

    /// Everything that the engine wants to know.
    pub fn options(&self, clock: Clock, about: About) -> Result<Options, Failure> {
        let machine = host::resources();
        let pack = policy(&self.pack)?;
        let width = self.width.unwrap_or(pack::usual_width(&pack, (machine.cpus_milli / 1000) as u32));
        let mut resources = machine;
        // Where it is learnt, it is only the most that there may be, and the cores are those of the machine.
        if self.width.is_some() && !pack::learns(&pack) {
            resources.cpus_milli = u64::from(width) * 1000;
        }
        resources.memory_bytes = self.memory.unwrap_or(machine.memory_bytes);
        let mut pools = self.resources.clone();
        // What is said here counts for more than what was found.
        pools.extend(host::gpus().filter(|found| !self.resources.iter().any(|said| said.name == found.name)));
        if let Some(twice) =
            pools.iter().enumerate().find(|(at, pool)| pools[..*at].iter().any(|earlier| earlier.name == pool.name))
        {
            let message = format!("--resource {} is given twice", twice.1.name);
            return Err(Failure::bad_input(message, "give each resource once"));
        }
        Ok(Options {
            state: about.state,
            directory: about.directory,
            home: about.home,
            file: about.file,
            definition: about.definition,
            order: policy(&self.order)?,
            pack,
            width,
            resources,
            pools,
            grace: self.grace,
            fail_fast: self.fail_fast,
            verify: match self.verify {
                VerifyBy::Mtime => Verify::Modified,
                VerifyBy::Content => Verify::Content,
            },
            machine_type: self.machine_type.clone(),
            holds_to_memory: !self.no_memory_limits,
            fresh: about.fresh,
            wish: about.wish,
            tier: about.tier,
            clock,
        })
    }
}

pub(super) fn policy(text: &str) -> Result<Policy, Failure> {
    text.parse().map_err(|error| Failure::bad_input(error, "write a policy as name or name:key=value,key=value"))
}

/// With less than this, no shell runs.
const LEAST_MEMORY: u64 = 1_000_000;

fn some_bytes(text: &str) -> Result<u64, String> {
    let bytes = quantity::bytes(text).map_err(|error| error.to_string())?;
    if bytes >= LEAST_MEMORY { Ok(bytes) } else { Err("no task runs in less than 1MB".to_owned()) }
}

/// More units than this have no ids that anybody wrote.
const UNITS_LIMIT: f64 = 100_000.0;

/// Reads `license=3`, `license=0.5`, `gpus=2` or `gpus=[GPU-a,GPU-b]`.
fn pool(text: &str) -> Result<Pool, String> {
    let wanted = "write NAME=AMOUNT, such as license=3, or NAME=[ID,ID], such as gpus=[0,1]";
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(wanted)?;
    if matches!(name, "cpus" | "memory") {
        return Err(format!("{name} is given by {}", if name == "cpus" { "--width" } else { "--memory" }));
    }
    if let Some(ids) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let ids: Vec<String> = ids.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
        if let Some(twice) = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)) {
            return Err(format!("`{}` is there twice, and would be given to two tasks at once", twice.1));
        }
        return if ids.is_empty() { Err(wanted.to_owned()) } else { Ok(Pool::with_ids(name, ids)) };
    }
    let amount = value.parse::<f64>().ok().filter(|amount| (0.0..=UNITS_LIMIT).contains(amount)).ok_or(wanted)?;
    // GPUs always have numbers: a task has to be told which one it may use.
    if name == "gpus" {
        if amount.fract() != 0.0 {
            return Err("there are only whole gpus; it is tasks that may ask for a part of one".to_owned());
        }
        return Ok(Pool::with_ids(name, (0..amount as u64).map(|number| number.to_string()).collect()));
    }
    Ok(Pool::of(name, (amount * 1000.0).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is() {
        assert_eq!(pool("license=2.5"), Ok(Pool::of("license", 2500)));
        assert_eq!(pool("gpus=2"), Ok(Pool::with_ids("gpus", vec!["0".to_owned(), "1".to_owned()])));
        assert_eq!(pool("port=[ 80, 81 ]"), Ok(Pool::with_ids("port", vec!["80".to_owned(), "81".to_owned()])));
        for wrong in ["license", "=3", "license=-1", "license=many", "gpus=[]", "cpus=3"] {
            assert!(pool(wrong).is_err(), "{wrong}");
        }
    }
}
