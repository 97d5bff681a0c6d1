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
use throng_core::spelling;
use throng_core::workflow::wfformat::observed;
use throng_core::workflow::{Workflow, quantity};
use throng_runtime::state::StateDirectory;
use throng_runtime::store::learnt::{Learnt, MachineType, OfWorkflow};

use super::read::read_with;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::words;

/// Machines of earlier runs that are taken for one type.
pub struct Taken {
    /// The machines, as their runs have them.
    pub names: BTreeSet<String>,
    /// The number of the type.
    pub machine: usize,
    /// Whether they have the type's name, so that nobody had to look what they are like: where such a one has run a kind, others do not count
    /// and are not here.
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
    /// Whether somebody has said of which type it is, if not of which catalogue.
    is_named: bool,
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
        misspelt(catalogue, &seen).iter().for_each(|warning| note!("warning: {warning}"));
        Ok(Evidence::of(catalogue, &seen))
    }

    fn of(catalogue: &Catalogue, seen: &[Seen]) -> Evidence {
        // By kind and type; what was seen on machines with the type's name apart from what was seen on machines that are like it.
        let mut samples: BTreeMap<(String, usize), [Sample; 2]> = BTreeMap::new();
        let named = named(catalogue, seen);
        let mut placed = Vec::new();
        for seen in seen {
            // A name that somebody gave to a machine counts more than what it is like.
            let label = catalogue.find(&seen.machine);
            let like = || same(&named, &seen.attributes).or_else(|| catalogue.nearest(&seen.attributes));
            let Some(machine) = label.or_else(like) else { continue };
            let key = (plain(&seen.kind), machine);
            samples.entry(key.clone()).or_default()[usize::from(label.is_some())].join(&seen.seconds);
            placed.push((seen, key, label.is_some()));
        }
        placed.retain(|(_, key, is_label)| *is_label || samples[key][1].tasks == 0);
        let mut taken: BTreeMap<(usize, bool), Taken> = BTreeMap::new();
        for (seen, (_, machine), is_label) in placed {
            let new = || Taken { names: BTreeSet::new(), machine, is_label, tasks: 0 };
            let taken = taken.entry((machine, is_label)).or_insert_with(new);
            taken.names.insert(seen.machine.clone());
            taken.tasks = taken.tasks.saturating_add(seen.seconds.tasks);
        }
        let mut times = Times::default();
        let ns = |seconds: f64| (seconds.min(quantity::LONGEST_SECONDS) * 1e9).round() as u64;
        for ((kind, machine), [alike, named]) in samples {
            let Figure { mean, spread } = if named.tasks > 0 { named.figure } else { alike.figure };
            let time = TaskTime { time_ns: ns(mean), spread_ns: ns(spread) };
            times.put(&kind, &catalogue.machines[machine].name, time);
        }
        Evidence { times, taken: taken.into_values().collect() }
    }
}

/// What machines are of which the type was said by its name, and which type.
fn named(catalogue: &Catalogue, seen: &[Seen]) -> Vec<(Attributes, usize)> {
    let mut named = Vec::new();
    for seen in seen {
        if let Some(known) = catalogue.find(&seen.machine).map(|machine| (seen.attributes, machine))
            && !named.contains(&known)
        {
            named.push(known);
        }
    }
    named
}

/// The one type of which a machine was said to be that is just like this one: it may well be the same, before it had a name.
fn same(named: &[(Attributes, usize)], attributes: &Attributes) -> Option<usize> {
    let mut types = named.iter().filter(|(known, _)| is_same(known, attributes)).map(|(_, machine)| *machine);
    types.next().filter(|first| types.all(|other| other == *first))
}

/// What of a machine's memory its kernel keeps for itself is not always the same.
const MEMORY_DIFFERS: f64 = 0.02;
/// Some machines tell how fast they run now, and not how fast they can.
const CLOCK_DIFFERS: f64 = 0.1;

/// Whether two machines have as many cores, as much memory and, if they tell, as fast a clock.
fn is_same(one: &Attributes, other: &Attributes) -> bool {
    let near = |one: u64, other: u64, part: f64| one.abs_diff(other) as f64 <= one.max(other) as f64 * part;
    one.cpus.is_some()
        && one.cpus == other.cpus
        && one.memory_bytes.zip(other.memory_bytes).is_some_and(|(one, other)| near(one, other, MEMORY_DIFFERS))
        && one.clock_khz.zip(other.clock_khz).is_none_or(|(one, other)| near(one, other, CLOCK_DIFFERS))
}

/// Says which names that somebody gave to machines may be meant to be names of types.
fn misspelt(catalogue: &Catalogue, seen: &[Seen]) -> Vec<String> {
    let given = seen.iter().filter(|seen| seen.is_named && catalogue.find(&seen.machine).is_none());
    let given: BTreeSet<&str> = given.map(|seen| seen.machine.as_str()).collect();
    let warning = |name: &str| {
        let nearest = spelling::nearest(name, catalogue.machines.iter().map(|machine| machine.name.as_str()))?;
        let (name, nearest) = (words::cell(name), words::cell(nearest));
        Some(format!(
            "tasks have run on `{name}`, and no type of machine has that name: did you mean `{nearest}`? It is taken for what it is most like"
        ))
    };
    given.into_iter().filter_map(warning).collect()
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
        let machine = known.machine.clone();
        Seen { is_named: MachineType::is_given(&machine), machine, attributes, kind: kind.kind.clone(), seconds }
    })
}

