//! Playing a page: its blocks become one script, which runs in a copy of the examples.

use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::comparing::{is_alike, is_progress};
use super::page::{Block, Page};

/// A command of a console block, and the lines that show what it prints.
struct Shown {
    command: String,
    output: Range<usize>,
}

/// What came of a page.
#[derive(Default)]
pub struct Played {
    /// What is not as the page says.
    pub complaints: Vec<String>,
    /// The examples that it ran, which were checked.
    pub examples: Vec<String>,
}

/// Runs what a page shows, and checks the examples that it has run.
pub fn play(root: &Path, page: &Page, is_updating: bool) -> Played {
    let Played { mut complaints, mut examples } = Played::default();
    let (script, shown) = script(root, page, &mut complaints);
    if script.is_empty() {
        return Played { complaints, examples };
    }
    let sandbox = Sandbox::new(root);
    let place = |line: &str| format!("{}:{line}", page.path.display());
    if let Err((line, printed)) = sandbox.run(&script) {
        complaints.push(format!("{}: this block failed\n{printed}", place(&line)));
    } else {
        examples = sandbox.examples_run();
        let wrong =
            examples.iter().filter_map(|name| Some(format!("examples/{name}: {}", sandbox.check_example(name)?)));
        complaints.extend(wrong);
    }
    let mut changed = Page { path: page.path.clone(), lines: page.lines.clone() };
    for (number, one) in shown.iter().enumerate().rev() {
        let Ok(printed) = std::fs::read(sandbox.printed(number)) else { continue };
        let printed: Vec<String> =
            String::from_utf8_lossy(&printed).lines().map(|line| line.trim_end().to_owned()).collect();
        let expected = &page.lines[one.output.clone()];
        if is_alike(expected, &printed) {
            continue;
        }
        if is_updating {
            let here = sandbox.directory.path().to_string_lossy();
            let lines = printed.into_iter().filter(|line| !is_progress(line));
            changed.lines.splice(one.output.clone(), lines.map(|line| line.replace(here.as_ref(), "…")));
        } else {
            complaints.push(format!(
                "{}: `{}` prints\n{}\nand not\n{}",
                place(&one.output.start.to_string()),
                one.command,
                printed.join("\n"),
                expected.join("\n")
            ));
        }
    }
    if is_updating {
        changed.write(root);
    }
    Played { complaints, examples }
}

/// The script of a page, and what its console blocks show.
fn script(root: &Path, page: &Page, complaints: &mut Vec<String>) -> (String, Vec<Shown>) {
    let mut script = String::new();
    let mut all_shown = Vec::new();
    for Block { info, lines } in page.blocks() {
        let text = page.lines[lines.clone()].join("\n");
        let (language, rest) = info.split_once(' ').unwrap_or((&info, ""));
        let note = |script: &mut String| writeln!(script, "echo {} > \"$THRONG_DOCS_LINE\"", lines.start + 1).unwrap();
        match (language, rest) {
            ("sh", "") => {
                note(&mut script);
                writeln!(script, "{text}").unwrap();
            }
            ("sh", "ci") => complaints.extend(missing_in_ci(root, &text).map(|command| {
                format!("{}:{}: `.ci/run` does not run `{command}`", page.path.display(), lines.start + 1)
            })),
            ("sh", reason) if reason.strip_prefix("no-run: ").is_some_and(|reason| !reason.trim().is_empty()) => {}
            ("sh", other) => complaints.push(format!(
                "{}:{}: `sh {other}` is neither run nor does it say why not",
                page.path.display(),
                lines.start
            )),
            ("console", _) => {
                note(&mut script);
                for one in commands(page, lines) {
                    let file = format!("\"$THRONG_DOCS_PRINTED/{}\"", all_shown.len());
                    // What a page shows may well fail: that it prints the right words is what counts.
                    writeln!(script, "{{ {}\n}} > {file} 2>&1 || true", one.command).unwrap();
                    all_shown.push(one);
                }
            }
            (_, "") => {}
            (_, file) => {
                let end = "end of the file that the page shows";
                note(&mut script);
                writeln!(script, "mkdir -p \"$(dirname '{file}')\"\ncat > '{file}' <<'{end}'\n{text}\n{end}").unwrap();
            }
        }
    }
    (script, all_shown)
}

