//! Where a plan and its picture are written: neither to one place, nor over anything that is read.

use std::path::{Path, PathBuf};

use throng_core::ids::ObjectId;

use super::Arguments;
use crate::exit::Failure;
use crate::load::Loaded;

/// Standard output, where a file could be.
const HERE: &str = "-";

/// A place that somebody has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Standard output.
    Here,
    /// A file.
    File(PathBuf),
}

impl Place {
    fn of(named: &Option<PathBuf>) -> Option<Place> {
        let named = named.as_deref()?;
        Some(if named == Path::new(HERE) { Place::Here } else { Place::File(named.to_owned()) })
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::Here => None,
            Place::File(file) => Some(file),
        }
    }
}

/// Where everything is written.
#[derive(Clone, Debug)]
pub struct Places {
    /// The plan.
    pub out: Option<Place>,
    /// The picture of the curve.
    pub plot: Option<Place>,
}

impl Places {
    /// Refuses to write two things to one place.
    pub fn of(arguments: &Arguments) -> Result<Places, Failure> {
        let places = Places { out: Place::of(&arguments.out), plot: Place::of(&arguments.plot) };
        let here = places.named().filter(|(_, place)| **place == Place::Here).map(|(option, _)| option);
        let here: Vec<&str> = here.chain(arguments.json.then_some("--json")).collect();
        if let [one, other, ..] = here.as_slice() {
            return Err(Failure::bad_input(
                format!("{one} and {other} would both write to standard output"),
                "give a file for one of them",
            ));
        }
        let files: Vec<PathBuf> = places.written().map(actual).collect();
        if let [one, other] = files.as_slice()
            && one == other
        {
            return Err(Failure::bad_input("--out and --plot name the same file", "give each its own"));
        }
        Ok(places)
    }

    /// Refuses to write over what was read.
    pub fn spare(&self, arguments: &Arguments, loaded: &Loaded) -> Result<(), Failure> {
        let machines = &arguments.machines;
        let own = [&arguments.source.flow, &machines.machines].into_iter().chain(&machines.times);
        let read = own.chain(&machines.learn_from).chain(&arguments.source.param_files).chain(&loaded.included);
        let read: Vec<PathBuf> = read.map(|file| actual(file)).collect();
        for (option, place) in self.named() {
            let Some(file) = place.file() else { continue };
            let there = actual(file);
            if read.contains(&there) || is_of_tasks(loaded, &there) {
                let message = format!("{option} would write over {}, which is read", file.display());
                return Err(Failure::bad_input(message, "give another file"));
            }
        }
        Ok(())
    }

    /// Whether nothing else may be said on standard output.
    pub fn take_standard_output(&self) -> bool {
        self.named().any(|(_, place)| *place == Place::Here)
    }

    /// The files that are written.
    pub fn written(&self) -> impl Iterator<Item = &Path> {
        self.named().filter_map(|(_, place)| place.file())
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, &Place)> {
        let out = self.out.iter().map(|place| ("--out", place));
        out.chain(self.plot.iter().map(|place| ("--plot", place)))
    }
}

/// Whether a file is there that tasks read or make.
fn is_of_tasks(loaded: &Loaded, file: &Path) -> bool {
    let directory = loaded.directory.canonicalize().unwrap_or_else(|_| loaded.directory.clone());
    let flow = &loaded.flow;
    let mut names = (0..flow.object_count()).map(|object| flow.object_name(ObjectId::at(object)));
    file.exists() && names.any(|name| directory.join(name) == file)
}

/// Where a file is, or would be, whatever it is called.
fn actual(file: &Path) -> PathBuf {
    if let Ok(there) = file.canonicalize() {
        return there;
    }
    let directory = file.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    match (directory.canonicalize(), file.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => file.to_owned(),
    }
}
