//! Finding tasks by what a person types: a task's name, a template's name, or a file that a task makes.

use std::ops::Range;

use thiserror::Error;

use super::{Column, Workflow, path};
use crate::ids::{ObjectId, TaskId};
use crate::spelling::distance;

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
/// if there are more names; `positions` finds a value in a list column. More than one answer if commas leave it open.
pub(super) fn find_rows(
    columns: &[Column],
    values: &str,
    positions: &dyn Fn(&Column, &str) -> Vec<u32>,
) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    find_rest(columns, values, 0, None, positions, &mut found);
    found.sort_by_key(|rows| (rows.len(), rows.start));
    found.dedup();
    found
}

/// Goes on with the columns that are left, behind row `start`. `together` holds the positions that are still possible in
/// the dimension that the first of them belongs to, if others of it have been read.
fn find_rest(
    columns: &[Column],
    values: &str,
    start: u32,
    together: Option<&[u32]>,
    positions: &dyn Fn(&Column, &str) -> Vec<u32>,
    found: &mut Vec<Range<u32>>,
) {
    let Some((column, rest)) = columns.split_first() else { return };
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
            // Both are in order.
            possible.retain(|position| together.binary_search(position).is_ok());
        }
        let (Some(&first), Some(&last)) = (possible.first(), possible.last()) else { continue };
        match left {
            // Rows that share the values of the first names lie side by side, unless a `zip` has them in another order.
            None if (last - first) as usize == possible.len() - 1 => {
                found.push(start + first * column.stride..start + (last + 1) * column.stride);
            }
            None => {}
            Some(left) if moves_on => find_rest(rest, left, start, Some(&possible), positions, found),
            Some(left) => find_rest(rest, left, start + first * column.stride, None, positions, found),
        }
    }
}

impl Workflow {
    /// The tasks meant by a name: `shrink` is all of them, `shrink:7` one (or, of several names, all
    /// that begin with that value), `small/7.jpg` the one that makes it.
    pub fn find(&self, name: &str) -> Result<Vec<TaskId>, UnknownTarget> {
        // A name may have a colon of its own, in a trace.
        let mut whole = self.templates.iter().filter(|template| template.rows == 1 && template.column_count == 0);
        if let Some(template) = whole.find(|template| self.strings.get(template.name) == name) {
            return Ok(vec![TaskId(template.first_task)]);
        }
        let (template_name, row) = name.split_once(':').map_or((name, None), |(template, row)| (template, Some(row)));
        for template in &self.templates {
            if self.strings.get(template.name) != template_name {
                continue;
            }
            let Some(values) = row else {
                return Ok((template.first_task..template.first_task + template.rows).map(TaskId).collect());
            };
            let columns = &template.naming_columns(&self.columns)[..];
            let positions = |column: &Column, wanted: &str| {
                let list = &self.values[column.list as usize..][..column.length as usize];
                let found = list.iter().zip(0..).filter(|(value, _)| self.strings.get(**value) == wanted);
                found.map(|(_, position)| position).collect()
            };
            // One task's own name comes before that of a group.
            if let Some(rows) = find_rows(columns, values, &positions).into_iter().next() {
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
