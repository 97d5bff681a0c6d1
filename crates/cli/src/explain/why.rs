//! Why a task was part of a run, as far as the recordings and the files still tell.

use std::path::Path;
use std::time::UNIX_EPOCH;

use throng_core::ids::{ObjectId, TaskId};
use throng_core::stale::Reason;
use throng_core::workflow::{ContainerUse, Workflow};

use super::earlier::{self, Earlier};
use super::facts::{Difference, InputChange, OutputChange, Why};
use super::gather::Scene;

/// Names of tasks that are listed; there may be thousands.
const LISTED: usize = 20;
/// Files that are looked at; a task may read a hundred thousand.
const FILES_LOOKED_AT: usize = 10_000;

/// What the trace of the run says about it.
pub struct Noted<'a> {
    /// Why it is part of the run, if it is and had to run.
    pub reason: Option<Reason>,
    /// Whether it is a part of the run at all.
    pub is_part: bool,
    /// Whether a task ran in this run and was done.
    pub was_done: &'a dyn Fn(TaskId) -> bool,
    /// Whether a task had to run in this run.
    pub had_to_run: &'a dyn Fn(TaskId) -> bool,
}

/// Puts together why.
pub fn why(scene: &Scene<'_>, noted: &Noted<'_>) -> Why {
    let flow = &scene.recording.flow;
    let producers: Vec<TaskId> = if noted.reason == Some(Reason::InputChanged) {
        flow.inputs(scene.task).take(FILES_LOOKED_AT).filter_map(|object| flow.producer(object)).collect()
    } else {
        Vec::new()
    };
    let earlier = earlier::look_back(scene, &producers);
    let mut why = Why {
        noted: noted.reason,
        reason: match noted.reason {
            Some(reason) => reason.words().to_owned(),
            None if noted.is_part => "it is up to date".to_owned(),
            None => "it was not asked for".to_owned(),
        },
        last_done: earlier.done.as_ref().map(|done| done.time.clone()),
        last_tried: earlier.tried.clone(),
        ..Why::default()
    };
    match noted.reason {
        Some(Reason::DefinitionChanged) => {
            why.differences = earlier
                .done
                .as_ref()
                .map(|done| differences(&done.recording.flow, done.task, flow, scene.task))
                .unwrap_or_default();
        }
        Some(Reason::InputChanged) => why.inputs = changed_inputs(scene, &earlier),
        Some(Reason::ParentRuns) => why.inputs = remade_inputs(scene, noted),
        Some(Reason::OutputMissing | Reason::OutputChanged) => why.outputs = outputs(scene),
        Some(Reason::OutputNeeded) => {
            why.outputs = outputs(scene);
            let readers = flow.children(scene.task).filter(|child| (noted.had_to_run)(*child));
            why.needed_by = readers.take(LISTED).map(|child| flow.name(child)).collect();
        }
        _ => {}
    }
    why
}

fn modified_unix_ms(path: &Path) -> Option<u64> {
    let modified = std::fs::symlink_metadata(path).and_then(|found| found.modified()).ok()?;
    Some(modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64)
}

/// Inputs that are newer than when the task was last done, or that other runs have made since.
fn changed_inputs(scene: &Scene<'_>, earlier: &Earlier) -> Vec<InputChange> {
    let flow = &scene.recording.flow;
    let Some(done) = &earlier.done else { return Vec::new() };
    let home = scene.state.directory_of(flow);
    let about = &scene.recording.about;
    // Of what lies in a bucket, nothing can be told here.
    let storage = about.end.as_ref().and_then(|end| end.data.as_ref()?.storage.as_deref());
    let storage = storage.map(Path::new).filter(|storage| storage.is_dir());
    let inputs = flow.inputs(scene.task).take(FILES_LOOKED_AT);
    let change = |object: ObjectId| {
        let file = flow.object_name(object).to_owned();
        let is_brought = about.node.tier.as_ref().is_some_and(|tier| tier.brings(object));
        let modified_unix_ms = modified_unix_ms(&if is_brought { storage?.join(&file) } else { home.join(&file) });
        let producer = flow.producer(object);
        let made_in_run = producer.and_then(|producer| earlier.made_since.get(&producer).copied());
        let is_newer = modified_unix_ms.is_none_or(|modified| modified > done.time.ended_unix_ms);
        let is_changed = if producer.is_some() { made_in_run.is_some() || is_newer } else { is_newer };
        is_changed.then(|| InputChange {
            file,
            modified_unix_ms,
            made_by: made_in_run.and(producer).map(|producer| flow.name(producer)),
            made_in_run,
            is_gone: modified_unix_ms.is_none(),
        })
    };
    inputs.filter_map(change).collect()
}

