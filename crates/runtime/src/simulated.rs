//! Putting a simulated run on record, where reports and explanations find it among the real ones.
//!
//! Only what describes a run is written: nothing goes into the journal, so that no simulated task ever counts as done.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use throng_core::workflow::Workflow;

use crate::state::{
    About, HostInfo, NodeSetup, RunDirectory, RunEnd, Simulation, StateDirectory, StateError, io_error, write_whole,
};

/// A simulated run.
pub struct SimulatedRun<'a> {
    /// The workflow.
    pub flow: &'a Workflow,
    /// The file it was read from.
    pub file: &'a Path,
    /// Its text.
    pub definition: &'a str,
    /// How each node was set up; the width is that of all nodes.
    pub node: NodeSetup,
    /// The cluster.
    pub simulation: Simulation,
    /// How it ended.
    pub end: RunEnd,
    /// Everything that happened.
    pub trace: &'a [u8],
}

impl SimulatedRun<'_> {
    /// Writes it into a state directory, and returns the number of the run.
    pub fn record(self, state: &StateDirectory, directory: &Path) -> Result<u64, StateError> {
        // Whoever runs here expects to be the last run.
        let _lock = state.lock()?;
        state.check_home(directory)?;
        state.set_home(directory)?;
        let run = state.make_run()?;
        self.write(&run).inspect_err(|_| {
            // Half a record would only take the room that was missing.
            let _ = std::fs::remove_dir_all(&run.path);
        })?;
        Ok(run.number)
    }

    fn write(self, run: &RunDirectory) -> Result<(), StateError> {
        let workflow = self.flow.to_bytes();
        for (path, content) in
            [(run.definition(), self.definition.as_bytes()), (run.workflow(), &workflow), (run.trace(), self.trace)]
        {
            write_whole(&path, content)?;
        }
        std::fs::write(run.log(), b"").map_err(io_error("write", &run.log()))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Last, so that a run that is listed is whole.
        run.write_about(&About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: run.number,
            workflow: self.flow.title().to_owned(),
            file: self.file.display().to_string(),
            started_unix_ms: started.as_millis() as u64,
            node: self.node,
            host: HostInfo::default(),
            simulated: Some(self.simulation),
            end: Some(self.end),
        })
    }
}
