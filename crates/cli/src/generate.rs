//! `throng generate`: benchmark workflows, to look at, to simulate and to compare schedulers with.
//!
//! What can be made is a list in `throng-sim`; here are only the words for it, and where the text goes.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use throng_core::workflow;
use throng_sim::generate::{Options, Plan, SHAPES, Shape};

use crate::exit::{Code, Failure};

const HELP: &str = "\
Example:
  throng generate bot --tasks 1000 > bot.yaml                a thousand independent tasks, as a template with a table
  throng generate fan-out --tasks 10000000 --means           ten million tasks in a few lines
  throng generate all-pairs --a 50 --b 50 --output ap.json   a list of single tasks, as programs write it
  throng generate montage --tasks 100 | throng simulate /dev/stdin
  throng generate bot --times 1ms..5ms | throng check /dev/stdin

Each task sleeps for the time that is drawn for it, and its files have the sizes that are drawn: `throng run` waits but
writes nothing, and wants files from outside to be there, which the applications have: `throng simulate` does not. The same seed gives the same bytes. An option that means nothing for a shape is refused.";

/// What `throng generate` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// What to make
    #[arg(value_parser = shapes())]
    shape: String,
    /// The file to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write it [default: by the ending of --output, else yaml]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Where the drawing of random numbers begins
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many tasks there are; where a shape comes in larger pieces, about so many
    #[arg(long, value_name = "N")]
    tasks: Option<String>,
    /// Tasks in a pipe, children of a task, or tasks that one reads from
    #[arg(long, value_name = "N")]
    degree: Option<String>,
    /// How long tasks take: a time such as 50ms, or drawn evenly from LOW..HIGH
    #[arg(long, value_name = "TIMES")]
    times: Option<String>,
    /// How much a task writes: an amount such as 5MB, or drawn evenly from LOW..HIGH
    #[arg(long, value_name = "SIZES")]
    sizes: Option<String>,
    /// Files of the first set, for all-pairs
    #[arg(long, value_name = "N")]
    a: Option<String>,
    /// Files of the second set, for all-pairs
    #[arg(long, value_name = "N")]
    b: Option<String>,
    /// How many tasks read an image, for image-stacking: one of 1, 1.38, 2, 3, 4, 5, 10, 20, 30
    #[arg(long, value_name = "L")]
    locality: Option<String>,
    /// How many images there are, with --tasks instead of --locality
    #[arg(long, value_name = "N")]
    files: Option<String>,
    /// Leave out the task that gathers, in image-stacking
    #[arg(long)]
    no_stack: bool,
    /// How many volumes there are, for fmri
    #[arg(long, value_name = "N")]
    volumes: Option<String>,
    /// How many molecules there are, for moldyn
    #[arg(long, value_name = "N")]
    molecules: Option<String>,
    /// How many layers there are, for random
    #[arg(long, value_name = "N")]
    layers: Option<String>,
    /// Tasks in a layer, for random
    #[arg(long, value_name = "N")]
    width: Option<String>,
    /// The inputs of all tasks together, for dag1 and its versions: an amount such as 120GB
    #[arg(long, value_name = "SIZE")]
    total: Option<String>,
    /// How large a file from outside is, for mapreduce-sipht and mapreduce-ligo: an amount such as 64MB
    #[arg(long, value_name = "SIZE")]
    input_size: Option<String>,
    /// Give each type of task a time of its own, in mapreduce-sipht and mapreduce-ligo
    #[arg(long)]
    typed: bool,
    /// Give every task the mean of times and sizes: a few lines for any number of tasks
    #[arg(long)]
    means: bool,
    /// Give every task its true time and output as an `estimate`, so that a scheduler need not learn them
    #[arg(long)]
    estimates: bool,
}

/// How a workflow is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Templates, for people
    Yaml,
    /// Single tasks, as programs write them
    Json,
}

fn shapes() -> PossibleValuesParser {
    SHAPES.iter().map(|shape| PossibleValue::new(shape.name).help(shape.summary)).collect::<Vec<_>>().into()
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let shape = Shape::find(&arguments.shape).expect("the command line takes no other");
    let plan = shape.plan(&arguments.options()).map_err(|wrong| Failure::bad_input(wrong.message, wrong.remedy))?;
    let format = arguments.format();
    match &arguments.output {
        None => crate::say::stream(|out| plan.write(format, out)),
        Some(file) => write_file(&plan, format, file).map_err(|error| {
            Failure::bad_input(
                format!("cannot write {}: {error}", file.display()),
                "choose another place with --output",
            )
        })?,
    }
    Ok(Code::Done)
}

fn write_file(plan: &Plan, format: workflow::Format, file: &PathBuf) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(file)?);
    plan.write(format, &mut out)?;
    out.flush()
}

impl Arguments {
    fn options(&self) -> Options {
        let mut options = Options::default();
        (options.seed, options.means, options.estimates) = (self.seed, self.means, self.estimates);
        let given = [
            ("tasks", &self.tasks),
            ("degree", &self.degree),
            ("times", &self.times),
            ("sizes", &self.sizes),
            ("a", &self.a),
            ("b", &self.b),
            ("locality", &self.locality),
            ("files", &self.files),
            ("volumes", &self.volumes),
            ("molecules", &self.molecules),
            ("layers", &self.layers),
            ("width", &self.width),
            ("total", &self.total),
            ("input-size", &self.input_size),
        ];
        for (name, text) in given.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
            options.set(name, text);
        }
        for (name, is_set) in [("no-stack", self.no_stack), ("typed", self.typed)] {
            if is_set {
                options.set(name, "");
            }
        }
        options
    }

    fn format(&self) -> workflow::Format {
        match (self.format, &self.output) {
            (Some(Format::Yaml), _) | (None, None) => workflow::Format::Yaml,
            (Some(Format::Json), _) => workflow::Format::Json,
            (None, Some(file)) => workflow::Format::of(&file.to_string_lossy()),
        }
    }
}
