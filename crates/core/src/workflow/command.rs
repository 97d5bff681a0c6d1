//! What a task does, with its values written in, and whether a shell is needed for it.

use std::time::Duration;

use super::pattern::{Fact, Piece, Quoting, Selection, Side, Values, part_of, render};
use super::spec::GPUS;
use super::{Extras, LOG, NONE, Span, Template, Workflow, path, quantity};
use crate::ids::{DemandId, ObjectId, TaskId};

pub(super) const RUN: u32 = 0;
pub(super) const EXEC: u32 = 1;
pub(super) const NOOP: u32 = 2;
pub(super) const SLEEP: u32 = 3;
/// A task of a trace: its words are those of the command that was run.
pub(super) const RECORDED: u32 = 4;
/// The same, replayed: one more word, the first, says how long it takes.
pub(super) const REPLAY_SLEEP: u32 = 5;
pub(super) const REPLAY_SPIN: u32 = 6;

/// What a task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start a program with these arguments, the first being its name.
    Program(Vec<String>),
    /// Hand a text to a shell.
    Shell {
        /// The shell and its options.
        shell: Vec<String>,
        /// The text, its last argument.
        text: String,
    },
    /// Nothing.
    Noop,
    /// Wait this long, without a process.
    Sleep(Duration),
    /// Read what is read, write what is made, in the sizes that are declared, and take this long in all.
    Replay {
        /// How long.
        length: Duration,
        /// Whether that is time on a core, or just time.
        spins: bool,
    },
    /// What a trace says was run once: nothing that could be run here.
    Recorded,
}

/// What only the start of an attempt decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Which attempt, from one.
    pub attempt: u16,
    /// What it has been granted.
    pub demand: DemandId,
}

/// The image that a task runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerUse {
    /// The image.
    pub image: String,
    /// The program that runs it, if the workflow insists on one.
    pub with: Option<String>,
    /// More options for that program.
    pub options: Vec<String>,
}

const DEFAULT_SHELL: [&str; 2] = ["/bin/sh", "-ec"];

/// Shells whose rules of quoting are known.
const KNOWN_SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"];
/// Programs that take a text to run behind `-e` and not behind `-c`.
const DASH_E: [&str; 6] = ["perl", "ruby", "node", "julia", "Rscript", "lua"];

/// Whether a shell follows the rules that quoting relies on.
pub(super) fn is_known_shell(words: &[String]) -> bool {
    words.first().is_some_and(|program| KNOWN_SHELLS.contains(&path::file_name(program)))
}

/// Programs in which a slash between letters runs nothing.
const SLASH_IS_PLAIN: [&str; 5] = ["python", "python3", "Rscript", "node", "julia"];

/// Whether paths are harmless in texts that a program reads.
pub(super) fn is_slash_plain(words: &[String]) -> bool {
    words.first().is_some_and(|program| SLASH_IS_PLAIN.contains(&path::file_name(program)))
}

/// Whether a shell with these options would do nothing to a plain command but start it.
fn is_plain_shell(words: &[String]) -> bool {
    let harmless = |word: &String| {
        matches!(word.as_str(), "-e" | "-u" | "-eu" | "-ue" | "-o" | "-euo" | "pipefail" | "errexit" | "nounset")
    };
    is_known_shell(words) && words[1..].iter().all(harmless)
}

fn with_command_flag(mut words: Vec<String>) -> Vec<String> {
    let flag = if DASH_E.contains(&path::file_name(&words[0])) { "-e" } else { "-c" };
    let is_there = words.last().is_some_and(|last| last == flag || is_known_shell(&words) && is_cluster_with_c(last));
    if words.len() == 1 || !is_there {
        words.push(flag.to_owned());
    }
    words
}

