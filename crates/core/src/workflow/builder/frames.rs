//! The files that a workflow is made of: each has its parameters, its defaults and its prefix.

use std::rc::Rc;

use super::super::params::Params;
use super::super::problem::{Mark, Problem, SourceFile};
use super::super::spec::{self, TaskSpec, is_plain_name};
use super::super::value::{Seen, Text, Value, note_key};
use super::super::{Format, json, path, wfformat, yaml};
use super::{Builder, Given};

/// Files that include files that include files: beyond this it is a circle.
const INCLUDE_DEPTH_LIMIT: usize = 16;
/// Files that include others several times each soon make more than there is memory for.
const INCLUDE_LIMIT: usize = 10_000;

/// A file that is being read.
pub(super) struct Frame {
    /// Which of the prefixes its tasks have.
    pub prefix: u16,
    pub params: Rc<Params>,
    pub defaults: Rc<TaskSpec>,
    pub saw_tasks: bool,
    /// The directory of the file, from where it names others.
    directory: String,
    /// What stands above the tasks and has not been read yet: its order in the file does not matter.
    head: [Option<(Text, Value)>; 3],
    is_settled: bool,
}

const HEAD: [&str; 3] = ["params", "include", "defaults"];

impl Frame {
    /// The workflow itself.
    pub(super) fn main() -> Frame {
        Frame {
            prefix: 0,
            params: Rc::default(),
            defaults: Rc::new(TaskSpec::new()),
            saw_tasks: false,
            directory: ".".to_owned(),
            head: [None, None, None],
            is_settled: false,
        }
    }
}

