//! What is up to date, and what has to run.
//!
//! A task is up to date when its definition, its inputs and its outputs are as recorded. Three refinements
//! make that pleasant:
//!
//! * A missing output makes its producer stale only if somebody needs it: a task that will run, or the
//!   person who asked for it. Intermediate files may be deleted.
//! * A task behind one that runs again is only a *maybe*: it is looked at once more when its inputs are
//!   there, and if they turn out to be the same bytes as before it does not run.
//! * Where contents are known, they count; otherwise the modification time stands for them.

use crate::fingerprint::{InputsHash, Stamp, Version};
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// What an earlier run recorded of a file that it made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// What `stat` said right after.
    pub stamp: Stamp,
    /// What readers know it by.
    pub version: Version,
    /// Hash of its content; zero when it was not read.
    pub content: u64,
    /// It was not made but taken over: Throng must not delete it.
    pub is_adopted: bool,
}

/// Two fingerprints of all inputs of a task together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputsSeen {
    /// By version.
    pub versions: u64,
    /// By content; zero when some content was not known.
    pub contents: u64,
}

impl InputsSeen {
    /// Whether the inputs are the same, by content where both sides know it.
    pub fn same_as(self, other: InputsSeen) -> bool {
        if self.contents != 0 && other.contents != 0 {
            self.contents == other.contents
        } else {
            self.versions == other.versions
        }
    }
}

/// Folds what is known of a task's inputs, in order.
pub fn inputs_seen(inputs: impl Iterator<Item = (Version, u64)>) -> InputsSeen {
    let (mut versions, mut contents, mut all_known) = (InputsHash::default(), InputsHash::default(), true);
    for (version, content) in inputs {
        versions.add(version);
        contents.add(Version(content));
        all_known &= content != 0;
    }
    // The lowest bit is set so that a known fingerprint is never zero.
    InputsSeen { versions: versions.finish(), contents: if all_known { contents.finish() | 1 } else { 0 } }
}

/// What is remembered of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// It has never been done.
    #[default]
    None,
    /// It was done, but was written differently then.
    Different,
    /// It was done, but has to be done again: it was begun anew and not finished, or somebody wanted it so.
    Unfinished,
    /// It was done as it is written now, with these inputs.
    Same(InputsSeen),
}

/// What is known of an object when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// What an earlier run recorded, if it made it.
    pub made: Option<Made>,
    /// What lies there now.
    pub found: Stamp,
    /// Hash of what lies there now; zero when it was not read.
    pub found_content: u64,
}

impl Default for Known {
    fn default() -> Self {
        Known { made: None, found: Stamp::ABSENT, found_content: 0 }
    }
}

impl Known {
    /// Whether what lies there is what was made.
    pub fn is_as_made(&self) -> bool {
        self.made.is_some_and(|made| {
            if made.content != 0 && self.found_content != 0 {
                self.found.is_present() && made.content == self.found_content
            } else {
                made.stamp == self.found
            }
        })
    }
}

impl Known {
    /// Whether its task ended well without making it.
    pub fn was_left_out(&self) -> bool {
        self.made.is_some_and(|made| !made.stamp.is_present())
    }

    /// What readers may rely on before anything has run: of a file that was deleted because nobody needs it, what
    /// it was still tells whether its readers are up to date.
    pub fn current(&self) -> Made {
        match self.made {
            Some(made) if self.is_as_made() => {
                let content = if self.found_content != 0 { self.found_content } else { made.content };
                Made { stamp: self.found, content, ..made }
            }
            Some(made) if !self.found.is_present() => made,
            _ => Made {
                stamp: self.found,
                version: self.found.version(),
                content: self.found_content,
                is_adopted: false,
            },
        }
    }
}

/// Why Throng must not delete something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyKept {
    /// It was there before.
    NotMade,
    /// It was taken over.
    Adopted,
    /// Somebody has changed it.
    Changed,
    /// Somebody may have put something into it.
    Directory,
}

impl WhyKept {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            WhyKept::NotMade => "Throng did not make it",
            WhyKept::Adopted => "it was taken over, not made by Throng",
            WhyKept::Changed => "it has changed since Throng made it",
            WhyKept::Directory => "it is a directory",
        }
    }
}

/// Whether Throng must keep what lies at the place of an output: it deletes only files that it made and that
/// nobody has changed since.
pub fn why_kept(recorded: Option<Made>, found: Stamp, is_directory: bool) -> Option<WhyKept> {
    match recorded {
        None => Some(WhyKept::NotMade),
        Some(made) if made.is_adopted => Some(WhyKept::Adopted),
        Some(made) if made.stamp != found => Some(WhyKept::Changed),
        Some(_) if is_directory => Some(WhyKept::Directory),
        Some(_) => None,
    }
}

