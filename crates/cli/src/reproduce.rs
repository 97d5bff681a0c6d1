//! `throng reproduce`: published experiments on modelled clusters, their figures beside ours.
//!
//! ```text
//!   matrix: experiments ──▶ cases ── runner, on all cores ──▶ outcomes ──▶ sections ──▶ text | index.html | results.json
//! ```
//!
//! An experiment is one file that says what is run and what of it is shown. Nothing that is written depends on this machine or on how
//! long it took, so that two people who type the same see the same.

mod chart;
mod matrix;
mod page;
mod repeated;
mod runner;
mod section;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, value_parser};
use serde_json::{Value, json};

use self::matrix::{EXPERIMENTS, Experiment, Setting};
use self::runner::Results;
use self::section::Section;
use crate::exit::{Code, Failure};
use crate::simulate::figures;

const HELP: &str = "\
Example:
  throng reproduce matrix --quick                        smaller versions of all experiments, in a minute
  throng reproduce matrix                                as published, in half an hour
  throng reproduce matrix --only all-pairs,no-op --json  some of them, for a program

Open index.html in the folder that it writes. The same seed gives the same files.";

/// What `throng reproduce` takes.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The experiments of the MATRIX papers: data-aware work stealing on 200 cores
    Matrix(MatrixArguments),
}

/// What `throng reproduce matrix` takes.
#[derive(Args)]
#[command(after_help = HELP)]
struct MatrixArguments {
    /// The folder to write to; it is made if need be
    #[arg(long, short, value_name = "DIR", default_value = "reproduced-matrix")]
    output: PathBuf,
    /// Only these: image-stacking, all-pairs, benchmarks, no-op, scale, scale-128k (which is left out otherwise)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Fewer and smaller runs: a minute instead of half an hour
    #[arg(long)]
    quick: bool,
    /// What chance is made of; with several seeds, this one and those that follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Run everything with so many seeds; tables show the mean and how far the farthest is from it [default: 3 with --quick, otherwise 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// Print what is in results.json instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let What::Matrix(arguments) = &arguments.what;
    let chosen = chosen(&arguments.only)?;
    // A folder that cannot be written is better known before half an hour than after.
    std::fs::create_dir_all(&arguments.output).map_err(|error| unwritable(&arguments.output, &error))?;
    // What is quick is small, and chance weighs more.
    let seeds = arguments.seeds.unwrap_or(if arguments.quick { 3 } else { 1 });
    let setting = Setting { quick: arguments.quick, seed: arguments.seed, seeds };
    let cases_of = |experiment: &&Experiment| setting.of_each_seed().flat_map(|one| (experiment.cases)(&one)).collect();
    let results = runner::run(chosen.iter().map(cases_of).collect())?;
    let told: Vec<_> = chosen
        .iter()
        .zip(&results)
        .map(|(experiment, results)| {
            let mut section = (experiment.tell)(&setting, results);
            section.tables.iter_mut().for_each(|table| table.caption += &setting.remark());
            (*experiment, section, results)
        })
        .collect();
    let figures = as_json(&setting, &told);
    let sections: Vec<_> = told.iter().map(|(experiment, section, _)| (experiment.name, section)).collect();
    write(&arguments.output, "results.json", &format!("{figures:#}\n"))?;
    write(&arguments.output, "index.html", &page::html(&setting, &sections))?;
    if arguments.json {
        tell!("{figures:#}");
    } else {
        section::paragraph(&Setting::beside()).iter().for_each(|line| tell!("{line}"));
        for (_, section) in &sections {
            section.lines().iter().for_each(|line| tell!("{line}"));
        }
    }
    note!("wrote {}: open it in a browser", arguments.output.join("index.html").display());
    let is_whole = results.iter().all(Results::is_whole);
    Ok(if is_whole { Code::Done } else { Code::TaskFailed })
}

/// The experiments that are asked for, in their own order.
fn chosen(only: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if let Some(stray) = only.iter().find(|name| EXPERIMENTS.iter().all(|known| known.name != name.as_str())) {
        let known: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        return Err(Failure::bad_input(
            format!("there is no experiment `{stray}`"),
            format!("choose among {}", known.join(", ")),
        ));
    }
    let is_chosen = |experiment: &&Experiment| match only {
        [] => !experiment.only_if_named,
        only => only.iter().any(|name| name == experiment.name),
    };
    Ok(EXPERIMENTS.iter().filter(is_chosen).collect())
}

fn as_json(setting: &Setting, told: &[(&Experiment, Section, &Results)]) -> Value {
    let experiments = told.iter().map(|(experiment, section, results)| {
        let runs = results.iter().map(|(label, cluster, outcome)| {
            json!({
                "run": label,
                "cluster": figures::cluster_figures(cluster),
                "result": figures::result(outcome),
            })
        });
        let mut value = section.as_json();
        value["name"] = json!(experiment.name);
        value["runs"] = json!(runs.collect::<Vec<_>>());
        value
    });
    json!({
        "of": "matrix",
        "simulated": true,
        "quick": setting.quick,
        "seed": setting.seed,
        "seeds": setting.seeds,
        "experiments": experiments.collect::<Vec<_>>(),
    })
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let file = folder.join(name);
    std::fs::write(&file, text).map_err(|error| unwritable(&file, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot write {}: {error}", path.display()), "choose another place with --output")
}
