//! Containers that outlive the program that started them.
//!
//! `podman run` is only a client: when it is killed, its container goes on. So each slot's container has a name, by
//! which it is taken away when its attempt was ended, or when the next engine finds that one was killed.

use std::process::{Command, Stdio};

use throng_core::fingerprint::hash;

/// The program whose containers outlive it; the others run them as their own children.
pub const PODMAN: &str = "podman";

/// How the names of all containers of a state directory begin.
pub fn prefix(mark: &str) -> String {
    format!("throng-{:016x}-", hash(mark.as_bytes()))
}

/// Takes a container away, if it is there.
pub fn remove(name: &str) {
    // Best effort: the next one of this name replaces it.
    let _ = podman(&["rm", "--force", "--ignore", "--time", "0", name]);
}

/// Takes all containers away whose names begin with this.
pub fn remove_all(prefix: &str) {
    let filter = format!("name=^{prefix}");
    let Some(names) = podman(&["ps", "--all", "--format", "{{.Names}}", "--filter", &filter]) else { return };
    names.lines().filter(|name| name.starts_with(prefix)).for_each(remove);
}

fn podman(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(PODMAN);
    let output = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
