//! `throng reproduce`: published experiments on modelled clusters, their figures beside ours.
//!
//! ```text
//!   publication: experiments ──▶ cases ── runner, on all cores ──▶ outcomes ──▶ sections ──▶ text | index.html | results.json
//! ```
//!
//! An experiment is one file that says what is run and what of it is shown. Nothing that is written depends on this machine or on how
//! long it took, so that two people who type the same see the same.

mod budget;
mod chart;
mod matrix;
mod mpdis;
mod page;
mod publication;
mod repeated;
mod runner;
mod section;
mod setting;
mod weasel;

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

use self::budget::BUDGET;
use self::matrix::MATRIX;
use self::mpdis::MPDIS;
use self::publication::Wanted;
use self::setting::Setting;
use self::weasel::WEASEL;
use crate::exit::{Code, Failure};

const MATRIX_HELP: &str = "\
Example:
  throng reproduce matrix --quick                        smaller versions of all experiments, in a minute
  throng reproduce matrix                                as published, in half an hour
  throng reproduce matrix --only all-pairs,no-op --json  some of them, for a program

Open index.html in the folder that it writes. The same seed gives the same files.";

const MPDIS_HELP: &str = "\
Example:
  throng reproduce mpdis --quick                         fewer graphs and sizes, in seconds
  throng reproduce mpdis                                 as published, in a minute
  throng reproduce mpdis --only versions --json          some of it, for a program

Open index.html in the folder that it writes. The same seed gives the same files.";

const WEASEL_HELP: &str = "\
Example:
  throng reproduce weasel --quick                        shorter runs on modelled nodes, in a second
  throng reproduce weasel                                as long as Weasel needs, in a few seconds
  throng reproduce weasel --only real                    real processes on this machine, in ten minutes

Open index.html in the folder that it writes. What is simulated is the same for the same seed; what is real is not.";

const BUDGET_HELP: &str = "\
Example:
  throng reproduce budget --quick                        fewer planners, less effort, in seconds
  throng reproduce budget                                all of them, in a few seconds
  throng reproduce budget --only sipht --json            some of it, for a program

Open index.html in the folder that it writes. Nothing in it is left to chance.";

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
    /// The simulations of the paper on MPDIS: orders that find in a shared cache what they need
    Mpdis(MpdisArguments),
    /// The experiments of the paper on Weasel: how many tasks at once a node takes, found out by itself
    Weasel(WeaselArguments),
    /// The experiments of the thesis on budgets: workflows of MapReduce jobs on rented machines
    Budget(BudgetArguments),
}

/// What is the same for all publications.
#[derive(Args)]
struct CommonArguments {
    /// What chance is made of; with several seeds, this one and those that follow it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print what is in results.json instead of tables
    #[arg(long)]
    json: bool,
}

/// What `throng reproduce matrix` takes.
#[derive(Args)]
#[command(after_help = MATRIX_HELP)]
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
    /// Run everything with so many seeds; tables show the mean and how far the farthest is from it [default: 3 with --quick, otherwise 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    #[command(flatten)]
    common: CommonArguments,
}

/// What `throng reproduce mpdis` takes.
#[derive(Args)]
#[command(after_help = MPDIS_HELP)]
struct MpdisArguments {
    /// The folder to write to; it is made if need be
    #[arg(long, short, value_name = "DIR", default_value = "reproduced-mpdis")]
    output: PathBuf,
    /// Only these: threads, data-sizes, traffic, versions, pipelines
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Fewer graphs, sizes and runs: ten seconds instead of a minute
    #[arg(long)]
    quick: bool,
    /// Run the random order with so many seeds; tables show the mean and how far the farthest is from it [default: 10 with --quick, otherwise 30]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    #[command(flatten)]
    common: CommonArguments,
}

/// What `throng reproduce weasel` takes.
#[derive(Args)]
#[command(after_help = WEASEL_HELP)]
struct WeaselArguments {
    /// The folder to write to; it is made if need be
    #[arg(long, short, value_name = "DIR", default_value = "reproduced-weasel")]
    output: PathBuf,
    /// Only these: simulated, real (which is left out otherwise)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Shorter runs, and fewer numbers of tasks at once
    #[arg(long)]
    quick: bool,
    /// Run everything with so many seeds; tables show the mean
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..=1000))]
    seeds: u64,
    #[command(flatten)]
    common: CommonArguments,
}

/// What `throng reproduce budget` takes.
#[derive(Args)]
#[command(after_help = BUDGET_HELP)]
struct BudgetArguments {
    /// The folder to write to; it is made if need be
    #[arg(long, short, value_name = "DIR", default_value = "reproduced-budget")]
    output: PathBuf,
    /// Only these: sipht, ligo, planners
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Fewer planners
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    common: CommonArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let wanted = |output, only, quick: bool, seeds: u64, CommonArguments { seed, json }: &CommonArguments| {
        let setting = Setting { quick, seed: *seed, seeds, is_again: false };
        Wanted { output, only, setting, json: *json }
    };
    match &arguments.what {
        What::Matrix(MatrixArguments { output, only, quick, seeds, common }) => {
            // What is quick is small, and chance weighs more.
            let seeds = seeds.unwrap_or(if *quick { 3 } else { 1 });
            MATRIX.reproduce(&wanted(output, only, *quick, seeds, common))
        }
        What::Mpdis(MpdisArguments { output, only, quick, seeds, common }) => {
            let seeds = seeds.unwrap_or(if *quick { mpdis::QUICK_SEEDS } else { mpdis::SEEDS });
            MPDIS.reproduce(&wanted(output, only, *quick, seeds, common))
        }
        What::Weasel(WeaselArguments { output, only, quick, seeds, common }) => {
            WEASEL.reproduce(&wanted(output, only, *quick, *seeds, common))
        }
        What::Budget(BudgetArguments { output, only, quick, common }) => {
            BUDGET.reproduce(&wanted(output, only, *quick, 1, common))
        }
    }
}
