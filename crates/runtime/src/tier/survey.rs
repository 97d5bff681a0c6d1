//! What of a workflow's inputs has to be brought: those that lie in the storage and not in the workflow's directory.

use std::io;
use std::path::PathBuf;

use throng_core::fingerprint::Stamp;
use throng_core::ids::ObjectId;
use throng_core::workflow::{Workflow, path};

use crate::files::Workplace;
use crate::storage::Storage;

use super::mark::is_held;
use super::places;

/// Fewer files than this are looked at sooner than a thread is started.
const FILES_PER_THREAD: usize = 64;

/// An input that keeps a run from beginning.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It cannot be looked at in the storage.
    Unclear { object: ObjectId, error: io::Error },
    /// At its place is a link into a tier that another run uses.
    Held { object: ObjectId, tier: PathBuf },
    /// It would lie in a directory that is read as a whole.
    Inside { object: ObjectId, directory: String },
    /// No link can be made for it.
    NoPlace { object: ObjectId, directory: PathBuf, error: io::Error },
}

/// What was found of a workflow's inputs.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Those that have to be brought, in ascending order, each with what lies in the storage.
    pub(crate) staged: Vec<(ObjectId, Stamp)>,
    /// Those at whose place a link was left into a tier that nobody uses any more, and that tier.
    pub(crate) left: Vec<(ObjectId, PathBuf)>,
}

/// Looks at all inputs.
///
/// What a command names by a path that leads out of the directory is read where it is: a link of ours has no place there.
pub(crate) fn survey(flow: &Workflow, place: &Workplace, storage: &dyn Storage) -> Result<Found, Trouble> {
    let look_at = |number: usize| {
        let object = ObjectId::at(number);
        let name = flow.object_name(object);
        if !path::is_inside(name) {
            return Ok(None);
        }
        let tier = place.tier_at(name);
        match &tier {
            None if place.is_occupied(name) => return Ok(None),
            Some(tier) if is_held(tier) => return Err(Trouble::Held { object, tier: tier.clone() }),
            _ => {}
        }
        let stamp = storage.stamp(name).map_err(|error| Trouble::Unclear { object, error })?;
        Ok(Some((object, stamp, tier)))
    };
    let (first, last) = (flow.made_count(), flow.object_count());
    let share = (last - first).div_ceil(storage.at_once() * 4).max(FILES_PER_THREAD);
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (first..last)
            .step_by(share)
            .map(|start| {
                let look_at = &look_at;
                scope.spawn(move || {
                    let found = (start..last.min(start + share)).map(look_at);
                    found.collect::<Result<Vec<_>, Trouble>>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("looking at files does not panic")).collect::<Vec<_>>()
    });
    let mut found = Found::default();
    for part in parts {
        for (object, stamp, tier) in part?.into_iter().flatten() {
            found.staged.push((object, stamp));
            found.left.extend(tier.map(|tier| (object, tier)));
        }
    }
    places::check(flow, place, &found.staged)?;
    Ok(found)
}

/// The same as ranges of numbers, the last of each not counted.
pub(crate) fn ranges(staged: &[(ObjectId, Stamp)]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for (object, _) in staged {
        match ranges.last_mut() {
            Some((_, end)) if *end == object.0 => *end += 1,
            _ => ranges.push((object.0, object.0 + 1)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        let staged = [3, 4, 5, 9, 11, 12].map(|number| (ObjectId(number), Stamp::ABSENT));
        assert_eq!(ranges(&staged), [(3, 6), (9, 10), (11, 13)]);
        assert_eq!(ranges(&[]), []);
    }
}
