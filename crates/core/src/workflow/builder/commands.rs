//! Commands, environments and the rarer things that a task may say.

use super::super::command;
use super::super::pattern::{self, InCorner, Piece, Scope, Side};
use super::super::problem::Problem;
use super::super::spec::{Action, TaskSpec};
use super::super::value::Text;
use super::super::{Variable, path, quantity, shell};
use super::{Builder, Extras, NONE, Span, Template};

impl Builder<'_> {
    /// Adds the pieces of the command; returns what it does and the name of the program, as far as it can be told.
    pub(super) fn add_command(
        &mut self,
        spec: &TaskSpec,
        scope: &Scope,
        template: &mut Template,
    ) -> Result<(u32, String), Problem> {
        let start = self.flow.pieces.len();
        let program = match &spec.action {
            Action::Run(text) => {
                self.add_pieces(text, scope)?;
                self.check_corners(text, spec, scope, template.columns, start)?;
                (command::RUN, path::file_name(text.text.split_whitespace().next().unwrap_or("run")).to_owned())
            }
            Action::Exec(words) => {
                for (at, word) in words.iter().enumerate() {
                    if at > 0 {
                        self.flow.pieces.push(Piece::WORD_END);
                    }
                    self.add_pieces(word, scope)?;
                }
                (command::EXEC, path::file_name(&words[0].text).to_owned())
            }
            Action::Noop => (command::NOOP, "noop".to_owned()),
            Action::Sleep(text) => {
                self.add_pieces(text, &Scope { in_command: false, ..*scope })?;
                let pieces = &self.flow.pieces[start..];
                let distinct_rows = if pieces.iter().any(|piece| piece.varies()) { template.rows } else { 1 };
                let mut rendered = String::new();
                for row in 0..distinct_rows {
                    rendered.clear();
                    self.render(template, row, pieces, &mut rendered);
                    if let Err(why) = quantity::duration(&rendered) {
                        return Err(Problem::new(
                            text.mark,
                            format!("`sleep` cannot be `{rendered}`: {why}"),
                            "write a time such as 250ms or 2s",
                        )
                        .spanning(&text.text));
                    }
                }
                (command::SLEEP, "sleep".to_owned())
            }
        };
        template.command_pieces = (self.flow.pieces.len() - start) as u32;
        Ok(program)
    }

    fn add_pieces(&mut self, text: &Text, scope: &Scope) -> Result<Span, Problem> {
        let mut pieces = std::mem::take(&mut self.flow.pieces);
        let start = pieces.len();
        let parsed = self.parse_into(text, scope, &mut pieces);
        self.flow.pieces = pieces;
        parsed?;
        Ok(Span { start: start as u32, count: (self.flow.pieces.len() - start) as u32 })
    }

    /// In here-documents, backquotes and the like only harmless values are allowed: no quoting is safe there.
    fn check_corners(
        &self,
        text: &Text,
        spec: &TaskSpec,
        scope: &Scope,
        columns: u32,
        start: usize,
    ) -> Result<(), Problem> {
        let shell_is_known = spec.shell.as_ref().is_none_or(|words| command::is_known_shell(words));
        let slash_is_plain = spec.shell.as_ref().is_some_and(|words| command::is_slash_plain(words));
        let is_safe = |value: &str| match shell_is_known {
            true => shell::is_harmless(value),
            false => shell::is_plain(value, slash_is_plain),
        };
        let unsafe_here = |what: String, inside: &str| {
            Problem::new(
                text.mark,
                format!("{what} cannot be written safely where it stands in this command"),
                format!("add `env: {{ VALUE: \"{{{inside}}}\" }}` and read the variable there, or write `{{{inside}:raw}}` if you know better"),
            )
            .spanning(text.text.lines().next().unwrap_or(""))
            .about(format!("{{{inside}"))
        };
        for corner in pattern::in_corners(&self.flow.pieces[start..], &self.strings.strings, shell_is_known) {
            match corner {
                InCorner::Dollar => {
                    return Err(Problem::new(
                        text.mark,
                        "a value stands behind `$`, where the shell would take it for something else",
                        "write `$NAME` or `${{NAME}}` for a variable of the shell, `{name}` for a value, and `\\$` for a dollar sign",
                    )
                    .about("${"));
                }
                InCorner::Names => return Err(unsafe_here("a name".to_owned(), "in")),
                InCorner::Constant(value) => {
                    let value = self.strings.strings.get(value);
                    if !is_safe(value) {
                        return Err(unsafe_here(format!("the value `{value}`"), "name"));
                    }
                }
                InCorner::Column(column) => {
                    let values = &self.flow.columns[(columns + column) as usize];
                    if values.is_list == 0 {
                        continue;
                    }
                    let list = &self.flow.values[values.list as usize..(values.list + values.length) as usize];
                    let mut list = list.iter().map(|value| self.strings.strings.get(*value));
                    if let Some(value) = list.find(|value| !is_safe(value)) {
                        let name = &scope.columns[column as usize].name;
                        return Err(unsafe_here(format!("the value `{value}` of `{name}`"), name));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the environment; returns where it begins.
    pub(super) fn add_environment(&mut self, spec: &TaskSpec, scope: &Scope) -> Result<u32, Problem> {
        let env = self.flow.variables.len() as u32;
        for (name, value) in &spec.env {
            let pieces = self.add_pieces(value, scope)?;
            let name = self.strings.add(&name.text).0;
            self.flow.variables.push(Variable { name, value: pieces.start, value_pieces: pieces.count });
        }
        Ok(env)
    }

    /// How many inputs and outputs the command and its environment may name as `{in}` and `{out}`; none where they do not.
    pub(super) fn sides_named(&self, command_start: usize, spec: &TaskSpec) -> [u32; 2] {
        let pieces = &self.flow.pieces[command_start..];
        let names = |side| pieces.iter().any(|piece| piece.paths().is_some_and(|(named, _)| named == side));
        [
            if names(Side::In) { spec.inputs.len() as u32 } else { 0 },
            if names(Side::Out) { spec.outputs.len() as u32 } else { 0 },
        ]
    }

    /// Adds what only few tasks have; returns where, or `NONE`.
    pub(super) fn add_extras(&mut self, spec: &TaskSpec, scope: &Scope, named: [u32; 2]) -> Result<u32, Problem> {
        let mut extras = Extras { container_with: NONE, ..Extras::default() };
        let streams = &spec.streams;
        for (span, text) in [
            (&mut extras.stdin, &streams.stdin),
            (&mut extras.stdout, &streams.stdout),
            (&mut extras.stderr, &streams.stderr),
            (&mut extras.dir, &spec.dir),
        ] {
            if let Some(text) = text {
                *span = self.add_pieces(text, scope)?;
            }
        }
        if let Some(words) = &spec.shell {
            if self.last_shell.as_ref().is_none_or(|(last, _)| last != words) {
                let start = self.flow.values.len() as u32;
                for word in words {
                    let word = self.strings.add(word).0;
                    self.flow.values.push(word);
                }
                self.last_shell = Some((words.clone(), Span { start, count: words.len() as u32 }));
            }
            extras.shell = self.last_shell.as_ref().expect("just set").1;
        }
        if let Some(container) = &spec.container {
            extras.image = self.add_pieces(&container.image, scope)?;
            let start = self.flow.pieces.len();
            for (at, word) in container.options.iter().enumerate() {
                if at > 0 {
                    self.flow.pieces.push(Piece::WORD_END);
                }
                self.add_pieces(word, scope)?;
            }
            extras.container_options = Span { start: start as u32, count: (self.flow.pieces.len() - start) as u32 };
            extras.container_with = container.with.as_ref().map_or(NONE, |with| self.strings.add(&with.text).0);
        }
        if !spec.retries.codes.is_empty() {
            let start = self.flow.codes.len() as u32;
            self.flow
                .codes
                .extend(spec.retries.codes.iter().flat_map(|(first, last)| [u32::from(*first), u32::from(*last)]));
            extras.codes = Span { start, count: self.flow.codes.len() as u32 - start };
        }
        let is_plain = extras == Extras { container_with: NONE, ..Extras::default() };
        if is_plain && named == [0, 0] {
            return Ok(NONE);
        }
        // A million tasks in a row may have the same.
        if named != [0, 0] || self.flow.extras.last() != Some(&extras) {
            self.flow.extras.push(extras);
        }
        Ok((self.flow.extras.len() - 1) as u32)
    }
}