fn seen_in_trace(observed: throng_core::workflow::wfformat::Observed) -> Seen {
    let machine = observed.machine;
    let attributes =
        Attributes { clock_khz: machine.clock_khz, cpus: machine.cores, memory_bytes: machine.memory_bytes };
    // What a trace calls a machine is the name of a host.
    Seen { machine: machine.name, is_named: false, attributes, kind: observed.kind, seconds: observed.seconds }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use throng_core::plan::catalogue::read_machines;

    use super::*;

    fn catalogue() -> Catalogue {
        let text =
            "machines: { small: { cpus: 2, memory: 4GB, price: 1 }, large: { cpus: 8, memory: 32GB, price: 1 } }";
        read_machines(text, "m.yaml").unwrap()
    }

    fn seen(machine: &str, cpus: u32, kind: &str, seconds: f64) -> Seen {
        Seen {
            machine: machine.to_owned(),
            is_named: MachineType::is_given(machine),
            attributes: Attributes { cpus: Some(cpus), memory_bytes: Some(4_000_000_000), clock_khz: None },
            kind: kind.to_owned(),
            seconds: Sample::one(seconds),
        }
    }

    fn told(evidence: &Evidence) -> Vec<(usize, bool, u64)> {
        evidence.taken.iter().map(|taken| (taken.machine, taken.is_label, taken.tasks)).collect()
    }

    #[test]
    fn what_does_not_count_is_not_told() {
        const UNNAMED: &str = "cpu, 2 cores, 4 GB";
        let catalogue = catalogue();
        let both = [seen(UNNAMED, 2, "a", 9.0), seen("small", 2, "a", 1.0)];
        let evidence = Evidence::of(&catalogue, &both);
        assert_eq!(told(&evidence), [(0, true, 1)]);
        assert_eq!(evidence.times.of("a", "small").unwrap().time_ns, 1_000_000_000);
        // Of another kind, the name has run nothing.
        let both = [seen(UNNAMED, 2, "a", 9.0), seen(UNNAMED, 2, "b", 5.0), seen("small", 2, "a", 1.0)];
        let evidence = Evidence::of(&catalogue, &both);
        assert_eq!(told(&evidence), [(0, false, 1), (0, true, 1)]);
        assert_eq!(evidence.times.of("b", "small").unwrap().time_ns, 5_000_000_000);
    }

    #[test]
    fn a_machine_that_got_its_name_later_is_one_machine() {
        const UNNAMED: &str = "cpu, 2 cores, 4 GB";
        let catalogue = catalogue();
        // By what it is like, it would be small.
        let later = [seen(UNNAMED, 2, "a", 9.0), seen("large", 2, "a", 1.0)];
        let evidence = Evidence::of(&catalogue, &later);
        assert_eq!(told(&evidence), [(1, true, 1)]);
        assert_eq!(evidence.times.of("a", "small"), None);
        // One that was said to be both is neither, and one that is a little different is another.
        let both = [seen(UNNAMED, 2, "a", 9.0), seen("large", 2, "a", 1.0), seen("small", 2, "b", 1.0)];
        assert_eq!(told(&Evidence::of(&catalogue, &both)), [(0, false, 1), (0, true, 1), (1, true, 1)]);
        let other = [seen(UNNAMED, 2, "a", 9.0), seen("large", 3, "a", 1.0)];
        assert_eq!(told(&Evidence::of(&catalogue, &other)), [(0, false, 1), (1, true, 1)]);
    }

    #[test]
    fn machines_are_the_same_whose_figures_are_as_near_as_those_of_one() {
        let of = |cpus, megabytes: u64, mhz: u64| Attributes {
            cpus: Some(cpus),
            memory_bytes: Some(megabytes * 1_000_000),
            clock_khz: (mhz > 0).then_some(mhz * 1000),
        };
        let one = of(2, 4000, 2500);
        for (other, is_it) in [
            (of(2, 4000, 2500), true),
            (of(2, 3950, 2400), true),
            (of(2, 4000, 0), true),
            (of(3, 4000, 2500), false),
            (of(2, 3800, 2500), false),
            (of(2, 4000, 800), false),
            (Attributes { memory_bytes: None, ..one }, false),
            (Attributes { cpus: None, ..one }, false),
        ] {
            assert_eq!((is_same(&one, &other), is_same(&other, &one)), (is_it, is_it), "{other:?}");
        }
    }

    #[test]
    fn figures_that_nobody_can_have_seen_are_no_more_than_wrong() {
        let endless = |kind| {
            let figure = Figure { mean: 1e30, spread: 1e30 };
            Seen { seconds: Sample { tasks: u64::MAX, figure }, ..seen("small", 2, kind, 0.0) }
        };
        let evidence = Evidence::of(&catalogue(), &[endless("a"), endless("a"), endless("b")]);
        assert_eq!(told(&evidence), [(0, true, u64::MAX)]);
        let time = evidence.times.of("a", "small").unwrap();
        assert_eq!((time.time_ns, time.spread_ns), (3_153_600_000_000_000_000, 3_153_600_000_000_000_000));
    }

    #[test]
    fn a_name_that_may_be_a_slip_of_the_pen_is_told() {
        let told = |machine| misspelt(&catalogue(), &[seen(machine, 2, "a", 1.0), seen(machine, 2, "b", 1.0)]);
        let [told_once] = told("smal").try_into().unwrap();
        assert!(told_once.contains("`smal`") && told_once.contains("did you mean `small`?"), "{told_once}");
        for machine in ["small", "somebody else's", "small, 2 cores, 4 GB"] {
            assert_eq!(told(machine), Vec::<String>::new(), "{machine}");
        }
    }
}
