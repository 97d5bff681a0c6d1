//! What a task does, with its values written in, and whether a shell is needed for it.

use std::time::Duration;

use super::pattern::{Piece, Quoting, render};
use super::{Template, Workflow, quantity};
use crate::ids::TaskId;

pub(super) const RUN: u32 = 0;
pub(super) const EXEC: u32 = 1;
pub(super) const NOOP: u32 = 2;
pub(super) const SLEEP: u32 = 3;

/// What a task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start a program with these arguments, the first being its name.
    Program(Vec<String>),
    /// Hand this text to a shell.
    Shell(String),
    /// Nothing.
    Noop,
    /// Wait this long, without a process.
    Sleep(Duration),
}

impl Workflow {
    /// What a task does.
    pub fn action(&self, task: TaskId) -> Action {
        let template = self.template_of(task);
        match self.settings_of(task).action {
            RUN => {
                let text = self.render(task, self.command(template), Quoting::Shell);
                match split_plain(&text) {
                    Some(words) => Action::Program(words),
                    None => Action::Shell(text),
                }
            }
            EXEC => Action::Program(
                self.command(template)
                    .split_inclusive(|piece| piece.is_word_end())
                    .map(|word| self.render(task, word, Quoting::Plain))
                    .collect(),
            ),
            NOOP => Action::Noop,
            SLEEP => {
                let text = self.render(task, self.command(template), Quoting::Plain);
                Action::Sleep(quantity::duration(&text).expect("the builder has read this"))
            }
            other => unreachable!("no action has the number {other}"),
        }
    }

    /// Whether a task is one of those that need no process.
    pub fn is_builtin(&self, task: TaskId) -> bool {
        matches!(self.settings_of(task).action, NOOP | SLEEP)
    }

    /// The environment variables that a task sets.
    pub fn environment(&self, task: TaskId) -> Vec<(&str, String)> {
        let settings = self.settings_of(task);
        let variables = &self.variables[settings.env as usize..(settings.env + settings.env_count) as usize];
        let value = |pieces| self.render(task, pieces, Quoting::Plain);
        variables
            .iter()
            .map(|variable| {
                let pieces = variable.value as usize..(variable.value + variable.value_pieces) as usize;
                (self.strings.get(variable.name), value(&self.pieces[pieces]))
            })
            .collect()
    }

    /// Writes what a task does for [`Workflow::definition_hash`].
    pub(super) fn describe_action(&self, task: TaskId, text: &mut String) {
        let (template, action) = (self.template_of(task), self.settings_of(task).action);
        let words = self.command(template).split_inclusive(|piece| piece.is_word_end());
        // A word may be empty, so their number is told.
        text.push_str(&format!("{action} {}\0", words.clone().count()));
        let quoting = if action == RUN { Quoting::Shell } else { Quoting::Plain };
        for word in words {
            text.push_str(&self.render(task, word, quoting));
            text.push('\0');
        }
        for (name, value) in self.environment(task) {
            text.push_str(&format!("{name}={value}\0"));
        }
        text.push('\0');
    }

    fn command(&self, template: &Template) -> &[Piece] {
        &self.pieces[template.command as usize..(template.command + template.command_pieces) as usize]
    }

    fn render(&self, task: TaskId, pieces: &[Piece], quoting: Quoting) -> String {
        let mut text = String::new();
        render(pieces, &self.strings, quoting, &|column, out| self.write_value(task, column, out), &mut text);
        text
    }
}

/// Words that mean something to a shell when a command begins with them.
const SHELL_WORDS: [&str; 52] = [
    ".", ":", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare", "do", "done", "elif",
    "else", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for", "function", "getopts", "hash", "if",
    "in", "jobs", "let", "local", "read", "readonly", "return", "select", "set", "shift", "source", "then", "time",
    "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
];

/// Splits a command into words as a shell would, if it is so plain that a shell would do nothing else.
///
/// A shell costs about as much as a short task itself, so it is worth a look at each letter.
fn split_plain(command: &str) -> Option<Vec<String>> {
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
