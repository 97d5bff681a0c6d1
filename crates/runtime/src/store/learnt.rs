//! What runs have learnt of kinds of tasks, kept for the next ones: the file `learnt.json` of a state directory.
//!
//! How long a task takes and how many of them at once are best depends on the machine, so it is kept for each type of machine apart: a directory
//! may be on a file system that several machines share. A file that cannot be read is as good as none: what it held will be learnt again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use throng_core::ids::KindId;
use throng_core::pack::dominant::Resource;
use throng_core::past::{Figure, Past};
use throng_core::workflow::Workflow;

use crate::state::{HostInfo, Lock, StateError, write_whole};

/// The version of the file.
const VERSION: u32 = 1;
/// No more workflows on machines than this are kept; what was used longest ago goes.
const MOST_WORKFLOWS: usize = 100;
/// No more kinds of a workflow are kept than this that it does not have any more.
const MOST_FORMER_KINDS: usize = 1000;

/// What is kept of a kind: means and spreads, in whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindPast {
    /// Its name.
    pub kind: String,
    /// How many tasks there have been.
    pub tasks: u64,
    /// From start to end.
    pub time_us: (u64, u64),
    /// Thousandths of a core kept busy.
    pub cores_milli: (u64, u64),
    /// Most memory held at once.
    pub peak_bytes: (u64, u64),
    /// Read from disks.
    pub read_bytes: (u64, u64),
    /// Written to disks.
    pub written_bytes: (u64, u64),
    /// All outputs of a task.
    pub output_bytes: (u64, u64),
    /// How many at once were found best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The name of what they wait for or take most of, as far as only the machine as a whole can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

fn whole(figure: Figure, unit: f64) -> (u64, u64) {
    ((figure.mean * unit).round() as u64, (figure.spread * unit).round() as u64)
}

fn figure((mean, spread): (u64, u64), unit: f64) -> Figure {
    Figure { mean: mean as f64 / unit, spread: spread as f64 / unit }
}

impl KindPast {
    /// As it is kept.
    pub fn new(kind: &str, past: &Past) -> KindPast {
        KindPast {
            kind: kind.to_owned(),
            tasks: past.tasks,
            time_us: whole(past.time_s, 1e6),
            cores_milli: whole(past.cores, 1e3),
            peak_bytes: whole(past.peak_bytes, 1.0),
            read_bytes: whole(past.read_bytes, 1.0),
            written_bytes: whole(past.written_bytes, 1.0),
            output_bytes: whole(past.output_bytes, 1.0),
            width: past.width,
            waits_for: past.waits_for.map(|resource| resource.name().to_owned()),
        }
    }

    /// As it is used.
    pub fn past(&self) -> Past {
        Past {
            tasks: self.tasks,
            time_s: figure(self.time_us, 1e6),
            cores: figure(self.cores_milli, 1e3),
            peak_bytes: figure(self.peak_bytes, 1.0),
            read_bytes: figure(self.read_bytes, 1.0),
            written_bytes: figure(self.written_bytes, 1.0),
            output_bytes: figure(self.output_bytes, 1.0),
            width: self.width.filter(|width| *width > 0),
            waits_for: self.waits_for.as_deref().and_then(Resource::of),
        }
    }
}

/// What is known of the kinds of a workflow on a type of machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfWorkflow {
    /// The type of machine.
    pub machine: String,
    /// How many cores such a machine has; nothing, if that is not on record.
    #[serde(default)]
    pub cores: u32,
    /// How much memory; nothing, if that is not on record.
    #[serde(default)]
    pub memory_bytes: u64,
    /// How fast its cores run, in thousands of cycles a second, if that is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u64>,
    /// The workflow.
    pub workflow: String,
    /// Its kinds.
    pub kinds: Vec<KindPast>,
}

/// A type of machine: machines of the same type are as fast.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineType {
    /// What somebody calls it, or else what it is.
    pub name: String,
    /// How many cores it has.
    pub cores: u32,
    /// How much memory it has.
    pub memory_bytes: u64,
    /// How fast its cores run, in thousands of cycles a second.
    pub clock_khz: Option<u64>,
}

/// All that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learnt {
    version: u32,
    /// By machine and workflow; what was used last is at the end.
    pub known: Vec<OfWorkflow>,
}

/// Where what a run learns is kept.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// The file.
    pub path: PathBuf,
    /// On which type of machine the run is.
    pub machine: MachineType,
    /// Of which workflow.
    pub workflow: String,
    /// The right to change what lies there.
    pub lock: Arc<Lock>,
}

