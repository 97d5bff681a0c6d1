//! `throng map`: one command for many things, without a file; like xargs, but it goes on where it was.
//!
//! The command and its items become a workflow of one template. Its name holds a hash of the command, so that
//! different commands over the same items do not forget each other.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use throng_core::fingerprint::hash;
use throng_core::stale::Wish;
use throng_core::workflow::{Format, Request, Workflow};
use throng_runtime::clock::Clock;
use throng_runtime::host;
use throng_runtime::run::Outlook;

use crate::exit::{Code, Failure};
use crate::load::surroundings;
use crate::run::options::{About, RunArguments};
use crate::run::{Prints, execute, trouble, warn_of_damage};
use crate::words;

const HELP: &str = "\
Example:
  throng map 'convert {} small/{.name}' -- photos/*.jpg
  throng map --in {} --out small/{.name} 'convert {in} {out}' -- photos/*.jpg    also done again if a picture changes
  find . -name '*.log' | throng map 'gzip -k {}'
  seq 1000 | throng map --retries 2 './simulate --seed {}' > results.txt

In the command, {} is the item, {.name}, {.stem}, {.ext} and {.dir} are parts of its path, {out} is what --out says,
{in} what --in says, and {{ and }} are braces. Without any {…}, the item is added at the end.
Do it again, and only what is not done yet runs; what was printed before is printed again.";

/// What `throng map` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// What to run for each item; it goes to a shell only if it needs one
    command: String,
    /// The items [default: the lines of standard input]
    #[arg(last = true)]
    items: Vec<String>,
    /// Items from standard input end with a NUL, as `find -print0` writes them
    #[arg(long, short = '0')]
    null: bool,
    /// A file that the command reads for each item, such as {}: if it changes, the item is done again
    #[arg(long = "in", value_name = "PATH")]
    inputs: Vec<String>,
    /// A file that the command makes for each item, such as small/{.name}; may be given several times
    #[arg(long, value_name = "PATH")]
    out: Vec<String>,
    /// Cores that one command keeps busy
    #[arg(long)]
    cpus: Option<String>,
    /// How often to try again after a failure
    #[arg(long)]
    retries: Option<u32>,
    /// How long one attempt may take, such as 90s
    #[arg(long)]
    timeout: Option<String>,
    /// Show what commands print in the order of the items, and not as they end
    #[arg(long, short)]
    keep_order: bool,
    /// Do all of it again
    #[arg(long)]
    fresh: bool,
    /// Where to keep the state
    #[arg(long, value_name = "DIR", default_value = ".throng")]
    state: PathBuf,
    #[command(flatten)]
    run: RunArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let clock = Clock::start();
    let directory = std::env::current_dir()
        .map_err(|error| Failure::bad_input(format!("cannot tell where this is: {error}"), "change to a directory"))?;
    let mut items =
        if arguments.items.is_empty() { items_from_input(arguments.null)? } else { arguments.items.clone() };
    // The same thing twice is done once.
    let mut seen = std::collections::HashSet::new();
    let given = items.len();
    items.retain(|item| seen.insert(item.clone()));
    if items.len() < given && !arguments.run.quiet {
        let twice = words::count((given - items.len()) as u64, "item");
        note!("note: {twice} left out, given before: the same thing is done once");
    }
    if items.is_empty() {
        note!("there is nothing to do: no items were given");
        return Ok(Code::Done);
    }
    let text = workflow(arguments, &items)?;
    let name = format!("map-{:08x}", hash(arguments.command.as_bytes()) as u32);
    let request = Request::new(&text, Format::Json, &name);
    let surroundings = surroundings(&directory, &arguments.state);
    // The text that it was made of is nobody's: only what is wrong with it is told.
    let reading = Workflow::read(&request, &surroundings).map_err(|problems| {
        let problem = &problems.shown[0];
        Failure::bad_input(
            &problem.message,
            problem.remedy.replace("`out: FILE`", "`--out PATH`").replace("`in: FILE`", "`--in PATH`"),
        )
    })?;
    let flow = reading.flow;
    host::forget_peak();
    let about = About {
        home: directory.clone(),
        directory,
        file: PathBuf::from("throng map"),
        state: arguments.state.clone(),
        definition: format!("throng map {}", words::quoted(&arguments.command)),
        fresh: arguments.fresh,
        wish: Wish::default(),
        tier: None,
    };
    let options = arguments.run.options(clock, about)?;
    let run = Outlook::begin(Arc::new(flow), options).map_err(trouble::failure)?;
    warn_of_damage(&run, &arguments.state);
    let prints = match (arguments.run.json, arguments.keep_order) {
        (true, _) => Prints::Nothing,
        (false, true) => Prints::InOrder,
        (false, false) => Prints::AsTheyEnd,
    };
    let again = format!("throng map {} …", words::quoted(&arguments.command));
    execute(run, &arguments.run, &arguments.state, &again, prints)
}

/// Items of standard input, one a line; an empty line is none.
fn items_from_input(is_null: bool) -> Result<Vec<String>, Failure> {
    let mut input = std::io::stdin().lock();
    if input.is_terminal() {
        return Err(Failure::bad_input("there are no items", "give them after `--`, or through a pipe"));
    }
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(|error| {
        Failure::bad_input(format!("standard input cannot be read: {error}"), "give items as UTF-8 text")
    })?;
    let separator = if is_null { '\0' } else { '\n' };
    let items = text.split(separator).map(|item| if is_null { item } else { item.trim_end_matches('\r') });
    Ok(items.filter(|item| !item.is_empty()).map(str::to_owned).collect())
}

/// The workflow of one template that does it.
fn workflow(arguments: &Arguments, items: &[String]) -> Result<String, Failure> {
    if arguments.command.trim().is_empty() {
        return Err(Failure::bad_input("the command is empty", "say what to run for each item, such as 'echo {}'"));
    }
    let mut command = in_our_words(&arguments.command)?;
    if !arguments.command.replace("{{", "").contains('{') {
        command.push_str(" {item}");
    }
    let mut task = serde_json::json!({ "run": command, "kind": "map" });
    for (key, paths) in [("in", &arguments.inputs), ("out", &arguments.out)] {
        if !paths.is_empty() {
            let paths: Vec<String> = paths.iter().map(|path| in_our_words(path)).collect::<Result<_, _>>()?;
            task[key] = serde_json::json!(paths);
        }
    }
    let given = [("cpus", &arguments.cpus), ("timeout", &arguments.timeout)];
    for (key, value) in given.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
        task[key] = serde_json::json!(value);
    }
    if let Some(retries) = arguments.retries {
        task["retries"] = serde_json::json!(retries);
    }
    // An item is data: its braces are no names.
    let values: Vec<String> = items.iter().map(|item| item.replace('{', "{{").replace('}', "}}")).collect();
    task["foreach"] = serde_json::json!({ "item": values });
    Ok(serde_json::json!({ "tasks": { "map": task } }).to_string())
}

/// `{}` and `{.name}` as a workflow writes them.
fn in_our_words(text: &str) -> Result<String, Failure> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(brace) = rest.find(['{', '}']) {
        out.push_str(&rest[..brace]);
        let from_brace = &rest[brace..];
        if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
            out.push_str(&from_brace[..2]);
            rest = &from_brace[2..];
            continue;
        }
        let Some(end) = from_brace.find('}').filter(|_| from_brace.starts_with('{')) else {
            let message = format!("a brace without its partner in `{text}`");
            return Err(Failure::bad_input(message, "write {{ and }} for braces that are not Throng's"));
        };
        let inside = &from_brace[1..end];
        let is_item = inside.is_empty() || inside.starts_with(['.', ':']);
        out.push_str(&if is_item { format!("{{item{inside}}}") } else { format!("{{{inside}}}") });
        rest = &from_brace[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_mean_the_item() {
        let ours = |text| in_our_words(text).unwrap();
        assert_eq!(ours("convert {} small/{.name} {{x}} {out}"), "convert {item} small/{item.name} {{x}} {out}");
        assert_eq!(ours("{:raw}"), "{item:raw}");
        assert!(in_our_words("a { b").is_err());
    }
}
