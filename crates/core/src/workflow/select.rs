//! Finding tasks by what a person types: a task's name, a template's name, or a file that a task makes.

use std::ops::Range;

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

/// The rows of a `foreach` that have these values, as tasks' names have them: one row, or all that begin with the values
/// if there are more names; `positions` finds one in a list column.
pub(super) fn find_rows(
    columns: &[Column],
    values: &str,
    positions: &dyn Fn(&Column, &str) -> Vec<u32>,
) -> Option<Range<u32>> {
    find_rest(columns, values, None, positions)
}

/// Goes on with the columns that are left. `together` holds the positions that are still possible in the dimension
/// that the first of them belongs to, if others of it have been read.
fn find_rest(
    columns: &[Column],
    values: &str,
    together: Option<&[u32]>,
    positions: &dyn Fn(&Column, &str) -> Vec<u32>,
) -> Option<Range<u32>> {
    let (column, rest) = columns.split_first()?;
    let moves_on = rest.first().is_some_and(|next| (next.stride, next.length) == (column.stride, column.length));
    // Values may hold commas themselves: each place to cut is tried.
    let cuts = values.match_indices(',').map(|(at, _)| at).chain([values.len()]);
    for cut in cuts {
        let (value, left) = (&values[..cut], values.get(cut + 1..));
        let mut possible = if column.is_list == 1 {
            positions(column, value)
        } else {
            let parsed = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
            let distance = parsed.and_then(|number| number.checked_sub(column.first));
            let steps = distance.filter(|distance| *distance >= 0 && distance % column.step == 0);
            let number = steps.map(|distance| distance / column.step).filter(|number| *number < column.length.into());
            number.map(|number| number as u32).into_iter().collect()
        };
        if let Some(together) = together {
            possible.retain(|position| together.contains(position));
        }
        let Some(&first) = possible.first() else { continue };
        match (left, rest.is_empty()) {
            // Rows that share the values of the first dimensions lie side by side.
            (None, _) if !moves_on => return Some(first * column.stride..(first + 1) * column.stride),
            (Some(left), false) if moves_on => {
                if let Some(rows) = find_rest(rest, left, Some(&possible), positions) {
                    return Some(rows);
                }
            }
            (Some(left), false) => {
                if let Some(rows) = find_rest(rest, left, None, positions) {
                    let start = first * column.stride;
                    return Some(start + rows.start..start + rows.end);
                }
            }
            _ => {}
        }
    }
    None
}

impl Workflow {
    /// The tasks meant by a name: `shrink` is all of them, `shrink:7` one (or, of several names, all
    /// that begin with that value), `small/7.jpg` the one that makes it.
    pub fn find(&self, name: &str) -> Result<Vec<TaskId>, UnknownTarget> {
        let (template_name, row) = name.split_once(':').map_or((name, None), |(template, row)| (template, Some(row)));
        for template in &self.templates {
            if self.strings.get(template.name) != template_name {
                continue;
            }
            let Some(values) = row else {
                return Ok((template.first_task..template.first_task + template.rows).map(TaskId).collect());
            };
            let columns: Vec<Column> = self.columns[template.columns as usize..][..template.column_count as usize]
                .iter()
                .filter(|column| column.in_name == 1)
                .copied()
                .collect();
            let columns = &columns[..];
            let positions = |column: &Column, wanted: &str| {
                let list = &self.values[column.list as usize..][..column.length as usize];
                let found = list.iter().zip(0..).filter(|(value, _)| self.strings.get(**value) == wanted);
                found.map(|(_, position)| position).collect()
            };
            if let Some(rows) = find_rows(columns, values, &positions) {
                return Ok(rows.map(|row| TaskId(template.first_task + row)).collect());
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
