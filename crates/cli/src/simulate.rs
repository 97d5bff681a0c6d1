//! `throng simulate`: the same run on a modelled cluster, driven by the code that decides in a real one.
//!
//! ```text
//!   workflow ─┐
//!   options ──┴▶ Cluster ──▶ World ──▶ Outcome ──▶ words | figures (JSON) | a table of many (compare)
//!                              └──▶ trace ──▶ plot (SVG) | a run on record (record)
//! ```

mod compare;
mod curve;
pub mod faults;
pub mod figures;
mod given;
mod loads;
mod machines;
mod options;
mod planned;
mod plot;
pub mod progress;
mod record;
pub mod sizes;
mod spread;
pub mod summary;
mod table;
mod tracing;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use throng_core::pack;
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Outcome, World};

use self::compare::{Axis, Seeds};
use self::options::ClusterArguments;
use self::plot::Plot;
use self::progress::Bar;
use self::sizes::Found;
use self::tracing::Tracing;
use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, load_leniently, tell_what_is_learnt};
use crate::report::write_to;
use crate::words;

const HELP: &str = "\
Example:
  throng simulate flow.yaml --nodes 10 --cores 16          how long would it take on ten machines?
  throng simulate flow.yaml --compare nodes=1,2,5,10       and on fewer?
  throng simulate flow.yaml --machines 4x8,2x16@1.5        and on those that we have?
  throng simulate flow.yaml --compare place=flds,mdl order=fifo,largest --seeds 1..5
  throng simulate flow.yaml --fault crashes:every=2h,back=5m   and if nodes die?
  throng simulate flow.yaml --cache 1GB..64GB              how much room for data is worth it?
  throng simulate flow.yaml --plot busy.svg                a picture: who did what when
  throng simulate flow.yaml --record                       then `throng report` tells all about it

How long a task takes is what its `estimate` or `sleep` says; how large a file is, its `size`, or the file that is there.
The same seed gives the same run. Exit code 1 says that the run did not come to its end.";

fn help() -> String {
    format!(
        "{HELP}\n\nWhat can be asked for with --fault, with every key:\n{}\n\nWhat can be said with --load, with every key:\n{}",
        faults::list(),
        loads::list()
    )
}

/// What `throng simulate` takes.
#[derive(Args)]
#[command(after_help = help())]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    /// Run every combination of values of these options, and show a table: place, order, pack, width, nodes, cores, machines (with + between them), bandwidth, cache, inputs, outputs, evict, submit, staged, fault
    #[arg(long, value_name = "OPTION=VALUE,VALUE", num_args = 1.., value_parser = compare::axis, conflicts_with_all = ["plot", "record"])]
    compare: Vec<Axis>,
    /// With --compare, run each combination with several seeds: 1..5 or 1,2,7
    #[arg(long, value_name = "SEEDS", value_parser = compare::seeds, requires = "compare", conflicts_with = "seed")]
    seeds: Option<Seeds>,
    /// Draw busy slots over time, and what each slot did, as SVG; `-` is standard output
    #[arg(long, value_name = "FILE", value_parser = plot::file)]
    plot: Option<PathBuf>,
    /// Put the run on record, marked as simulated, for `throng report`, `status` and `explain`
    #[arg(long)]
    record: bool,
    /// Print the result as JSON; the same run gives the same text
    #[arg(long)]
    json: bool,
}

