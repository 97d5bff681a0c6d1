//! Sizes that somebody expects of files: `size` in an entry of `in` or `out`, read for each task.
//!
//! Few workflows say any, so they are kept apart from the patterns that they belong to, and the array of the workflow
//! stays empty until the first is found.

use super::super::pattern::Scope;
use super::super::problem::{Mark, Problem};
use super::super::quantity;
use super::super::value::Text;
use super::{Builder, NONE, Template, UNKNOWN};

/// A `size` as it was written.
#[derive(Clone, Copy, Debug)]
struct WrittenSize {
    /// The pattern of the file that it is for.
    written: u32,
    /// Where its own pieces are.
    start: u32,
    count: u32,
    mark: Mark,
    /// How many characters of the text it takes.
    length: u32,
    /// Whether it has been found wrong: one word is enough for all rows.
    is_wrong: bool,
}

/// All sizes while the workflow is being built.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// Those that were written, in the order of the patterns they are for.
    written: Vec<WrittenSize>,
    /// Which of them gave an object its size, as far as the array reaches.
    source: Vec<u32>,
}

impl Builder<'_> {
    /// Keeps the size of the file whose pattern was written last.
    pub(super) fn write_size(&mut self, size: &Text, scope: &Scope) -> Result<(), Problem> {
        let mut pieces = std::mem::take(&mut self.pieces);
        let start = pieces.len() as u32;
        let parsed = self.parse_into(size, scope, &mut pieces);
        self.pieces = pieces;
        parsed?;
        self.sizes.written.push(WrittenSize {
            written: self.written.len() as u32 - 1,
            start,
            count: self.pieces.len() as u32 - start,
            mark: size.mark,
            length: size.text.chars().count() as u32,
            is_wrong: false,
        });
        Ok(())
    }

    /// Gives an object the size that stands beside its pattern, if one does.
    pub(super) fn declare_size(&mut self, written: u32, template: &Template, row: u32, object: u32) {
        let Some(number) = self.size_beside(written) else { return };
        let size = self.sizes.written[number];
        if size.is_wrong {
            return;
        }
        let mut text = String::new();
        let pieces = &self.pieces[size.start as usize..(size.start + size.count) as usize];
        self.render(template, row, pieces, &mut text);
        let path = self.objects.strings.get(object);
        let problem =
            |message: String, remedy: &str| Problem { length: size.length, ..Problem::new(size.mark, message, remedy) };
        let bytes = match quantity::bytes(&text) {
            Ok(bytes) => bytes,
            Err(why) => {
                let message = format!("the size of `{path}` cannot be `{text}`: {why}");
                self.problems.push(problem(message, "write an amount such as 12MB, or a number of bytes"));
                self.sizes.written[number].is_wrong = true;
                return;
            }
        };
        let index = object as usize;
        if self.flow.sizes.len() <= index {
            self.flow.sizes.resize(index + 1, UNKNOWN);
            self.sizes.source.resize(index + 1, NONE);
        }
        let known = self.flow.sizes[index];
        if known == UNKNOWN {
            self.flow.sizes[index] = bytes;
            self.sizes.source[index] = number as u32;
        } else if known != bytes {
            let message = format!("`{path}` is given two sizes, {known} and {bytes} bytes");
            let first = self.sizes.written[self.sizes.source[index] as usize].mark;
            let problem = problem(message, "give it the same size everywhere, or say it only once");
            self.problems.push(problem.with_related(first, "the first is here"));
        }
    }

    /// What lies in a directory that a task makes is part of an object, and only an object has a size.
    pub(super) fn refuse_size_of_part(&mut self, written: u32, path: &str, directory: u32) {
        let Some(number) = self.size_beside(written) else { return };
        let size = &mut self.sizes.written[number];
        if std::mem::replace(&mut size.is_wrong, true) {
            return;
        }
        let whole = self.objects.strings.get(directory);
        let message = format!("`{path}` is part of `{whole}`, which a task makes, so it has no size of its own");
        let remedy = "give the directory a size, in the `out` of the task that makes it";
        self.problems.push(Problem { length: size.length, ..Problem::new(size.mark, message, remedy) });
    }

    fn size_beside(&self, written: u32) -> Option<usize> {
        self.sizes.written.binary_search_by_key(&written, |size| size.written).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::ids::{ObjectId, TaskId};
    use crate::workflow::{Format, NoFiles, Request, Workflow};

    fn flow(text: &str) -> Workflow {
        Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap()
    }

    /// Objects and the sizes that were declared for them.
    fn sizes(flow: &Workflow) -> Vec<(&str, Option<u64>)> {
        let objects = (0..flow.object_count()).map(ObjectId::at);
        objects.map(|object| (flow.object_name(object), flow.declared_size(object))).collect()
    }

    #[test]
    fn sizes_of_files_that_are_made_and_that_come_from_outside() {
        let flow = flow(
            "params: { large: 12MB }\n\
             tasks: { a: { foreach: { r: [{ i: 1, s: 5MB }, { i: 2, s: 700 }] }, run: 'x {out}', \
                           in: [{ path: 'in/{r}', size: '{large}' }, plain], \
                           out: [{ path: 'out/{r}', size: '{r.s}', temp: true }] }, \
                      b: { run: x, in: { first: { path: in/1, size: 12000kB }, rest: [{ all: a }, more] }, \
                           uses: { path: script, size: 2KiB }, stdout: log } }",
        );
        let expected = [
            ("out/1", Some(5_000_000)),
            ("out/2", Some(700)),
            ("log", None),
            ("in/1", Some(12_000_000)),
            ("plain", None),
            ("in/2", Some(12_000_000)),
            ("more", None),
            ("script", Some(2048)),
        ];
        assert_eq!(sizes(&flow), expected);
        assert!(flow.is_temp(ObjectId(0)));
        assert_eq!(sizes(&Workflow::from_bytes(&flow.to_bytes()).unwrap()), expected);
    }

    #[test]
    fn a_reader_may_say_what_the_maker_does_not() {
        let flow = flow("tasks: { a: { run: x, out: o }, b: { run: x, in: { path: ./o, size: 3 } } }");
        assert_eq!(flow.declared_size(ObjectId(0)), Some(3));
    }

    #[test]
    fn without_sizes_there_is_no_array() {
        let plain = flow("tasks: { a: { foreach: { i: 1..1000 }, run: 'x {i}', in: f, out: 'o/{i}' } }");
        assert_eq!((plain.sizes.len(), plain.sizes.capacity()), (0, 0));
        assert_eq!(plain.declared_size(ObjectId(0)), None);
    }

    #[test]
    fn a_task_is_the_same_whatever_size_is_expected() {
        let read = |size: &str| {
            let settings = [("s".to_owned(), size.to_owned())];
            let text = "params: { s: 1 }\ntasks: { a: { run: 'x {out}', in: { path: f, size: '{s}' }, \
                        out: { path: o, size: '{s}kB' } } }";
            let request = Request { settings: &settings, ..Request::new(text, Format::Yaml, "x") };
            Workflow::read(&request, &NoFiles).unwrap().flow
        };
        let (one, other) = (read("1"), read("20"));
        assert_ne!(one.declared_size(ObjectId(0)), other.declared_size(ObjectId(0)));
        assert_eq!(one.definition_hash(TaskId(0)), other.definition_hash(TaskId(0)));
        let without = flow("tasks: { a: { run: 'x {out}', in: f, out: o } }");
        assert_eq!(one.definition_hash(TaskId(0)), without.definition_hash(TaskId(0)));
    }

    #[test]
    fn how_long_tasks_sleep() {
        let flow = flow(
            "tasks: { a: { foreach: { r: [{ i: 1, t: 5ms }, { i: 2, t: 2 }] }, sleep: '{r.t}' }, b: { noop: true } }",
        );
        let times: Vec<Option<Duration>> = flow.tasks().map(|task| flow.sleep_time(task)).collect();
        assert_eq!(times, [Some(Duration::from_millis(5)), Some(Duration::from_secs(2)), None]);
    }
}
