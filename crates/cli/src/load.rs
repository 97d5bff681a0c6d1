//! Reading a workflow from its file, with parameters as somebody has set them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use throng_core::workflow::wfformat;
use throng_core::workflow::{Format, Reading, Replay, Request, SourceFile, Surroundings, Workflow};
use throng_runtime::host;
use throng_runtime::state::StateDirectory;
use throng_runtime::storage::{self, Storage, StorageError};
use throng_runtime::store::learnt::{self, Learnt, MachineType};
use throng_runtime::surroundings::{Directory, TextError, read_text};

use crate::diagnostics;
use crate::exit::Failure;

/// Which workflow is meant, and where its state is.
#[derive(Args, Clone, Debug)]
pub struct FlowArguments {
    /// The workflow, a YAML or JSON file, or a trace in WfFormat
    pub flow: PathBuf,
    /// Give a parameter another value; a list is written as [a, b]. May be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Take parameters from a YAML or JSON file; --set counts more. May be given several times
    #[arg(long = "params", value_name = "FILE")]
    pub param_files: Vec<PathBuf>,
    /// Where to keep the state [default: .throng beside the workflow]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Where inputs are that are not beside the workflow: a directory, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "WHERE")]
    pub storage: Option<String>,
}

impl FlowArguments {
    /// What has to be typed to mean the same again.
    pub fn as_typed(&self) -> String {
        let mut text = crate::words::quoted(&self.flow.display().to_string());
        for (name, value) in &self.settings {
            text.push_str(&format!(" --set {}", crate::words::quoted(&format!("{name}={value}"))));
        }
        for file in &self.param_files {
            text.push_str(&format!(" --params {}", crate::words::quoted(&file.display().to_string())));
        }
        if let Some(state) = &self.state {
            text.push_str(&format!(" --state {}", crate::words::quoted(&state.display().to_string())));
        }
        if let Some(storage) = &self.storage {
            text.push_str(&format!(" --storage {}", crate::words::quoted(storage)));
        }
        text
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// A workflow and where it came from.
pub struct Loaded {
    /// The workflow.
    pub flow: Workflow,
    /// The directory that its paths start from.
    pub directory: PathBuf,
    /// The directory that its file is in; the same, unless it is a trace, which has its files in the state.
    pub home: PathBuf,
    /// Where its state is.
    pub state: PathBuf,
    /// Its text.
    pub text: String,
    /// Its text and that of the files it includes, for the record.
    pub definition: String,
    /// Where inputs are that are not beside it.
    pub storage: Option<Arc<dyn Storage>>,
    /// The files that it includes.
    pub included: Vec<PathBuf>,
    /// What is said of the run that it is a trace of, if it is one.
    pub trace: Option<wfformat::About>,
}

/// Reads and checks a workflow; if it is a trace, it is to be replayed like this.
pub fn load_to_run(arguments: &FlowArguments, replay: Option<Replay>) -> Result<Loaded, Failure> {
    load_with(arguments, replay, |directory| Box::new(directory))
}

/// Reads and checks a workflow whose data may not have arrived yet; files that are missing are noted.
pub fn load_leniently(arguments: &FlowArguments, missing: &RefCell<BTreeSet<String>>) -> Result<Loaded, Failure> {
    load_with(arguments, None, |directory| Box::new(Lenient { directory, missing }))
}

/// A directory in which every file that is asked for might be.
struct Lenient<'a> {
    directory: Directory,
    missing: &'a RefCell<BTreeSet<String>>,
}

/// Names of missing files that are kept: a message shows one and counts the others.
const MISSING_KEPT: usize = 1_000_000;

impl Surroundings for Lenient<'_> {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        self.directory.glob(pattern)
    }

    fn exists(&self, path: &str) -> bool {
        if !self.directory.exists(path) && self.missing.borrow().len() < MISSING_KEPT {
            self.missing.borrow_mut().insert(path.to_owned());
        }
        true
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.directory.read(path)
    }

    fn reserved(&self, path: &str) -> Option<&'static str> {
        self.directory.reserved(path)
    }

    fn elsewhere(&self, path: &str) -> Option<String> {
        self.directory.elsewhere(path)
    }
}