/// Whether a word holds the flag for a text among others, as `-lc` does.
fn is_cluster_with_c(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// The words with which a shell reads a file instead of its last argument.
pub fn as_script(mut shell: Vec<String>, file: String) -> Vec<String> {
    // `-ec` is an option and the flag for a text in one.
    let flag = shell.pop().unwrap_or_default();
    if is_cluster_with_c(&flag) && flag != "-c" {
        shell.push(flag.replacen('c', "", 1));
    }
    shell.push(file);
    shell
}

/// The values of one task.
struct TaskValues<'a> {
    flow: &'a Workflow,
    task: TaskId,
    /// Nothing when a task is described apart from any attempt at it.
    conditions: Option<Conditions>,
}

impl Values for TaskValues<'_> {
    fn column(&self, column: u32, out: &mut String) {
        self.flow.write_value(self.task, column, out);
    }

    fn paths(&self, side: Side, selection: Selection) -> Vec<String> {
        self.flow.written_paths(self.task, side, selection)
    }

    fn fact(&self, fact: Fact, out: &mut String) {
        use std::fmt::Write;
        if fact == Fact::Task {
            out.push_str(&self.flow.name(self.task));
            return;
        }
        // How much a task may use does not change what it does: it stays up to date when that is tuned.
        let Some(Conditions { attempt, demand }) = self.conditions else {
            return write!(out, "{{{fact:?}}}").expect("writing to a string cannot fail");
        };
        let demand = self.flow.demand(demand);
        let milli = |amount: u64| amount as f64 / 1000.0;
        let written = match fact {
            Fact::Cpus => write!(out, "{}", milli(demand.cpus_milli)),
            Fact::Memory => write!(out, "{}", demand.memory_bytes),
            Fact::Gpus => {
                let gpus = demand.named.iter().find(|(name, _)| *name == GPUS).map_or(0, |(_, amount)| *amount);
                write!(out, "{}", milli(gpus))
            }
            Fact::Attempt | Fact::Task => write!(out, "{attempt}"),
        };
        written.expect("writing to a string cannot fail");
    }
}

impl Workflow {
    /// What an attempt at a task does.
    pub fn action(&self, task: TaskId, conditions: Conditions) -> Action {
        let template = self.template_of(task);
        let values = TaskValues { flow: self, task, conditions: Some(conditions) };
        let render = |pieces: &[Piece], quoting| self.render_with(pieces, quoting, &values);
        match self.settings_of(task).action {
            RUN => {
                let shell = self.shell(task);
                let quoting = self.quoting(task);
                let text = render(self.command(template), quoting);
                match &shell {
                    Some(shell) if !is_plain_shell(shell) => {}
                    _ => {
                        if let Some(words) = split_plain(&text) {
                            return Action::Program(words);
                        }
                    }
                }
                let default = || DEFAULT_SHELL.map(str::to_owned).to_vec();
                Action::Shell { shell: shell.map_or_else(default, with_command_flag), text }
            }
            EXEC => {
                let mut words = Vec::new();
                for word in self.command(template).split_inclusive(|piece| piece.is_word_end()) {
                    let pieces = word.strip_suffix(&[Piece::WORD_END]).unwrap_or(word);
                    match pieces {
                        // As many words as there are files.
                        [piece] if piece.paths().is_some() => {
                            let (side, selection) = piece.paths().expect("just seen");
                            words.extend(values.paths(side, selection).iter().map(|path| part_of(path, *piece)));
                        }
                        pieces => words.push(render(pieces, Quoting::Plain)),
                    }
                }
                Action::Program(words)
            }
            NOOP => Action::Noop,
            SLEEP => Action::Sleep(self.read_sleep(task)),
            RECORDED => Action::Recorded,
            action @ (REPLAY_SLEEP | REPLAY_SPIN) => {
                Action::Replay { length: self.read_sleep(task), spins: action == REPLAY_SPIN }
            }
            other => unreachable!("no action has the number {other}"),
        }
    }

    /// How long a task waits, if waiting is what it does.
    pub fn sleep_time(&self, task: TaskId) -> Option<Duration> {
        (self.settings_of(task).action == SLEEP).then(|| self.read_sleep(task))
    }