/// The version of what a task has just made: if it made it before with the same content, readers know it by that.
pub fn version_of_output(before: Option<Made>, content_before: u64, found: Stamp, content: u64) -> Version {
    match before {
        Some(before) if content != 0 && content == content_before => before.version,
        _ => found.version(),
    }
}

/// Why a task has to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No run has done it yet.
    NeverDone,
    /// Its command, environment or files are written differently now.
    DefinitionChanged,
    /// One of its inputs is not what it was.
    InputChanged,
    /// One of its outputs is not what it made.
    OutputChanged,
    /// One of its outputs is gone.
    OutputMissing,
    /// One of its outputs is gone, and a task that will run reads it.
    OutputNeeded,
    /// Somebody asked for it.
    Asked,
    /// A task before it runs again and may make something else.
    ParentRuns,
    /// It was to be done again and was not finished.
    Unfinished,
}

impl Reason {
    /// The reason in words that finish "runs because …".
    pub fn words(self) -> &'static str {
        match self {
            Reason::NeverDone => "it has not been done yet",
            Reason::DefinitionChanged => "its command, environment or list of files has changed",
            Reason::InputChanged => "an input has changed",
            Reason::OutputChanged => "an output is not what it made",
            Reason::OutputMissing => "an output is missing",
            Reason::OutputNeeded => "an output is missing that another task needs",
            Reason::Asked => "you asked for it",
            Reason::ParentRuns => "a task before it runs, if that makes something new",
            Reason::Unfinished => "it was to be done again and is not done yet",
        }
    }
}

/// What is to become of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody asked for it.
    Outside,
    /// What is there still stands.
    UpToDate,
    /// What is there was not made by Throng, and is taken over as it is.
    Adopted,
    /// To be looked at again when its parents are done.
    Maybe,
    /// Runs.
    Run(Reason),
}

/// What somebody wants of a run.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The tasks that are wanted with all they depend on; all tasks if this is empty.
    pub targets: Vec<TaskId>,
    /// Tasks that run whatever is recorded.
    pub rerun: Vec<TaskId>,
    /// Take over outputs that exist but are not on record.
    pub adopt: bool,
}

impl Wish {
    /// The targets, if there are any, and with them what has to run in any case.
    pub fn all_targets(&self) -> Vec<TaskId> {
        if self.targets.is_empty() { Vec::new() } else { [&self.targets[..], &self.rerun].concat() }
    }
}

/// Judges every task of a workflow.
pub fn judge(
    flow: &Workflow,
    wish: &Wish,
    memory: impl Fn(TaskId) -> Memory,
    known: impl Fn(ObjectId) -> Known,
) -> Vec<Verdict> {
    let sorted = flow.topological();
    let wanted = wanted(flow, &wish.all_targets());
    let has_reader = has_reader(flow, &wanted, &wish.targets);
    let mut verdicts = vec![Verdict::Outside; flow.task_count()];
    let mut forced = vec![false; flow.task_count()];
    for task in &wish.rerun {
        forced[task.index()] = true;
    }
    for task in sorted.iter().copied().filter(|task| wanted[task.index()]) {
        let parents_stand =
            flow.inputs(task).all(|object| flow.producer(object).is_none_or(|parent| stands(verdicts[parent.index()])));
        verdicts[task.index()] = if forced[task.index()] {
            Verdict::Run(Reason::Asked)
        } else {
            judge_one(flow, wish, task, parents_stand, memory(task), &known, &has_reader)
        };
    }
    spread(flow, &mut verdicts, &wanted, &known);
    verdicts
}

/// Whether a task's outputs can be relied on without running it.
fn stands(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::UpToDate | Verdict::Adopted)
}

