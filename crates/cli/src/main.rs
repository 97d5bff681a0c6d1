//! `throng`: the command line. Words live here; decisions live in `throng-core`, deeds in `throng-runtime`.

#[macro_use]
mod say;

mod check;
mod clean;
mod completions;
mod diagnostics;
mod exit;
mod explain;
mod export;
mod generate;
mod graph;
mod kinds;
mod load;
mod logs;
mod map;
mod plan;
mod progress_view;
mod reference;
mod report;
mod reproduce;
mod run;
mod runs;
mod schema;
mod simulate;
mod status;
mod top;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Runs graphs of many short tasks joined by files, and loses nothing.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  throng run examples/wordcount/flow.yaml      run it; run it again and only what changed is done
  cd examples/wordcount                        the other commands look for the state where you are
  throng status last count:dawn,1              what happened to one task
  throng logs last table                       what it printed
  throng report                                a page about the run: how long, why, and what could be better
  throng explain last table                    why it ran, waited, or did not
  throng top                                   watch a run, in another terminal
  throng simulate flow.yaml --nodes 10         how long would it take on ten machines?
  throng plan flow.yaml --machines m.yaml      and what would it cost on rented ones?

Exit codes: 0 all done, 1 some task failed, 2 bad input or cannot run here, 3 interrupted, 4 internal error";

#[derive(Subcommand)]
enum Command {
    /// Run a workflow here and now; resumes by itself
    Run(run::Arguments),
    /// Run one command for many things, without a file; resumes by itself
    Map(map::Arguments),
    /// Show a workflow's numbers, and what about it looks like a slip of the pen
    Check(check::Arguments),
    /// Say how long a workflow would take on a modelled cluster, and why
    Simulate(Box<simulate::Arguments>),
    /// Say what a workflow would take and cost on rented machines, and which plan is best for some money or by some time
    Plan(plan::Arguments),
    /// Run published experiments on modelled clusters, their figures beside ours
    Reproduce(reproduce::Arguments),
    /// Show how a run, or one of its tasks, went
    Status(status::Arguments),
    /// List the runs of a directory
    Runs(runs::Arguments),
    /// Show what runs have learnt of each kind of task: times, cores, memory, how many at once
    Kinds(kinds::Arguments),
    /// Show what a task printed
    Logs(logs::Arguments),
    /// Write a report of a run: one HTML file, or JSON, CSV, a trace for Perfetto
    Report(report::Arguments),
    /// Say why a task ran, waited, or was skipped
    Explain(explain::Arguments),
    /// Watch a run from another terminal
    Top(top::Arguments),
    /// Draw a workflow as DOT or SVG
    Graph(graph::Arguments),
    /// Write a workflow, and how it ran, in WfFormat for other people's tools
    Export(export::Arguments),
    /// Write a benchmark workflow
    Generate(generate::Arguments),
    /// Delete what Throng made
    Clean(clean::Arguments),
    /// Print the JSON Schema of the workflow file, for editors
    Schema(schema::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Write the manual pages
    Man(completions::ManArguments),
    /// Print the parts of the manual that are made from the code
    #[command(hide = true)]
    Reference(reference::Arguments),
}

fn main() -> ExitCode {
    exit::on_panic();
    let result = match Cli::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Map(arguments) => map::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Runs(arguments) => runs::run(&arguments),
        Command::Kinds(arguments) => kinds::run(&arguments),
        Command::Logs(arguments) => logs::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Graph(arguments) => graph::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Clean(arguments) => clean::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments, &Cli::command()),
        Command::Man(arguments) => completions::man(&arguments, Cli::command()),
        Command::Reference(arguments) => reference::run(&arguments, Cli::command()),
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.print();
            failure.code.into()
        }
    }
}