    fn read_sleep(&self, task: TaskId) -> Duration {
        let command = self.command(self.template_of(task));
        let word = command.split(|piece| piece.is_word_end()).next().unwrap_or(command);
        quantity::duration(&self.render(task, word)).expect("the builder has read this")
    }

    /// The program that a trace says was run for a task, and its arguments; nothing if this is no trace.
    pub fn recorded_command(&self, task: TaskId) -> Option<Vec<String>> {
        let first = match self.settings_of(task).action {
            RECORDED => 0,
            REPLAY_SLEEP | REPLAY_SPIN => 1,
            _ => return None,
        };
        let words = self.command(self.template_of(task)).split(|piece| piece.is_word_end());
        Some(words.skip(first).map(|word| self.render(task, word)).collect())
    }

    /// Whether this was read from a trace, be it replayed or not.
    pub fn is_trace(&self) -> bool {
        self.settings.first().is_some_and(|settings| settings.action >= RECORDED)
    }

    /// Whether a task does nothing.
    pub fn is_noop(&self, task: TaskId) -> bool {
        self.settings_of(task).action == NOOP
    }

    /// Whether a task does nothing but to wait, if it has no files.
    pub fn is_timer(&self, task: TaskId) -> bool {
        matches!(self.settings_of(task).action, NOOP | SLEEP)
    }

    /// Whether a task is one of those that need no process.
    pub fn is_builtin(&self, task: TaskId) -> bool {
        !matches!(self.settings_of(task).action, RUN | EXEC)
    }

    /// The environment variables that a task sets.
    pub fn environment(&self, task: TaskId, conditions: Conditions) -> Vec<(&str, String)> {
        self.environment_with(task, Some(conditions))
    }

    /// The environment variables that a task sets, apart from any attempt at it.
    pub fn written_environment(&self, task: TaskId) -> Vec<(&str, String)> {
        self.environment_with(task, None)
    }

    fn environment_with(&self, task: TaskId, conditions: Option<Conditions>) -> Vec<(&str, String)> {
        let settings = self.settings_of(task);
        let variables = &self.variables[settings.env as usize..(settings.env + settings.env_count) as usize];
        let values = TaskValues { flow: self, task, conditions };
        variables
            .iter()
            .map(|variable| {
                let pieces = variable.value as usize..(variable.value + variable.value_pieces) as usize;
                (self.strings.get(variable.name), self.render_with(&self.pieces[pieces], Quoting::Plain, &values))
            })
            .collect()
    }

    /// The command of a task as a person would read it, apart from any attempt.
    pub fn command_text(&self, task: TaskId) -> String {
        let (template, action) = (self.template_of(task), self.settings_of(task).action);
        let words = self.command(template).split_inclusive(|piece| piece.is_word_end());
        let quoting = if action == RUN { self.quoting(task) } else { Quoting::Plain };
        let values = TaskValues { flow: self, task, conditions: None };
        let words: Vec<String> = words.map(|word| self.render_with(word, quoting, &values)).collect();
        match action {
            NOOP => "noop".to_owned(),
            SLEEP => format!("sleep {}", words.join(" ")),
            REPLAY_SLEEP => format!("wait {} for: {}", words[0], words[1..].join(" ")),
            REPLAY_SPIN => format!("compute {} for: {}", words[0], words[1..].join(" ")),
            _ => words.join(" "),
        }
    }