/// Inputs that were made again in this very run.
fn remade_inputs(scene: &Scene<'_>, noted: &Noted<'_>) -> Vec<InputChange> {
    let flow = &scene.recording.flow;
    let run = scene.run.number;
    let remade = |object: ObjectId| {
        let producer = flow.producer(object).filter(|producer| (noted.was_done)(*producer))?;
        Some(InputChange {
            file: flow.object_name(object).to_owned(),
            modified_unix_ms: None,
            made_by: Some(flow.name(producer)),
            made_in_run: Some(run),
            is_gone: false,
        })
    };
    flow.inputs(scene.task).take(FILES_LOOKED_AT).filter_map(remade).collect()
}

fn outputs(scene: &Scene<'_>) -> Vec<OutputChange> {
    let flow = &scene.recording.flow;
    let (home, kept) = (scene.state.directory_of(flow), scene.state.kept(scene.run.number));
    flow.outputs(scene.task)
        .take(FILES_LOOKED_AT)
        .map(|object| {
            let file = flow.object_name(object).to_owned();
            let kept_as = Some(kept.join(&file)).filter(|path| path.symlink_metadata().is_ok());
            let is_gone = home.join(&file).symlink_metadata().is_err();
            OutputChange { file, kept_as: kept_as.map(|path| path.display().to_string()), is_gone }
        })
        .collect()
}

/// How a task was written differently.
fn differences(then: &Workflow, task_then: TaskId, now: &Workflow, task_now: TaskId) -> Vec<Difference> {
    let parts = |flow: &Workflow, task: TaskId| {
        let names = |object: ObjectId| flow.object_name(object).to_owned();
        let variables = flow.written_environment(task);
        let streams = ["standard input", "standard output", "standard error"].into_iter().zip(flow.streams(task));
        [
            ("command", flow.command_text(task).trim_end().lines().map(str::to_owned).collect()),
            ("environment", variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()),
            ("inputs", flow.inputs(task).map(names).collect()),
            ("outputs", flow.outputs(task).map(names).collect()),
            ("directory", flow.directory(task).into_iter().collect()),
            ("streams", streams.filter_map(|(stream, file)| Some(format!("{stream}: {}", file?))).collect()),
            ("container", flow.container(task).iter().map(container).collect()),
            ("shell", flow.shell(task).map(|words| words.join(" ")).into_iter().collect()),
        ]
    };
    let both = parts(then, task_then).into_iter().zip(parts(now, task_now));
    both.filter_map(|((what, before), (_, now))| difference(what, before, now)).collect()
}

fn container(container: &ContainerUse) -> String {
    let words = [&container.with.iter().cloned().collect(), &container.options, &vec![container.image.clone()]];
    words.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
}

/// Lines that only one side has, without what both begin and end with.
fn difference(what: &'static str, mut before: Vec<String>, mut now: Vec<String>) -> Option<Difference> {
    if before == now {
        return None;
    }
    let same_start = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
    before.drain(..same_start);
    now.drain(..same_start);
    while before.last().is_some_and(|last| now.last() == Some(last)) {
        before.pop();
        now.pop();
    }
    Some(Difference { what, before, now })
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles};

    fn flow(text: &str) -> Workflow {
        Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap()
    }

    #[test]
    fn only_what_differs_is_named() {
        let then = flow("tasks: { t: { run: 'sort a; x', env: { A: 1, B: 2 }, in: [a, b, c], out: o } }");
        let now = flow("tasks: { t: { run: 'sort -r a; x', env: { A: 1, B: 3 }, in: [a, c], out: o } }");
        let found = differences(&then, TaskId(0), &now, TaskId(0));
        let all: Vec<String> = found.iter().map(|one| format!("{} {:?} {:?}", one.what, one.before, one.now)).collect();
        assert_eq!(
            all,
            [r#"command ["sort a; x"] ["sort -r a; x"]"#, r#"environment ["B=2"] ["B=3"]"#, r#"inputs ["b"] []"#,]
        );
    }

    #[test]
    fn of_a_long_command_only_the_changed_lines() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let found = difference("command", lines("a b c d"), lines("a x y d")).unwrap();
        assert_eq!((found.before, found.now), (lines("b c"), lines("x y")));
        assert!(difference("command", lines("a"), lines("a")).is_none());
    }
}
