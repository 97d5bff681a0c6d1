//! What kind of task a task is: so that a trace of a thousand tasks has a handful of kinds, as a workflow would.
//!
//! Pegasus and Makeflow name the type as the program; Nextflow has the whole script there and the type in the name; and
//! benchmarks run one program for everything and have the type in the name as well.

use std::collections::BTreeSet;

use super::super::path::file_name;
use super::document::Document;

/// A program with a longer name is no name.
const NAME_BYTES: usize = 100;
/// With more than this many, names that tell tasks apart are no types.
const TYPES_LIMIT: usize = 64;

/// The kinds of all tasks, in their order.
pub(super) fn kinds(document: &Document, ids: &[String]) -> Vec<String> {
    let by_name = |at: usize| {
        let task = &document.tasks[at];
        stem(task.name.as_deref().unwrap_or(&ids[at])).to_owned()
    };
    let by_program = |at: usize| {
        let program = document.measured(document.tasks[at].id.id)?.program.as_deref()?;
        // Nextflow writes `-` for a task without a script.
        let is_name = program.len() <= NAME_BYTES
            && !program.contains(char::is_whitespace)
            && program.contains(char::is_alphanumeric);
        Some(file_name(program)).filter(|name| is_name && !name.is_empty()).map(str::to_owned)
    };
    let count = document.tasks.len();
    let programs: BTreeSet<Option<String>> = (0..count).map(by_program).collect();
    let names: BTreeSet<String> = if programs.len() == 1 { (0..count).map(by_name).collect() } else { BTreeSet::new() };
    let prefers_names = (2..=TYPES_LIMIT).contains(&names.len());
    (0..count)
        .map(|at| match &document.tasks[at].category {
            Some(category) => category.clone(),
            None if prefers_names => by_name(at),
            None => by_program(at).unwrap_or_else(|| by_name(at)),
        })
        .collect()
}

/// A name without the number that tells tasks of a type apart: `_ID0000012`, `_12`, or what is in brackets behind it.
fn stem(name: &str) -> &str {
    let before = name.split(" (").next().unwrap_or(name);
    let without_digits = before.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let stem = match without_digits.len() < before.len() {
        true => without_digits.strip_suffix("_ID").or_else(|| without_digits.strip_suffix('_')).unwrap_or(before),
        false => before,
    };
    if stem.is_empty() { name } else { stem }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn names_without_their_numbers() {
        for (name, expected) in [
            ("mProject_ID0000001", "mProject"),
            ("blastall_00000002", "blastall"),
            ("NFCORE_RNASEQ.STAR_ALIGN (WT_REP1)", "NFCORE_RNASEQ.STAR_ALIGN"),
            ("chr21_chr21_ID0000001", "chr21_chr21"),
            ("bowtie2", "bowtie2"),
            ("x12", "x12"),
            ("_12", "_12"),
            ("7", "7"),
        ] {
            assert_eq!(stem(name), expected);
        }
    }
}
