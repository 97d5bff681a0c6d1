//! What tasks read that no task makes: single files if they are few, else by directory and extension.

use std::collections::BTreeMap;

use throng_core::ids::{ObjectId, TaskId};
use throng_core::workflow::Workflow;

use super::pattern::Links;
use super::picture::{Arrow, Box, NONE};

/// More boxes for files than this would hide the tasks.
const BOXES_SHOWN: usize = 8;
/// Beside groups of tasks, more files than this are shown as a group as well.
const SINGLE_BESIDE_GROUPS: usize = 3;

/// Files from outside as boxes, and who reads them.
#[derive(Debug, Default)]
pub struct Outside {
    /// How many files there are.
    pub files: u64,
    /// Groups of them.
    pub boxes: Vec<Box>,
    /// From those boxes, counted from zero, to those of tasks.
    pub arrows: Vec<Arrow>,
}

/// The files that tasks read which have a box.
pub fn of(flow: &Workflow, box_of: &[u32], box_count: usize) -> Outside {
    let is_shown = |task: &TaskId| box_of[task.index()] != NONE;
    let mut is_read = vec![false; flow.object_count()];
    for object in flow.tasks().filter(is_shown).flat_map(|task| flow.inputs(task)) {
        is_read[object.index()] = true;
    }
    let files: Vec<ObjectId> = (0..flow.object_count())
        .map(ObjectId::at)
        .filter(|object| is_read[object.index()] && flow.producer(*object).is_none())
        .collect();
    let is_by_task = box_count >= flow.tasks().filter(is_shown).count();
    let (names, group_of) = grouped(flow, &files, if is_by_task { BOXES_SHOWN } else { SINGLE_BESIDE_GROUPS });
    let mut sizes = vec![0u64; names.len()];
    for file in &files {
        sizes[group_of[file.index()] as usize] += 1;
    }
    let boxes = names
        .into_iter()
        .zip(&sizes)
        .map(|(name, size)| Box { name, count: *size, is_outside: true, ..Box::default() })
        .collect();
    let mut outside = Outside { files: files.len() as u64, boxes, arrows: Vec::new() };
    let mut shown_sizes = vec![0u64; box_count];
    for task in flow.tasks().filter(is_shown) {
        shown_sizes[box_of[task.index()] as usize] += 1;
    }
    for ((from, to), links) in links(flow, box_of, &group_of) {
        let name = &outside.boxes[from as usize].name;
        let (label, details) = match links.words(sizes[from as usize], shown_sizes[to as usize]) {
            _ if links.links == 1 => (String::new(), vec![name.clone()]),
            words => (words.clone(), vec![name.clone(), words]),
        };
        outside.arrows.push(Arrow { from: from as usize, to: to as usize, label, details, is_order_only: false });
    }
    outside
}

/// Names of groups, and the group of each object: the finest way to group that is not too fine.
fn grouped(flow: &Workflow, files: &[ObjectId], single_limit: usize) -> (Vec<String>, Vec<u32>) {
    let ways: [fn(&str) -> String; 4] = [str::to_owned, by_extension, by_directory, |_| "from outside".to_owned()];
    for way in ways.into_iter().skip(usize::from(files.len() > single_limit)) {
        if let Some(found) = group_by(flow, files, way) {
            return found;
        }
    }
    unreachable!("the last way makes one group")
}

fn group_by(flow: &Workflow, files: &[ObjectId], way: fn(&str) -> String) -> Option<(Vec<String>, Vec<u32>)> {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = Vec::new();
    let mut group_of = vec![NONE; flow.object_count()];
    for file in files {
        let path = flow.object_name(*file);
        let name = way(path);
        let number = *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        });
        group_of[file.index()] = number;
        if names.len() > BOXES_SHOWN {
            return None;
        }
    }
    // A group of one is better known by its name.
    for (number, name) in names.iter_mut().enumerate() {
        let mut members = files.iter().filter(|file| group_of[file.index()] == number as u32);
        if let (Some(only), None) = (members.next(), members.next()) {
            *name = flow.object_name(*only).to_owned();
        }
    }
    Some((names, group_of))
}

fn by_extension(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').map_or(("", path), |(directory, name)| (directory, name));
    let slash = if path.contains('/') { "/" } else { "" };
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{directory}{slash}*.{extension}"),
        _ => format!("{directory}{slash}*"),
    }
}

fn by_directory(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| "*".to_owned(), |(directory, _)| format!("{directory}/*"))
}

fn links(flow: &Workflow, box_of: &[u32], group_of: &[u32]) -> BTreeMap<(u32, u32), Links> {
    let mut found: BTreeMap<(u32, u32), Links> = BTreeMap::new();
    // Readers come in any order, so files are counted by pairs of file and box; targets by task.
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut groups_of_task: Vec<u32> = Vec::new();
    for task in flow.tasks().filter(|task| box_of[task.index()] != NONE) {
        groups_of_task.clear();
        let to = box_of[task.index()];
        for object in flow.inputs(task).filter(|object| group_of[object.index()] != NONE) {
            let group = group_of[object.index()];
            let links = found.entry((group, to)).or_default();
            links.links += 1;
            pairs.push((object.0, to));
            if !groups_of_task.contains(&group) {
                groups_of_task.push(group);
                links.targets += 1;
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    for (object, to) in pairs {
        found.entry((group_of[object as usize], to)).or_default().sources += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups() {
        assert_eq!(by_extension("photos/2024/a.jpg"), "photos/2024/*.jpg");
        assert_eq!(by_extension("a.jpg"), "*.jpg");
        assert_eq!(by_extension("/data/README"), "/data/*");
        assert_eq!(by_extension(".hidden"), "*");
        assert_eq!(by_directory("photos/a.jpg"), "photos/*");
    }
}
