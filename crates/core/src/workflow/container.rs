//! The command that runs another command inside a container.
//!
//! The workflow's directory is mounted where it is, so that paths mean the same inside and outside. Apptainer hands
//! the environment on by itself; podman is told each variable that is the task's own.

use super::ContainerUse;

/// Programs that can run a container, the preferred first.
pub const CONTAINER_RUNNERS: [&str; 3] = ["apptainer", "singularity", "podman"];

/// Where a command is to run, and what it is to know.
#[derive(Clone, Copy, Debug)]
pub struct Inside<'a> {
    /// The workflow's directory, as an absolute path.
    pub directory: &'a str,
    /// Where long commands are, as an absolute path: outside of the other, it has to be mounted as well.
    pub scratch: &'a str,
    /// Where inputs are that are brought from elsewhere, as an absolute path: links in the directory lead there.
    pub tier: Option<&'a str>,
    /// The directory to run in, as an absolute path.
    pub working_directory: &'a str,
    /// What to call the container, where that is possible: one that was left over is found, and replaced, by it.
    pub name: &'a str,
    /// The names of environment variables to hand on.
    pub variables: &'a [&'a str],
}

/// The words that run `command` in a container through a program such as podman.
pub fn in_container(runner: &str, container: &ContainerUse, inside: &Inside<'_>, command: Vec<String>) -> Vec<String> {
    let mut words = vec![runner.to_owned()];
    let is_apart = !inside.scratch.starts_with(&format!("{}/", inside.directory));
    let mounts = [Some(inside.directory), Some(inside.scratch).filter(|_| is_apart), inside.tier];
    let mounts = mounts.into_iter().flatten();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    if runner == "podman" {
        add(&[
            "run",
            "--rm",
            "--interactive",
            "--name",
            inside.name,
            "--replace",
            "--workdir",
            inside.working_directory,
        ]);
        for mount in mounts {
            add(&["--volume", &format!("{mount}:{mount}")]);
        }
        for name in inside.variables {
            add(&["--env", name]);
        }
        // An image may have a program of its own that would otherwise take the command as its arguments.
        add(&["--entrypoint", &command[0]]);
        words.extend(container.options.iter().cloned());
        words.push(container.image.clone());
        words.extend(command.into_iter().skip(1));
    } else {
        add(&["exec", "--pwd", inside.working_directory]);
        for mount in mounts {
            add(&["--bind", mount]);
        }
        words.extend(container.options.iter().cloned());
        words.push(container.image.clone());
        words.extend(command);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_has_its_own_words() {
        let options = vec!["--network".to_owned(), "none".to_owned()];
        let container = ContainerUse { image: "debian:12".to_owned(), with: None, options };
        let inside = Inside {
            directory: "/w",
            scratch: "/state/scratch",
            tier: Some("/dev/shm/t"),
            working_directory: "/w/sub",
            name: "n",
            variables: &["A"],
        };
        let command = || ["cat", "x y"].map(str::to_owned).to_vec();
        assert_eq!(
            in_container("podman", &container, &inside, command()).join("|"),
            "podman|run|--rm|--interactive|--name|n|--replace|--workdir|/w/sub|--volume|/w:/w|--volume|/state/scratch:/state/scratch|--volume|/dev/shm/t:/dev/shm/t|--env|A|--entrypoint|cat|--network|none|debian:12|x y"
        );
        assert_eq!(
            in_container("apptainer", &container, &inside, command()).join("|"),
            "apptainer|exec|--pwd|/w/sub|--bind|/w|--bind|/state/scratch|--bind|/dev/shm/t|--network|none|debian:12|cat|x y"
        );
    }
}
