//! From tasks as written to the flat arrays of the workflow.
//!
//! Entries arrive one by one and are turned at once into templates; once all are there, every output of
//! every task gets its number, then every input finds the object it names, then the edges follow.

mod classes;
mod columns;
mod commands;
mod frames;
mod sizes;
mod wiring;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::pattern::{self, Fact, Scope, Selection, Side, Values};
use super::problem::{Mark, Problem, ProblemList, Problems, SourceFile};
use super::spec::{self, Entry, TaskSpec};
use super::strings::Interner;
use super::value::{Item, Text, Value};
use super::{
    Column, Extras, Format, LOG, NONE, OPTIONAL, Piece, Replay, Settings, Span, Surroundings, TEMP, Template, UNKNOWN,
    Workflow, edges, json, yaml,
};
use frames::Frame;

/// Twenty times what Throng promises. More would need tens of gigabytes for the graph alone.
const TASKS_LIMIT: u64 = 200_000_000;
/// With more templates than this, a line per name would help nobody: kinds are then the programs that run.
const NAMED_KINDS_LIMIT: usize = 64;
/// Ends of strings are 32 bits wide; one more entry of the file must still fit.
const STRING_BYTES_LIMIT: usize = 3 << 30;

/// A workflow to be read.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its text.
    pub text: &'a str,
    /// How that is written.
    pub format: Format,
    /// Its name when the text gives none.
    pub default_name: &'a str,
    /// Parameters that somebody has set, by name and as YAML would have them; a later one counts more.
    pub settings: &'a [(String, String)],
    /// Files with more of them, which count less.
    pub param_files: &'a [SourceFile],
    /// How the tasks of a trace are to take their time; without it, they do nothing.
    pub replay: Option<Replay>,
}

impl<'a> Request<'a> {
    /// Nothing but a text, and its name.
    pub fn new(text: &'a str, format: Format, default_name: &'a str) -> Request<'a> {
        Request { text, format, default_name, settings: &[], param_files: &[], replay: None }
    }
}

/// Where a pattern of a template lies in the pieces, and in the text.
#[derive(Clone, Copy, Debug)]
struct Written {
    start: u32,
    count: u32,
    mark: Mark,
    /// The name under which it stands, or `NONE`.
    group: u32,
    /// In which file's words a task is named.
    prefix: u16,
    /// `{ all: TASK }` instead of a path.
    is_all: bool,
    /// [`TEMP`], [`OPTIONAL`], [`LOG`] or [`STREAM`].
    flags: u8,
}

/// A file that a stream is joined to: it may be named in `out` as well.
const STREAM: u8 = 128;

/// A parameter that somebody has set, on the command line or in an `include`.
struct Given {
    value: Value,
    mark: Mark,
    /// Whether any file has declared it.
    is_used: bool,
}

/// What a template needs only until its tasks are wired up.
#[derive(Clone, Copy, Debug)]
struct Source {
    mark: Mark,
    outputs: (u32, u32),
    inputs: (u32, u32),
    after: (u32, u32),
    /// How many of the first inputs and outputs the command knows as `{in}` and `{out}`; none if it does not name them.
    named: [u32; 2],
    /// The kind that was given, if any, and the one to fall back on.
    kind: Option<u32>,
    program: u32,
    /// All but the kind, which depends on how many templates there are.
    settings: Settings,
}

pub(super) struct Builder<'a> {
    request: &'a Request<'a>,
    surroundings: &'a dyn Surroundings,
    flow: Workflow,
    strings: Interner,
    objects: Interner,
    /// Template by the number of its name, or `NONE`.
    template_by_name: Vec<u32>,
    classes: classes::Classes,
    /// The shell that was named last, and where its words are.
    last_shell: Option<(Vec<String>, Span)>,
    sources: Vec<Source>,
    /// Patterns of inputs, outputs and `after`, as the ranges of [`Source`] say.
    written: Vec<Written>,
    /// Pieces of those patterns; the pieces of commands live in the workflow.
    pieces: Vec<Piece>,
    sizes: sizes::Sizes,
    /// Where each value stands in its list, by the list's beginning.
    value_index: BTreeMap<u32, Vec<(u32, u32)>>,
    /// The files that are being read, the innermost last.
    frames: Vec<Frame>,
    files: Vec<SourceFile>,
    /// What comes before the names of tasks, file by file; the first is empty.
    prefixes: Vec<String>,
    /// Parameters that somebody has set, by their names with all prefixes.
    given: BTreeMap<String, Given>,
    /// Files that the workflow itself is read from, besides its own.
    read_paths: RefCell<BTreeSet<String>>,
    /// Tasks whose `when` does not hold.
    left_out: BTreeSet<String>,
    /// Whether what stands above the tasks of some file is wrong.
    is_broken: bool,
    title: Option<Text>,
    task_total: u64,
    problems: ProblemList,
}

