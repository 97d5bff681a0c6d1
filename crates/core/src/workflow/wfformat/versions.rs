//! Which file is which: a file that a task both reads and writes is another one afterwards.
//!
//! ```text
//!   f from outside ─▶ patch ─▶ f        f: the version before comes from outside, the one after from `patch`
//!   make ─▶ f ─▶ sort ─▶ f ─▶ read      two versions; `read` reads what `sort` left, since it comes after it
//! ```
//!
//! So it is no dependency of a task on itself. Several tasks may write a file only if each reads what the one before it left,
//! and comes after it: otherwise the file has two producers, and nobody could say whose it is.

use std::collections::{BTreeMap, BTreeSet};

use super::super::problem::{Problem, ProblemList};
use super::document::Document;
use super::links::Links;
use super::remarks::Tally;

/// A version of a file: the number of the file, and how many tasks have written it.
pub(super) type Version = (u32, u32);

/// Files as tasks use them.
pub(super) struct Files {
    /// By task, each once.
    pub inputs: Vec<Vec<Version>>,
    pub outputs: Vec<Vec<Version>>,
    /// By file: how many tasks write it.
    pub writers: Vec<u32>,
}

impl Files {
    /// Finds out what every task reads and writes.
    pub(super) fn of(
        document: &Document,
        links: &Links,
        problems: &mut ProblemList,
        remarks: &mut Vec<String>,
    ) -> Files {
        let count = document.file_ids.strings.len();
        let (mut writers, mut readers) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, task) in document.tasks.iter().enumerate() {
            for (references, users) in [(&task.outputs, &mut writers), (&task.inputs, &mut readers)] {
                for reference in references {
                    let own: &mut Vec<u32> = &mut users[reference.id as usize];
                    if own.last() != Some(&(at as u32)) {
                        own.push(at as u32);
                    }
                    if document.has_files && document.file_bytes(reference.id).is_none() {
                        let name = document.file_ids.strings.get(reference.id);
                        let message = format!("the file `{name}` is not among the `files` of the specification");
                        let remedy = "add it there with its size, or correct the name";
                        problems.push(Problem::new(reference.mark, message, remedy).spanning(name));
                    }
                }
            }
        }
        let mut without_size = Tally::default();
        for file in 0..count {
            let is_used = !writers[file].is_empty() || !readers[file].is_empty();
            let is_unknown = is_used && document.file_bytes(file as u32).is_none();
            without_size.count(is_unknown, || document.file_ids.strings.get(file as u32).to_owned());
        }
        let words = |count, first: &str| format!("{count} without a size, such as `{first}`: counted as empty");
        remarks.extend(without_size.remark(words, "file"));
        let mut files = Files {
            inputs: vec![Vec::new(); document.tasks.len()],
            outputs: vec![Vec::new(); document.tasks.len()],
            writers: writers.iter().map(|writers| writers.len() as u32).collect(),
        };
        let mut order = Order::new(document.tasks.len(), links);
        for file in 0..count {
            match chain(file as u32, &writers[file], &readers[file], document, &mut order) {
                Ok(chain) => files.hand_out(file as u32, &chain, &readers[file], &mut order),
                Err(problem) => problems.push(problem),
            }
        }
        files.keep_order(document);
        remarks.extend(files.undeclared(document, links));
        files
    }

    /// Gives every user of a file its version.
    fn hand_out(&mut self, file: u32, chain: &[u32], readers: &[u32], order: &mut Order) {
        for (at, writer) in chain.iter().enumerate() {
            self.outputs[*writer as usize].push((file, at as u32 + 1));
        }
        for reader in readers {
            let version = match chain.iter().position(|writer| writer == reader) {
                Some(at) => at as u32,
                None => version_read(*reader, chain, readers, order),
            };
            self.inputs[*reader as usize].push((file, version));
        }
    }

    /// Brings what a task uses into the order in which the document names it.
    fn keep_order(&mut self, document: &Document) {
        for (task, (inputs, outputs)) in document.tasks.iter().zip(self.inputs.iter_mut().zip(&mut self.outputs)) {
            for (versions, references) in [(inputs, &task.inputs), (outputs, &task.outputs)] {
                if versions.len() < 2 {
                    continue;
                }
                let mut places: Vec<(u32, usize)> = references.iter().map(|reference| reference.id).zip(0..).collect();
                places.sort_unstable();
                let place = |version: &Version| places.partition_point(|(file, _)| *file < version.0);
                versions.sort_by_key(|version| places.get(place(version)).map_or(usize::MAX, |(_, at)| *at));
            }
        }
    }

    /// A word about tasks that read what another makes without naming it as a parent.
    fn undeclared(&self, document: &Document, links: &Links) -> Option<String> {
        let mut tally = Tally::default();
        let made =
            self.outputs.iter().zip(0..).flat_map(|(outputs, task)| outputs.iter().map(move |made| (*made, task)));
        let writers: BTreeMap<Version, u32> = made.collect();
        for (reader, inputs) in self.inputs.iter().enumerate() {
            for input @ (file, _) in inputs {
                let Some(writer) = writers.get(input).copied() else { continue };
                let is_odd = !links.is_declared(reader as u32, writer);
                let name = |at: usize| document.task_ids.strings.get(document.tasks[at].id.id);
                tally.count(is_odd, || {
                    let file = document.file_ids.strings.get(*file);
                    format!("`{}` reads `{file}` of `{}`", name(reader), name(writer as usize))
                });
            }
        }
        let words = |count: String, first: &str| {
            format!(
                "{count} read from a task that is not declared a parent, such as {first}: the reader waits for it all the same"
            )
        };
        tally.remark(words, "file")
    }
}