fn commands(page: &Page, lines: Range<usize>) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for number in lines {
        match page.lines[number].strip_prefix("$ ") {
            Some(command) => found.push(Shown { command: command.to_owned(), output: number + 1..number + 1 }),
            None => {
                let one = found
                    .last_mut()
                    .unwrap_or_else(|| panic!("{}:{}: output without a command", page.path.display(), number + 1));
                one.output.end = number + 1;
            }
        }
    }
    found
}

/// Commands, without their comments, that are no lines of `.ci/run`.
fn missing_in_ci<'t>(root: &Path, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    let commands = text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    commands.filter(move |command| !command.is_empty() && !ci.lines().any(|line| line.trim() == *command))
}

/// A directory with a copy of the examples in it.
struct Sandbox {
    directory: tempfile::TempDir,
}

impl Sandbox {
    fn new(root: &Path) -> Sandbox {
        let directory = tempfile::tempdir().unwrap();
        for inner in ["bin", "home", "printed", "root"] {
            std::fs::create_dir(directory.path().join(inner)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_throng"), directory.path().join("bin/throng")).unwrap();
        copy_examples(root, &directory.path().join("root"));
        Sandbox { directory }
    }

    fn printed(&self, number: usize) -> PathBuf {
        self.directory.path().join("printed").join(number.to_string())
    }

    fn command(&self, program: &str) -> Command {
        let path = self.directory.path();
        let programs = format!("{}:{}", path.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(program);
        command.current_dir(path.join("root")).stdin(Stdio::null());
        command.env("PATH", programs).env("HOME", path.join("home")).env("LC_ALL", "C.UTF-8").env("TERM", "dumb");
        command.env("THRONG_DOCS_LINE", path.join("line")).env("THRONG_DOCS_PRINTED", path.join("printed"));
        command.env_remove("CUDA_VISIBLE_DEVICES");
        command
    }

    /// Runs a script; if it fails, says after which line and what was printed last.
    fn run(&self, script: &str) -> Result<(), (String, String)> {
        let file = self.directory.path().join("script");
        std::fs::write(&file, script).unwrap();
        let output = self.command("bash").arg("-eu").arg(&file).output().unwrap();
        if output.status.success() {
            return Ok(());
        }
        let line = std::fs::read_to_string(self.directory.path().join("line")).unwrap_or_default();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let last: Vec<&str> = printed.lines().rev().take(20).collect();
        Err((line.trim().to_owned(), last.into_iter().rev().collect::<Vec<_>>().join("\n")))
    }

    /// The examples that have been run here: they have a state.
    fn examples_run(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path().join("root/examples")).unwrap().map(Result::unwrap);
        let run = entries.filter(|entry| entry.path().join(".throng").exists());
        run.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    /// Checks an example: nothing about it looks wrong, it runs, and then there is nothing left to do.
    fn check_example(&self, name: &str) -> Option<String> {
        let directory = self.directory.path().join("root/examples").join(name);
        let throng =
            |arguments: &[&str]| self.command("throng").args(arguments).current_dir(&directory).output().unwrap();
        for arguments in [&["check", "--strict", "flow.yaml"][..], &["run", "--quiet", "flow.yaml"]] {
            let output = throng(arguments);
            if !output.status.success() {
                let printed = [output.stdout, output.stderr].concat();
                return Some(format!("`throng {}` fails:\n{}", arguments.join(" "), String::from_utf8_lossy(&printed)));
            }
        }
        let output = throng(&["run", "--json", "--quiet", "flow.yaml"]);
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let is_over =
            result["done"] == 0 && result["total"] == result["up_to_date"] && result["total"].as_u64() > Some(0);
        (!is_over).then(|| format!("run again, it is not up to date: {result}"))
    }
}

/// Copies what belongs to the examples and not what running them has made, which `examples/.gitignore` lists.
fn copy_examples(root: &Path, to: &Path) {
    let ignored = std::fs::read_to_string(root.join("examples/.gitignore")).unwrap();
    let ignored: Vec<&str> = ignored.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut open = vec![PathBuf::from("examples")];
    while let Some(directory) = open.pop() {
        std::fs::create_dir(to.join(&directory)).unwrap();
        for entry in std::fs::read_dir(root.join(&directory)).unwrap().map(Result::unwrap) {
            let path = directory.join(entry.file_name());
            let below = path.strip_prefix("examples").unwrap().to_string_lossy();
            if ignored.iter().any(|line| format!("/{below}") == *line) || entry.file_name() == ".throng" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else {
                std::fs::copy(root.join(&path), to.join(&path)).unwrap();
            }
        }
    }
}