/// Reads and checks a workflow in surroundings made of its directory.
fn load_with<'a>(
    arguments: &FlowArguments,
    replay: Option<Replay>,
    surround: impl FnOnce(Directory) -> Box<dyn Surroundings + 'a>,
) -> Result<Loaded, Failure> {
    let file = &arguments.flow;
    let text = read(file)?;
    let absolute = std::path::absolute(file)
        .map_err(|error| Failure::bad_input(format!("cannot find {}: {error}", file.display()), "check the path"))?;
    let home = absolute.parent().unwrap_or(Path::new("/")).to_owned();
    let name = file.file_stem().map_or_else(|| "workflow".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let state = arguments.state.clone().unwrap_or_else(|| home.join(".throng"));
    let storage = arguments.storage.as_deref().map(open_storage).transpose()?;
    let directory_around =
        surroundings(&home, &state).reserve(&absolute, "the workflow's own file").with_storage(storage.clone());
    let surroundings = surround(directory_around);
    let param_files: Vec<SourceFile> = arguments
        .param_files
        .iter()
        .map(|file| Ok(SourceFile { name: file.display().to_string(), text: read(file)? }))
        .collect::<Result<_, Failure>>()?;
    let request = Request {
        text: &text,
        format: Format::of(&file.display().to_string()),
        default_name: &name,
        settings: &arguments.settings,
        param_files: &param_files,
        replay,
    };
    let Reading { flow, included, trace } = parse(&request, file, surroundings.as_ref())?;
    let definition = define(file, &text, &included, &arguments.settings);
    let directory = if trace.is_some() { StateDirectory::new(&state).replay(&name) } else { home.clone() };
    let included = included.iter().map(|file| home.join(&file.name)).collect();
    Ok(Loaded { flow, directory, home, state, text, definition, included, trace, storage })
}

fn open_storage(place: &str) -> Result<Arc<dyn Storage>, Failure> {
    storage::open(place).map_err(|error| {
        let remedy = match &error {
            StorageError::NoDirectory { .. } => "give the directory that the workflow's paths start from".to_owned(),
            StorageError::Io { .. } if place.starts_with("s3://") => {
                "check AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the name of the \
                 bucket, and the clock of this machine"
                    .to_owned()
            }
            StorageError::Io { .. } => "give a directory that is there and can be read".to_owned(),
            StorageError::BadUrl { .. } => "write s3://BUCKET/PREFIX, such as s3://my-bucket/project".to_owned(),
            StorageError::Refused { remedy, .. } | StorageError::BadEnvironment { remedy, .. } => remedy.clone(),
        };
        Failure::bad_input(error, remedy)
    })
}

/// What a workflow in a directory may ask for.
pub fn surroundings(directory: &Path, state: &Path) -> Directory {
    let state = std::path::absolute(state).unwrap_or(state.to_owned());
    Directory::new(directory)
        .reserve(&directory.join(".throng"), "where Throng keeps its state")
        .reserve(&state, "where Throng keeps its state")
}

/// Parses a workflow, or shows what is wrong with it.
pub fn parse(request: &Request<'_>, file: &Path, surroundings: &dyn Surroundings) -> Result<Reading, Failure> {
    Workflow::read(request, surroundings).map_err(|mut problems| {
        // Files that are included are named from the workflow's directory, and a person looks for them from here.
        for included in problems.files.iter_mut().skip(request.param_files.len()) {
            let from_here = file.parent().unwrap_or(Path::new("")).join(&included.name);
            included.name = from_here.display().to_string();
        }
        Failure::rendered(diagnostics::render(&problems, file, request.text))
    })
}

fn read(file: &Path) -> Result<String, Failure> {
    read_file(file, "give the path of a workflow file, such as flow.yaml")
}

/// The text of a file; the remedy is for one that is not there.
pub fn read_file(file: &Path, remedy: &str) -> Result<String, Failure> {
    read_text(file).map_err(|error| {
        let remedy = match &error {
            TextError::Io(error) => match error.kind() {
                std::io::ErrorKind::NotFound => remedy,
                std::io::ErrorKind::IsADirectory => "give the path of the workflow file inside it",
                _ => "make the file readable",
            },
            TextError::TooLarge => "give a workflow file; with `foreach`, a few lines describe millions of tasks",
            TextError::NotText { .. } => "save it as UTF-8",
        };
        let message = match &error {
            TextError::NotText { line, column } => {
                format!("{}:{line}:{column}: the file is not UTF-8 text", file.display())
            }
            other => format!("cannot read {}: {other}", file.display()),
        };
        Failure::bad_input(message, remedy)
    })
}

/// Longer texts than this are a program's, and nobody would read them again.
const DEFINITION_LIMIT: usize = 1_000_000;

/// The text as it is kept with a run.
fn define(file: &Path, text: &str, included: &[SourceFile], settings: &[(String, String)]) -> String {
    let mut whole = String::new();
    let mut add = |text: &str| {
        let room = DEFINITION_LIMIT.saturating_sub(whole.len());
        let end = (0..=text.len().min(room)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        whole.push_str(&text[..end]);
    };
    add(text);
    for file in included {
        add(&format!("\n# ---- {}\n", file.name));
        add(&file.text);
    }
    for (name, value) in settings {
        add(&format!("\n# --set {name}={value}"));
    }
    if whole.len() >= DEFINITION_LIMIT - 4 {
        whole.push_str(&format!("\n# … and so on: see {}", file.display()));
    }
    whole
}

/// Lets a workflow say how long tasks take where it does not, if earlier runs have found that out, on this type of machine before all others.
pub fn tell_what_is_learnt(loaded: &mut Loaded, machine_type: Option<&str>) {
    let state = StateDirectory::new(&loaded.state);
    let machine = MachineType::of(&host::describe(machine_type));
    let learnt = Learnt::read(&state.learnt());
    let kinds = learnt.best_of(&machine.name, loaded.flow.title()).to_vec();
    learnt::tell(&mut loaded.flow, &kinds);
}
