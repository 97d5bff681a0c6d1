//! What is known of times before anything is planned: names that fit nothing are told, and what runs have learnt is found.

use throng_core::ids::KindId;
use throng_core::plan::catalogue::{Attributes, Billing, Catalogue, Machine, TaskTime, Times, Transfer, plain};
use throng_core::spelling;
use throng_core::workflow::Workflow;
use throng_runtime::state::StateDirectory;
use throng_runtime::store::learnt::{Learnt, OfWorkflow};

use crate::exit::Failure;
use crate::load::Loaded;

/// Refuses times of machines that nobody has, and warns of times of kinds that are not in the workflow.
pub fn check(flow: &Workflow, catalogue: &Catalogue, given: &Times) -> Result<(), Failure> {
    let names = || catalogue.machines.iter().map(|machine| machine.name.as_str());
    if let Some(unknown) = given.machines().find(|machine| catalogue.find(machine).is_none()) {
        let remedy = match spelling::nearest(unknown, names()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the machines are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(Failure::bad_input(
            format!("there are times for the machine `{unknown}`, and no such machine"),
            remedy,
        ));
    }
    let kinds: Vec<String> = (0..flow.kind_count()).map(|kind| plain(flow.kind_name(KindId::at(kind)))).collect();
    let unused: Vec<&str> = given.kinds().filter(|kind| !kinds.iter().any(|known| known == kind)).collect();
    if let Some(first) = unused.first() {
        let more = if unused.len() > 1 { format!(" and {} more", unused.len() - 1) } else { String::new() };
        note!("warning: there are times for `{first}`{more}, and no task is of that kind");
    }
    Ok(())
}

/// Says which of what is known of machines no planner minds yet: nobody is to take a plan for more than it is.
pub fn warn_of_what_is_not_minded(catalogue: &Catalogue) {
    let any = |is: fn(&Machine) -> bool| catalogue.machines.iter().any(is);
    let said = [
        ("count", any(|machine| machine.count.is_some())),
        ("start", any(|machine| machine.start_ns > 0)),
        ("billing", any(|machine| machine.billing != Billing::default())),
        ("transfer", catalogue.transfer != Transfer::default()),
    ];
    let said: Vec<String> = said.iter().filter(|(_, is)| *is).map(|(name, _)| format!("`{name}`")).collect();
    if !said.is_empty() {
        note!(
            "warning: planned without {}: as many machines as are wanted, each charged while its task runs; --instances minds them, and so does --planner fit",
            said.join(", ")
        );
    }
}

/// What earlier runs took, on the types of machines that theirs are most like; of several, that with most tasks counts.
pub fn learnt(flow: &Workflow, loaded: &Loaded, catalogue: &Catalogue) -> Times {
    let learnt = Learnt::read(&StateDirectory::new(&loaded.state).learnt());
    let mut known: Vec<&OfWorkflow> = learnt.known.iter().filter(|known| known.workflow == flow.title()).collect();
    known.sort_by_key(|known| known.kinds.iter().map(|kind| kind.tasks).sum::<u64>());
    let mut times = Times::default();
    for known in known {
        // A label that somebody gave to a machine counts more than what it is like.
        let machine = catalogue.find(&known.machine).or_else(|| catalogue.nearest(&attributes(known)));
        let Some(machine) = machine else { continue };
        for kind in &known.kinds {
            let time = TaskTime { time_ns: kind.time_us.0 * 1000, spread_ns: kind.time_us.1 * 1000 };
            times.put(&kind.kind, &catalogue.machines[machine].name, time);
        }
    }
    times
}

/// What the name of a machine's type says of it: its processor, then its cores.
fn attributes(known: &OfWorkflow) -> Attributes {
    let cores = known.machine.split(", ").find_map(|part| part.strip_suffix(" cores")?.parse().ok());
    Attributes { clock_khz: None, cpus: cores.unwrap_or(1), memory_bytes: known.memory_bytes }
}
