//! The trace of a simulated run, in the form in which real ones are recorded.

use std::sync::{Arc, Mutex, PoisonError};

use throng_core::account::{Account, Setup};
use throng_core::trace::{Reader, Writer};
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Recorder};

/// A trace that is being written.
#[derive(Clone, Default)]
pub struct Tracing {
    writer: Arc<Mutex<Writer>>,
}

impl Tracing {
    /// An empty one.
    pub fn new() -> Tracing {
        Tracing { writer: Arc::new(Mutex::new(Writer::new())) }
    }

    /// Whom the simulator tells.
    pub fn recorder(&self) -> Recorder {
        let writer = Arc::clone(&self.writer);
        Box::new(move |now, entry| writer.lock().unwrap_or_else(PoisonError::into_inner).write(now, entry))
    }

    /// What has been written.
    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take(&mut bytes);
        bytes
    }
}

/// The account of what is in a trace.
pub fn account(flow: &Workflow, cluster: &Cluster, trace: &[u8]) -> Account {
    let setup = Setup { slots: cluster.slots(), cores: 0, fail_fast: false, until: None };
    let entries = Reader::new(trace).into_iter().flatten().map_while(Result::ok);
    Account::of(flow, setup, entries)
}