/// A simulated run, and what it took to simulate it.
pub struct Simulated {
    outcome: Outcome,
    took: Duration,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let missing = RefCell::new(BTreeSet::new());
    let mut loaded = load_leniently(&arguments.source, &missing)?;
    tell_what_is_learnt(&mut loaded, None);
    let mut flow = std::mem::take(&mut loaded.flow);
    let found = Found::learn(&mut flow, &loaded.directory, loaded.storage.as_deref());
    if learns(arguments) {
        flow.tell_kinds_apart();
    }
    if !arguments.cluster.plan.is_empty() && (!arguments.compare.is_empty() || arguments.cluster.cache.is_range()) {
        let message = "a plan is for one cluster, and these are several";
        return Err(Failure::bad_input(message, "leave out --compare and ranges of --cache, or --plan"));
    }
    let held = planned::hold(&arguments.cluster, &loaded, &mut flow)?;
    let flow = Arc::new(flow);
    if !arguments.compare.is_empty() {
        if arguments.cluster.cache.is_range() {
            let message = "--cache tries several sizes by itself, and --compare others beside them";
            return Err(Failure::bad_input(message, "compare sizes with --compare cache=1GB,2GB,4GB"));
        }
        found.warn();
        let axes = (arguments.compare.as_slice(), arguments.seeds.as_ref());
        return compare::run(&flow, &arguments.cluster, axes, &found, arguments.json);
    }
    if arguments.cluster.cache.is_range() {
        if arguments.record {
            let message = "several sizes of cache are several runs, and only one can be put on record";
            return Err(Failure::bad_input(message, "give --cache one size, or leave out --record"));
        }
        found.warn();
        return curve::run(&flow, &arguments.cluster, arguments.plot.as_ref(), arguments.json);
    }
    let (cluster, planned) = match held {
        Some((cluster, planned)) => (cluster, Some(planned)),
        None => (arguments.cluster.cluster(&flow)?, None),
    };
    options::check(&flow, &cluster)?;
    if arguments.record {
        record::check(&loaded)?;
    }
    found.warn();
    let (simulated, trace) = simulate(&flow, &cluster, arguments.plot.is_some() || arguments.record)?;
    let outcome = &simulated.outcome;
    if let Some(path) = &arguments.plot {
        let picture = picture(&flow, &cluster, outcome, &trace);
        let file = Some(path.as_path()).filter(|path| *path != std::path::Path::new("-"));
        write_to(file, |out| out.write_all(picture.as_bytes()))?;
    }
    let run = match arguments.record {
        true => Some(record::record((&loaded, &arguments.source), (&flow, &cluster), outcome, &trace)?),
        false => None,
    };
    if arguments.json {
        let mut told = figures::figures(&flow, &cluster, outcome, &found);
        if let Some(planned) = &planned {
            told["plan"] = planned.figures(&flow, &cluster, outcome);
        }
        tell!("{told}");
    } else if arguments.plot.as_deref() != Some(std::path::Path::new("-")) {
        summary::tell(&flow, &cluster, &simulated);
        if let Some(planned) = &planned {
            planned.tell(&flow, &cluster, outcome);
        }
    }
    if let Some(path) = arguments.plot.as_ref().filter(|path| path.as_os_str() != "-") {
        note!("wrote {}: open it in a browser", path.display());
    }
    if let Some(run) = run {
        note!("recorded as run {run}, marked as simulated: see `throng report {run}`");
    }
    Ok(code(outcome))
}

/// Whether nodes learn, in any of the runs that are asked for.
fn learns(arguments: &Arguments) -> bool {
    let compared = arguments.compare.iter().filter(|axis| axis.option == "pack").flat_map(|axis| &axis.values);
    let mut compared = compared.filter_map(|value| value.parse().ok());
    pack::learns(&arguments.cluster.pack) || compared.any(|policy| pack::learns(&policy))
}

/// Simulates one run; with its trace, if anybody wants that.
fn simulate(flow: &Arc<Workflow>, cluster: &Cluster, wants_trace: bool) -> Result<(Simulated, Vec<u8>), Failure> {
    let begun = Instant::now();
    let mut world = make_world(flow, cluster)?;
    let bar = Bar::new(flow.task_count() as u64, "tasks");
    if let Some(bar) = &bar {
        world = world.with_progress(bar.progress());
    }
    let tracing = Tracing::new();
    if wants_trace {
        world = world.with_recorder(tracing.recorder());
    }
    let outcome = world.run();
    Ok((Simulated { outcome, took: begun.elapsed() }, tracing.bytes()))
}

fn picture(flow: &Workflow, cluster: &Cluster, outcome: &Outcome, trace: &[u8]) -> String {
    let account = tracing::account(flow, cluster, trace);
    plot::svg(&Plot {
        title: summary::heading(flow, cluster),
        subtitle: [
            format!(
                "{} done in {}; the lower bound is {} of that; slots were busy for {} of the time",
                words::count_many(outcome.done, "task"),
                summary::time(outcome.makespan),
                summary::percent(outcome.of_bound()),
                summary::percent(outcome.utilisation()),
            ),
            summary::policies(cluster),
        ],
        flow,
        account: &account,
        cluster,
        length_ns: outcome.makespan.as_nanos() as u64,
        bound_ns: outcome.bound_ns(),
    })
}

fn make_world(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<World, Failure> {
    World::new(flow.clone(), cluster.clone())
        .map_err(|error| Failure::bad_input(error, "write a policy as name or name:key=value,key=value"))
}

fn code(outcome: &Outcome) -> Code {
    if outcome.stuck.is_some() || outcome.not_done > 0 { Code::TaskFailed } else { Code::Done }
}