    /// Writes what a task does for [`Workflow::definition_hash`].
    pub(super) fn describe_action(&self, task: TaskId, text: &mut String) {
        let (template, action) = (self.template_of(task), self.settings_of(task).action);
        let words = self.command(template).split_inclusive(|piece| piece.is_word_end());
        // A word may be empty, so their number is told.
        text.push_str(&format!("{action} {}\0", words.clone().count()));
        let quoting = if action == RUN { self.quoting(task) } else { Quoting::Plain };
        let values = TaskValues { flow: self, task, conditions: None };
        for word in words {
            text.push_str(&self.render_with(word, quoting, &values));
            text.push('\0');
        }
        for (name, value) in self.written_environment(task) {
            text.push_str(&format!("{name}={value}\0"));
        }
        if matches!(action, REPLAY_SLEEP | REPLAY_SPIN) {
            // The sizes of its files are what it does, and no mere expectation.
            for object in self.outputs(task) {
                text.push_str(&format!("{:?}\0", self.declared_size(object)));
            }
        }
        text.push('\0');
        let Some(extras) = self.extras_of(task) else { return };
        for (at, span) in [extras.dir, extras.stdin, extras.stdout, extras.stderr].into_iter().enumerate() {
            if span.count > 0 {
                text.push_str(&format!("{at}>{}\0", self.render_span(task, span)));
            }
        }
        for word in self.shell(task).unwrap_or_default() {
            text.push_str(&format!("shell {word}\0"));
        }
        if let Some(container) = self.container(task) {
            text.push_str(&format!("container {container:?}\0"));
        }
    }

    /// The directory in which a task runs, if not the workflow's.
    pub fn directory(&self, task: TaskId) -> Option<String> {
        let extras = self.extras_of(task)?;
        let text = (extras.dir.count > 0).then(|| self.render_span(task, extras.dir))?;
        let directory = path::normalize(&text).into_owned();
        (!directory.is_empty()).then_some(directory)
    }

    /// The files that a task's standard input, output and error are joined to, where they are.
    pub fn streams(&self, task: TaskId) -> [Option<String>; 3] {
        let Some(extras) = self.extras_of(task) else { return Default::default() };
        [extras.stdin, extras.stdout, extras.stderr]
            .map(|span| (span.count > 0).then(|| path::normalize(&self.render_span(task, span)).into_owned()))
    }

    /// The image that a task runs in, if it runs in one.
    pub fn container(&self, task: TaskId) -> Option<ContainerUse> {
        let extras = self.extras_of(task).filter(|extras| extras.image.count > 0)?;
        let options = &self.pieces[extras.container_options.range()];
        let words = options.split_inclusive(|piece| piece.is_word_end()).map(|word| self.render(task, word));
        Some(ContainerUse {
            image: self.render_span(task, extras.image),
            with: (extras.container_with != NONE).then(|| self.strings.get(extras.container_with).to_owned()),
            options: words.collect(),
        })
    }

    /// Whether tasks with these settings run in a container.
    pub(super) fn has_container(&self, settings: &super::Settings) -> bool {
        self.extras.get(settings.extras as usize).is_some_and(|extras| extras.image.count > 0)
    }

    /// Whether any task runs in a container.
    pub fn has_containers(&self) -> bool {
        self.extras.iter().any(|extras| extras.image.count > 0)
    }

    /// The shell that reads a task's command, if the workflow names one.
    pub fn shell(&self, task: TaskId) -> Option<Vec<String>> {
        let extras = self.extras_of(task).filter(|extras| extras.shell.count > 0)?;
        Some(self.values[extras.shell.range()].iter().map(|word| self.strings.get(*word).to_owned()).collect())
    }

    fn quoting(&self, task: TaskId) -> Quoting {
        let is_foreign = self.shell(task).is_some_and(|shell| !is_known_shell(&shell));
        if is_foreign { Quoting::Foreign } else { Quoting::Shell }
    }

    /// The files of a task as they were written, seen from the directory it runs in.
    fn written_paths(&self, task: TaskId, side: Side, selection: Selection) -> Vec<String> {
        let extras = self.extras_of(task).expect("a command that names files has extras");
        let span = if side == Side::In { extras.inputs } else { extras.outputs };
        let row = task.0 - self.template_of(task).first_task;
        let mut paths = Vec::new();
        for pattern in &self.paths[span.range()] {
            if matches!(selection, Selection::Group(group) if group != pattern.group) {
                continue;
            }
            if pattern.all == NONE {
                paths.push(path::normalize(&self.render_span(task, pattern.pieces)).into_owned());
            } else {
                let range = self.ranges[(pattern.all + row * pattern.all_stride) as usize];
                let objects = (range.start..range.start + range.count).map(ObjectId);
                let data = objects.filter(|object| !self.object_flag(*object, LOG));
                paths.extend(data.map(|object| self.object_name(object).to_owned()));
            }
        }
        if let Selection::At(number) = selection {
            paths = paths.into_iter().skip(number as usize).take(1).collect();
        }
        if let Some(directory) = self.directory(task) {
            paths.iter_mut().for_each(|path| *path = path::seen_from(&directory, path));
        }
        paths
    }

