//! Reading a workflow from its file.

use std::path::{Path, PathBuf};

use throng_core::workflow::{Format, Workflow};
use throng_runtime::surroundings::Directory;

use crate::diagnostics;
use crate::exit::Failure;

/// A workflow and where it came from.
pub struct Loaded {
    /// The workflow.
    pub flow: Workflow,
    /// The directory that its paths start from.
    pub directory: PathBuf,
}

/// Reads and checks a workflow whose state is kept at `state`, or beside it.
pub fn load(file: &Path, state: Option<&Path>) -> Result<Loaded, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "give the path of a workflow file, such as flow.yaml",
            std::io::ErrorKind::IsADirectory => "give the path of the workflow file inside it",
            _ => "make the file readable",
        };
        Failure::bad_input(format!("cannot read {}: {error}", file.display()), remedy)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        Failure::bad_input(
            format!("{}:{line}:{column}: the file is not UTF-8 text", file.display()),
            "save it as UTF-8",
        )
    })?;
    // Some editors begin a file with this mark of UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let format = if is_json { Format::Json } else { Format::Yaml };
    let absolute = std::path::absolute(file)
        .map_err(|error| Failure::bad_input(format!("cannot find {}: {error}", file.display()), "check the path"))?;
    let directory = absolute.parent().unwrap_or(Path::new("/")).to_owned();
    let name = file.file_stem().map_or_else(|| "workflow".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let state =
        state.map_or_else(|| directory.join(".throng"), |state| std::path::absolute(state).unwrap_or(state.to_owned()));
    let surroundings = Directory::new(&directory)
        .reserve(&absolute, "the workflow's own file")
        .reserve(&directory.join(".throng"), "where Throng keeps its state")
        .reserve(&state, "where Throng keeps its state");
    match Workflow::parse(text, format, &name, &surroundings) {
        Ok(flow) => Ok(Loaded { flow, directory }),
        Err(problems) => Err(Failure::rendered(diagnostics::render(&problems, file, text))),
    }
}
