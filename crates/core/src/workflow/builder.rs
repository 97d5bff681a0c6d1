//! From tasks as written to the flat arrays of the workflow.
//!
//! Entries arrive one by one and are turned at once into templates; once all are there, every output of
//! every task gets its number, then every input finds the object it names, then the edges follow.

mod wiring;

use std::collections::BTreeMap;

use super::problem::{Mark, Problem, ProblemList, Problems};
use super::spec::{self, Action, Foreach, Input, TaskSpec};
use super::strings::Interner;
use super::value::{Item, Text, Value};
use super::{
    Column, Piece, Resources, Settings, Surroundings, Template, Variable, Workflow, command, edges, path, pattern,
    quantity, shell,
};

/// Twenty times what Throng promises. More would need tens of gigabytes for the graph alone.
const TASKS_LIMIT: u64 = 200_000_000;
/// With more templates than this, a line per name would help nobody: kinds are then the programs that run.
const NAMED_KINDS_LIMIT: usize = 64;

/// Where a pattern of a template lies in the pieces, and in the text.
#[derive(Clone, Copy, Debug)]
struct Written {
    start: u32,
    count: u32,
    mark: Mark,
    /// `{ all: TASK }` instead of a path.
    is_all: bool,
}

/// What a template needs only until its tasks are wired up.
#[derive(Clone, Copy, Debug)]
struct Source {
    mark: Mark,
    outputs: (u32, u32),
    inputs: (u32, u32),
    after: (u32, u32),
    /// The kind that was given, if any, and the one to fall back on.
    kind: Option<u32>,
    program: u32,
    /// All but the kind, which depends on how many templates there are.
    settings: Settings,
}

pub(super) struct Builder<'a> {
    surroundings: &'a dyn Surroundings,
    flow: Workflow,
    strings: Interner,
    objects: Interner,
    /// Template by the number of its name, or `NONE`.
    template_by_name: Vec<u32>,
    class_by_resources: BTreeMap<Resources, u32>,
    sources: Vec<Source>,
    /// Patterns of inputs, outputs and `after`, as the ranges of [`Source`] say.
    written: Vec<Written>,
    /// Pieces of those patterns; the pieces of commands live in the workflow.
    pieces: Vec<Piece>,
    /// Where each value stands in its list, by the list's beginning.
    value_index: BTreeMap<u32, Vec<(u32, u32)>>,
    title: Option<Text>,
    default_title: String,
    saw_tasks: bool,
    task_total: u64,
    problems: ProblemList,
}

const NONE: u32 = u32::MAX;
/// Ends of strings are 32 bits wide; one more entry of the file must still fit.
const STRING_BYTES_LIMIT: usize = 3 << 30;

impl<'a> Builder<'a> {
    pub(super) fn new(default_title: &str, surroundings: &'a dyn Surroundings) -> Self {
        Builder {
            surroundings,
            flow: Workflow::default(),
            strings: Interner::default(),
            objects: Interner::default(),
            template_by_name: Vec::new(),
            class_by_resources: BTreeMap::new(),
            sources: Vec::new(),
            written: Vec::new(),
            pieces: Vec::new(),
            value_index: BTreeMap::new(),
            title: None,
            default_title: default_title.to_owned(),
            saw_tasks: false,
            task_total: 0,
            problems: ProblemList::default(),
        }
    }

    /// Takes the next entry of the file.
    pub(super) fn add(&mut self, item: Item) {
        self.saw_tasks |= matches!(item, Item::Task(..));
        if self.strings.byte_count() > STRING_BYTES_LIMIT {
            self.problems.push(Problem::new(
                Mark::default(),
                "the names and commands of all tasks together exceed 4 GiB",
                "use `foreach`, shorter texts or several workflows",
            ));
            return;
        }
        let result = match item {
            Item::Task(name, value) => spec::read_task(name, value).and_then(|spec| self.add_task(spec)),
            Item::Top(key, value) => self.add_top(key, value),
        };
        if let Err(problem) = result {
            self.problems.push(problem);
        }
    }

    fn add_top(&mut self, key: Text, value: Value) -> Result<(), Problem> {
        match key.text.as_str() {
            "name" => {
                self.title = Some(spec::scalar(&key, value)?);
                Ok(())
            }
            "tasks" => {
                self.saw_tasks = true;
                Err(Problem::new(
                    value.mark(),
                    format!("`tasks` is {}, not a map", value.shape()),
                    "write each task as `NAME: { run: COMMAND }` below `tasks:`",
                ))
            }
            _ => Err(spec::unknown_key(&key, "in the workflow", &["name", "tasks"])),
        }
    }

