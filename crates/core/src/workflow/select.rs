//! Finding tasks by what a person types: a task's name, a template's name, or a file that a task makes.

use thiserror::Error;

use super::{Column, Workflow, path, spec::distance};
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

/// The row of a `foreach` that has these values, as a task's name has them; `position` finds one in a list column.
pub(super) fn find_row(
    columns: &[Column],
    values: &str,
    position: &dyn Fn(&Column, &str) -> Option<usize>,
) -> Option<u32> {
    let (column, rest) = columns.split_first()?;
    // Values may hold commas themselves: each place to cut is tried.
    let cuts = values.match_indices(',').map(|(at, _)| at).chain([values.len()]);
    for cut in cuts {
        let (value, left) = (&values[..cut], values.get(cut + 1..));
        let number = if column.is_list == 1 {
            position(column, value)
        } else {
            let parsed = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
            let number = parsed.and_then(|number| number.checked_sub(column.first));
            number.and_then(|number| usize::try_from(number).ok()).filter(|number| *number < column.length as usize)
        };
        let Some(number) = number else { continue };
        let own = number as u32 * column.stride;
        match (left, rest.is_empty()) {
            (None, true) => return Some(own),
            (Some(left), false) => {
                if let Some(row) = find_row(rest, left, position) {
                    return Some(own + row);
                }
            }
            _ => {}
        }
    }
    None
}

impl Workflow {
    /// The tasks meant by a name: `shrink` is all of them, `shrink:7` one, `small/7.jpg` the one that makes it.
    pub fn find(&self, name: &str) -> Result<Vec<TaskId>, UnknownTarget> {
        let (template_name, row) = name.split_once(':').map_or((name, None), |(template, row)| (template, Some(row)));
        for template in &self.templates {
            if self.strings.get(template.name) != template_name {
                continue;
            }
            let Some(values) = row else {
                return Ok((template.first_task..template.first_task + template.rows).map(TaskId).collect());
            };
            let columns = &self.columns[template.columns as usize..][..template.column_count as usize];
            let position = |column: &Column, wanted: &str| {
                let list = &self.values[column.list as usize..][..column.length as usize];
                list.iter().position(|value| self.strings.get(*value) == wanted)
            };
            if let Some(row) = find_row(columns, values, &position) {
                return Ok(vec![TaskId(template.first_task + row)]);
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
