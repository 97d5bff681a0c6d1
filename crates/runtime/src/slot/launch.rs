//! From the words of a command to a process: through a shell's file if they are too long, inside a container if there is
//! one, and found where the task's `PATH` says.

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use throng_core::trace::Outcome;
use throng_core::workflow::{CONTAINER_RUNNERS, Inside, as_script, in_container};

use super::environment::Environment;
use super::streams::Streams;
use super::{Job, SlotRunner, Trouble};
use crate::process::Launch;

/// What reads a script that does not say what reads it.
const SHELL: &str = "/bin/sh";

/// Linux takes no single argument that is longer.
const ARGUMENT_BYTES: usize = 128 * 1024;

/// How often, and how long at first, to wait when the system cannot start a process just now: five seconds in all.
const SHORTAGE_TRIES: u32 = 10;
const SHORTAGE_WAIT: Duration = Duration::from_millis(100);

fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM))
}

impl SlotRunner<'_> {
    /// A shell and its text, which goes through a file if it is too long for an argument.
    pub(super) fn shell_words(&self, mut shell: Vec<String>, text: String) -> Result<Vec<String>, Trouble> {
        if text.len() < ARGUMENT_BYTES {
            shell.push(text);
            return Ok(shell);
        }
        let path = self.shared.scratch_directory.join(format!("{}.script", self.slot.0));
        let path = std::path::absolute(&path).unwrap_or(path);
        std::fs::write(&path, text).map_err(|error| Trouble::files("write", "a long command", &error))?;
        Ok(as_script(shell, path.display().to_string()))
    }

    pub(super) fn launch(&mut self, job: Job, words: Vec<String>, streams: &Streams) -> Result<i32, Trouble> {
        self.fence_in(job);
        let holdings = self.shared.holdings(self.slot);
        let environment = Environment::new(self.shared, job, &holdings);
        let words = self.wrap(job, words, &environment)?;
        self.start(job, &words, &environment, streams).map_err(|error| Trouble {
            outcome: Outcome::NotStarted(error.raw_os_error().unwrap_or(0)),
            remark: match error.raw_os_error() {
                Some(libc::E2BIG) => format!(
                    "the command is too long for the system: let `{}` read a list of its files, or a pattern",
                    words[0]
                ),
                _ => format!("cannot start `{}`: {error}", words[0]),
            },
        })
    }

    /// The command, inside its container if it has one.
    fn wrap(&mut self, job: Job, words: Vec<String>, environment: &Environment<'_>) -> Result<Vec<String>, Trouble> {
        let Some(container) = self.shared.flow.container(job.task) else { return Ok(words) };
        let candidates: Vec<&str> = match &container.with {
            Some(with) => vec![with],
            None => CONTAINER_RUNNERS.to_vec(),
        };
        let found = candidates.iter().find(|runner| self.find_program(runner, &environment.path).is_ok());
        let Some(runner) = found else {
            let remark = format!("no program to run containers is there ({})", candidates.join(", "));
            return Err(Trouble { outcome: Outcome::NotStarted(libc::ENOENT), remark });
        };
        let directory = self.shared.workplace.path("").display().to_string();
        let directory = directory.trim_end_matches('/');
        let own = self.shared.flow.directory(job.task);
        let working_directory = own.map_or(directory.to_owned(), |own| format!("{directory}/{own}"));
        let names: Vec<&str> = environment.names.iter().map(String::as_str).collect();
        let name = self.container_name();
        // Long commands lie where the state is.
        let scratch = std::path::absolute(&self.shared.scratch_directory).unwrap_or_default();
        let scratch = scratch.display().to_string();
        let tier = self.shared.tier.as_ref().map(|tier| tier.path().display().to_string());
        let inside = Inside {
            directory,
            scratch: &scratch,
            tier: tier.as_deref(),
            working_directory: &working_directory,
            name: &name,
            variables: &names,
        };
        Ok(in_container(runner, &container, &inside, words))
    }

    pub(super) fn container_name(&self) -> String {
        format!("{}{}", self.shared.container_prefix, self.slot.0)
    }

    fn start(
        &mut self,
        job: Job,
        words: &[String],
        environment: &Environment<'_>,
        streams: &Streams,
    ) -> io::Result<i32> {
        let shared = self.shared;
        let cell = shared.table.cell(self.slot.index());
        let program = self.find_program(&words[0], &environment.path)?;
        let fence = self.fence.as_ref().map(|fence| fence.processes().as_fd());
        let words = |leading: &[&str]| -> io::Result<Vec<CString>> {
            let all = leading.iter().copied().chain(words.iter().map(String::as_str));
            all.map(|word| CString::new(word).map_err(io::Error::from)).collect()
        };
        let mut start = |program: &CString, arguments: Vec<CString>| {
            cell.prepare(shared.flow.name_key(job.task), shared.boot);
            self.launcher.launch(&Launch {
                program,
                arguments: &pointers(arguments.iter()),
                environment: &pointers(environment.texts()),
                directory: streams.directory(shared.workplace.directory()),
                input: streams.input(&shared.null),
                output: streams.output(&self.scratch),
                errors: streams.errors(&self.scratch),
                files_limit: shared.tasks_files_limit,
                group: fence,
                cell,
            })
        };
        let mut tries = 0;
        let first = loop {
            match start(&program, words(&[])?) {
                // The system is short of processes or memory for a moment: others will end.
                Err(error) if is_shortage(&error) && tries < SHORTAGE_TRIES => {
                    tries += 1;
                    std::thread::sleep(SHORTAGE_WAIT * tries);
                }
                other => break other,
            }
        };
        match first {
            // A script without a first line that says what reads it: a shell does, as everywhere.
            Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
                let shell = CString::new(SHELL).expect("no NUL in it");
                let mut arguments = words(&[SHELL])?;
                arguments[1] = program;
                start(&shell, arguments)
            }
            other => other,
        }
    }

    /// The file of a program, looked for as a shell does.
    fn find_program(&mut self, name: &str, path: &str) -> io::Result<CString> {
        if name.contains('/') {
            return Ok(CString::new(name)?);
        }
        let key = (name.to_owned(), path.to_owned());
        if let Some(found) = self.programs.get(&key) {
            return Ok(found.clone());
        }
        for directory in path.split(':') {
            let candidate = format!("{}/{name}", if directory.is_empty() { "." } else { directory });
            if self.shared.workplace.is_program(&candidate) {
                let found = CString::new(candidate)?;
                self.programs.insert(key, found.clone());
                return Ok(found);
            }
        }
        Err(io::Error::from_raw_os_error(libc::ENOENT))
    }
}

fn pointers<'t>(texts: impl Iterator<Item = &'t CString>) -> Vec<*const c_char> {
    texts.map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}
