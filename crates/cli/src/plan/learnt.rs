//! How long tasks took in earlier runs, here or elsewhere, by the types of machines that can be rented.
//!
//! ```text
//!   learnt.json of a state directory ─┐
//!                                     ├─▶ by kind and machine ── label, or what it is most like ──▶ by kind and type
//!   traces in WfFormat ───────────────┘
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use throng_core::ids::KindId;
use throng_core::past::{Figure, Sample};
use throng_core::plan::catalogue::{Attributes, Catalogue, TaskTime, Times, plain};
use throng_core::workflow::Workflow;
use throng_core::workflow::wfformat::observed;
use throng_runtime::state::StateDirectory;
use throng_runtime::store::learnt::{Learnt, OfWorkflow};

use super::prepared::read_with;
use crate::exit::Failure;
use crate::load::Loaded;

/// Machines of earlier runs that are taken for one type.
pub struct Taken {
    /// The machines, as their runs have them.
    pub names: BTreeSet<String>,
    /// The number of the type.
    pub machine: usize,
    /// Whether they have the type's name, so that nobody had to look what they are like: where such a one has run a kind, others do not count.
    pub is_label: bool,
    /// From how many tasks something is known.
    pub tasks: u64,
}

/// What earlier runs took.
#[derive(Default)]
pub struct Evidence {
    /// By kind and type.
    pub times: Times,
    /// Which machines were taken for which types.
    pub taken: Vec<Taken>,
}

/// How long tasks of a kind took on a machine.
struct Seen {
    machine: String,
    attributes: Attributes,
    kind: String,
    seconds: Sample,
}

impl Evidence {
    /// Puts together what the workflow's own runs have learnt, and what is to be learnt from others.
    pub fn gather(
        flow: &Workflow,
        loaded: &Loaded,
        catalogue: &Catalogue,
        others: &[PathBuf],
    ) -> Result<Evidence, Failure> {
        let own = Learnt::read(&StateDirectory::new(&loaded.state).learnt());
        let of_flow = own.known.iter().filter(|known| known.workflow == flow.title());
        let mut seen: Vec<Seen> = of_flow.flat_map(seen_by_runs).collect();
        let kinds: BTreeSet<String> =
            (0..flow.kind_count()).map(|kind| plain(flow.kind_name(KindId::at(kind)))).collect();
        for other in others {
            let of_other = read(other)?;
            if !of_other.iter().any(|seen| kinds.contains(&plain(&seen.kind))) {
                note!(
                    "warning: nothing is learnt from {}: it tells no times of this workflow's kinds on any machine",
                    other.display()
                );
            }
            seen.extend(of_other);
        }
        seen.retain(|seen| kinds.contains(&plain(&seen.kind)) && seen.seconds.tasks > 0);
        Ok(Evidence::of(catalogue, &seen))
    }

    fn of(catalogue: &Catalogue, seen: &[Seen]) -> Evidence {
        // By kind and type; what was seen on machines with the type's name apart from what was seen on machines that are like it.
        let mut samples: BTreeMap<(String, usize), [Sample; 2]> = BTreeMap::new();
        let mut taken: BTreeMap<(usize, bool), Taken> = BTreeMap::new();
        for seen in seen {
            // A name that somebody gave to a machine counts more than what it is like.
            let label = catalogue.find(&seen.machine);
            let Some(machine) = label.or_else(|| catalogue.nearest(&seen.attributes)) else { continue };
            let is_label = label.is_some();
            samples.entry((plain(&seen.kind), machine)).or_default()[usize::from(is_label)].join(&seen.seconds);
            let new = || Taken { names: BTreeSet::new(), machine, is_label, tasks: 0 };
            let taken = taken.entry((machine, is_label)).or_insert_with(new);
            taken.names.insert(seen.machine.clone());
            taken.tasks += seen.seconds.tasks;
        }
        let mut times = Times::default();
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        for ((kind, machine), [alike, named]) in samples {
            let Figure { mean, spread } = if named.tasks > 0 { named.figure } else { alike.figure };
            let time = TaskTime { time_ns: ns(mean), spread_ns: ns(spread) };
            times.put(&kind, &catalogue.machines[machine].name, time);
        }
        Evidence { times, taken: taken.into_values().collect() }
    }
}

/// Reads a state directory, the directory around it, or a trace.
fn read(path: &Path) -> Result<Vec<Seen>, Failure> {
    if !path.is_dir() {
        let observed = read_with(path, |text, _| observed(text))?;
        return Ok(observed.into_iter().map(seen_in_trace).collect());
    }
    let places = [path.to_owned(), path.join(".throng")].map(|path| StateDirectory::new(&path).learnt());
    let Some(file) = places.iter().find(|file| file.exists()) else {
        let message = format!("nothing has been learnt in {}: there is no learnt.json", path.display());
        return Err(Failure::bad_input(
            message,
            "give the `.throng` of a directory in which a workflow was run, or a trace in WfFormat",
        ));
    };
    let learnt = Learnt::look(file).map_err(|error| {
        let message = format!("cannot read what was learnt, {}: {error}", file.display());
        Failure::bad_input(message, "`throng kinds --forget` deletes it, and the next run there learns anew")
    })?;
    Ok(learnt.unwrap_or_default().known.iter().flat_map(seen_by_runs).collect())
}

fn seen_by_runs(known: &OfWorkflow) -> impl Iterator<Item = Seen> + '_ {
    // Before cores were on record, they were in the name only.
    let in_name = || known.machine.split(", ").find_map(|part| part.strip_suffix(" cores")?.parse().ok());
    let attributes = Attributes {
        clock_khz: known.clock_khz,
        cpus: Some(known.cores).filter(|cores| *cores > 0).or_else(in_name),
        memory_bytes: Some(known.memory_bytes).filter(|bytes| *bytes > 0),
    };
    known.kinds.iter().map(move |kind| {
        let (mean, spread) = kind.time_us;
        let figure = Figure { mean: mean as f64 / 1e6, spread: spread as f64 / 1e6 };
        let seconds = Sample { tasks: kind.tasks, figure };
        Seen { machine: known.machine.clone(), attributes, kind: kind.kind.clone(), seconds }
    })
}

fn seen_in_trace(observed: throng_core::workflow::wfformat::Observed) -> Seen {
    let machine = observed.machine;
    let attributes =
        Attributes { clock_khz: machine.clock_khz, cpus: machine.cores, memory_bytes: machine.memory_bytes };
    Seen { machine: machine.name, attributes, kind: observed.kind, seconds: observed.seconds }
}
