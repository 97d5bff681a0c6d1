//! From a document that has been checked to the flat arrays of a workflow: one template for each task.

use std::collections::{BTreeMap, BTreeSet};

use super::super::command::{RECORDED, REPLAY_SLEEP, REPLAY_SPIN};
use super::super::demand::FlatDemand;
use super::super::pattern::Piece;
use super::super::problem::Problem;
use super::super::strings::Interner;
use super::super::{NONE, Settings, Span, Template, UNKNOWN, Workflow, edges};
use super::document::{Document, SECONDS_LIMIT};
use super::links::Links;
use super::versions::{Files, Version};
use super::{Replay, paths};
use crate::ids::TaskId;

/// A workflow while it is being put together.
struct Assembly<'a> {
    document: &'a Document,
    replay: Option<Replay>,
    flow: Workflow,
    strings: Interner,
    kinds: BTreeMap<u32, u32>,
    settings: BTreeMap<Settings, u32>,
    /// By thousandths of a core.
    classes: BTreeMap<Option<u32>, u32>,
}

/// Names as they are to be in the workflow.
pub(super) struct Names {
    /// Of tasks, in their order.
    pub tasks: Vec<String>,
    pub kinds: Vec<String>,
    /// Of files, by number.
    pub files: Vec<String>,
}

/// Puts the workflow together; the error is a circle.
pub(super) fn assemble(
    document: &Document,
    links: &Links,
    files: &Files,
    names: &Names,
    title: &str,
    replay: Option<Replay>,
) -> Result<Workflow, Problem> {
    let mut assembly = Assembly {
        document,
        replay,
        flow: Workflow::default(),
        strings: Interner::default(),
        kinds: BTreeMap::new(),
        settings: BTreeMap::new(),
        classes: BTreeMap::new(),
    };
    assembly.flow.name = assembly.strings.add(title).0;
    check_lengths(document, replay)?;
    for at in 0..document.tasks.len() {
        assembly.add_task(at, &names.tasks[at], &names.kinds[at]);
    }
    assembly.add_files(files, &names.files);
    let Assembly { mut flow, strings, .. } = assembly;
    flow.strings = strings.strings;
    let after = links.declared.iter().map(|(child, parent)| (TaskId(*child), TaskId(*parent))).collect();
    edges::connect(&mut flow, after);
    match edges::find_cycle(&flow) {
        None => Ok(flow),
        Some(cycle) => Err(circle(document, &flow, &cycle)),
    }
}

/// A replayed task takes no longer than any other may.
fn check_lengths(document: &Document, replay: Option<Replay>) -> Result<(), Problem> {
    let Some(Replay { times, .. }) = replay else { return Ok(()) };
    let seconds = |at: usize| document.measured(document.tasks[at].id.id).map_or(0.0, |measured| measured.seconds);
    let longest = (0..document.tasks.len()).max_by(|left, right| seconds(*left).total_cmp(&seconds(*right)));
    match longest.filter(|at| seconds(*at) * times > SECONDS_LIMIT) {
        None => Ok(()),
        Some(at) => {
            let id = document.tasks[at].id;
            let name = document.task_ids.strings.get(id.id);
            let message = format!("to replay the task `{name}` would take longer than a century");
            let most = (SECONDS_LIMIT / seconds(at)).floor();
            Err(Problem::new(id.mark, message, format!("give --replay at most {most}")))
        }
    }
}

/// Tasks of a circle that are named; of a longer one, the first.
const CIRCLE_SHOWN: usize = 12;

fn circle(document: &Document, flow: &Workflow, cycle: &[TaskId]) -> Problem {
    let names: Vec<String> = cycle.iter().take(CIRCLE_SHOWN).map(|task| flow.name(*task)).collect();
    let more = if cycle.len() > CIRCLE_SHOWN { " → …" } else { "" };
    let message = format!("these tasks wait for each other in a circle: {}{more} → {}", names.join(" → "), names[0]);
    let mark = document.tasks[cycle[0].index()].id.mark;
    Problem::new(mark, message, "each arrow is a parent, a child or a file: remove one of them")
}

