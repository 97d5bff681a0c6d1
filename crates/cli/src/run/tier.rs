//! `--memory-tier`: inputs from slow storage in bounded room.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use throng_core::evict;
use throng_core::workflow::quantity;
use throng_runtime::state::DataEnd;
use throng_runtime::storage::Storage;
use throng_runtime::tier::{Options, TierError};

use super::options::policy;
use crate::exit::Failure;
use crate::words;

/// How inputs are brought from slow storage.
#[derive(Args, Clone)]
pub struct TierArguments {
    /// Bring inputs from --storage into so much fast memory, before their tasks start
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    memory_tier: Option<u64>,
    /// Where to keep them [default: /dev/shm if there is room, or else beside the state]
    #[arg(long, value_name = "DIR", requires = "memory_tier")]
    tier_directory: Option<PathBuf>,
    /// What goes when there is no room: aware (what will not be read soon) or lru (what was read longest ago) [default: aware]
    #[arg(long, value_name = "POLICY", requires = "memory_tier")]
    evict: Option<String>,
}

impl TierArguments {
    /// What has to be typed again.
    pub fn as_typed(&self) -> String {
        let mut text = self.memory_tier.map_or(String::new(), |bytes| format!(" --memory-tier {bytes}"));
        if let Some(directory) = &self.tier_directory {
            text.push_str(&format!(" --tier-directory {}", words::quoted(&directory.display().to_string())));
        }
        if let Some(evict) = &self.evict {
            text.push_str(&format!(" --evict {}", words::quoted(evict)));
        }
        text
    }

    /// Says early if there is to be a tier and nobody says for what.
    pub fn check(&self, has_storage: bool) -> Result<(), Failure> {
        if self.memory_tier.is_none() || has_storage {
            return Ok(());
        }
        let message = "--memory-tier is for inputs from slow storage, and nobody says where that is";
        Err(Failure::bad_input(message, "add --storage DIRECTORY, or --storage s3://BUCKET/PREFIX"))
    }

    /// What the engine wants to know, if there is to be a tier. To say what would run, there is room enough.
    pub fn options(&self, storage: Option<Arc<dyn Storage>>, is_dry: bool) -> Result<Option<Options>, Failure> {
        let (capacity_bytes, storage) = match (self.memory_tier, storage) {
            (_, None) => return Ok(None),
            (Some(bytes), Some(storage)) => (bytes, storage),
            (None, Some(storage)) if is_dry => (u64::MAX, storage),
            (None, Some(_)) => {
                let message = "inputs in a storage have to be brought, and there is no room for them";
                return Err(Failure::bad_input(message, "add --memory-tier SIZE, such as 4GB"));
            }
        };
        let evict = policy(self.evict.as_deref().unwrap_or(evict::NAMES[0]))?;
        Ok(Some(Options { capacity_bytes, storage, directory: self.tier_directory.clone(), evict }))
    }
}

/// What had to be brought for a run's tasks, in words.
pub fn in_words(data: &DataEnd) -> String {
    let from = data.storage.as_ref().map_or(String::new(), |storage| format!(" from {}", words::printable(storage)));
    let expected = match data.expected {
        Some(expected) => format!(" ({} expected)", words::bytes(expected.bytes)),
        None => String::new(),
    };
    let dropped = match data.dropped_bytes {
        0 => String::new(),
        bytes => format!("; {} had to go for others", words::bytes(bytes)),
    };
    format!(
        "{}{expected} brought{from} for {}, {} found there{dropped}",
        words::bytes(data.brought_bytes),
        words::count_many(data.misses, "input"),
        words::thousands(data.hits),
    )
}

/// What to advise if there cannot be a tier.
pub fn remedy(error: &TierError) -> String {
    match error {
        TierError::NoRoom { .. } => "give --memory-tier less, or another --tier-directory".to_owned(),
        TierError::Place { .. } => "give a --tier-directory that is there and can be written to".to_owned(),
        TierError::Shared(_) => {
            "wait for it to end: links of both would be in each other's way".to_owned()
        }
        TierError::Held { .. } => {
            "wait for it to end; in a copy of its directory, or in one that both use by a link, delete such links or use another directory"
                .to_owned()
        }
        TierError::Inside { directory, .. } => {
            format!("name the files in `{directory}` that are needed instead: what is brought comes and goes, so nobody could say what is in it")
        }
        TierError::NoPlace { .. } => {
            "make it a directory that can be written to: what is brought appears there as a link".to_owned()
        }
        TierError::Unclear { error, .. } if error.kind() == std::io::ErrorKind::IsADirectory => {
            "only files are brought: name the files in it, or put the directory beside the workflow".to_owned()
        }
        TierError::Unclear { .. } => "make it readable, or put the file beside the workflow".to_owned(),
        TierError::NeverFits { needed_bytes, .. } => {
            format!("give --memory-tier at least {needed_bytes}, or put large inputs beside the workflow")
        }
        TierError::State(_) => "make the directory writable, or keep the state elsewhere with --state".to_owned(),
    }
}
