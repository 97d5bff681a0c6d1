//! What a workflow does not say of itself and a simulation has to know: sizes of files, lengths of tasks.

use std::path::{Path, PathBuf};

use throng_core::fingerprint::Stamp;
use throng_core::ids::ObjectId;
use throng_core::workflow::{Workflow, path};
use throng_runtime::files::Workplace;
use throng_runtime::storage::Storage;
use throng_sim::work::{UNSAID, Work};

use crate::words;

/// What was found out about a workflow, and what was not.
#[derive(Default)]
pub struct Found {
    /// What is worth a warning, one line each.
    pub warnings: Vec<String>,
}

impl Found {
    /// Looks for what the workflow does not say: how large files are that lie in its directory, or else in the storage.
    pub fn learn(flow: &mut Workflow, directory: &Path, storage: Option<&dyn Storage>) -> Found {
        let mut sizes = Vec::new();
        let mut unknown: Vec<ObjectId> = Vec::new();
        let place = Workplace::open(directory, PathBuf::new(), PathBuf::new()).ok();
        for object in (flow.made_count()..flow.object_count()).map(ObjectId::at) {
            if flow.declared_size(object).is_some() {
                continue;
            }
            let name = flow.object_name(object);
            let stored = || storage.filter(|_| path::is_inside(name)).and_then(|storage| storage.stamp(name).ok());
            let is_there = |stamp: &Stamp| stamp.is_present();
            let stamp = place.as_ref().and_then(|place| place.stamp(name).ok()).filter(is_there);
            match stamp.or_else(|| stored().filter(is_there)) {
                Some(stamp) => sizes.push((object, stamp.size)),
                None => unknown.push(object),
            }
        }
        flow.learn_sizes(sizes);
        let mut warnings = Vec::new();
        if let Some(first) = unknown.first() {
            warnings.push(format!(
                "{} from outside with neither a size nor a file, such as `{}`: counted as empty; declare it with \
                 `in: [{{ path: FILE, size: 12MB }}]`",
                words::count_many(unknown.len() as u64, "input"),
                words::printable(flow.object_name(*first)),
            ));
        }
        warnings.extend(unsaid_lengths(flow));
        warnings.extend(unsaid_outputs(flow));
        Found { warnings }
    }

    /// Tells what is worth a warning.
    pub fn warn(&self) {
        for warning in &self.warnings {
            note!("warning: {warning}");
        }
    }
}

fn unsaid_lengths(flow: &Workflow) -> Option<String> {
    let mut unsaid = flow.tasks().filter(|task| !Work::is_said(flow, *task));
    let first = unsaid.next()?;
    let count = 1 + unsaid.count() as u64;
    Some(format!(
        "{} without an estimate, such as `{}`: counted as {}; declare it with `estimate: {{ time: 20s }}`",
        words::count_many(count, "task"),
        words::printable(&flow.name(first)),
        words::duration(UNSAID),
    ))
}

/// Outputs that somebody reads and of which nobody says how large they are: their transfer is free.
fn unsaid_outputs(flow: &Workflow) -> Option<String> {
    let mut is_read = vec![false; flow.made_count()];
    for object in flow.tasks().flat_map(|task| flow.inputs(task)) {
        if let Some(is_read) = is_read.get_mut(object.index()) {
            *is_read = true;
        }
    }
    let is_unsaid = |object: &ObjectId| {
        let estimate = flow.producer(*object).and_then(|maker| flow.estimated_output_bytes(maker));
        is_read[object.index()] && flow.declared_size(*object).is_none() && estimate.is_none()
    };
    let mut unsaid = (0..flow.made_count()).map(ObjectId::at).filter(is_unsaid);
    let first = unsaid.next()?;
    let count = 1 + unsaid.count() as u64;
    Some(format!(
        "{} that tasks pass on without a size, such as `{}`: counted as empty; declare it with \
         `estimate: {{ out: 40kB }}` or `out: [{{ path: FILE, size: 40kB }}]`",
        words::count_many(count, "file"),
        words::printable(flow.object_name(first)),
    ))
}
