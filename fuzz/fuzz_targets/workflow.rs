//! Any text as a workflow: it is refused with a place and a remedy, or becomes a workflow that holds together.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_core::shape::{Shape, warnings};
use throng_core::workflow::{Conditions, Format, Request, Surroundings, Workflow};

/// Files as the text may ask for them: some are there, some are not, and one includes the text itself.
struct Files<'a>(&'a str);

impl Surroundings for Files<'_> {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        match pattern.len() % 4 {
            0 => Err("no".to_owned()),
            1 => Ok(Vec::new()),
            _ => Ok(["a b.txt", "d/it's.tar.gz", "plain"].map(str::to_owned).to_vec()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        !path.ends_with('!')
    }

    fn read(&self, path: &str) -> Result<String, String> {
        match path.len() % 4 {
            0 => Err("no".to_owned()),
            1 => Ok("name,file,n\na,x y.txt,1\nb,\"q,r\",2\n".to_owned()),
            2 => Ok("tasks: { inner: { run: echo '{in}', in: src, out: made } }".to_owned()),
            _ => Ok(self.0.to_owned()),
        }
    }
}

/// Long numbers ask for millions of tasks, which is right but slow.
fn is_small(text: &str) -> bool {
    let mut digits = 0;
    text.bytes().all(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits < 4
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if !is_small(text) {
        return;
    }
    let format = if first % 2 == 0 { Format::Yaml } else { Format::Json };
    let settings = [("n".to_owned(), "[1, two]".to_owned())];
    let settings = if first % 4 < 2 { &settings[..0] } else { &settings[..] };
    let request = Request { text, format, default_name: "fuzz", settings, param_files: &[], replay: None };
    match Workflow::read(&request, &Files(text)) {
        Err(problems) => {
            assert!(!problems.shown.is_empty());
            for problem in &problems.shown {
                assert!(!problem.message.is_empty() && !problem.remedy.is_empty());
                assert!(problem.mark.file as usize <= problems.files.len());
            }
        }
        Ok(reading) => holds_together(&reading.flow),
    }
});

fn holds_together(flow: &Workflow) {
    if flow.task_count() > 5_000 {
        return;
    }
    let bytes = flow.to_bytes();
    assert_eq!(Workflow::from_bytes(&bytes).expect("just written").to_bytes(), bytes);
    assert_eq!(flow.topological().len(), flow.task_count());
    let shape = Shape::of(flow);
    let _ = warnings(flow, &shape);
    for task in flow.tasks().take(50) {
        for attempt in [1, 2, 70] {
            for demand in flow.alternatives(flow.class(task, attempt)) {
                let conditions = Conditions { attempt, demand };
                let _ = (flow.action(task, conditions), flow.environment(task, conditions));
            }
        }
        let _ = (flow.directory(task), flow.streams(task), flow.container(task), flow.definition_hash(task));
        let _ = flow.sleep_time(task);
        let name = flow.name(task);
        let found = flow.find(&name).expect("a task is found by its name");
        assert!(found.contains(&task), "{name} is {task:?}, not {found:?}");
        for object in flow.outputs(task) {
            assert_eq!(flow.producer(object), Some(task));
            let _ = flow.declared_size(object);
        }
    }
}