impl Builder<'_> {
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a file is being read")
    }

    pub(super) fn prefix(&mut self) -> &str {
        let prefix = self.frame().prefix;
        &self.prefixes[usize::from(prefix)]
    }

    /// Takes in what somebody set, in files or on the command line.
    pub(super) fn take_settings(&mut self) -> Result<(), Problem> {
        for file in self.request.param_files {
            self.files.push(file.clone());
            let number = self.files.len() as u32;
            let entries = match Format::of(&file.name) {
                Format::Yaml => yaml::read_map(&file.text, number)?,
                Format::Json => json::read_map(&file.text, number)?,
            };
            for (name, value) in entries {
                self.given.insert(name.text, Given { value, mark: name.mark, is_used: false });
            }
        }
        for (name, text) in self.request.settings {
            // What is no YAML is meant as text.
            let as_text = || Value::Scalar { text: text.clone(), quoted: true, mark: Mark::default() };
            let value = yaml::read_value(text).unwrap_or_else(|_| as_text());
            let value = match value {
                scalar @ Value::Scalar { quoted: true, .. } => scalar,
                // Comments and the like are not cut off: `--set title=a # b` is all of it.
                Value::Scalar { .. } => as_text(),
                list @ Value::List { .. } => list,
                Value::Map { .. } => as_text(),
            };
            self.given.insert(name.clone(), Given { value, mark: Mark::default(), is_used: false });
        }
        Ok(())
    }

    /// Complains about what was set and is nowhere declared.
    pub(super) fn check_settings(&mut self, main: &Frame) {
        let unknown = self.given.iter().filter(|(_, given)| !given.is_used);
        for (name, given) in unknown {
            let remedy = match main.params.nearest(name) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None if main.params.names().next().is_none() => "declare it below `params:` in the workflow".to_owned(),
                None => format!("its parameters are {}", main.params.names().collect::<Vec<_>>().join(", ")),
            };
            self.problems.push(
                Problem::new(given.mark, format!("the workflow has no parameter `{name}`"), remedy).spanning(name),
            );
        }
    }

    pub(super) fn add_top(&mut self, key: Text, value: Value) -> Result<(), Problem> {
        if let Some(at) = HEAD.iter().position(|name| *name == key.text) {
            if self.frame().saw_tasks {
                let message = format!("`{}` stands below `tasks`, which it is for", key.text);
                return Err(Problem::new(key.mark, message, "move it above `tasks`").spanning(&key.text));
            }
            self.frame().head[at] = Some((key, value));
            return Ok(());
        }
        match key.text.as_str() {
            "name" => {
                let title = spec::scalar(&key, value)?;
                // Files that are included have names of their own, which nobody needs.
                if self.frames.len() == 1 {
                    self.title = Some(title);
                }
                Ok(())
            }
            "tasks" => {
                self.frame().saw_tasks = true;
                Err(Problem::new(
                    value.mark(),
                    format!("`tasks` is {}, not a map", value.shape()),
                    "write each task as `NAME: { run: COMMAND }` below `tasks:`",
                ))
            }
            _ => {
                let known: Vec<&str> = super::super::keys::TOP.iter().map(|key| key.name).collect();
                Err(spec::unknown_key(&key, "in the workflow", &known))
            }
        }
    }

    /// Reads what stands above the tasks, once.
    pub(super) fn settle_frame(&mut self) -> Result<(), Problem> {
        if std::mem::replace(&mut self.frame().is_settled, true) {
            return Ok(());
        }
        let [params, include, defaults] = std::mem::take(&mut self.frame().head);
        if let Some((_, value)) = params {
            self.declare_params(value)?;
        }
        if let Some((key, value)) = include {
            self.include_all(&key, value)?;
        }
        if let Some((key, value)) = defaults {
            let params = self.frame().params.clone();
            self.frame().defaults = Rc::new(spec::read_defaults(&key, value, &params)?);
        }
        Ok(())
    }

    fn declare_params(&mut self, value: Value) -> Result<(), Problem> {
        let mark = value.mark();
        let Value::Map { entries, .. } = value else {
            let message = format!("`params` needs a map, not {}", value.shape());
            return Err(Problem::new(mark, message, "write `params: { size: 20 }`"));
        };
        let mut params = Params::clone(&self.frame().params);
        let prefix = self.prefix().to_owned();
        let mut seen = Seen::default();
        for (name, value) in entries {
            note_key(&mut seen, &name)?;
            if !is_plain_name(&name.text) || spec::RESERVED.contains(&name.text.as_str()) {
                return Err(Problem::new(
                    name.mark,
                    format!("`{}` cannot be the name of a parameter", name.text),
                    format!("use letters, digits and `_`, and none of {}", spec::RESERVED.join(", ")),
                )
                .spanning(&name.text));
            }
            // One that the including file has too is the same, and its value is the including file's.
            if params.get(&name.text).is_none() {
                let value = params.expand_known(value);
                params.declare(&name, value);
            }
            if let Some(given) = self.given.get_mut(&format!("{prefix}{}", name.text)) {
                given.is_used = true;
                params.set(&name.text, given.value.clone());
            }
        }
        if let Some((name, mark)) = params.without_value() {
            return Err(Problem::new(
                mark,
                format!("the parameter `{name}` has no value"),
                format!("give it one: `--set {prefix}{name}=VALUE`"),
            )
            .spanning(name));
        }
        self.frame().params = Rc::new(params);
        Ok(())
    }

    fn include_all(&mut self, key: &Text, value: Value) -> Result<(), Problem> {
        let entries = match value {
            Value::List { items, .. } => items,
            single => vec![single],
        };
        for entry in entries {
            self.include(key, entry)?;
            // One word about it is enough.
            if self.is_broken {
                break;
            }
        }
        Ok(())
    }

    /// `include: FILE`, or `include: { file: FILE, prefix: NAME, params: { … } }`.
    fn include(&mut self, key: &Text, value: Value) -> Result<(), Problem> {
        let params = self.frame().params.clone();
        let (mut file, mut prefix, mut given) = (None, None, Vec::new());
        match params.expand_value(value)? {
            Value::Map { entries, mark } => {
                let mut seen = Seen::default();
                for (word, value) in entries {
                    note_key(&mut seen, &word)?;
                    match (word.text.as_str(), value) {
                        ("file", value) => file = Some(spec::scalar(&word, value)?),
                        ("prefix", value) => prefix = Some(spec::scalar(&word, value)?),
                        ("params", Value::Map { entries, .. }) => given = entries,
                        ("params", other) => {
                            let message = format!("`params` needs a map, not {}", other.shape());
                            return Err(Problem::new(other.mark(), message, "write `params: { size: 20 }`"));
                        }
                        _ => return Err(spec::unknown_key(&word, "in `include`", &["file", "prefix", "params"])),
                    }
                }
                if file.is_none() {
                    return Err(Problem::new(mark, "this `include` names no file", "write `{ file: FILE }`"));
                }
            }
            other => file = Some(spec::scalar(key, other)?),
        }
        let file = file.expect("every way here sets it");
        if let Some(prefix) = prefix.as_ref().filter(|prefix| !is_plain_name(&prefix.text)) {
            let message = format!("`{}` cannot be a prefix", prefix.text);
            return Err(Problem::new(prefix.mark, message, "use letters, digits and `_`").spanning(&prefix.text));
        }
        if self.frames.len() > INCLUDE_DEPTH_LIMIT {
            return Err(Problem::new(
                file.mark,
                format!("files include each other more than {INCLUDE_DEPTH_LIMIT} levels deep"),
                "look for a file that includes itself",
            )
            .spanning(&file.text));
        }
        if self.files.len() >= INCLUDE_LIMIT {
            return Err(Problem::new(
                file.mark,
                format!("more than {INCLUDE_LIMIT} files are included"),
                "look for files that include each other again and again, or use `foreach`",
            )
            .spanning(&file.text));
        }
        let full = match &prefix {
            Some(prefix) => format!("{}{}.", self.prefix(), prefix.text),
            None => self.prefix().to_owned(),
        };
        for (name, value) in given {
            // What somebody says on the command line comes first.
            let mark = name.mark;
            let full_name = format!("{full}{}", name.text);
            self.given.entry(full_name).or_insert(Given { value, mark, is_used: false });
        }
        self.read_included(&file, full, prefix.is_some())
    }

    fn read_included(&mut self, file: &Text, full_prefix: String, is_apart: bool) -> Result<(), Problem> {
        let joined = format!("{}/{}", self.frame().directory, file.text);
        let name = if file.text.starts_with('/') { file.text.clone() } else { path::normalize(&joined).into_owned() };
        let text = self.surroundings.read(&name).map_err(|why| {
            Problem::new(file.mark, format!("`{name}` cannot be included: {why}"), "correct the path, or make the file")
                .spanning(&file.text)
        })?;
        if wfformat::is_trace(&text) {
            let message = format!("`{name}` is a trace of a run, which cannot be included");
            return Err(Problem::new(
                file.mark,
                message,
                "name it itself: `throng check` and `simulate` take it as it is",
            )
            .spanning(&file.text));
        }
        self.read_paths.borrow_mut().insert(name.clone());
        let format = Format::of(&name);
        let known = self.prefixes.iter().position(|prefix| *prefix == full_prefix);
        let prefix = known.unwrap_or_else(|| {
            self.prefixes.push(full_prefix);
            self.prefixes.len() - 1
        });
        let params = if is_apart { Rc::default() } else { self.frame().params.clone() };
        let directory = path::directory(&name).to_owned();
        self.files.push(SourceFile { name, text: text.clone() });
        let number = self.files.len() as u32;
        self.frames.push(Frame { prefix: prefix as u16, params, directory, ..Frame::main() });
        self.read_text(&text, format, number)?;
        let included = self.frames.pop().expect("the frame of the file that was included");
        if !is_apart {
            self.frame().params = included.params;
        }
        Ok(())
    }
}