impl<'a> Builder<'a> {
    pub(super) fn new(request: &'a Request<'a>, surroundings: &'a dyn Surroundings) -> Self {
        Builder {
            request,
            surroundings,
            flow: Workflow::default(),
            strings: Interner::default(),
            objects: Interner::default(),
            template_by_name: Vec::new(),
            classes: classes::Classes::default(),
            last_shell: None,
            sources: Vec::new(),
            written: Vec::new(),
            pieces: Vec::new(),
            sizes: sizes::Sizes::default(),
            value_index: BTreeMap::new(),
            frames: Vec::new(),
            files: Vec::new(),
            prefixes: vec![String::new()],
            given: BTreeMap::new(),
            read_paths: RefCell::default(),
            left_out: BTreeSet::new(),
            is_broken: false,
            title: None,
            task_total: 0,
            problems: ProblemList::default(),
        }
    }

    /// Reads everything, checks the whole and hands it over.
    pub(super) fn build(mut self) -> Result<(Workflow, Vec<SourceFile>), Problems> {
        let built = self.try_build();
        let files = std::mem::take(&mut self.files);
        match built {
            Ok(()) => Ok((self.flow, files)),
            Err(problems) => Err(Problems { files, ..problems }),
        }
    }

    fn try_build(&mut self) -> Result<(), Problems> {
        self.take_settings()?;
        self.frames.push(Frame::main());
        self.read_text(self.request.text, self.request.format, 0)?;
        // What is wrong above the tasks would only be told once more by each of them.
        if self.is_broken {
            return self.problems.check();
        }
        let frame = self.frames.pop().expect("the frame of the workflow itself");
        if !frame.saw_tasks && self.flow.templates.is_empty() && self.left_out.is_empty() {
            let mark = Mark { line: 1, column: 1, file: 0 };
            self.problems.push(Problem::new(
                mark,
                "the workflow has no tasks",
                "write at least one below `tasks:`, for example `hello: { run: echo hello }`",
            ));
        }
        self.check_settings(&frame);
        self.finish()
    }

    /// Reads one file's text into the innermost frame.
    fn read_text(&mut self, text: &str, format: Format, file: u32) -> Result<(), Problem> {
        let mut take = |item| self.add(item);
        match format {
            Format::Yaml => yaml::read(text, file, &mut take)?,
            Format::Json => json::read(text, file, &mut take)?,
        }
        self.settle_or_break();
        Ok(())
    }

    /// Reads what stands above the tasks; nothing below it makes sense if that is wrong.
    fn settle_or_break(&mut self) {
        if self.is_broken {
            return;
        }
        if let Err(problem) = self.settle_frame() {
            self.problems.push(problem);
            self.is_broken = true;
        }
    }

    /// Takes the next entry of the file.
    fn add(&mut self, item: Item) {
        if self.strings.byte_count() > STRING_BYTES_LIMIT {
            self.problems.push(Problem::new(
                Mark::default(),
                "the names and commands of all tasks together exceed 4 GiB",
                "use `foreach`, shorter texts or several workflows",
            ));
            return;
        }
        let result = match item {
            Item::Task(name, value) => self.add_entry(name, value),
            Item::Top(key, value) => self.add_top(key, value),
        };
        if let Err(problem) = result {
            self.problems.push(problem);
        }
    }

    fn add_entry(&mut self, name: Text, value: Value) -> Result<(), Problem> {
        self.frame().saw_tasks = true;
        self.settle_or_break();
        if self.is_broken {
            return Ok(());
        }
        let (params, defaults) = (self.frame().params.clone(), self.frame().defaults.clone());
        let full_name = format!("{}{}", self.prefix(), name.text);
        match spec::read_task(name, value, &params, &defaults)? {
            Some(spec) => self.add_task(spec, &full_name),
            None => {
                self.left_out.insert(full_name);
                Ok(())
            }
        }
    }

