//! Every key of a workflow file, once: the reader looks names up here, and the JSON Schema and the reference
//! in the manual are made from it, so that none of them can forget one.

/// What may stand behind a key, as far as an editor can check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text, in which `{names}` stand for values.
    Text,
    /// A list of words.
    Words,
    /// Text, or a list of words.
    TextOrWords,
    /// One text, or a list of them.
    Texts,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole,
    /// A number, perhaps with decimals.
    Number,
    /// An amount of memory.
    Bytes,
    /// A length of time.
    Time,
    /// A map of names and texts.
    TextMap,
    /// A map of names and any values.
    AnyMap,
    /// What `foreach` runs over.
    Foreach,
    /// Files that are read.
    Inputs,
    /// Files that are made.
    Outputs,
    /// Amounts, or a list of alternatives.
    Resources,
    /// A number, or a map with `times` and `codes`.
    Retries,
    /// A map with `time`, `memory` and `out`.
    Estimate,
    /// An image, or a map with `image`, `with` and `options`.
    Container,
    /// Other workflow files.
    Include,
    /// The keys of a task that may have defaults.
    Defaults,
    /// The tasks.
    Tasks,
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What may stand behind it.
    pub form: Form,
    /// What it means, in one or two sentences.
    pub summary: &'static str,
    /// A value as one would write it.
    pub example: &'static str,
    /// Whether it may stand in `defaults`.
    pub in_defaults: bool,
    /// Whether `{names}` in it are values of each task, and not just parameters.
    pub is_pattern: bool,
}

const fn key(name: &'static str, form: Form, example: &'static str, summary: &'static str) -> Key {
    Key { name, form, summary, example, in_defaults: false, is_pattern: false }
}

const fn default(key: Key) -> Key {
    Key { in_defaults: true, ..key }
}

const fn pattern(key: Key) -> Key {
    Key { is_pattern: true, ..key }
}

/// The keys of a workflow.
pub const TOP: [Key; 5] = [
    key("name", Form::Text, "thumbnails", "The workflow's name; by default the name of its file."),
    key(
        "params",
        Form::AnyMap,
        "{ size: 20, cities: [Oslo, Rome] }",
        "Values that `{size}` stands for in every task, and that `--set size=30` changes. One without a value has to be set. Stands above `tasks`.",
    ),
    key(
        "include",
        Form::Include,
        "[{ file: qc.yaml, prefix: qc }]",
        "Other workflow files whose tasks belong to this one, under a prefix (`qc.align`) if one is given. Stands above `tasks`.",
    ),
    key(
        "defaults",
        Form::Defaults,
        "{ retries: 1, shell: bash -euo pipefail }",
        "Keys for all tasks of this file that do not have them. Stands above `tasks`.",
    ),
    key("tasks", Form::Tasks, "{ hello: { run: echo hello } }", "The tasks, by name."),
];

/// The keys of a task.
pub const TASK: [Key; 28] = [
    pattern(key(
        "run",
        Form::Text,
        "convert {in} -resize 20% {out}",
        "A command line. It goes to a shell only if it needs one; otherwise the program is started directly.",
    )),
    pattern(key(
        "exec",
        Form::Words,
        "[convert, \"{in}\", \"{out}\"]",
        "A program and its arguments; never a shell. `{in}` alone becomes as many arguments as there are files.",
    )),
    key("noop", Form::Flag, "true", "Do nothing: to wait for several tasks, or to measure."),
    pattern(key("sleep", Form::Time, "250ms", "Wait this long, without a process.")),
    pattern(key(
        "in",
        Form::Inputs,
        "[\"{img}\", { all: shrink }]",
        "Files that the task reads: a path, a list, a map of names and paths, or `{ all: TASK }` for everything that a task makes. An entry may say how large it is expected to be: `{ path: FILE, size: 12MB }`.",
    )),
    pattern(key(
        "out",
        Form::Outputs,
        "[\"small/{img.name}\"]",
        "Files or directories that it makes: a path, a list, or a map of names and paths. An entry may be `{ path: FILE, temp: true, optional: true, size: 40kB }`, of which only `path` is needed.",
    )),
    pattern(key(
        "after",
        Form::Texts,
        "[shrink, \"check:{img}\"]",
        "Tasks to wait for without reading anything of them: all of a name, or one.",
    )),
    key(
        "foreach",
        Form::Foreach,
        "{ img: \"photos/*.jpg\" }",
        "Names and what they run over; with several names, every combination is a task.",
    ),
    key(
        "when",
        Form::Text,
        "\"{mode} == full\"",
        "A condition on parameters; if it does not hold, the task is left out.",
    ),
    default(key("cpus", Form::Number, "2", "Cores that it keeps busy; 1 by default, fractions allowed.")),
    default(key(
        "memory",
        Form::Bytes,
        "2GB * attempt",
        "Memory that it needs. With `* attempt`, each further attempt asks for more.",
    )),
    default(key(
        "gpus",
        Form::Number,
        "1",
        "GPUs that it needs; `CUDA_VISIBLE_DEVICES` says which. Fractions share one.",
    )),
    default(key(
        "resources",
        Form::Resources,
        "[{ gpus: 1 }, { cpus: 8 }]",
        "Anything else that is limited, by name and amount; a list gives alternatives, the first that is free is taken.",
    )),
    default(key(
        "retries",
        Form::Retries,
        "{ times: 3, codes: [75, 137] }",
        "How often to try again after a failure; 0 by default. With `codes`, only after these exit codes.",
    )),
    default(key("timeout", Form::Time, "5m", "How long one attempt may take; a number alone is seconds.")),
    default(key("priority", Form::Whole, "10", "Ready tasks with a higher one start first; 0 by default.")),
    default(pattern(key("env", Form::TextMap, "{ LANG: C }", "Environment variables."))),
    default(key(
        "kind",
        Form::Text,
        "shrink",
        "The name under which the task is counted and learnt about; by default its own, or its program's if there are more than 64 different tasks.",
    )),
    default(key(
        "estimate",
        Form::Estimate,
        "{ time: 2s, memory: 300MB, out: 40kB }",
        "What you expect of it, where nothing has been learnt yet.",
    )),
    pattern(key("stdin", Form::Text, "data/{i}.txt", "A file to read as standard input; it counts as an input.")),
    pattern(key("stdout", Form::Text, "out/{i}.txt", "A file for what it prints; it counts as an output.")),
    pattern(key("stderr", Form::Text, "logs/{i}.txt", "A file for its complaints. It may be the same as `stdout`.")),
    default(pattern(key(
        "dir",
        Form::Text,
        "work/{i}",
        "The directory in which it runs, made if need be. Paths in the file stay relative to the workflow's directory; `{in}` and `{out}` are written so that they fit.",
    ))),
    default(key(
        "shell",
        Form::TextOrWords,
        "bash -euo pipefail",
        "What reads `run` instead of `/bin/sh -e`; the command is added as `-c COMMAND`.",
    )),
    default(pattern(key(
        "container",
        Form::Container,
        "docker://debian:12",
        "The image to run in, through apptainer or podman, whichever is there.",
    ))),
    default(pattern(key(
        "uses",
        Form::Inputs,
        "[scripts/]",
        "Files or directories that it needs besides data, such as scripts. If one changes, the task runs again; `{in}` leaves them out.",
    ))),
    default(key("temp", Form::Flag, "true", "Delete its outputs when their last reader is done.")),
    key("description", Form::Text, "Makes the pictures small.", "What the task is for, for people."),
];
