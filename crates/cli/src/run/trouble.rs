//! What to say, and what to advise, when a run cannot begin or go on.

use throng_runtime::driver::EngineError;
use throng_runtime::run::RunError;
use throng_runtime::state::StateError;
use throng_runtime::store::JournalError;

use crate::exit::Failure;

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        failure(error)
    }
}

/// The message for somebody who wanted a run.
pub fn failure(error: RunError) -> Failure {
    match &error {
        RunError::State(StateError::Locked { .. }) => {
            Failure::bad_input(error, "wait for it, or stop it: two engines on the same files would disturb each other")
        }
        RunError::State(StateError::Elsewhere { .. }) => {
            Failure::bad_input(error, "give each directory a state of its own with --state")
        }
        RunError::State(StateError::Moved { .. }) => {
            Failure::internal(error, "run it again where it is now: what was done stays done")
        }
        RunError::State(StateError::Io { error: cause, .. })
        | RunError::Journal(JournalError::Io { error: cause, .. })
            if cause.kind() == std::io::ErrorKind::StorageFull =>
        {
            Failure::internal(error, "make room on the disk, then run the same command again")
        }
        RunError::State(_) | RunError::Journal(JournalError::Io { .. }) => {
            Failure::bad_input(error, "make the directory writable, or keep the state elsewhere with --state")
        }
        RunError::Journal(_) => {
            Failure::bad_input(error, "use the version that wrote it, or --fresh to begin anew (it is kept aside)")
        }
        RunError::Policy(_) => Failure::bad_input(error, "see `throng run --help`"),
        RunError::NeverFits { .. } => Failure::bad_input(
            error,
            "ask for less in the workflow, or say what there is: --width, --memory, --resource NAME=AMOUNT (--pack fixed minds neither cores nor memory)",
        ),
        RunError::NoContainers { .. } => {
            Failure::bad_input(error, "install one of them, or leave `container` out of the workflow")
        }
        RunError::Tier(tier) => {
            let remedy = super::tier::remedy(tier);
            Failure::bad_input(error, remedy)
        }
        RunError::Leftover(_) => Failure::internal(error, "end it by hand, then run again"),
        RunError::Engine(EngineError::GaveUp(_) | EngineError::Journal(_) | EngineError::State(_)) => {
            Failure::internal(
                error,
                "make room (disk, open files, processes), then run the same command again: what was finished is kept",
            )
        }
        RunError::Engine(EngineError::Stalled(_)) => Failure::internal(error, "run the same command again to go on"),
    }
}
