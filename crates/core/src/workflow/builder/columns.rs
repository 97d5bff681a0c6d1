//! `foreach`: from what names run over to columns of values.

use super::super::params::Params;
use super::super::pattern::{ColumnName, Scope, check_number_values};
use super::super::problem::{Mark, Problem};
use super::super::spec::{Foreach, Records, TableFile, TaskSpec};
use super::super::value::Text;
use super::super::{path, table};
use super::{Builder, Column, TASKS_LIMIT};
use std::collections::BTreeSet;

/// Beyond that, comparing names would cost more memory than the workflow itself.
const NAMES_COMPARED: u64 = 20_000_000;

impl Builder<'_> {
    /// Adds the columns of a `foreach`; returns their names and how many rows they make together.
    pub(super) fn add_columns(&mut self, spec: &TaskSpec, params: &Params) -> Result<(Vec<ColumnName>, u64), Problem> {
        let mut names: Vec<ColumnName> = Vec::new();
        // Columns of one dimension move together, so each dimension is a stretch of columns.
        let mut dimensions: Vec<(std::ops::Range<usize>, u32)> = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for dimension in &spec.foreach {
            let start = columns.len();
            let mut length: Option<(u32, &Text)> = None;
            for (name, over) in dimension {
                if let Some(mark) = params.mark(&name.text) {
                    let message = format!("`{}` is a parameter as well as a name in `foreach`", name.text);
                    return Err(Problem::new(name.mark, message, "rename one of them")
                        .spanning(&name.text)
                        .with_related(mark, "the parameter is here"));
                }
                let own = self.columns_of(name, over, dimension.len() > 1)?;
                let own_length = own[0].1.length;
                if let Some((length, first)) = length.filter(|(length, _)| *length != own_length) {
                    return Err(Problem::new(
                        name.mark,
                        format!(
                            "`{}` has {own_length} values, and `{}`, with which it moves, {length}",
                            name.text, first.text
                        ),
                        "give names in a `zip` equally many values",
                    )
                    .spanning(&name.text));
                }
                length = length.or(Some((own_length, name)));
                for (column_name, column) in own {
                    names.push(ColumnName { name: name.text.clone(), column: column_name });
                    columns.push(column);
                }
            }
            dimensions.push((start..columns.len(), length.map_or(1, |(length, _)| length)));
        }
        let mut rows: u64 = 1;
        for (range, length) in dimensions.iter().rev() {
            let stride = u32::try_from(rows).unwrap_or(u32::MAX);
            columns[range.clone()].iter_mut().for_each(|column| column.stride = stride);
            rows = rows.saturating_mul(u64::from(*length));
        }
        self.flow.columns.extend(columns);
        Ok((names, rows))
    }

    /// The columns of one name: one, or as many as a table has. In a `zip`, a value may come twice if others tell them apart.
    fn columns_of(
        &mut self,
        name: &Text,
        over: &Foreach,
        is_zipped: bool,
    ) -> Result<Vec<(Option<String>, Column)>, Problem> {
        let single = |column| Ok(vec![(None, column)]);
        match over {
            Foreach::Range { first, last, step } => {
                let length = (last.abs_diff(*first) / step.unsigned_abs()).saturating_add(1);
                if length > TASKS_LIMIT {
                    return Err(Problem::new(
                        name.mark,
                        format!("`{}` runs over {length} values", name.text),
                        format!("at most {TASKS_LIMIT} tasks fit into a workflow"),
                    )
                    .spanning(&name.text));
                }
                let length = length as u32;
                single(Column {
                    first: *first,
                    step: *step,
                    is_list: 0,
                    list: 0,
                    length,
                    stride: 1,
                    in_name: 1,
                    padding: 0,
                })
            }
            Foreach::List(values) => {
                let values = values.iter().map(|value| (value.text.as_str(), value.mark));
                single(self.list_column(name, values, !is_zipped)?)
            }
            Foreach::Glob { pattern, except } => {
                let found = self.find_files(pattern, except)?;
                single(self.list_column(name, found.iter().map(|path| (path.as_str(), pattern.mark)), !is_zipped)?)
            }
            Foreach::Lines(file) => {
                let lines = table::lines(&self.read_file(file)?, file.mark);
                if lines.is_empty() {
                    let message = format!("`{}` has no lines, so `{}` runs over nothing", file.text, name.text);
                    return Err(Problem::new(file.mark, message, "put something into it").spanning(&file.text));
                }
                let values = lines.iter().map(|line| (line.text.as_str(), line.mark));
                single(self.list_column(name, values, !is_zipped)?)
            }
            Foreach::Records(records) => self.table_columns(name, records, &[]),
            Foreach::Table(table) => {
                let mut records = table::rows(&self.read_file(&table.file)?, table)?;
                if records.rows.is_empty() {
                    let message = format!("`{}` has no rows, so `{}` runs over nothing", table.file.text, name.text);
                    return Err(
                        Problem::new(table.file.mark, message, "put something into it").spanning(&table.file.text)
                    );
                }
                match &table.column {
                    Some(column) => {
                        let at = find_column(&records, column)?;
                        // Each value once: the groups of a table are a column with repeats.
                        let mut seen = BTreeSet::new();
                        let values = records.rows.iter().map(|row| (row[at].text.as_str(), column.mark));
                        let values = values.filter(|(value, _)| is_zipped || seen.insert(*value));
                        single(self.list_column(name, values.collect::<Vec<_>>().into_iter(), !is_zipped)?)
                    }
                    None => {
                        let key = key_columns(&records, table)?;
                        // So that what begins alike lies side by side and can be gathered.
                        if key.len() > 1 {
                            let own = |row: &Vec<Text>| key.iter().map(|at| row[*at].text.clone()).collect::<Vec<_>>();
                            records.rows.sort_by_cached_key(own);
                        }
                        self.table_columns(name, &records, &key)
                    }
                }
            }
        }
    }

    /// A column for each of a table; rows are told apart by the key, or by the first column.
    fn table_columns(
        &mut self,
        name: &Text,
        records: &Records,
        key: &[usize],
    ) -> Result<Vec<(Option<String>, Column)>, Problem> {
        let key = if key.is_empty() { &[0][..] } else { key };
        let mut sorted: Vec<(Vec<&str>, usize)> = records
            .rows
            .iter()
            .enumerate()
            .map(|(at, row)| (key.iter().map(|column| row[*column].text.as_str()).collect(), at))
            .collect();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let value = pair[1].0.join(",");
            let row = &records.rows[pair[1].1][0];
            return Err(Problem::new(
                row.mark,
                format!(
                    "two rows of `{}` are called `{value}`, which would make two tasks of the same name",
                    name.text
                ),
                "name columns that tell rows apart, as in `{ csv: FILE, key: [sample, lane] }`",
            ));
        }
        drop(sorted);
        // The key comes first, so that the name alone means what rows are told apart by.
        let order = key.iter().copied().chain((0..records.columns.len()).filter(|column| !key.contains(column)));
        let mut columns = Vec::new();
        for at in order.collect::<Vec<_>>() {
            let values = records.rows.iter().map(|row| (row[at].text.as_str(), row[at].mark));
            let mut column = self.list_column(name, values, false)?;
            column.in_name = u32::from(key.contains(&at));
            columns.push((Some(records.columns[at].clone()), column));
        }
        Ok(columns)
    }

    fn read_file(&self, file: &Text) -> Result<String, Problem> {
        self.read_paths.borrow_mut().insert(path::normalize(&file.text).into_owned());
        self.surroundings.read(&file.text).map_err(|why| {
            Problem::new(
                file.mark,
                format!("`{}` cannot be read: {why}", file.text),
                "it is looked for from the workflow's directory: correct the path, or make the file first",
            )
            .spanning(&file.text)
        })
    }

    fn find_files(&self, pattern: &Text, except: &[Text]) -> Result<Vec<String>, Problem> {
        let glob = |pattern: &Text| {
            self.surroundings.glob(&pattern.text).map_err(|why| {
                Problem::new(pattern.mark, format!("`{}` cannot be searched for: {why}", pattern.text), "correct it")
                    .spanning(&pattern.text)
            })
        };
        let mut found = glob(pattern)?;
        for unwanted in except {
            let unwanted: std::collections::BTreeSet<String> = glob(unwanted)?.into_iter().collect();
            found.retain(|path| !unwanted.contains(path));
        }
        if found.is_empty() {
            return Err(Problem::new(
                pattern.mark,
                format!("no file matches `{}`", pattern.text),
                "it is looked for from the workflow's directory: correct the pattern or make the files first",
            )
            .spanning(&pattern.text));
        }
        Ok(found)
    }

    fn list_column<'v>(
        &mut self,
        name: &Text,
        values: impl Iterator<Item = (&'v str, Mark)>,
        must_differ: bool,
    ) -> Result<Column, Problem> {
        let start = self.flow.values.len();
        let mut marks = Vec::new();
        for (value, mark) in values {
            if value.contains('\0') {
                return Err(Problem::new(
                    mark,
                    format!("a value of `{}` contains a NUL character", name.text),
                    "remove it",
                ));
            }
            self.flow.values.push(self.strings.add(value).0);
            marks.push(mark);
        }
        let mut sorted: Vec<(u32, usize)> = Vec::new();
        if must_differ {
            sorted.extend(self.flow.values[start..].iter().copied().zip(0..));
            sorted.sort_unstable();
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let value = self.strings.strings.get(pair[0].0);
            let problem = Problem::new(
                marks[pair[1].1],
                format!("`{}` has the value `{value}` twice, which would make two tasks of the same name", name.text),
                "keep one of them",
            )
            .spanning(value);
            let first = marks[pair[0].1];
            let is_elsewhere = first != marks[pair[1].1];
            return Err(if is_elsewhere { problem.with_related(first, "the first is here") } else { problem });
        }
        let length = (self.flow.values.len() - start) as u32;
        Ok(Column { first: 0, step: 1, is_list: 1, list: start as u32, length, stride: 1, in_name: 1, padding: 0 })
    }

    /// Two combinations of values can read alike: `x,y` and `z`, or `x` and `y,z`; or a `zip` may have a pair twice.
    pub(super) fn check_names_apart(&self, spec: &TaskSpec, columns_start: usize, rows: u64) -> Result<(), Problem> {
        let columns: Vec<&Column> =
            self.flow.columns[columns_start..].iter().filter(|column| column.in_name == 1).collect();
        let has_comma = |column: &&Column| {
            let list = column.list as usize..(column.list + column.length) as usize;
            column.is_list == 1
                && self.flow.values[list].iter().any(|value| self.strings.strings.get(*value).contains(','))
        };
        let is_zipped = spec.foreach.iter().any(|dimension| dimension.len() > 1);
        let has_comma = columns.iter().any(has_comma);
        if columns.len() < 2 || !is_zipped && !has_comma {
            return Ok(());
        }
        if rows > NAMES_COMPARED {
            return Err(Problem::new(
                spec.name.mark,
                format!("its {rows} tasks are too many for a `zip`, or for values with commas"),
                format!("use plain names in `foreach`, or at most {NAMES_COMPARED} tasks"),
            )
            .spanning(&spec.name.text));
        }
        let mut names: Vec<String> = (0..rows as u32)
            .map(|row| {
                let mut name = String::new();
                for column in &columns {
                    super::super::write_value(column, row, &self.flow.values, &self.strings.strings, &mut name);
                    name.push(',');
                }
                name
            })
            .collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Problem::new(
                spec.name.mark,
                format!("two of its tasks would be called `{}:{}`", spec.name.text, pair[0].trim_end_matches(',')),
                "let every combination of values be different, and without commas",
            )
            .spanning(&spec.name.text)),
        }
    }

    /// Refuses to write a column as numbers that holds something else.
    pub(super) fn check_numbers(&self, column: u32, scope: &Scope) -> Result<(), (String, String)> {
        let own = self.flow.columns.len() - scope.columns.len() + column as usize;
        let column_values = &self.flow.columns[own];
        if column_values.is_list == 0 {
            return Ok(());
        }
        let list = &self.flow.values[column_values.list as usize..(column_values.list + column_values.length) as usize];
        let values = list.iter().map(|value| self.strings.strings.get(*value));
        check_number_values(values, &scope.columns[column as usize].name)
    }
}

fn key_columns(records: &Records, table: &TableFile) -> Result<Vec<usize>, Problem> {
    table.key.iter().map(|column| find_column(records, column)).collect()
}

fn find_column(records: &Records, column: &Text) -> Result<usize, Problem> {
    records.columns.iter().position(|known| *known == column.text).ok_or_else(|| {
        Problem::new(
            column.mark,
            format!("there is no column `{}`", column.text),
            format!("its columns are {}", records.columns.join(", ")),
        )
        .spanning(&column.text)
    })
}
