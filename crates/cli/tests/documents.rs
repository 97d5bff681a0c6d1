//! The documents are true: what they show is run, what they derive from the code is compared with it, and where
//! they point there is something.
//!
//! A page's fenced blocks say by their first words what they are for; CONTRIBUTING.md lists them:
//!
//! ```text
//!   sh                   run with `bash -eu`; all blocks of a page share one shell, in a directory with a copy of `examples/`
//!   sh ci                not run here, but word for word a line of `.ci/run`
//!   sh no-run: REASON    cannot be run on just any machine
//!   console              `$ ` lines are run and what they print is compared, but for times and rates; `…` is anything
//!   LANGUAGE FILE        the file is written where the page's shell is at that moment
//! ```
//!
//! An example that a page has run is checked there: nothing about it looks like a slip of the pen, it runs, and then
//! there is nothing left to do. Blocks inside an HTML comment count too: they set the stage.
//!
//! With `THRONG_UPDATE_DOCS=1` the generated parts, and what console blocks show, are written anew.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod documents {
    pub mod comparing;
    pub mod page;
    pub mod playing;
}

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use documents::page::{Page, anchors, links};
use documents::playing::{Played, play};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Held by whoever may write to pages: two at once would forget each other's changes.
static WRITING: Mutex<()> = Mutex::new(());

fn is_updating() -> bool {
    std::env::var("THRONG_UPDATE_DOCS").is_ok_and(|value| value == "1")
}

/// All Markdown files below a directory, by their paths from the root.
fn markdown_below(directory: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(directory)];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(root().join(&directory)).unwrap().map(Result::unwrap) {
            let path = directory.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The pages whose commands are run.
fn pages() -> Vec<Page> {
    let readme = [PathBuf::from("README.md")].into_iter();
    let examples = examples().into_iter().map(|name| Path::new("examples").join(name).join("README.md"));
    readme.chain(markdown_below("docs")).chain(examples).map(|path| Page::read(&root(), path)).collect()
}

#[test]
fn what_the_pages_show_is_what_happens() {
    let _alone = is_updating().then(|| WRITING.lock().unwrap());
    // The longest first: pages are shared out among as many threads as there are cores.
    let mut waiting = pages();
    waiting.sort_by_key(|page| page.path.to_string_lossy().contains("ten-thousand"));
    let waiting = Mutex::new(waiting);
    let all = Mutex::new(Played::default());
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(page) = waiting.lock().unwrap().pop() else { return };
                    let played = play(&root(), &page, is_updating());
                    let mut all = all.lock().unwrap();
                    all.complaints.extend(played.complaints);
                    all.examples.extend(played.examples);
                }
            });
        }
    });
    let Played { mut complaints, examples: checked } = all.into_inner().unwrap();
    complaints.sort();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n\n"));
    let unseen: Vec<String> = examples().into_iter().filter(|name| !checked.contains(name)).collect();
    assert!(unseen.is_empty(), "no page runs the examples {unseen:?}");
}

#[test]
fn generated_parts_are_as_the_code_says() {
    let _alone = is_updating().then(|| WRITING.lock().unwrap());
    let mut stale = Vec::new();
    let mut parts = 0;
    for path in markdown_below("docs") {
        let mut page = Page::read(&root(), path.clone());
        let generated = page.generated();
        parts += generated.len();
        for (lines, command) in generated.into_iter().rev() {
            let mut words = command.split_whitespace();
            assert_eq!(words.next(), Some("throng"), "{}: {command}", path.display());
            let output = Command::new(env!("CARGO_BIN_EXE_throng")).args(words).output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            let fresh = format!("\n{}\n", String::from_utf8(output.stdout).unwrap().trim_end());
            let fresh: Vec<String> = format!("{fresh}\n").lines().map(str::to_owned).collect();
            if page.lines[lines.clone()] != fresh[..] {
                stale.push(format!("{}: what `{command}` prints has changed", path.display()));
                page.lines.splice(lines, fresh);
            }
        }
        if is_updating() {
            page.write(&root());
        }
    }
    assert!(parts >= 3, "the reference has its generated parts");
    let advice = "write them anew with THRONG_UPDATE_DOCS=1 cargo test -p throng --test documents";
    assert!(stale.is_empty() || is_updating(), "\n{}\n{advice}\n", stale.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benches/README.md"];
    let all = top.iter().map(PathBuf::from).chain(markdown_below("docs")).chain(markdown_below("examples"));
    let mut dead = Vec::new();
    for path in all {
        let page = Page::read(&root, path.clone());
        for (line, target) in links(&page) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let meant = if file.is_empty() { path.clone() } else { normal(&path.parent().unwrap().join(file)) };
            let is_there = root.join(&meant).exists()
                && (anchor.is_empty() || anchors(&Page::read(&root, meant)).contains(anchor));
            if !is_there {
                dead.push(format!("{}:{line}: {target}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "\nthese lead nowhere:\n{}\n", dead.join("\n"));
}

/// A path without `..` in it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => assert!(normal.pop(), "{} leaves the repository", path.display()),
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[test]
fn every_page_can_be_reached_from_the_table_of_contents() {
    let contents = Page::read(&root(), PathBuf::from("docs/README.md"));
    let linked: BTreeSet<PathBuf> =
        links(&contents).into_iter().map(|(_, target)| normal(&Path::new("docs").join(target))).collect();
    let lost: Vec<PathBuf> =
        markdown_below("docs").into_iter().filter(|page| *page != contents.path && !linked.contains(page)).collect();
    assert!(lost.is_empty(), "docs/README.md does not mention {lost:?}");
    let lost: Vec<String> = examples()
        .into_iter()
        .filter(|name| !linked.contains(&Path::new("examples").join(name).join("README.md")))
        .collect();
    assert!(lost.is_empty(), "docs/README.md does not mention the examples {lost:?}");
}