    fn add_task(&mut self, spec: TaskSpec) -> Result<(), Problem> {
        let (name, _) = self.strings.add(&spec.name.text);
        self.template_by_name.resize(self.strings.strings.len().max(self.template_by_name.len()), NONE);
        let earlier = self.template_by_name[name as usize];
        if earlier != NONE {
            return Err(Problem::new(
                spec.name.mark,
                format!("there are two tasks named `{}`", spec.name.text),
                "rename one of them",
            )
            .spanning(&spec.name.text)
            .with_related(self.sources[earlier as usize].mark, "the first is here"));
        }
        let columns_start = self.flow.columns.len();
        let rows = self.add_columns(&spec)?;
        self.check_names_apart(&spec, columns_start, rows)?;
        let names: Vec<String> = spec.foreach.iter().map(|(name, _)| name.text.clone()).collect();
        let first_task = self.task_total;
        if first_task.saturating_add(rows) > TASKS_LIMIT {
            return Err(Problem::new(
                spec.name.mark,
                format!("the workflow has more than {TASKS_LIMIT} tasks"),
                "split it into several workflows",
            ));
        }

        let mut template = Template {
            name,
            settings: 0,
            first_task: first_task as u32,
            rows: rows as u32,
            columns: columns_start as u32,
            column_count: spec.foreach.len() as u32,
            command: self.flow.pieces.len() as u32,
            command_pieces: 0,
        };
        let (action, program) = self.add_command(&spec, &names, &mut template)?;
        let env = self.flow.variables.len() as u32;
        for (name, value) in &spec.env {
            let start = self.flow.pieces.len();
            parse_into(value, &names, &mut self.strings, &mut self.flow.pieces)?;
            self.flow.variables.push(Variable {
                name: self.strings.add(&name.text).0,
                value: start as u32,
                value_pieces: (self.flow.pieces.len() - start) as u32,
            });
        }
        let outputs = self.write_all(spec.outputs.iter().map(|text| (text, false)), &names)?;
        let inputs = spec.inputs.iter().map(|input| match input {
            Input::Path(text) => (text, false),
            Input::All(text) => (text, true),
        });
        let inputs = self.write_all(inputs, &names)?;
        let after = self.write_all(spec.after.iter().map(|text| (text, true)), &names)?;
        let kind = spec.kind.as_ref().map(|kind| self.strings.add(&kind.text).0);
        let program = self.strings.add(&program).0;
        let settings = Settings {
            timeout_ns: spec.timeout.map_or(0, |timeout| timeout.as_nanos() as u64),
            action,
            kind: NONE,
            class: self.class(&spec),
            // Where it would begin does not matter if there is none.
            env: if spec.env.is_empty() { 0 } else { env },
            env_count: spec.env.len() as u32,
            retries: spec.retries,
            priority: spec.priority,
            padding: 0,
        };

        self.template_by_name.resize(self.strings.strings.len(), NONE);
        self.template_by_name[name as usize] = self.flow.templates.len() as u32;
        self.flow.templates.push(template);
        self.sources.push(Source { mark: spec.name.mark, outputs, inputs, after, kind, program, settings });
        self.task_total += rows;
        Ok(())
    }

    /// Adds the columns of a `foreach` and returns how many rows they make together.
    fn add_columns(&mut self, spec: &TaskSpec) -> Result<u64, Problem> {
        let mut columns = Vec::new();
        for (name, over) in &spec.foreach {
            let column = match over {
                Foreach::Range { first, last } => {
                    let length = last.abs_diff(*first).saturating_add(1);
                    if length > TASKS_LIMIT {
                        return Err(Problem::new(
                            name.mark,
                            format!("`{}` runs over {length} values", name.text),
                            format!("at most {TASKS_LIMIT} tasks fit into a workflow"),
                        ));
                    }
                    Column { first: *first, is_list: 0, list: 0, length: length as u32, stride: 1 }
                }
                Foreach::List(values) => {
                    self.list_column(name, values.iter().map(|value| (value.text.as_str(), value.mark)))?
                }
                Foreach::Glob(glob) => {
                    let found = self.surroundings.glob(&glob.text).map_err(|why| {
                        Problem::new(glob.mark, format!("`{}` cannot be searched for: {why}", glob.text), "correct it")
                            .spanning(&glob.text)
                    })?;
                    if found.is_empty() {
                        return Err(Problem::new(
                            glob.mark,
                            format!("no file matches `{}`", glob.text),
                            "it is looked for from the workflow's directory: correct the pattern or make the files first",
                        )
                        .spanning(&glob.text));
                    }
                    self.list_column(name, found.iter().map(|path| (path.as_str(), glob.mark)))?
                }
            };
            columns.push(column);
        }
        let mut rows: u64 = 1;
        for column in columns.iter_mut().rev() {
            column.stride = u32::try_from(rows).unwrap_or(u32::MAX);
            rows = rows.saturating_mul(u64::from(column.length));
        }
        self.flow.columns.extend(columns);
        Ok(rows)
    }