    fn add_task(&mut self, spec: TaskSpec, full_name: &str) -> Result<(), Problem> {
        let (name, _) = self.strings.add(full_name);
        self.template_by_name.resize(self.strings.strings.len().max(self.template_by_name.len()), NONE);
        let earlier = self.template_by_name[name as usize];
        if earlier != NONE {
            return Err(Problem::new(
                spec.name.mark,
                format!("there are two tasks named `{full_name}`"),
                "rename one of them, or include one file under another prefix",
            )
            .spanning(&spec.name.text)
            .with_related(self.sources[earlier as usize].mark, "the first is here"));
        }
        let params = self.frame().params.clone();
        let columns_start = self.flow.columns.len();
        let (names, rows) = self.add_columns(&spec, &params)?;
        self.check_names_apart(&spec, columns_start, rows)?;
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
            column_count: names.len() as u32,
            command: self.flow.pieces.len() as u32,
            command_pieces: 0,
        };
        let groups = [&spec.inputs, &spec.outputs].map(|entries| {
            let groups = entries.iter().filter_map(|entry| Some(entry.group.as_ref()?.text.clone()));
            groups.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>()
        });
        let count = |entries: &[Entry]| (!entries.iter().any(|entry| entry.is_all)).then_some(entries.len());
        let scope = Scope {
            columns: &names,
            params: &params,
            in_command: true,
            groups: [&groups[0], &groups[1]],
            counts: [count(&spec.inputs), count(&spec.outputs)],
        };
        let path_scope = Scope { in_command: false, ..scope };
        let command_start = self.flow.pieces.len();
        let (action, program) = self.add_command(&spec, &scope, &mut template)?;
        let env = self.add_environment(&spec, &scope)?;
        let named = self.sides_named(command_start, &spec);
        let outputs = self.write_outputs(&spec, &path_scope)?;
        let inputs = self.write_inputs(&spec, &path_scope)?;
        let after = spec.after.iter().map(|text| Entry { is_all: true, ..Entry::path(text.clone()) });
        let after = self.write_all(after.collect::<Vec<_>>().iter(), &path_scope, 0)?;
        let extras = self.add_extras(&spec, &path_scope, named)?;
        let kind = spec.kind.as_ref().map(|kind| self.strings.add(&kind.text).0);
        let program = self.strings.add(&program).0;
        let (class, class_count) = self.add_classes(&spec);
        let settings = Settings {
            timeout_ns: spec.timeout.map_or(0, |timeout| timeout.as_nanos() as u64),
            estimate_time_ns: spec.estimate.time.map_or(UNKNOWN, |time| time.as_nanos() as u64),
            estimate_memory_bytes: spec.estimate.memory_bytes.unwrap_or(UNKNOWN),
            estimate_out_bytes: spec.estimate.out_bytes.unwrap_or(UNKNOWN),
            action,
            kind: NONE,
            class,
            class_count,
            // Where it would begin does not matter if there is none.
            env: if spec.env.is_empty() { 0 } else { env },
            env_count: spec.env.len() as u32,
            retries: spec.retries.times,
            priority: spec.priority,
            extras,
            padding: 0,
        };

