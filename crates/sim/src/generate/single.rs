//! A workflow as a list of single tasks, a line for each: what a program would write.

use std::io::{self, Write};

use super::job::{File, Job};
use super::plan::{Body, Plan, find};
use super::spread::{size_text, time_text};
use super::stage::{Read, Row, Stage};

/// Writes a plan as JSON.
pub(super) fn write(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\n\"name\": \"{}\",", plan.shape.name)?;
    if let Some(kind) = plan.common_kind() {
        writeln!(out, "\"defaults\": {{\"kind\": \"{kind}\"}},")?;
    }
    write!(out, "\"tasks\": {{")?;
    let mut comma = "";
    write_tasks(plan, out, |name, out| write!(out, "{}\n\"{name}\": ", std::mem::replace(&mut comma, ",")))?;
    writeln!(out, "\n}}\n}}")
}

/// Writes each task as JSON, after what `begin` writes for its name.
pub(super) fn write_tasks(
    plan: &Plan,
    out: &mut dyn Write,
    mut begin: impl FnMut(&str, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let stages = match &plan.body {
        Body::Stages(stages) => stages,
        Body::Jobs(jobs) => {
            return jobs.iter().try_for_each(|job| {
                begin(&job.name, out)?;
                write_job(job, plan.estimates, out)
            });
        }
    };
    let mut source = plan.source();
    for stage in stages {
        let own_kind = plan.common_kind().is_none().then(|| format!(", \"kind\": \"{}\"", stage.kind));
        let kind = own_kind.unwrap_or_default();
        stage.rows(&mut source, |row| {
            match stage.columns.first() {
                Some(id) => begin(&format!("{}-{}", stage.name, stage.fill_keys(&id.text, &row.keys)), out)?,
                None => begin(&stage.name, out)?,
            }
            write_task(plan, stages, stage, row, &kind, out)
        })?;
    }
    Ok(())
}

// No name or path of any shape has a letter that would have to be escaped.
fn write_task(
    plan: &Plan,
    stages: &[Stage],
    stage: &Stage,
    row: &Row,
    kind: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (time, size) = (time_text(row.time_ns), size_text(row.size_bytes));
    write!(out, "{{\"sleep\": \"{time}\"{kind}")?;
    if !stage.reads.is_empty() {
        write!(out, ", \"in\": [")?;
        write_reads(stages, stage, row, out)?;
        write!(out, "]")?;
    }
    if let Some(path) = &stage.writes {
        let path = stage.fill(path, row);
        write!(out, ", \"out\": [{{\"path\": \"{path}\", \"size\": \"{size}\", \"optional\": true}}]")?;
    }
    if plan.estimates {
        let made = stage.writes.as_ref().map(|_| format!(", \"out\": \"{size}\"")).unwrap_or_default();
        write!(out, ", \"estimate\": {{\"time\": \"{time}\"{made}}}")?;
    }
    write!(out, "}}")
}

fn write_reads(stages: &[Stage], stage: &Stage, row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let mut comma = "";
    for read in &stage.reads {
        match read {
            Read::File { path, size } => {
                let path = stage.fill(path, row);
                match size {
                    None => write!(out, "{comma}\"{path}\"")?,
                    Some(size) => {
                        write!(out, "{comma}{{\"path\": \"{path}\", \"size\": \"{}\"}}", size_text(*size))?;
                    }
                }
            }
            Read::All(name) => {
                let other = find(stages, name);
                let path = other.writes.as_ref().expect("what a stage is read for is written");
                let mut row = other.first_row();
                loop {
                    write!(out, "{comma}\"{}\"", other.fill(path, &row))?;
                    comma = ", ";
                    if !other.advance(&mut row.keys) {
                        break;
                    }
                }
            }
        }
        comma = ", ";
    }
    Ok(())
}

fn write_job(job: &Job, estimates: bool, out: &mut dyn Write) -> io::Result<()> {
    let time = time_text(job.time_ns);
    write!(out, "{{\"sleep\": \"{time}\", \"kind\": \"{}\"", job.kind)?;
    write_files("in", &job.reads, "", out)?;
    write_files("out", &job.writes, ", \"optional\": true", out)?;
    if estimates {
        write!(out, ", \"estimate\": {{\"time\": \"{time}\", \"out\": \"{}\"}}", size_text(job.written_bytes()))?;
    }
    write!(out, "}}")
}

fn write_files(key: &str, files: &[File], more: &str, out: &mut dyn Write) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    write!(out, ", \"{key}\": [")?;
    let mut comma = "";
    for File { path, size } in files {
        match size {
            None => write!(out, "{comma}\"{path}\"")?,
            Some(size) => write!(out, "{comma}{{\"path\": \"{path}\", \"size\": \"{}\"{more}}}", size_text(*size))?,
        }
        comma = ", ";
    }
    write!(out, "]")
}