impl Shelf {
    /// Keeps what is known now of kinds of tasks. What cannot be kept will be learnt again.
    pub fn keep(&self, kinds: Vec<KindPast>) -> Result<(), StateError> {
        if kinds.is_empty() {
            return Ok(());
        }
        self.lock.check_place()?;
        let mut learnt = Learnt::read(&self.path);
        learnt.put(&self.machine, &self.workflow, kinds);
        learnt.write(&self.path)
    }
}

impl MachineType {
    /// The type of a machine.
    pub fn of(host: &HostInfo) -> MachineType {
        let HostInfo { cores, memory_bytes, clock_khz, .. } = *host;
        let name = host.machine_type.clone().unwrap_or_else(|| MachineType::described(host));
        MachineType { name, cores, memory_bytes, clock_khz }
    }

    /// What a machine is called to which nobody has given a name.
    fn described(host: &HostInfo) -> String {
        let gigabytes = (host.memory_bytes as f64 / 1e9).round();
        let cpu = if host.cpu.is_empty() { "unknown processor" } else { &host.cpu };
        format!("{cpu}, {} cores, {gigabytes} GB", host.cores)
    }

    /// Whether somebody has given a machine this name, and it does not only say what it is.
    pub fn is_given(name: &str) -> bool {
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        let mut parts = name.rsplit(", ");
        let memory = parts.next().and_then(|part| part.strip_suffix(" GB"));
        let cores = parts.next().and_then(|part| part.strip_suffix(" cores"));
        !(memory.is_some_and(is_number) && cores.is_some_and(is_number) && parts.next().is_some())
    }
}

impl Learnt {
    /// Reads what is known; nothing, if there is no such file or none that can be read.
    pub fn read(path: &Path) -> Learnt {
        Learnt::look(path).ok().flatten().unwrap_or_default()
    }

    /// Reads what is known, if there is a file; says what is wrong with it if it cannot be read.
    pub fn look(path: &Path) -> Result<Option<Learnt>, String> {
        // Whoever opens a pipe waits for somebody to write.
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(about) if !about.is_file() => return Err("it is not a file".to_owned()),
            Ok(_) => {}
        }
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        let learnt: Learnt = serde_json::from_slice(&text).map_err(|error| format!("it is damaged: {error}"))?;
        let version = learnt.version;
        if version == VERSION { Ok(Some(learnt)) } else { Err(format!("it is of another version, {version}")) }
    }

    /// Writes it, all or nothing.
    pub fn write(&self, path: &Path) -> Result<(), StateError> {
        let written = Learnt { version: VERSION, known: self.known.clone() };
        write_whole(path, &serde_json::to_vec_pretty(&written).expect("plain data can be written"))
    }

    /// What is known of the kinds of a workflow on a machine.
    pub fn of(&self, machine: &str, workflow: &str) -> &[KindPast] {
        let found = self.known.iter().find(|known| known.machine == machine && known.workflow == workflow);
        found.map_or(&[], |found| &found.kinds)
    }

    /// What is known of a workflow's kinds on whatever machine there has been most of them on, this one before all others: better than
    /// nothing for whoever only wants to know how long tasks take.
    pub fn best_of(&self, machine: &str, workflow: &str) -> &[KindPast] {
        let here = self.of(machine, workflow);
        if !here.is_empty() {
            return here;
        }
        let elsewhere = self.known.iter().filter(|known| known.workflow == workflow);
        let tasks = |known: &&OfWorkflow| known.kinds.iter().map(|kind| kind.tasks).sum::<u64>();
        elsewhere.max_by_key(tasks).map_or(&[], |found| &found.kinds)
    }

    /// Puts in what is known now of the kinds of a workflow on a machine; what others have put in of other kinds stays.
    pub fn put(&mut self, machine: &MachineType, workflow: &str, kinds: Vec<KindPast>) {
        let MachineType { name, cores, memory_bytes, clock_khz } = machine.clone();
        let at = self.known.iter().position(|known| known.machine == name && known.workflow == workflow);
        let former = at.map_or_else(Vec::new, |at| self.known.remove(at).kinds);
        let mut by_name: BTreeMap<String, KindPast> = kinds.into_iter().map(|kind| (kind.kind.clone(), kind)).collect();
        let most = by_name.len() + MOST_FORMER_KINDS;
        for kind in former {
            if by_name.len() < most {
                by_name.entry(kind.kind.clone()).or_insert(kind);
            }
        }
        let kinds = by_name.into_values().collect();
        let workflow = workflow.to_owned();
        self.known.push(OfWorkflow { machine: name, cores, memory_bytes, clock_khz, workflow, kinds });
        self.known.drain(..self.known.len().saturating_sub(MOST_WORKFLOWS));
    }
}

