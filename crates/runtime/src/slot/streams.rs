//! What an attempt reads and writes by its standard streams, and where it runs.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use throng_core::ids::TaskId;

use super::Trouble;
use crate::log;
use crate::node_loop::Shared;

/// Files in the place of a slot's own, where the workflow says so.
#[derive(Default)]
pub(super) struct Streams {
    input: Option<File>,
    output: Option<File>,
    errors: Option<File>,
    directory: Option<OwnedFd>,
}

impl Streams {
    /// Opens what a task asks for; outputs are in their places already made room for.
    pub(super) fn open(shared: &Shared, task: TaskId) -> Result<Streams, Trouble> {
        let [stdin, stdout, stderr] = shared.flow.streams(task);
        let at = |name: &str| shared.workplace.path(name);
        let for_writing = |name: &String| {
            let opened = OpenOptions::new().append(true).create(true).open(at(name));
            opened.map_err(|error| Trouble::files("write to", name, &error))
        };
        let input = stdin
            .as_ref()
            .map(|name| open_for_reading(&at(name)).map_err(|error| Trouble::files("read", name, &error)));
        let directory = shared.flow.directory(task).map(|name| {
            let opened = shared.workplace.open_directory(&name);
            opened.map_err(|error| Trouble::files("work in", &name, &error))
        });
        Ok(Streams {
            input: input.transpose()?,
            output: stdout.as_ref().map(for_writing).transpose()?,
            errors: stderr.as_ref().map(for_writing).transpose()?,
            directory: directory.transpose()?,
        })
    }

    /// What it reads.
    pub(super) fn input<'a>(&'a self, nothing: &'a File) -> BorrowedFd<'a> {
        self.input.as_ref().unwrap_or(nothing).as_fd()
    }

    /// Where its output goes.
    pub(super) fn output<'a>(&'a self, scratch: &'a File) -> BorrowedFd<'a> {
        self.output.as_ref().unwrap_or(scratch).as_fd()
    }

    /// Where its complaints go.
    pub(super) fn errors<'a>(&'a self, scratch: &'a File) -> BorrowedFd<'a> {
        self.errors.as_ref().unwrap_or(scratch).as_fd()
    }

    /// Where it runs.
    pub(super) fn directory<'a>(&'a self, default: BorrowedFd<'a>) -> BorrowedFd<'a> {
        self.directory.as_ref().map_or(default, AsFd::as_fd)
    }
}

/// Opens a file to read from. A pipe would keep the slot waiting for whoever writes to it, and nobody could end that.
fn open_for_reading(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path)?;
    if found.file_type().is_fifo() || found.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, not a file"));
    }
    File::open(path)
}

/// The last lines of a file, for somebody who wants to know at once what went wrong.
pub(super) fn last_lines(shared: &Shared, name: &str, count: usize) -> io::Result<String> {
    let path = shared.workplace.path(name);
    let length = path.metadata()?.len();
    log::last_lines(&path, (0, length), count)
}
