//! What is said of machines and times, held against each other before anything is planned: names that fit nothing are told.

use std::collections::BTreeSet;

use throng_core::ids::KindId;
use throng_core::plan::catalogue::{Billing, Catalogue, Machine, Times, Transfer, plain};
use throng_core::plan::estimates::named;
use throng_core::spelling;
use throng_core::workflow::Workflow;

use crate::exit::Failure;
use crate::words;

/// Refuses times of machines that nobody has, and warns of times of kinds and tasks that are not in the workflow.
pub fn check(flow: &Workflow, catalogue: &Catalogue, given: &Times) -> Result<(), Failure> {
    let names = || catalogue.machines.iter().map(|machine| machine.name.as_str());
    if let Some(unknown) = given.machines().find(|machine| catalogue.find(machine).is_none()) {
        let remedy = match spelling::nearest(unknown, names()) {
            Some(nearest) => format!("did you mean `{}`?", words::cell(nearest)),
            None => format!("the machines are {}", names().map(words::cell).collect::<Vec<_>>().join(", ")),
        };
        let unknown = words::cell(unknown);
        return Err(Failure::bad_input(
            format!("there are times for the machine `{unknown}`, and no such machine"),
            remedy,
        ));
    }
    let kinds: BTreeSet<String> = (0..flow.kind_count()).map(|kind| plain(flow.kind_name(KindId::at(kind)))).collect();
    let tasks: BTreeSet<&str> = named(flow, given).into_values().collect();
    let unused: Vec<&str> =
        given.names().filter(|name| !kinds.contains(&plain(name)) && !tasks.contains(name)).collect();
    if let Some(first) = unused.first() {
        let more = if unused.len() > 1 { format!(" and {} more", unused.len() - 1) } else { String::new() };
        note!(
            "warning: there are times for `{}`{more}, and no task has that name or is of that kind",
            words::cell(first)
        );
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
