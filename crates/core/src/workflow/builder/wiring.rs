//! Wiring tasks up: every output gets its number, every input finds the object that it names, and every `after`
//! the tasks that it means.

use std::collections::BTreeSet;

use super::super::problem::{Mark, Problem};
use super::super::select::find_rows;
use super::super::{Column, PathPattern, Span, path};
use super::{Builder, LOG, NONE, OPTIONAL, STREAM, TEMP, Written};
use crate::ids::{ObjectId, TaskId};
use crate::spelling;

/// References from tasks to objects or other tasks, together.
const EDGES_LIMIT: usize = 500_000_000;
/// Ends of names are 32 bits wide.
const NAME_BYTES_LIMIT: usize = u32::MAX as usize - (1 << 20);

/// What is known of objects beyond the building.
const KEPT_FLAGS: u8 = TEMP | OPTIONAL | LOG;

/// What a name of tasks means.
#[derive(Clone, Copy)]
enum Named {
    /// These tasks; none, if `when` leaves them out.
    Tasks(u32, u32),
    Nothing,
    /// Either of several groups.
    Unclear,
}

impl Builder<'_> {
    pub(super) fn add_outputs(&mut self) {
        let mut starts = Vec::with_capacity(self.task_total as usize + 1);
        let mut producers: Vec<u32> = Vec::new();
        let expected: usize = self
            .flow
            .templates
            .iter()
            .zip(&self.sources)
            .map(|(template, source)| template.rows as usize * (source.outputs.1 - source.outputs.0) as usize)
            .sum();
        if expected > EDGES_LIMIT {
            self.problems.push(too_many_edges(self.sources[0].mark));
            return;
        }
        self.objects.reserve(expected);
        producers.reserve(expected);
        let has_flags = self.written.iter().any(|written| written.flags & KEPT_FLAGS != 0);
        let mut flags: Vec<u8> = Vec::new();
        let mut rendered = String::new();
        for number in 0..self.flow.templates.len() {
            let template = self.flow.templates[number];
            let patterns = self.sources[number].outputs;
            'rows: for row in 0..template.rows {
                starts.push(producers.len() as u32);
                for at in patterns.0..patterns.1 {
                    let written = self.written[at as usize];
                    rendered.clear();
                    self.render(&template, row, self.pieces_of(&written), &mut rendered);
                    let path = path::normalize(&rendered);
                    let task = template.first_task + row;
                    if !path::is_inside(&path) {
                        self.problems.push(
                            Problem::new(
                                written.mark,
                                format!("the output `{rendered}` leaves the workflow's directory"),
                                "write a path below the directory that the workflow file is in",
                            )
                            .spanning(&rendered),
                        );
                        continue;
                    }
                    let is_read = self.read_paths.borrow().contains(path.as_ref());
                    let use_of_it = is_read.then_some("what the workflow itself is read from");
                    if let Some(use_of_it) = use_of_it.or_else(|| self.surroundings.reserved(&path)) {
                        let message = format!("`{path}` cannot be an output: it is {use_of_it}");
                        self.problems
                            .push(Problem::new(written.mark, message, "choose another name").spanning(&rendered));
                        continue;
                    }
                    let (object, is_new) = self.objects.add(&path);
                    if is_new {
                        producers.push(task);
                        if has_flags {
                            flags.push(written.flags & KEPT_FLAGS);
                        }
                        self.declare_size(at, &template, row, object);
                        continue;
                    }
                    let first = producers[object as usize];
                    if first == task && written.flags & STREAM != 0 {
                        continue;
                    }
                    if self.flow.task_template[first as usize] as usize == number && first != task {
                        // One word for all of them: what is missing is a name in the pattern.
                        let message = format!(
                            "`{path}` is made by two tasks, `{}` and `{}`",
                            self.task_name(first),
                            self.task_name(task)
                        );
                        let remedy = "let `out` differ from task to task, by a name of its `foreach` such as `{i}`";
                        self.problems.push(Problem::new(written.mark, message, remedy).spanning(&rendered));
                        starts.resize(starts.len() + (template.rows - row - 1) as usize, producers.len() as u32);
                        break 'rows;
                    }
                    let message = if first == task {
                        format!("`{path}` stands twice among the outputs of `{}`", self.task_name(task))
                    } else {
                        format!(
                            "`{path}` is made by two tasks, `{}` and `{}`",
                            self.task_name(first),
                            self.task_name(task)
                        )
                    };
                    let first_mark = self.sources[self.flow.task_template[first as usize] as usize].mark;
                    let problem = Problem::new(written.mark, message, "give each task outputs of its own")
                        .spanning(&rendered)
                        .with_related(first_mark, "the first task is here");
                    self.problems.push(problem);
                }
                if self.objects.byte_count() > NAME_BYTES_LIMIT {
                    self.problems.push(names_too_long(self.sources[number].mark));
                    return;
                }
            }
        }
        starts.push(producers.len() as u32);
        self.flow.output_start = starts;
        self.flow.producers = producers;
        self.flow.object_flags = flags;
    }

    /// Sorts the values of every list, so that a task is found by them without looking through all: a million tasks may
    /// each name another.
    pub(super) fn index_values(&mut self) {
        if !self.written.iter().any(|written| written.is_all) {
            return;
        }
        for column in self.flow.columns.iter().filter(|column| column.is_list == 1) {
            let values = &self.flow.values[column.list as usize..][..column.length as usize];
            let mut index: Vec<(u32, u32)> = values.iter().copied().zip(0..).collect();
            index.sort_unstable();
            self.value_index.insert(column.list, index);
        }
    }

    /// No output may lie inside another: making the one would take the other away.
    pub(super) fn check_outputs_apart(&mut self) {
        let mut last_directory = None;
        for object in 0..self.flow.producers.len() as u32 {
            let path = self.objects.strings.get(object);
            let directory = path::directory(path);
            // Neighbours mostly lie in the same directory.
            if last_directory == Some(directory) {
                continue;
            }
            last_directory = Some(directory);
            let Some(above) = self.output_above(path) else { continue };
            let (inner, outer) = (self.flow.producers[object as usize], self.flow.producers[above as usize]);
            let message = format!(
                "`{path}`, an output of `{}`, lies inside `{}`, an output of `{}`",
                self.task_name(inner),
                self.objects.strings.get(above),
                self.task_name(outer)
            );
            let mark = |task: u32| self.sources[self.flow.task_template[task as usize] as usize].mark;
            let problem = Problem::new(
                mark(inner),
                message,
                "let one task make the whole directory, or name its files one by one",
            )
            .with_related(mark(outer), "the other task is here");
            self.problems.push(problem);
        }
    }

    /// Every directory that some output lies in.
    fn directories_made(&self) -> BTreeSet<String> {
        let mut directories = BTreeSet::new();
        for object in 0..self.flow.producers.len() as u32 {
            let mut directory = path::directory(self.objects.strings.get(object));
            while directory != "." && !directories.contains(directory) {
                directories.insert(directory.to_owned());
                directory = path::directory(directory);
            }
        }
        directories
    }

    /// The output that is a directory around a path, if there is one.
    fn output_above(&self, path: &str) -> Option<u32> {
        let slashes = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        let mut above = slashes.filter_map(|at| self.objects.find(&path[..at]));
        above.find(|object| (*object as usize) < self.flow.producers.len())
    }

    pub(super) fn add_inputs(&mut self) {
        let mut starts = Vec::with_capacity(self.task_total as usize + 1);
        let mut inputs: Vec<u32> = Vec::new();
        let mut rendered = String::new();
        let directories = self.directories_made();
        for number in 0..self.flow.templates.len() {
            let template = self.flow.templates[number];
            let patterns = self.sources[number].inputs;
            let named = self.keep_input_paths(number);
            for row in 0..template.rows {
                let start = inputs.len();
                starts.push(start as u32);
                for at in patterns.0..patterns.1 {
                    let written = self.written[at as usize];
                    rendered.clear();
                    self.render(&template, row, self.pieces_of(&written), &mut rendered);
                    if written.is_all {
                        let found = self.tasks_named(&rendered, written.prefix);
                        if at - patterns.0 < named.count {
                            self.note_range((named.start + at - patterns.0) as usize, row, found);
                        }
                        match found {
                            Named::Tasks(first, last) if first == last => {}
                            Named::Tasks(first, last) => {
                                let made = &self.flow.output_start;
                                let count = (made[last as usize] - made[first as usize]) as usize;
                                let rows_alike = if self.varies(&written) { 1 } else { (template.rows - row) as usize };
                                if inputs.len() + count * rows_alike > EDGES_LIMIT {
                                    self.problems.push(too_many_edges(written.mark));
                                    return;
                                }
                                let objects = made[first as usize]..made[last as usize];
                                inputs.extend(objects.filter(|object| !self.flow.object_flag(ObjectId(*object), LOG)));
                                if made[first as usize] == made[last as usize] {
                                    self.problems.push(
                                        Problem::new(
                                            written.mark,
                                            format!("`{rendered}` makes no files"),
                                            "give it `out`, or use `after` to wait for it without data",
                                        )
                                        .spanning(&rendered),
                                    );
                                }
                            }
                            Named::Nothing => self.problems.push(self.unknown_task(&rendered, written.mark)),
                            Named::Unclear => self.problems.push(unclear(&rendered, written.mark)),
                        }
                        continue;
                    }
                    let path = path::normalize(&rendered);
                    if path.is_empty() {
                        self.problems.push(Problem::new(
                            written.mark,
                            format!("the input `{rendered}` names no file"),
                            "write a path",
                        ));
                        continue;
                    }
                    // Part of a directory that a task makes.
                    if let Some(directory) = self.output_above(&path) {
                        inputs.push(directory);
                        self.refuse_size_of_part(at, &path, directory);
                        continue;
                    }
                    let (object, is_new) = self.objects.add(&path);
                    if is_new && directories.contains(path.as_ref()) {
                        let message =
                            format!("tasks make files in the directory `{path}`, so it cannot be read as a whole");
                        let remedy = "name the files, or write `{ all: TASK }` for everything that a task makes";
                        self.problems.push(Problem::new(written.mark, message, remedy).spanning(&rendered));
                    } else if is_new && !self.surroundings.exists(&path) {
                        let remedy = if path.contains(['*', '?']) {
                            "patterns of file names are for `foreach`: name the files, or write `{ all: TASK }`"
                        } else {
                            "make the file, correct the name, or add it to the `out` of the task that makes it"
                        };
                        let left_out = match self.left_out.first() {
                            Some(task) => format!(" (`when` leaves out {}, such as `{task}`)", self.left_out.len()),
                            None => String::new(),
                        };
                        let elsewhere = self.surroundings.elsewhere(&path);
                        let nowhere = elsewhere.map_or(String::new(), |place| format!(", nor at {place},"));
                        let message =
                            format!("the input `{path}` is not there{nowhere} and no task makes it{left_out}");
                        self.problems.push(Problem::new(written.mark, message, remedy).spanning(&rendered));
                    }
                    inputs.push(object);
                    self.declare_size(at, &template, row, object);
                }
                // A file named twice is still read once.
                if inputs.len() - start > 1 && has_repeats(&mut inputs[start..].to_vec()) {
                    let mut kept = inputs.split_off(start);
                    let mut seen = std::collections::BTreeSet::new();
                    kept.retain(|object| seen.insert(*object));
                    inputs.extend(kept);
                }
                if inputs.len() > EDGES_LIMIT || self.objects.byte_count() > NAME_BYTES_LIMIT {
                    self.problems.push(too_many_edges(self.sources[number].mark));
                    return;
                }
            }
        }
        starts.push(inputs.len() as u32);
        self.flow.input_start = if inputs.is_empty() { Vec::new() } else { starts };
        self.flow.inputs = inputs;
    }

    /// The edges without data, as (child, parent).
    pub(super) fn find_after(&mut self) -> Vec<(TaskId, TaskId)> {
        let mut after = Vec::new();
        let mut rendered = String::new();
        for number in 0..self.flow.templates.len() {
            let template = self.flow.templates[number];
            let patterns = self.sources[number].after;
            for at in patterns.0..patterns.1 {
                let written = self.written[at as usize];
                for row in 0..template.rows {
                    rendered.clear();
                    self.render(&template, row, self.pieces_of(&written), &mut rendered);
                    let (first, last) = match self.tasks_named(&rendered, written.prefix) {
                        Named::Tasks(first, last) => (first, last),
                        Named::Nothing => {
                            self.problems.push(self.unknown_task(&rendered, written.mark));
                            continue;
                        }
                        Named::Unclear => {
                            self.problems.push(unclear(&rendered, written.mark));
                            continue;
                        }
                    };
                    // What the rows to come will add is counted before memory is asked for it.
                    let rows_alike = if self.varies(&written) { 1 } else { (template.rows - row) as usize };
                    if after.len() + (last - first) as usize * rows_alike > EDGES_LIMIT {
                        self.problems.push(too_many_edges(written.mark));
                        return after;
                    }
                    let child = TaskId(template.first_task + row);
                    after.extend((first..last).map(|parent| (child, TaskId(parent))));
                }
            }
        }
        after
    }

    /// Copies the patterns that a command knows as `{in}` into the workflow; returns where they are.
    fn keep_input_paths(&mut self, number: usize) -> Span {
        let source = self.sources[number];
        let kept = self.keep_paths(source.inputs.0, source.named[0], self.flow.templates[number].rows);
        if kept.count > 0 {
            self.flow.extras[source.settings.extras as usize].inputs = kept;
        }
        kept
    }

    /// Copies the patterns that commands know as `{out}` into the workflow.
    pub(super) fn keep_output_paths(&mut self) {
        for number in 0..self.sources.len() {
            let source = self.sources[number];
            if source.named[1] > 0 {
                let kept = self.keep_paths(source.outputs.0, source.named[1], 1);
                self.flow.extras[source.settings.extras as usize].outputs = kept;
            }
        }
    }

    fn keep_paths(&mut self, first: u32, count: u32, rows: u32) -> Span {
        let start = self.flow.paths.len() as u32;
        for at in first..first + count {
            let written: Written = self.written[at as usize];
            let pieces = Span { start: self.flow.pieces.len() as u32, count: written.count };
            self.flow.pieces.extend_from_slice(&self.pieces[written.start as usize..][..written.count as usize]);
            let (mut all, mut all_stride) = (NONE, 0);
            if written.is_all {
                all = self.flow.ranges.len() as u32;
                all_stride = u32::from(self.varies(&written));
                let ranges = if all_stride == 1 { rows as usize } else { 1 };
                self.flow.ranges.resize(self.flow.ranges.len() + ranges, Span::default());
            }
            self.flow.paths.push(PathPattern { pieces, group: written.group, all, all_stride });
        }
        Span { start, count }
    }

    /// Remembers which objects an `{ all: TASK }` stands for in a row.
    fn note_range(&mut self, path: usize, row: u32, tasks: Named) {
        let PathPattern { all, all_stride, .. } = self.flow.paths[path];
        let made = &self.flow.output_start;
        let objects = match tasks {
            Named::Tasks(first, last) => {
                let start = made[first as usize];
                Span { start, count: made[last as usize] - start }
            }
            Named::Nothing | Named::Unclear => Span::default(),
        };
        self.flow.ranges[(all + row * all_stride) as usize] = objects;
    }

    /// The range of tasks meant by a name of a template or of one task, in the words of a file: its own tasks first,
    /// then those of the files around it. A task that `when` leaves out is no task, but no mistake either.
    fn tasks_named(&self, name: &str, prefix: u16) -> Named {
        let mut prefix = self.prefixes[usize::from(prefix)].as_str();
        loop {
            match self.tasks_with_name(prefix, name) {
                Named::Nothing if !prefix.is_empty() => {}
                found => return found,
            }
            let outer = prefix[..prefix.len() - 1].rfind('.').map_or(0, |dot| dot + 1);
            prefix = &prefix[..outer];
        }
    }

    fn tasks_with_name(&self, prefix: &str, name: &str) -> Named {
        let (template_name, row_values) = match name.split_once(':') {
            Some((template, values)) => (template, Some(values)),
            None => (name, None),
        };
        let joined;
        let template_name = if prefix.is_empty() {
            template_name
        } else {
            joined = format!("{prefix}{template_name}");
            &joined
        };
        if self.left_out.contains(template_name) {
            return Named::Tasks(0, 0);
        }
        let number = self.strings.find(template_name);
        let template = number.and_then(|number| self.template_by_name.get(number as usize));
        let Some(template) = template.filter(|template| **template != NONE) else { return Named::Nothing };
        let template = &self.flow.templates[*template as usize];
        let first = template.first_task;
        let Some(values) = row_values else { return Named::Tasks(first, first + template.rows) };
        let columns = &template.naming_columns(&self.flow.columns)[..];
        let positions = |column: &Column, wanted: &str| {
            let Some(wanted) = self.strings.find(wanted) else { return Vec::new() };
            let Some(index) = self.value_index.get(&column.list) else { return Vec::new() };
            let from = index.partition_point(|(value, _)| *value < wanted);
            index[from..].iter().take_while(|(value, _)| *value == wanted).map(|(_, position)| *position).collect()
        };
        match &find_rows(columns, values, &positions)[..] {
            [] => Named::Nothing,
            [rows] => Named::Tasks(first + rows.start, first + rows.end),
            _ => Named::Unclear,
        }
    }

    fn unknown_task(&self, name: &str, mark: Mark) -> Problem {
        let known = self.flow.templates.iter().take(10_000).map(|template| self.strings.strings.get(template.name));
        let remedy = match spelling::nearest(name, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None => "write the name of a task of this workflow".to_owned(),
        };
        Problem::new(mark, format!("there is no task named `{name}`"), remedy).spanning(name)
    }

    pub(super) fn cycle_problem(&self, cycle: &[TaskId]) -> Problem {
        let names: Vec<String> = cycle.iter().map(|task| self.flow.name(*task)).collect();
        let shown = if names.len() > 12 {
            format!("{} → … → {}", names[..6].join(" → "), names[names.len() - 6..].join(" → "))
        } else {
            names.join(" → ")
        };
        let mark = self.sources[self.flow.template(cycle[0]).index()].mark;
        Problem::new(
            mark,
            format!("these tasks wait for each other in a circle: {shown} → {}", names[0]),
            "each arrow is a file or an `after`: remove one of them",
        )
        .spanning(&names[0])
    }
}

fn has_repeats(objects: &mut [u32]) -> bool {
    objects.sort_unstable();
    objects.windows(2).any(|pair| pair[0] == pair[1])
}

fn unclear(name: &str, mark: Mark) -> Problem {
    Problem::new(
        mark,
        format!("`{name}` may mean more than one group of tasks, because values have commas"),
        "use values without commas",
    )
    .spanning(name)
}

fn too_many_edges(mark: Mark) -> Problem {
    Problem::new(
        mark,
        format!("the workflow has more than {EDGES_LIMIT} edges"),
        "put a task that gathers between the many that make and the many that read",
    )
}

fn names_too_long(mark: Mark) -> Problem {
    Problem::new(mark, "the names of all files together exceed 4 GiB", "use shorter paths or several workflows")
}
