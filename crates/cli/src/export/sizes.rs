//! How large files are, from whoever knows it best.

use std::path::{Path, PathBuf};

use throng_core::ids::ObjectId;
use throng_core::workflow::Workflow;
use throng_runtime::files::Workplace;
use throng_runtime::state::StateDirectory;
use throng_runtime::store::Recorded;

/// The sizes of all files of a workflow.
pub struct Sizes {
    bytes: Vec<u64>,
    /// Names of those that nobody knows.
    pub unknown: Vec<String>,
}

impl Sizes {
    /// As they were made, or as they are now; for a trace, as it says.
    pub fn after_run(flow: &Workflow, state: &StateDirectory, directory: &Path) -> Sizes {
        // Without its journal there are still the files.
        let recorded = Recorded::read(&state.journal(), flow).unwrap_or_default();
        let found = found_in(flow, directory);
        let is_trace = flow.is_trace();
        Sizes::of(flow, |object| {
            let declared = || flow.declared_size(object);
            let made = || recorded.made(object).map(|made| made.stamp.size);
            if is_trace { declared().or_else(made) } else { made().or_else(|| found(object)).or_else(declared) }
        })
    }

    /// As the workflow says, or as they are now.
    pub fn expected(flow: &Workflow, directory: &Path) -> Sizes {
        let found = found_in(flow, directory);
        Sizes::of(flow, |object| {
            let share = || {
                let producer = flow.producer(object)?;
                Some(flow.estimated_output_bytes(producer)? / flow.outputs(producer).len().max(1) as u64)
            };
            flow.declared_size(object).or_else(|| found(object)).or_else(share)
        })
    }

    fn of(flow: &Workflow, size: impl Fn(ObjectId) -> Option<u64>) -> Sizes {
        let mut unknown = Vec::new();
        let objects = (0..flow.object_count()).map(ObjectId::at);
        let bytes = objects.map(|object| {
            size(object).unwrap_or_else(|| {
                unknown.push(flow.object_name(object).to_owned());
                0
            })
        });
        let bytes = bytes.collect();
        Sizes { bytes, unknown }
    }

    /// How large a file is.
    pub fn bytes(&self, object: ObjectId) -> u64 {
        self.bytes[object.index()]
    }
}

/// How large a file is that is there.
fn found_in<'a>(flow: &'a Workflow, directory: &Path) -> impl Fn(ObjectId) -> Option<u64> + 'a {
    let place = Workplace::open(directory, PathBuf::new(), PathBuf::new()).ok();
    move |object| {
        let stamp = place.as_ref()?.stamp(flow.object_name(object)).ok()?;
        stamp.is_present().then_some(stamp.size)
    }
}