        self.template_by_name.resize(self.strings.strings.len(), NONE);
        self.template_by_name[name as usize] = self.flow.templates.len() as u32;
        self.flow.templates.push(template);
        self.sources.push(Source { mark: spec.name.mark, outputs, inputs, after, named, kind, program, settings });
        self.task_total += rows;
        Ok(())
    }

    fn write_outputs(&mut self, spec: &TaskSpec, scope: &Scope) -> Result<(u32, u32), Problem> {
        let (first, mut last) = self.write_all(spec.outputs.iter(), scope, 0)?;
        let streams = &spec.streams;
        if let Some(stdout) = &streams.stdout {
            let stdout = Entry { is_temp: spec.is_temp, ..Entry::path(stdout.clone()) };
            last = self.write_all([stdout].iter(), scope, STREAM)?.1;
        }
        // Complaints are worth having, but nobody has to do a task again for want of them.
        let is_own = |stderr: &&Text| streams.stdout.as_ref().is_none_or(|stdout| stdout.text != stderr.text);
        if let Some(stderr) = streams.stderr.as_ref().filter(is_own) {
            last = self.write_all([Entry::path(stderr.clone())].iter(), scope, STREAM | OPTIONAL | LOG)?.1;
        }
        Ok((first, last))
    }

    fn write_inputs(&mut self, spec: &TaskSpec, scope: &Scope) -> Result<(u32, u32), Problem> {
        let (first, _) = self.write_all(spec.inputs.iter(), scope, 0)?;
        let stdin = spec.streams.stdin.clone().map(Entry::path);
        let (_, last) = self.write_all(stdin.iter().chain(&spec.uses), scope, 0)?;
        Ok((first, last))
    }

    fn write_all<'t>(
        &mut self,
        entries: impl Iterator<Item = &'t Entry>,
        scope: &Scope,
        flags: u8,
    ) -> Result<(u32, u32), Problem> {
        let first = self.written.len() as u32;
        let prefix = self.frame().prefix;
        for entry in entries {
            let mut pieces = std::mem::take(&mut self.pieces);
            let start = pieces.len();
            let parsed = self.parse_into(&entry.path, scope, &mut pieces);
            self.pieces = pieces;
            parsed?;
            let count = (self.pieces.len() - start) as u32;
            let group = entry.group.as_ref().map_or(NONE, |group| self.strings.add(&group.text).0);
            let own = if entry.is_temp { TEMP } else { 0 } | if entry.is_optional { OPTIONAL } else { 0 };
            self.written.push(Written {
                start: start as u32,
                count,
                mark: entry.path.mark,
                group,
                prefix,
                is_all: entry.is_all,
                flags: flags | own,
            });
            if let Some(size) = &entry.size {
                self.write_size(size, scope)?;
            }
        }
        Ok((first, self.written.len() as u32))
    }

    fn parse_into(&mut self, text: &Text, scope: &Scope, pieces: &mut Vec<Piece>) -> Result<(), Problem> {
        let start = pieces.len();
        let wrong = |(message, remedy, words): pattern::Wrong| {
            let problem = Problem::new(text.mark, message, remedy).spanning(&text.text);
            if words.is_empty() { problem } else { problem.about(words) }
        };
        pattern::parse(&text.text, scope, &mut self.strings, pieces).map_err(wrong)?;
        for column in pieces[start..].iter().filter_map(|piece| piece.number_column()) {
            self.check_numbers(column, scope).map_err(|(message, remedy)| wrong((message, remedy, String::new())))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Problems> {
        let title = self.title.take().map_or(self.request.default_name.to_owned(), |title| title.text);
        self.flow.name = self.strings.add(&title).0;
        self.problems.check()?;
        self.settle_kinds();
        self.number_tasks();
        self.add_outputs();
        self.problems.check()?;
        self.check_outputs_apart();
        self.problems.check()?;
        self.index_values();
        self.add_inputs();
        self.problems.check()?;
        self.keep_output_paths();
        let after = self.find_after();
        self.problems.check()?;
        self.flow.strings = std::mem::take(&mut self.strings.strings);
        self.flow.objects = std::mem::take(&mut self.objects.strings);
        edges::connect(&mut self.flow, after);
        match edges::find_cycle(&self.flow) {
            Some(cycle) => Err(self.cycle_problem(&cycle).into()),
            None => Ok(()),
        }
    }

    /// Gives each template its kind and with it its settings.
    fn settle_kinds(&mut self) {
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
        let mut separator = ':';
        for column in template.name_columns(&self.flow.columns) {
            name.push(std::mem::replace(&mut separator, ','));
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
        let values = RowValues { builder: self, template, row };
        pattern::render(pieces, &self.strings.strings, pattern::Quoting::Plain, &values, out);
    }
}

/// The values of a row while the workflow is being built: paths know nothing else.
struct RowValues<'b, 'a> {
    builder: &'b Builder<'a>,
    template: &'b Template,
    row: u32,
}

impl Values for RowValues<'_, '_> {
    fn column(&self, column: u32, out: &mut String) {
        self.builder.value(self.template, self.row, column, out);
    }

    fn paths(&self, _: Side, _: Selection) -> Vec<String> {
        unreachable!("paths do not name paths")
    }

    fn fact(&self, _: Fact, _: &mut String) {
        unreachable!("paths do not depend on how a task runs")
    }
}