impl Assembly<'_> {
    fn add_task(&mut self, at: usize, name: &str, kind: &str) {
        let measured = self.document.measured(self.document.tasks[at].id.id);
        let time_ns = measured.map(|measured| (measured.seconds * 1e9).round() as u64);
        let time_ns = match self.replay {
            Some(replay) => Some((time_ns.unwrap_or(0) as f64 * replay.times).round() as u64),
            None => time_ns,
        };
        let command = self.flow.pieces.len() as u32;
        if self.replay.is_some() {
            self.add_word(&format!("{}ns", time_ns.unwrap_or(0)));
            self.flow.pieces.push(Piece::WORD_END);
        }
        self.add_word(measured.and_then(|measured| measured.program.as_deref()).unwrap_or(kind));
        for argument in measured.iter().flat_map(|measured| &measured.arguments) {
            self.flow.pieces.push(Piece::WORD_END);
            self.add_word(argument);
        }
        // A replay keeps one core busy at most, whatever the task once used.
        let cores = measured.and_then(|measured| measured.cores).filter(|cores| *cores > 0.0 && self.replay.is_none());
        let class = self.class(cores.map(|cores| (cores * 1000.0).ceil() as u32));
        let kind = self.strings.add(kind).0;
        let kind = *self.kinds.entry(kind).or_insert_with(|| {
            self.flow.kinds.push(kind);
            (self.flow.kinds.len() - 1) as u32
        });
        let settings = Settings {
            timeout_ns: 0,
            estimate_time_ns: time_ns.unwrap_or(UNKNOWN),
            // What it once used is no reason to refuse it a place: nobody asked for it, and its unit is often wrong.
            estimate_memory_bytes: measured.and_then(|measured| measured.memory_bytes).unwrap_or(UNKNOWN),
            estimate_out_bytes: UNKNOWN,
            action: match self.replay {
                None => RECORDED,
                Some(Replay { spins: false, .. }) => REPLAY_SLEEP,
                Some(Replay { spins: true, .. }) => REPLAY_SPIN,
            },
            kind,
            class,
            class_count: 1,
            env: 0,
            env_count: 0,
            retries: 0,
            priority: 0,
            extras: NONE,
            padding: 0,
        };
        let settings = *self.settings.entry(settings).or_insert_with(|| {
            self.flow.settings.push(settings);
            (self.flow.settings.len() - 1) as u32
        });
        self.flow.task_template.push(at as u32);
        self.flow.templates.push(Template {
            name: self.strings.add(name).0,
            settings,
            first_task: at as u32,
            rows: 1,
            columns: 0,
            column_count: 0,
            command,
            command_pieces: self.flow.pieces.len() as u32 - command,
        });
    }

    /// No part of a command holds a NUL: it is what parts are told apart by.
    fn add_word(&mut self, word: &str) {
        let piece = Piece::literal(&word.replace('\0', ""), &mut self.strings);
        self.flow.pieces.push(piece);
    }

    fn class(&mut self, asked: Option<u32>) -> u32 {
        let demands = &mut self.flow.demands;
        *self.classes.entry(asked).or_insert_with(|| {
            demands.classes.push(Span { start: demands.demands.len() as u32, count: 1 });
            let (cpus_milli, says_cpus) = (asked.unwrap_or(1000), asked.is_some().into());
            demands.demands.push(FlatDemand { memory_bytes: 0, cpus_milli, says_cpus, named: Span::default() });
            (demands.classes.len() - 1) as u32
        })
    }

    /// Gives every version of a file its number: first what tasks make, task by task, then what comes from outside.
    fn add_files(&mut self, files: &Files, names: &[String]) {
        let mut numbers: BTreeMap<Version, u32> = BTreeMap::new();
        let mut objects = Interner::default();
        let paths = distinct_paths(files, names);
        let mut add = |version: Version, flow: &mut Workflow| {
            let (file, written) = version;
            let earlier = written < files.writers[file as usize];
            let mark = if earlier { paths::version_mark(written) } else { String::new() };
            let number = objects.add(&format!("{}{mark}", paths[file as usize])).0;
            let scaled = |bytes: u64| match self.replay {
                Some(replay) => ((bytes as f64 * replay.sizes).round() as u64).min(UNKNOWN - 1),
                None => bytes,
            };
            flow.sizes.push(self.document.file_bytes(file).map_or(UNKNOWN, scaled));
            numbers.insert(version, number);
            number
        };
        for (task, outputs) in files.outputs.iter().enumerate() {
            self.flow.output_start.push(self.flow.producers.len() as u32);
            for version in outputs {
                add(*version, &mut self.flow);
                self.flow.producers.push(task as u32);
            }
        }
        self.flow.output_start.push(self.flow.producers.len() as u32);
        let outside: BTreeSet<Version> =
            files.inputs.iter().flatten().filter(|(_, written)| *written == 0).copied().collect();
        for version in outside {
            add(version, &mut self.flow);
        }
        let inputs = files.inputs.iter().map(|inputs| inputs.iter().map(|version| numbers[version]));
        self.flow.input_start.push(0);
        for inputs in inputs {
            self.flow.inputs.extend(inputs);
            self.flow.input_start.push(self.flow.inputs.len() as u32);
        }
        if self.flow.inputs.is_empty() {
            self.flow.input_start.clear();
        }
        self.flow.objects = objects.strings;
    }
}

/// The paths of all files, none of them inside another.
fn distinct_paths(files: &Files, names: &[String]) -> Vec<String> {
    let mut paths: Vec<String> = names.iter().map(|id| paths::encode(id)).collect();
    let used: BTreeSet<u32> = files.inputs.iter().chain(&files.outputs).flatten().map(|(file, _)| *file).collect();
    let mut directories: BTreeSet<&str> = BTreeSet::new();
    for path in used.iter().map(|file| paths[*file as usize].as_str()) {
        for (at, _) in path.match_indices('/').rev() {
            if !directories.insert(&path[..at]) {
                break;
            }
        }
    }
    let both: Vec<usize> = (0..paths.len()).filter(|file| directories.contains(paths[*file].as_str())).collect();
    for file in both {
        paths[file].push(paths::IS_DIRECTORY_TOO);
    }
    paths
}