/// What is known of the kinds that a workflow has.
pub fn known<'a>(flow: &Workflow, kinds: &'a [KindPast]) -> Vec<(KindId, &'a KindPast)> {
    let by_name: BTreeMap<&str, &KindPast> = kinds.iter().map(|past| (past.kind.as_str(), past)).collect();
    let all = (0..flow.kind_count()).map(KindId::at);
    all.filter_map(|kind| Some((kind, *by_name.get(flow.kind_name(kind))?))).collect()
}

/// Lets a workflow say how long tasks take and how much they write, where it does not and that is known.
pub fn tell(flow: &mut Workflow, kinds: &[KindPast]) {
    for (kind, past) in known(flow, kinds).into_iter().filter(|(_, past)| past.tasks > 0) {
        flow.learn_estimate(kind, past.time_us.0.saturating_mul(1000), past.output_bytes.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::past::Took;

    #[test]
    fn what_is_kept_is_read_again_and_damage_is_as_good_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt.json");
        assert_eq!(Learnt::read(&path), Learnt::default());
        let mut past = Past { width: Some(7), ..Past::default() };
        past.add(&Took { seconds: 2.5, core_seconds: 1.0, peak_bytes: 1e6, ..Took::default() });
        let mut learnt = Learnt::default();
        let machine = |name: &str| MachineType { name: name.to_owned(), ..MachineType::default() };
        learnt.put(&machine("m"), "flow", vec![KindPast::new("a", &past)]);
        learnt.put(&machine("m"), "flow", vec![KindPast::new("b", &past)]);
        learnt.put(&machine("other"), "flow", vec![KindPast::new("a", &Past { tasks: 9, ..past })]);
        learnt.write(&path).unwrap();
        let read = Learnt::read(&path);
        assert_eq!(read.of("m", "flow"), [KindPast::new("a", &past), KindPast::new("b", &past)]);
        assert_eq!(read.of("m", "flow")[0].past(), past);
        assert_eq!(
            (read.of("x", "flow").len(), read.best_of("x", "flow")[0].tasks, read.best_of("x", "y").len()),
            (0, 9, 0)
        );
        std::fs::write(&path, "{ \"version\": 1, ").unwrap();
        assert_eq!(Learnt::read(&path), Learnt::default());
        std::fs::write(&path, "{ \"version\": 99, \"known\": [] }").unwrap();
        assert_eq!(Learnt::read(&path), Learnt::default());
    }

    #[test]
    fn names_that_somebody_has_given_are_known() {
        let mut host = HostInfo { cores: 4, memory_bytes: 16_123_456_789, ..HostInfo::default() };
        for cpu in ["", "Xeon, the 8th", "AMD EPYC 7R13 Processor"] {
            host.cpu = cpu.to_owned();
            let name = MachineType::of(&host).name;
            assert!(!MachineType::is_given(&name), "{name}");
        }
        for name in ["m3.large", "", "4 cores, 16 GB", "large, 16 GB", "a, b, c", "mine, four cores, 16 GB"] {
            assert!(MachineType::is_given(name), "{name}");
        }
    }

    #[test]
    fn no_more_is_kept_than_anybody_will_look_at() {
        let machine = MachineType { name: "m".to_owned(), ..MachineType::default() };
        let kinds = |from: usize, to: usize| {
            (from..to).map(|kind| KindPast::new(&kind.to_string(), &Past::default())).collect::<Vec<_>>()
        };
        let mut learnt = Learnt::default();
        for flow in 0..MOST_WORKFLOWS + 5 {
            learnt.put(&machine, &flow.to_string(), kinds(0, 1));
            // One that is used again and again stays.
            learnt.put(&machine, "0", kinds(0, 1));
        }
        assert_eq!(learnt.known.len(), MOST_WORKFLOWS);
        assert!(!learnt.of("m", "0").is_empty() && learnt.of("m", "1").is_empty());
        learnt.put(&machine, "0", kinds(0, 3000));
        learnt.put(&machine, "0", kinds(3000, 3002));
        assert_eq!(learnt.of("m", "0").len(), MOST_FORMER_KINDS + 2);
    }
}
