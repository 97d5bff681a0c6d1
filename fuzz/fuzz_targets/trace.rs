//! Any bytes as a trace or as a workflow file: refused or read, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_core::trace::Reader;
use throng_core::workflow::Workflow;

fuzz_target!(|data: &[u8]| {
    if let Ok(entries) = Reader::new(data) {
        let _ = entries.take(10_000).count();
    }
    let _ = Workflow::from_bytes(data);
});