/// The tasks that write a file, in their order.
fn chain(
    file: u32,
    writers: &[u32],
    readers: &[u32],
    document: &Document,
    order: &mut Order,
) -> Result<Vec<u32>, Problem> {
    if writers.len() < 2 {
        return Ok(writers.to_vec());
    }
    let mut chain = writers.to_vec();
    // Only those that read it, too, can come second; they are in the order in which tasks wait for each other.
    let is_reader = |writer: &u32| readers.binary_search(writer).is_ok();
    chain.sort_by_key(|writer| (is_reader(writer), order.position(*writer)));
    let broken = chain.windows(2).find(|pair| !is_reader(&pair[1]) || !order.is_before(pair[0], pair[1]));
    let Some(pair) = broken else { return Ok(chain) };
    let (first, second) = (pair[0].min(pair[1]) as usize, pair[0].max(pair[1]) as usize);
    let name = |at: usize| document.task_ids.strings.get(document.tasks[at].id.id);
    let name_of_file = document.file_ids.strings.get(file);
    let mark = |at: usize| {
        let written = document.tasks[at].outputs.iter().find(|reference| reference.id == file);
        written.map_or(document.tasks[at].id.mark, |reference| reference.mark)
    };
    let message = format!("`{name_of_file}` is made by two tasks, `{}` and `{}`", name(first), name(second));
    let remedy = "give each task outputs of its own; only a task that reads the file, too, and comes after the first may write it again";
    Err(Problem::new(mark(second), message, remedy)
        .spanning(name_of_file)
        .with_related(mark(first), "the first is here"))
}

/// The version that a task reads which does not write the file itself.
fn version_read(reader: u32, chain: &[u32], readers: &[u32], order: &mut Order) -> u32 {
    let last = chain.len() as u32;
    let Some(first) = chain.first() else { return 0 };
    let is_rewritten = chain.len() > 1 || readers.binary_search(first).is_ok();
    if !is_rewritten {
        return last;
    }
    // It reads what was there before the first that comes after it. Where nothing is said of which comes first, it waits: the
    // edges that follow from that can only confirm it, so that the same is read from what `throng export` writes.
    match chain.iter().position(|writer| order.is_before(reader, *writer)) {
        Some(0) if readers.binary_search(first).is_err() => last,
        Some(at) => at as u32,
        None => last,
    }
}

/// The declared order of tasks, worked out when it is first needed: few traces write a file twice.
struct Order<'a> {
    count: usize,
    links: &'a Links,
    positions: Vec<u32>,
}

impl<'a> Order<'a> {
    fn new(count: usize, links: &'a Links) -> Self {
        Order { count, links, positions: Vec::new() }
    }

    fn parents(&self, task: u32) -> &[(u32, u32)] {
        let declared = &self.links.declared;
        let start = declared.partition_point(|(child, _)| *child < task);
        let end = declared.partition_point(|(child, _)| *child <= task);
        &declared[start..end]
    }

    /// Where a task stands in one order in which all come after their parents.
    fn position(&mut self, task: u32) -> u32 {
        if self.positions.is_empty() {
            self.positions = self.sort();
        }
        self.positions[task as usize]
    }

    fn sort(&self) -> Vec<u32> {
        let mut open = vec![0u32; self.count];
        let mut children: Vec<(u32, u32)> = Vec::with_capacity(self.links.declared.len());
        for (child, parent) in &self.links.declared {
            open[*child as usize] += 1;
            children.push((*parent, *child));
        }
        children.sort_unstable();
        let mut sorted: Vec<u32> = (0..self.count as u32).filter(|task| open[*task as usize] == 0).collect();
        let mut at = 0;
        while let Some(&task) = sorted.get(at) {
            at += 1;
            let start = children.partition_point(|(parent, _)| *parent < task);
            for (_, child) in children[start..].iter().take_while(|(parent, _)| *parent == task) {
                open[*child as usize] -= 1;
                if open[*child as usize] == 0 {
                    sorted.push(*child);
                }
            }
        }
        // Tasks in a circle come last, and are told of when the whole is put together.
        let mut positions = vec![u32::MAX; self.count];
        for (position, task) in sorted.iter().enumerate() {
            positions[*task as usize] = position as u32;
        }
        positions
    }

    /// Whether a task waits for another, however far.
    fn is_before(&mut self, first: u32, second: u32) -> bool {
        if self.links.is_declared(second, first) {
            return true;
        }
        let bound = self.position(first);
        if bound == u32::MAX || self.position(second) <= bound {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![second];
        while let Some(task) = open.pop() {
            for (_, parent) in self.parents(task) {
                if *parent == first {
                    return true;
                }
                let position = self.positions[*parent as usize];
                if position > bound && position != u32::MAX && seen.insert(*parent) {
                    open.push(*parent);
                }
            }
        }
        false
    }
}