    /// With commas in values, two combinations can read alike: `x,y` and `z`, or `x` and `y,z`.
    fn check_names_apart(&self, spec: &TaskSpec, columns_start: usize, rows: u64) -> Result<(), Problem> {
        let columns = &self.flow.columns[columns_start..];
        let has_comma = |column: &&Column| {
            let list = column.list as usize..(column.list + column.length) as usize;
            column.is_list == 1
                && self.flow.values[list].iter().any(|value| self.strings.strings.get(*value).contains(','))
        };
        // Beyond that, looking would cost more memory than the workflow itself.
        if columns.len() < 2 || rows > 5_000_000 || columns.iter().find(has_comma).is_none() {
            return Ok(());
        }
        let mut names: Vec<String> = (0..rows as u32)
            .map(|row| {
                let mut name = String::new();
                for column in columns {
                    super::write_value(column, row, &self.flow.values, &self.strings.strings, &mut name);
                    name.push(',');
                }
                name
            })
            .collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Problem::new(
                spec.name.mark,
                format!("two of its tasks would be called `{}:{}`", spec.name.text, pair[0].trim_end_matches(',')),
                "use values without commas, or fewer names in `foreach`",
            )
            .spanning(&spec.name.text)),
        }
    }

    fn list_column<'v>(
        &mut self,
        name: &Text,
        values: impl Iterator<Item = (&'v str, Mark)>,
    ) -> Result<Column, Problem> {
        let start = self.flow.values.len();
        let mut marks = Vec::new();
        for (value, mark) in values {
            self.flow.values.push(self.strings.add(value).0);
            marks.push(mark);
        }
        let mut sorted: Vec<(u32, usize)> = self.flow.values[start..].iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let value = self.strings.strings.get(pair[0].0);
            return Err(Problem::new(
                marks[pair[1].1],
                format!("`{}` has the value `{value}` twice, which would make two tasks of the same name", name.text),
                "keep one of them",
            )
            .spanning(value)
            .with_related(marks[pair[0].1], "the first is here"));
        }
        let length = (self.flow.values.len() - start) as u32;
        Ok(Column { first: 0, is_list: 1, list: start as u32, length, stride: 1 })
    }

    /// Adds the pieces of the command; returns what it does and the name of the program, as far as it can be told.
    fn add_command(
        &mut self,
        spec: &TaskSpec,
        names: &[String],
        template: &mut Template,
    ) -> Result<(u32, String), Problem> {
        let start = self.flow.pieces.len();
        let program = match &spec.action {
            Action::Run(text) => {
                parse_into(text, names, &mut self.strings, &mut self.flow.pieces)?;
                self.check_corners(text, names, template.columns, start)?;
                (command::RUN, path::file_name(text.text.split_whitespace().next().unwrap_or("run")).to_owned())
            }
            Action::Exec(words) => {
                for (at, word) in words.iter().enumerate() {
                    if at > 0 {
                        self.flow.pieces.push(Piece::WORD_END);
                    }
                    parse_into(word, names, &mut self.strings, &mut self.flow.pieces)?;
                }
                (command::EXEC, path::file_name(&words[0].text).to_owned())
            }
            Action::Noop => (command::NOOP, "noop".to_owned()),
            Action::Sleep(text) => {
                parse_into(text, names, &mut self.strings, &mut self.flow.pieces)?;
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

    /// In here-documents, backquotes and the like only harmless values are allowed: no quoting is safe there.
    fn check_corners(&self, text: &Text, names: &[String], columns: u32, start: usize) -> Result<(), Problem> {
        for column in pattern::columns_in_corners(&self.flow.pieces[start..], &self.strings.strings) {
            let values = &self.flow.columns[(columns + column) as usize];
            if values.is_list == 0 {
                continue;
            }
            let list = &self.flow.values[values.list as usize..(values.list + values.length) as usize];
            let harmful =
                list.iter().map(|value| self.strings.strings.get(*value)).find(|value| !shell::is_harmless(value));
            if let Some(value) = harmful {
                let name = &names[column as usize];
                return Err(Problem::new(
                    text.mark,
                    format!("the value `{value}` of `{name}` cannot be written safely where `{{{name}}}` stands in this command"),
                    format!("add `env: {{ VALUE: \"{{{name}}}\" }}` and write `\"$VALUE\"` there"),
                )
                .spanning(text.text.lines().next().unwrap_or("")));
            }
        }
        Ok(())
    }

    fn class(&mut self, spec: &TaskSpec) -> u32 {
        let resources = Resources { cpus_milli: spec.cpus_milli.into(), memory_bytes: spec.memory_bytes };
        *self.class_by_resources.entry(resources).or_insert_with(|| {
            self.flow.classes.push(resources);
            (self.flow.classes.len() - 1) as u32
        })
    }

    fn write_all<'t>(
        &mut self,
        texts: impl Iterator<Item = (&'t Text, bool)>,
        names: &[String],
    ) -> Result<(u32, u32), Problem> {
        let first = self.written.len() as u32;
        for (text, is_all) in texts {
            let start = self.pieces.len();
            parse_into(text, names, &mut self.strings, &mut self.pieces)?;
            let count = (self.pieces.len() - start) as u32;
            self.written.push(Written { start: start as u32, count, mark: text.mark, is_all });
        }
        Ok((first, self.written.len() as u32))
    }

    /// Checks the whole and hands it over.
    pub(super) fn finish(mut self) -> Result<Workflow, Problems> {
        let title = self.title.take().map_or(self.default_title.clone(), |title| title.text);
        self.flow.name = self.strings.add(&title).0;
        if !self.saw_tasks {
            self.problems.push(Problem::new(
                Mark { line: 1, column: 1 },
                "the workflow has no tasks",
                "write at least one below `tasks:`, for example `hello: { run: echo hello }`",
            ));
        }
        self.problems.check()?;
        self.settle();
        self.number_tasks();
        self.add_outputs();
        self.problems.check()?;
        self.check_outputs_apart();
        self.problems.check()?;
        self.index_values();
        self.add_inputs();
        self.problems.check()?;
        let after = self.find_after();
        self.problems.check()?;
        self.flow.strings = std::mem::take(&mut self.strings.strings);
        self.flow.objects = std::mem::take(&mut self.objects.strings);
        edges::connect(&mut self.flow, after);
        if let Some(cycle) = edges::find_cycle(&self.flow) {
            return Err(self.cycle_problem(&cycle).into());
        }
        Ok(self.flow)
    }

    /// Gives each template its kind and with it its settings.
    fn settle(&mut self) {
        let unnamed = self.sources.iter().filter(|source| source.kind.is_none()).count();
        let by_program = unnamed > NAMED_KINDS_LIMIT;
        let mut kinds: BTreeMap<u32, u32> = BTreeMap::new();
        let mut settings: BTreeMap<Settings, u32> = BTreeMap::new();
        for (template, source) in self.flow.templates.iter_mut().zip(&self.sources) {
            let name = source.kind.unwrap_or(if by_program { source.program } else { template.name });
            let kind = *kinds.entry(name).or_insert_with(|| {
                self.flow.kinds.push(name);
                (self.flow.kinds.len() - 1) as u32
            });
            let own = Settings { kind, ..source.settings };
            template.settings = *settings.entry(own).or_insert_with(|| {
                self.flow.settings.push(own);
                (self.flow.settings.len() - 1) as u32
            });
        }
    }

    fn number_tasks(&mut self) {
        let mut task_template = Vec::with_capacity(self.task_total as usize);
        for (number, template) in self.flow.templates.iter().enumerate() {
            task_template.resize(task_template.len() + template.rows as usize, number as u32);
        }
        self.flow.task_template = task_template;
    }

    fn task_name(&self, task: u32) -> String {
        let template = &self.flow.templates[self.flow.task_template[task as usize] as usize];
        let mut name = self.strings.strings.get(template.name).to_owned();
        for column in 0..template.column_count {
            name.push(if column == 0 { ':' } else { ',' });
            self.value(template, task - template.first_task, column, &mut name);
        }
        name
    }

    fn varies(&self, written: &Written) -> bool {
        self.pieces_of(written).iter().any(|piece| piece.varies())
    }

    fn pieces_of(&self, written: &Written) -> &[Piece] {
        &self.pieces[written.start as usize..(written.start + written.count) as usize]
    }

    fn value(&self, template: &Template, row: u32, column: u32, out: &mut String) {
        let column = &self.flow.columns[(template.columns + column) as usize];
        super::write_value(column, row, &self.flow.values, &self.strings.strings, out);
    }

    fn render(&self, template: &Template, row: u32, pieces: &[Piece], out: &mut String) {
        let value = |column, out: &mut String| self.value(template, row, column, out);
        pattern::render(pieces, &self.strings.strings, pattern::Quoting::Plain, &value, out);
    }
}

fn parse_into(text: &Text, names: &[String], strings: &mut Interner, pieces: &mut Vec<Piece>) -> Result<(), Problem> {
    pattern::parse(&text.text, names, strings, pieces)
        .map_err(|(message, remedy)| Problem::new(text.mark, message, remedy).spanning(&text.text))
}