fn judge_one(
    flow: &Workflow,
    wish: &Wish,
    task: TaskId,
    parents_stand: bool,
    memory: Memory,
    known: &impl Fn(ObjectId) -> Known,
    has_reader: &[bool],
) -> Verdict {
    let mut reason = match memory {
        Memory::None => Some(Reason::NeverDone),
        Memory::Different => Some(Reason::DefinitionChanged),
        Memory::Unfinished => Some(Reason::Unfinished),
        Memory::Same(_) => None,
    };
    for object in flow.outputs(task) {
        let known = known(object);
        if !known.found.is_present() {
            if !has_reader[object.index()] && !flow.is_optional(object) {
                reason = reason.or(Some(Reason::OutputMissing));
            }
        } else if !known.is_as_made() {
            reason = reason.or(Some(Reason::OutputChanged));
        }
    }
    // What Throng has made itself, and knows to be out of date, is nothing to take over.
    let adoptable = wish.adopt
        && parents_stand
        && memory == Memory::None
        && flow.outputs(task).len() > 0
        && flow.outputs(task).all(|object| flow.is_optional(object) || known(object).found.is_present());
    match (reason, memory) {
        (None, Memory::Same(seen)) if parents_stand => {
            if seen.same_as(inputs_now(flow, task, known)) {
                Verdict::UpToDate
            } else {
                Verdict::Run(Reason::InputChanged)
            }
        }
        (None, _) => Verdict::Maybe,
        (Some(_), _) if adoptable => Verdict::Adopted,
        (Some(reason), _) => Verdict::Run(reason),
    }
}

/// The fingerprint of a task's inputs before anything has run.
pub fn inputs_now(flow: &Workflow, task: TaskId, known: &impl Fn(ObjectId) -> Known) -> InputsSeen {
    inputs_seen(flow.inputs(task).map(|object| {
        let current = known(object).current();
        (current.version, current.content)
    }))
}

/// Carries doubt downwards, and need for missing files upwards, until nothing changes.
fn spread(flow: &Workflow, verdicts: &mut [Verdict], wanted: &[bool], known: &impl Fn(ObjectId) -> Known) {
    let mut unsettled: Vec<TaskId> =
        flow.tasks().filter(|task| wanted[task.index()] && !stands(verdicts[task.index()])).collect();
    while let Some(task) = unsettled.pop() {
        for object in flow.inputs(task) {
            let Some(parent) = flow.producer(object) else { continue };
            let known = known(object);
            if known.found.is_present() || known.was_left_out() && flow.is_optional(object) {
                continue;
            }
            let verdict = &mut verdicts[parent.index()];
            let stood = stands(*verdict);
            if stood || *verdict == Verdict::Maybe {
                *verdict = Verdict::Run(Reason::OutputNeeded);
            }
            if stood {
                unsettled.push(parent);
            }
        }
        for child in flow.children(task) {
            let stands = wanted[child.index()] && stands(verdicts[child.index()]);
            if stands && reads_from(flow, child, task) {
                verdicts[child.index()] = Verdict::Maybe;
                unsettled.push(child);
            }
        }
    }
}

/// Whether a task reads something of another, and does not only come after it. Too many inputs to look
/// through count as a yes, which costs no more than a second look.
fn reads_from(flow: &Workflow, child: TaskId, parent: TaskId) -> bool {
    const LOOKED_THROUGH: usize = 1000;
    let makes_nothing = flow.outputs(parent).len() == 0;
    let inputs = flow.inputs(child);
    !makes_nothing && (inputs.len() > LOOKED_THROUGH || { inputs }.any(|object| flow.producer(object) == Some(parent)))
}

/// Which tasks are wanted: the targets and everything they depend on, or all if there are no targets.
pub fn wanted(flow: &Workflow, targets: &[TaskId]) -> Vec<bool> {
    if targets.is_empty() {
        return vec![true; flow.task_count()];
    }
    let sorted = flow.topological();
    let mut wanted = vec![false; flow.task_count()];
    for task in targets {
        wanted[task.index()] = true;
    }
    for task in sorted.iter().rev() {
        if flow.children(*task).any(|child| wanted[child.index()]) {
            wanted[task.index()] = true;
        }
    }
    wanted
}

