//! `throng reference`: the parts of the manual that are made from the code, as Markdown.
//!
//! It is hidden: its readers are the pages below `docs/reference`, and the test that compares them with what this
//! prints. Keys come from the list that the reader of workflows uses, commands from the command line itself, shapes
//! from their own list.

use clap::{Arg, Args, Command, ValueEnum};
use throng_core::workflow::keys::{self, Form, Key};
use throng_sim::generate::{SHAPES, Shape};

use crate::exit::{Code, Failure};

/// What `throng reference` takes.
#[derive(Args)]
pub struct Arguments {
    /// Which part
    part: Part,
}

/// A part of the manual.
#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// The keys of a workflow
    Workflow,
    /// The keys of a task
    Task,
    /// All commands with their flags
    Commands,
    /// The shapes of benchmark workflows
    Shapes,
}

/// Prints a part.
pub fn run(arguments: &Arguments, mut command: Command) -> Result<Code, Failure> {
    let text = match arguments.part {
        Part::Workflow => keys_as_text(&keys::TOP, false),
        Part::Task => keys_as_text(&keys::TASK, true),
        Part::Commands => {
            command.build();
            let commands = shown(&command).flat_map(|own| std::iter::once(own).chain(shown(own)));
            commands.map(command_as_text).collect::<Vec<_>>().join("\n")
        }
        Part::Shapes => SHAPES.iter().map(shape_as_text).collect(),
    };
    tell!("{}", text.trim_end());
    Ok(Code::Done)
}

/// The commands below a command that people see.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|own| !own.is_hide_set() && own.get_name() != "help")
}

fn keys_as_text(keys: &[Key], is_task: bool) -> String {
    let mut text = String::new();
    for key in keys {
        let mut notes = vec![format!("Takes {}.", form_in_words(key.form))];
        if is_task && key.is_pattern {
            notes.push("`{names}` are values of each task.".to_owned());
        }
        if key.in_defaults {
            notes.push("May stand in `defaults`.".to_owned());
        }
        text.push_str(&format!(
            "### `{}`\n\n{}\n\n```yaml\n{}: {}\n```\n\n{}\n\n",
            key.name,
            key.summary,
            key.name,
            key.example,
            notes.join(" ")
        ));
    }
    text
}

fn form_in_words(form: Form) -> &'static str {
    match form {
        Form::Text => "text",
        Form::Words => "a list of words",
        Form::TextOrWords => "text, or a list of words",
        Form::Texts => "text, or a list of texts",
        Form::Flag => "`true` or `false`",
        Form::Whole => "a whole number",
        Form::Number => "a number",
        Form::Bytes => "an amount of memory: `300MB`, `2GiB`",
        Form::Time => "a length of time: `250ms`, `90s`, `5m`, `2h`, `1d`, `1h30m`",
        Form::TextMap => "a map of names and texts",
        Form::AnyMap => "a map of names and values",
        Form::Foreach => "a map of names and what they run over",
        Form::Inputs => "a path, a list of paths, or a map of names and paths",
        Form::Outputs => "a path, a list of paths, or a map of names and paths",
        Form::Resources => "a map of amounts, or a list of such maps",
        Form::Retries => "a number, or a map with `times` and `codes`",
        Form::Estimate => "a map with `time`, `memory` and `out`",
        Form::Container => "an image, or a map with `image`, `with` and `options`",
        Form::Include => "a file, a map with `file`, `prefix` and `params`, or a list of them",
        Form::Defaults => "a map of keys of a task",
        Form::Tasks => "a map of names and tasks",
    }
}

fn shape_as_text(shape: &Shape) -> String {
    let takes = shape.takes.iter().map(|own| match own.default {
        "" => format!("`--{}`", own.name),
        default => format!("`--{}` (`{default}`)", own.name),
    });
    let takes = takes.collect::<Vec<_>>().join(", ");
    format!("### `{}`\n\n{}.\n\n{}.\n\nTakes {takes}.\n\n", shape.name, capital(shape.summary), capital(shape.origin))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn command_as_text(command: &Command) -> String {
    // With those above it: `throng reproduce matrix`.
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut text = format!("## {name}\n\n{about}.\n\n```text\n{usage}\n```\n\n");
    let is_told = |own: &&Arg| !own.is_hide_set() && own.get_id() != "help";
    for argument in command.get_positionals().filter(is_told) {
        text.push_str(&argument_as_text(argument));
    }
    for argument in command.get_opts().filter(is_told) {
        text.push_str(&argument_as_text(argument));
    }
    for flag in command.get_arguments().filter(|own| !own.is_positional() && !own.get_action().takes_values()) {
        if is_told(&flag) {
            text.push_str(&argument_as_text(flag));
        }
    }
    if let Some(example) = command.get_after_help() {
        let example = example.to_string();
        let (shown, more) = split_example(example.trim_end());
        text.push_str(&format!("\n```text\n{shown}\n```\n"));
        if !more.is_empty() {
            text.push_str(&format!("\n```text\n{more}\n```\n"));
        }
    }
    text
}

/// The example of a help text, and what stands below it.
fn split_example(text: &str) -> (&str, &str) {
    let text = text.strip_prefix("Example:\n").unwrap_or(text);
    text.split_once("\n\n").unwrap_or((text, ""))
}

fn argument_as_text(argument: &Arg) -> String {
    let values: Vec<String> = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let value = values.join(" ");
    let mut names: Vec<String> = Vec::new();
    if argument.is_positional() {
        names.push(format!("`{value}`"));
    }
    let takes_value = argument.get_action().takes_values();
    let with_value = |name: String| if takes_value { format!("`{name} {value}`") } else { format!("`{name}`") };
    names.extend(
        argument.get_long_and_visible_aliases().unwrap_or_default().iter().map(|long| with_value(format!("--{long}"))),
    );
    let shorts = argument.get_short_and_visible_aliases().unwrap_or_default();
    names.extend(shorts.iter().map(|short| format!("`-{short}`")));
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("* {}: {help}", names.join(", "));
    let possible = argument.get_possible_values();
    if takes_value && !possible.is_empty() {
        let named: Vec<String> = possible
            .iter()
            .map(|one| {
                let help = one.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
                format!("`{}`{help}", one.get_name())
            })
            .collect();
        text.push_str(&format!(". One of {}", named.join(", ")));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes_value && !defaults.is_empty() {
        text.push_str(&format!(". Default: `{}`", defaults.join(" ")));
    }
    text.push_str(".\n");
    text
}