    pub(super) fn extras_of(&self, task: TaskId) -> Option<&Extras> {
        self.extras.get(self.settings_of(task).extras as usize)
    }

    fn command(&self, template: &Template) -> &[Piece] {
        &self.pieces[template.command as usize..(template.command + template.command_pieces) as usize]
    }

    fn render_span(&self, task: TaskId, span: Span) -> String {
        self.render(task, &self.pieces[span.range()])
    }

    fn render(&self, task: TaskId, pieces: &[Piece]) -> String {
        self.render_with(pieces, Quoting::Plain, &TaskValues { flow: self, task, conditions: None })
    }

    fn render_with(&self, pieces: &[Piece], quoting: Quoting, values: &dyn Values) -> String {
        let mut text = String::new();
        render(pieces, &self.strings, quoting, values, &mut text);
        text
    }
}

/// Words that mean something to a shell when a command begins with them.
const SHELL_WORDS: [&str; 64] = [
    ".",
    ":",
    "alias",
    "bg",
    "break",
    "builtin",
    "case",
    "cd",
    "command",
    "continue",
    "declare",
    "do",
    "done",
    "elif",
    "else",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "if",
    "in",
    "jobs",
    "let",
    "local",
    "read",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "source",
    "then",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "bind",
    "caller",
    "compgen",
    "complete",
    "dirs",
    "disown",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "[[",
];

/// Splits a command into words as a shell would, if it is so plain that a shell would do nothing else.
///
/// A shell costs about as much as a short task itself, so it is worth a look at each letter.
pub(super) fn split_plain(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '$' | '`' | '\\' | '!' if letter == '"' => return None,
                        inside => word.push(inside),
                    }
                }
            }
            '#' | ';' | '*' | '?' | '[' | ']' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '^'
            | '~' | '!' | '\\' | '\n' | '\r' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    let first = words.first()?;
    let plain = !first.is_empty() && !first.contains('=') && !SHELL_WORDS.contains(&first.as_str());
    plain.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_from_a_file() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (shell, script) in [
            ("/bin/sh -ec", "/bin/sh -e F"),
            ("bash -euo pipefail -c", "bash -euo pipefail F"),
            ("bash -lc", "bash -l F"),
            ("python3 -c", "python3 F"),
            ("perl -w -e", "perl -w F"),
        ] {
            assert_eq!(as_script(words(shell), "F".to_owned()), words(script));
        }
        assert_eq!(with_command_flag(words("bash -lc")), words("bash -lc"));
        assert_eq!(with_command_flag(words("bash -e")), words("bash -e -c"));
    }

    #[test]
    fn plain_commands_need_no_shell() {
        let words = |text| split_plain(text).unwrap();
        assert_eq!(words("convert a.jpg  -resize 20% b.jpg"), ["convert", "a.jpg", "-resize", "20%", "b.jpg"]);
        assert_eq!(words("grep 'a $b; c' \"d e\"f ''"), ["grep", "a $b; c", "d ef", ""]);
        assert_eq!(words("/bin/true --x=1"), ["/bin/true", "--x=1"]);
    }

    #[test]
    fn the_rest_goes_to_a_shell() {
        for text in [
            "a | b",
            "a > b",
            "a; b",
            "a && b",
            "echo $HOME",
            "echo \"$HOME\"",
            "ls *.c",
            "A=1 b",
            "cd x",
            "a\nb",
            "echo 'open",
            "~/bin/x",
            "a \\; b",
            "exit 3",
            "# nothing",
            "",
        ] {
            assert!(split_plain(text).is_none(), "{text}");
        }
    }
}
