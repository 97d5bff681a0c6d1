//! From what people write about machines and times to what planners and simulations take.

use std::path::{Path, PathBuf};

use clap::Args;
use throng_core::plan::catalogue::{Catalogue, Times, read_machines, read_times};
use throng_core::plan::estimates::{Estimates, Unknown};
use throng_core::plan::prepared::{Prepared, Unplannable};
use throng_core::workflow::{Problems, Workflow};

use super::known;
use super::learnt::{Evidence, Taken};
use crate::diagnostics;
use crate::exit::Failure;
use crate::load::{Loaded, read_file};
use crate::words;

/// Files about machines.
#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// The types of machines that can be had, and what they cost: YAML, JSON, or the thesis's machineTypes.xml
    #[arg(long, value_name = "FILE")]
    pub machines: PathBuf,
    /// How long tasks of each kind, or single tasks, take on each machine: YAML, JSON, or the thesis's workflowTaskTimes.xml [default: what runs have learnt, or `estimate` and `speed`]
    #[arg(long, value_name = "FILE")]
    pub times: Option<PathBuf>,
    /// Where else runs have learnt how long tasks take: a state directory, or a trace in WfFormat. May be given several times
    #[arg(long, value_name = "DIR|FILE")]
    pub learn_from: Vec<PathBuf>,
}

/// All that is written about machines and times, or was learnt of them.
pub struct Read {
    /// The machines.
    pub catalogue: Catalogue,
    given: Times,
    learnt: Times,
    /// Which machines of earlier runs were taken for which types.
    pub taken: Vec<Taken>,
}

impl Read {
    /// Reads the files.
    pub fn of(flow: &Workflow, loaded: &Loaded, files: &MachineArguments) -> Result<Read, Failure> {
        let catalogue = read_with(&files.machines, read_machines)?;
        let given = files.times.as_deref().map_or(Ok(Times::default()), |file| read_with(file, read_times))?;
        known::check(flow, &catalogue, &given)?;
        let Evidence { times: learnt, taken } = Evidence::gather(flow, loaded, &catalogue, &files.learn_from)?;
        Ok(Read { catalogue, given, learnt, taken })
    }

    /// Works out what follows from them.
    pub fn prepared(&self, flow: &Workflow, charges_share: bool, moves: bool) -> Result<Prepared<'_>, Failure> {
        let Read { catalogue, given, learnt, .. } = self;
        let estimates = Estimates { catalogue, given, learnt, charges_share, moves };
        Prepared::of(flow, &estimates).map_err(|why| match why {
            Unplannable::Unknown(unknown) => refuse(&unknown),
            Unplannable::Stages(error) => Failure::bad_input(error, "see the times of `throng plan --json`"),
        })
    }
}

/// Reads a file; what is wrong in it is told with its place.
pub fn read_with<T>(file: &Path, read: impl Fn(&str, &str) -> Result<T, Problems>) -> Result<T, Failure> {
    let text = read_file(file, "give the path of a file that is there: see `throng plan --help`")?;
    read(&text, &file.display().to_string())
        .map_err(|problems| Failure::rendered(diagnostics::render(&problems, file, &text)))
}

fn refuse(unknown: &Unknown) -> Failure {
    let listed = |kinds: &[String]| {
        let shown: Vec<String> = kinds.iter().take(5).map(|kind| format!("`{}`", words::cell(kind))).collect();
        let more = kinds.len().saturating_sub(shown.len());
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    };
    if !unknown.named.is_empty() {
        let kinds = listed(&unknown.named);
        let message = format!(
            "tasks of these kinds ask for GPUs or other resources with a name, which no type of machine is known to have: {kinds}"
        );
        return Failure::bad_input(message, "plan a copy in which they only ask for cpus and memory");
    }
    if !unknown.too_large.is_empty() {
        let message = format!("no machine has what tasks of these kinds ask for: {}", listed(&unknown.too_large));
        return Failure::bad_input(message, "add a type of machine with more cpus and memory");
    }
    let message = format!("nobody knows how long tasks of these kinds take: {}", listed(&unknown.timeless));
    Failure::bad_input(
        message,
        "give them an `estimate`, write a file for --times, or run the workflow once: `throng run` learns it",
    )
}
