//! Finding tasks by what a person types: a task's name, a template's name, or a file that a task makes.

use thiserror::Error;

use super::{Workflow, path, spec::distance};
use crate::ids::{ObjectId, TaskId};

/// A name that is neither a task nor a file of the workflow.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{name}` is neither a task nor a file that a task makes{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownTarget {
    /// What was asked for.
    pub name: String,
    /// Something like it that exists.
    pub nearest: Option<String>,
}

impl Workflow {
    /// The tasks meant by a name: `shrink` is all of them, `shrink:7` one, `small/7.jpg` the one that makes it.
    pub fn find(&self, name: &str) -> Result<Vec<TaskId>, UnknownTarget> {
        let (template_name, row) = name.split_once(':').map_or((name, None), |(template, row)| (template, Some(row)));
        for template in &self.templates {
            if self.strings.get(template.name) != template_name {
                continue;
            }
            let mut tasks = (template.first_task..template.first_task + template.rows).map(TaskId);
            match row {
                None => return Ok(tasks.collect()),
                Some(_) => {
                    if let Some(task) = tasks.find(|task| self.name(*task) == name) {
                        return Ok(vec![task]);
                    }
                }
            }
        }
        let wanted = path::normalize(name);
        let made = (0..self.producers.len() as u32).find(|object| self.objects.get(*object) == wanted);
        if let Some(object) = made {
            return Ok(vec![TaskId(self.producers[object as usize])]);
        }
        Err(UnknownTarget { name: name.to_owned(), nearest: self.nearest(name) })
    }

    fn nearest(&self, name: &str) -> Option<String> {
        // Far more names than this are not worth a look at each.
        const LOOKED_AT: usize = 10_000;
        let templates = self.templates.iter().take(LOOKED_AT).map(|template| self.strings.get(template.name));
        let objects = (0..self.producers.len().min(LOOKED_AT)).map(|object| self.object_name(ObjectId::at(object)));
        let (least, nearest) = templates.chain(objects).map(|known| (distance(name, known), known)).min()?;
        (least <= name.len().max(3) / 2).then(|| nearest.to_owned())
    }
}
