//! `throng clean`: deletes what Throng made, and nothing else.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::Args;
use throng_core::ids::ObjectId;
use throng_core::stale::{Memory, why_kept};
use throng_core::workflow::Workflow;
use throng_runtime::files::Workplace;
use throng_runtime::state::{StateDirectory, StateError, write_durably};
use throng_runtime::store::{Recorded, journal};
use throng_runtime::tier;

use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, load_leniently};
use crate::words;

/// What `throng clean` takes.
#[derive(Args)]
#[command(after_help = "\
Example:
  throng clean flow.yaml                 delete every file that Throng made for it, and forget it was done
  throng clean flow.yaml --runs          delete traces, logs and set-aside files of all runs but the last
  throng clean flow.yaml --dry-run       say what would be deleted")]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// Instead of outputs, delete what is kept of runs other than the last: traces, logs, set-aside files
    #[arg(long)]
    runs: bool,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let loaded = load_leniently(&arguments.source, &RefCell::default())?;
    let path = loaded.state;
    let state = StateDirectory::new(&path);
    if !path.exists() {
        match clear_links(&loaded.flow, &loaded.directory, arguments.dry_run)? {
            0 => tell!("nothing to delete: there is no {}", path.display()),
            links => tell!("{} of a dead run deleted", words::count(links as u64, "link")),
        }
        return Ok(Code::Done);
    }
    let _lock = state.lock().map_err(|error| match error {
        StateError::Locked { .. } => trouble(error, "wait until the run that uses it has ended"),
        _ => trouble(error, "make it writable"),
    })?;
    state.check_home(&loaded.home).map_err(|error| trouble(error, "give the state of this directory with --state"))?;
    if !arguments.dry_run {
        tier::clear(&state, &loaded.directory, std::iter::empty())
            .map_err(|error| trouble(error, "make it deletable"))?;
    }
    clear_links(&loaded.flow, &loaded.directory, arguments.dry_run)?;
    if arguments.runs {
        return clean_runs(&state, arguments.dry_run);
    }
    let flow = &loaded.flow;
    let recorded = Recorded::read(&state.journal(), flow).map_err(|error| trouble(error, "repair or delete it"))?;
    if flow.is_trace() {
        return clean_replay(&loaded.directory, (&state, &recorded), arguments.dry_run);
    }
    let place = Workplace::open(&loaded.directory, PathBuf::new(), PathBuf::new())
        .map_err(|error| trouble(format!("cannot open {}: {error}", loaded.directory.display()), "make it readable"))?;
    let (mut deleted, mut kept) = (0, 0);
    for task in flow.tasks().filter(|task| recorded.memory(*task) != Memory::None) {
        for object in flow.outputs(task) {
            let name = flow.object_name(object);
            let Ok(found) = place.stamp(name) else { continue };
            if !found.is_present() {
                continue;
            }
            if let Some(why) = why_kept(recorded.made(object), found) {
                tell!("kept {}: {}", words::printable(name), why.words());
                kept += 1;
                continue;
            }
            deleted += 1;
            if arguments.dry_run {
                tell!("would delete {name}");
            } else {
                place
                    .remove(name, found)
                    .map_err(|error| trouble(format!("cannot delete {name}: {error}"), "make it deletable"))?;
            }
        }
    }
    if !arguments.dry_run {
        forget(&state, &recorded)?;
    }
    let would = if arguments.dry_run { "would be " } else { "" };
    tell!(
        "{} {would}deleted{}",
        words::count(deleted, "file"),
        if kept > 0 { format!(", {kept} kept") } else { String::new() }
    );
    Ok(Code::Done)
}

/// Deletes links into the memory tiers of dead runs of which nothing else is known; says how many.
fn clear_links(flow: &Workflow, directory: &Path, is_trial: bool) -> Result<usize, Failure> {
    // The files of a trace are its own, and may not be there yet.
    if is_trial || flow.is_trace() {
        return Ok(0);
    }
    let inputs = (flow.made_count()..flow.object_count()).map(|number| flow.object_name(ObjectId::at(number)));
    tier::clear_unnoted(directory, inputs).map_err(|error| trouble(error, "make it deletable"))
}

/// Deletes all files of a trace that was replayed: they lie in a directory that is nobody else's.
fn clean_replay(
    directory: &Path,
    (state, recorded): (&StateDirectory, &Recorded),
    dry_run: bool,
) -> Result<Code, Failure> {
    let freed = size(directory);
    if !dry_run {
        if directory.exists() {
            std::fs::remove_dir_all(directory).map_err(|error| {
                trouble(format!("cannot delete {}: {error}", directory.display()), "make it deletable")
            })?;
        }
        forget(state, recorded)?;
    }
    let would = if dry_run { "would be " } else { "" };
    tell!("{} of replayed files {would}deleted", words::bytes(freed));
    Ok(Code::Done)
}

/// Keeps only the records of other workflows.
fn forget(state: &StateDirectory, recorded: &Recorded) -> Result<(), Failure> {
    let content = journal::whole(&recorded.foreign_frames());
    write_durably(&state.journal(), &content).map_err(|error| trouble(error, "make it writable"))
}

fn clean_runs(state: &StateDirectory, dry_run: bool) -> Result<Code, Failure> {
    let runs = state.runs().map_err(|error| trouble(error, "make it readable"))?;
    if runs.is_empty() {
        tell!("nothing to delete: there are no runs");
        return Ok(Code::Done);
    }
    // A simulated run is no reason to lose what the last real one printed.
    let is_simulated = |run: &u64| state.run(*run).read_about().is_ok_and(|about| about.simulated.is_some());
    let last_real = runs.iter().rev().find(|run| !is_simulated(run)).or(runs.last()).copied();
    let old: Vec<u64> = runs.into_iter().filter(|run| Some(*run) != last_real).collect();
    let mut freed = 0;
    for number in &old {
        for path in [state.run(*number).path, state.aside(*number)] {
            freed += size(&path);
            if !dry_run && path.exists() {
                std::fs::remove_dir_all(&path).map_err(|error| {
                    trouble(format!("cannot delete {}: {error}", path.display()), "make it deletable")
                })?;
            }
        }
    }
    let would = if dry_run { "would be " } else { "" };
    tell!("{} {would}deleted, {}", words::count(old.len() as u64, "run"), words::bytes(freed));
    Ok(Code::Done)
}

fn size(path: &Path) -> u64 {
    let Ok(found) = path.symlink_metadata() else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
}

fn trouble(what: impl std::fmt::Display, remedy: &str) -> Failure {
    Failure::bad_input(what, remedy)
}
