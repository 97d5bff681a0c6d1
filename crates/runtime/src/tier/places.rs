//! Where links into a tier will stand: in directories that can be written to, and that no task takes as they are.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use rustix::fs::Access;
use throng_core::fingerprint::Stamp;
use throng_core::ids::ObjectId;
use throng_core::workflow::{Workflow, path};

use super::survey::Trouble;
use crate::files::Workplace;

/// Looks at the directory of every input that is to be brought.
pub(super) fn check(flow: &Workflow, place: &Workplace, staged: &[(ObjectId, Stamp)]) -> Result<(), Trouble> {
    let mut directories: BTreeMap<&str, ObjectId> = BTreeMap::new();
    for (object, _) in staged.iter().filter(|(_, stamp)| stamp.is_present()) {
        directories.entry(path::directory(flow.object_name(*object))).or_insert(*object);
    }
    if directories.is_empty() {
        return Ok(());
    }
    let inputs: HashSet<&str> =
        (flow.made_count()..flow.object_count()).map(|number| flow.object_name(ObjectId::at(number))).collect();
    for (directory, object) in directories {
        if let Some(around) = path::around(directory).find(|around| inputs.contains(around)) {
            return Err(Trouble::Inside { object, directory: around.to_owned() });
        }
        can_be_written(place, directory).map_err(|(directory, error)| Trouble::NoPlace { object, directory, error })?;
    }
    Ok(())
}

/// Whether links can be made in a directory, or the directory itself if it is not there.
fn can_be_written(place: &Workplace, directory: &str) -> Result<(), (PathBuf, io::Error)> {
    let nearest = path::around(directory).find(|around| place.is_occupied(around)).unwrap_or(".");
    let nearest = place.path(nearest);
    let failed = |error: io::Error| (nearest.clone(), error);
    let found = nearest.metadata().map_err(failed)?;
    if !found.is_dir() {
        return Err(failed(ErrorKind::NotADirectory.into()));
    }
    rustix::fs::access(&nearest, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| failed(error.into()))
}
