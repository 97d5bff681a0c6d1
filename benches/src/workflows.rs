//! The workflows that are measured.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What each task of a pipeline does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start `/bin/true`; the next step waits for this one.
    True,
    /// Make a file with `touch` that the next step reads.
    Touch,
    /// Nothing, without a process.
    Noop,
}

fn save(directory: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = directory.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// Independent tasks that start `/bin/true`.
pub fn bag(directory: &Path, count: u64) -> io::Result<PathBuf> {
    save(directory, "bag.yaml", &format!("tasks: {{ t: {{ foreach: {{ i: 1..{count} }}, exec: [/bin/true] }} }}\n"))
}

/// The same bag for make.
pub fn makefile(directory: &Path, count: u64) -> io::Result<PathBuf> {
    let targets: Vec<String> = (1..=count).map(|i| format!("t{i}")).collect();
    let list = targets.join(" ");
    save(directory, "Makefile", &format!(".PHONY: all {list}\nall: {list}\n{list}:\n\t@/bin/true\n"))
}

/// Independent tasks without processes.
pub fn noops(directory: &Path, count: u64) -> io::Result<PathBuf> {
    let text = format!("tasks: {{ t: {{ foreach: {{ i: 1..{count} }}, noop: true }} }}\n");
    save(directory, &format!("noop-{count}.yaml"), &text)
}

/// Pipelines, each step written out as a template of its own over all pipelines.
pub fn chains(directory: &Path, pipelines: u64, depth: u64, step: Step) -> io::Result<PathBuf> {
    let mut text = "tasks:\n".to_owned();
    for at in 0..depth {
        let action = match step {
            Step::True => "exec: [/bin/true]".to_owned(),
            Step::Touch => format!("exec: [touch, \"out/{{i}}.{at}\"], out: [\"out/{{i}}.{at}\"]"),
            Step::Noop => "noop: true".to_owned(),
        };
        let wait = match (at, step) {
            (0, _) => String::new(),
            (_, Step::Touch) => format!(", in: [\"out/{{i}}.{}\"]", at - 1),
            _ => format!(", after: [\"s{}:{{i}}\"]", at - 1),
        };
        let _ = writeln!(text, "  s{at}: {{ foreach: {{ i: 1..{pipelines} }}, {action}{wait} }}");
    }
    save(directory, &format!("chains-{step:?}.yaml"), &text)
}

/// Tasks of one template that read a common file and make one each.
pub fn foreach_processes(directory: &Path, count: u64) -> io::Result<PathBuf> {
    fs::write(directory.join("common.txt"), "common\n")?;
    let text = format!(
        "tasks: {{ t: {{ foreach: {{ i: 1..{count} }}, exec: [touch, \"out/{{i}}\"], in: [common.txt], out: [\"out/{{i}}\"] }} }}\n"
    );
    save(directory, "foreach.yaml", &text)
}

/// The same tasks, each written out in JSON.
pub fn list_of_processes(directory: &Path, count: u64) -> io::Result<PathBuf> {
    fs::write(directory.join("common.txt"), "common\n")?;
    let mut text = "{\"tasks\": {\n".to_owned();
    for i in 1..=count {
        let comma = if i < count { "," } else { "" };
        let _ = writeln!(
            text,
            "\"t{i}\": {{\"exec\": [\"touch\", \"out/{i}\"], \"in\": [\"common.txt\"], \"out\": [\"out/{i}\"]}}{comma}"
        );
    }
    text.push_str("}}\n");
    save(directory, "list.json", &text)
}

/// Tasks whose outputs are there already, in a thousand directories.
pub fn recorded(directory: &Path, count: u64) -> io::Result<PathBuf> {
    let own = directory.join("recorded");
    for group in 0..count / 1000 {
        let folder = own.join(format!("out/{group}"));
        fs::create_dir_all(&folder)?;
        for i in 0..1000 {
            fs::write(folder.join(i.to_string()), "")?;
        }
    }
    let groups = count / 1000 - 1;
    let text = format!(
        "tasks: {{ t: {{ foreach: {{ g: 0..{groups}, i: 0..999 }}, exec: [touch, \"out/{{g}}/{{i}}\"], out: [\"out/{{g}}/{{i}}\"] }} }}\n"
    );
    save(&own, "flow.yaml", &text)
}