/// Whether an object is only a means to an end: read by a task of the run and not itself asked for.
fn has_reader(flow: &Workflow, wanted: &[bool], targets: &[TaskId]) -> Vec<bool> {
    let mut has_reader = vec![false; flow.object_count()];
    for task in flow.tasks().filter(|task| wanted[task.index()]) {
        for object in flow.inputs(task) {
            has_reader[object.index()] = true;
        }
    }
    for task in targets {
        for object in flow.outputs(*task) {
            has_reader[object.index()] = false;
        }
    }
    has_reader
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    /// source → a → mid → b → last, and c reads mid too.
    const CHAIN: &str = "tasks: { a: { run: x, in: source, out: mid }, b: { run: x, in: mid, out: last }, c: { run: x, in: mid, out: side } }";

    struct World {
        flow: Workflow,
        known: Vec<Known>,
        memory: Vec<Memory>,
    }

    impl World {
        /// Everything done and untouched.
        fn new() -> World {
            let flow = Workflow::parse(CHAIN, Format::Yaml, "x", &NoFiles).unwrap();
            let known: Vec<Known> = (0..flow.object_count())
                .map(|number| {
                    let stamp = Stamp { size: number as u64, modified_ns: 1 };
                    let made = flow.producer(ObjectId::at(number)).map(|_| Made {
                        stamp,
                        version: stamp.version(),
                        ..Made::default()
                    });
                    Known { made, found: stamp, found_content: 0 }
                })
                .collect();
            let memory = flow
                .tasks()
                .map(|task| Memory::Same(inputs_now(&flow, task, &|object| known[object.index()])))
                .collect();
            World { flow, known, memory }
        }

        fn object(&mut self, name: &str) -> &mut Known {
            let number = (0..self.known.len()).find(|number| self.flow.object_name(ObjectId::at(*number)) == name);
            &mut self.known[number.unwrap()]
        }

        fn judge(&self, wish: Wish) -> Vec<Verdict> {
            judge(&self.flow, &wish, |task| self.memory[task.index()], |object| self.known[object.index()])
        }
    }

    const UP: Verdict = Verdict::UpToDate;
    const MAYBE: Verdict = Verdict::Maybe;

    fn run(reason: Reason) -> Verdict {
        Verdict::Run(reason)
    }

    #[test]
    fn nothing_to_do() {
        assert_eq!(World::new().judge(Wish::default()), [UP, UP, UP]);
    }

    #[test]
    fn a_changed_source_runs_its_reader_and_maybe_the_rest() {
        let mut world = World::new();
        world.object("source").found.modified_ns = 9;
        assert_eq!(world.judge(Wish::default()), [run(Reason::InputChanged), MAYBE, MAYBE]);
    }

    #[test]
    fn a_missing_intermediate_matters_only_to_those_who_need_it() {
        let mut world = World::new();
        world.object("mid").found = Stamp::ABSENT;
        assert_eq!(world.judge(Wish::default()), [UP, UP, UP]);
        world.object("last").found = Stamp::ABSENT;
        assert_eq!(world.judge(Wish::default()), [run(Reason::OutputNeeded), run(Reason::OutputMissing), MAYBE]);
    }

    #[test]
    fn a_wanted_target_may_not_be_missing() {
        let mut world = World::new();
        world.object("mid").found = Stamp::ABSENT;
        let wish = Wish { targets: vec![TaskId(0)], ..Wish::default() };
        assert_eq!(world.judge(wish), [run(Reason::OutputMissing), Verdict::Outside, Verdict::Outside]);
    }

    #[test]
    fn a_tampered_output_is_made_again() {
        let mut world = World::new();
        world.object("side").found.size = 99;
        assert_eq!(world.judge(Wish::default()), [UP, UP, run(Reason::OutputChanged)]);
    }

    #[test]
    fn asked_for_and_written_differently() {
        let mut world = World::new();
        let wish = Wish { rerun: vec![TaskId(1)], ..Wish::default() };
        assert_eq!(world.judge(wish), [UP, run(Reason::Asked), UP]);
        world.memory[2] = Memory::Different;
        assert_eq!(world.judge(Wish::default()), [UP, UP, run(Reason::DefinitionChanged)]);
    }

    #[test]
    fn foreign_files_are_taken_over_only_when_told() {
        let mut world = World::new();
        world.memory = vec![Memory::None; 3];
        for known in &mut world.known {
            known.made = None;
        }
        assert_eq!(world.judge(Wish::default()), [run(Reason::NeverDone); 3]);
        let wish = Wish { adopt: true, ..Wish::default() };
        assert_eq!(world.judge(wish.clone()), [Verdict::Adopted; 3]);
        world.object("mid").found = Stamp::ABSENT;
        assert_eq!(world.judge(wish), [run(Reason::NeverDone); 3]);
    }

    #[test]
    fn content_counts_where_it_is_known() {
        let mut world = World::new();
        world.object("source").found_content = 77;
        world.memory[0] = Memory::Same(inputs_now(&world.flow, TaskId(0), &|object| world.known[object.index()]));
        world.object("source").found.modified_ns = 9;
        assert_eq!(world.judge(Wish::default()), [UP, UP, UP]);
        world.object("source").found_content = 78;
        assert_eq!(world.judge(Wish::default()), [run(Reason::InputChanged), MAYBE, MAYBE]);
    }
}
