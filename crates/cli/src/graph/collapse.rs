//! Pictures of large workflows: a box for every kind of task, or, where even these are too many, for every depth.

use throng_core::ids::{KindId, TaskId};
use throng_core::workflow::Workflow;

use super::outside;
use super::pattern::Links;
use super::picture::{Arrow, Box, NONE, Picture, add_outside, task_details};
use super::standing::{Standing, Tally};
use crate::words;

/// More kinds than this make a picture that nobody reads.
pub const KINDS_SHOWN: usize = 200;
/// More arrows between kinds than this are a black spot.
const ARROWS_SHOWN: usize = 1000;
/// Depths are put together until there are no more than this.
const BANDS_SHOWN: usize = 16;
/// Kinds named in the box of a depth.
const KINDS_NAMED: usize = 3;

/// A box for every kind, or for every depth if there are too many kinds.
pub fn of_kinds(flow: &Workflow, wanted: &[bool], standing: Option<&[Standing]>) -> Picture {
    let mut sizes = vec![0u64; flow.kind_count()];
    for task in flow.tasks().filter(|task| wanted[task.index()]) {
        sizes[flow.kind(task).index()] += 1;
    }
    let kinds: Vec<KindId> = (0..sizes.len()).filter(|kind| sizes[*kind] > 0).map(KindId::at).collect();
    let task_count = sizes.iter().sum();
    let summary =
        format!("{} in {}", words::count_many(task_count, "task"), words::count_many(kinds.len() as u64, "kind"));
    let by_kind = (kinds.len() <= KINDS_SHOWN).then(|| each_kind(flow, wanted, &kinds, standing));
    let counted = words::thousands(kinds.len() as u64);
    let mut picture = match by_kind {
        Some(picture) if picture.arrows.len() <= ARROWS_SHOWN => picture,
        Some(picture) => {
            let arrows = words::thousands(picture.arrows.len() as u64);
            of_depths(flow, wanted, &format!("{counted} kinds have {arrows} arrows between them"), standing)
        }
        None => of_depths(flow, wanted, &format!("{counted} kinds are too many to show"), standing),
    };
    picture.title = flow.title().to_owned();
    picture.summary = format!("{summary}{}", picture.summary);
    picture
}

fn each_kind(flow: &Workflow, wanted: &[bool], kinds: &[KindId], standing: Option<&[Standing]>) -> Picture {
    let mut number = vec![NONE; flow.kind_count()];
    for (at, kind) in kinds.iter().enumerate() {
        number[kind.index()] = at as u32;
    }
    let group = |task: TaskId| if wanted[task.index()] { number[flow.kind(task).index()] } else { NONE };
    let name = |at: usize| flow.kind_name(kinds[at]).to_owned();
    Groups::new(flow, kinds.len(), group).picture(flow, &name, standing)
}

/// A box for every depth, or for every few; and why.
fn of_depths(flow: &Workflow, wanted: &[bool], why: &str, standing: Option<&[Standing]>) -> Picture {
    let mut depth = vec![0u32; flow.task_count()];
    for task in flow.topological().into_iter().filter(|task| wanted[task.index()]) {
        let below = depth[task.index()] + 1;
        for child in flow.children(task) {
            depth[child.index()] = depth[child.index()].max(below);
        }
    }
    let deepest = flow.tasks().filter(|task| wanted[task.index()]).map(|task| depth[task.index()]).max().unwrap_or(0);
    let per_band = (deepest as usize + 1).div_ceil(BANDS_SHOWN) as u32;
    let group = |task: TaskId| if wanted[task.index()] { depth[task.index()] / per_band } else { NONE };
    let groups = Groups::new(flow, (deepest / per_band) as usize + 1, group);
    let name = |at: usize| {
        let first = at as u32 * per_band + 1;
        let last = (first + per_band - 1).min(deepest + 1);
        if first == last { format!("step {first}") } else { format!("steps {first} to {last}") }
    };
    let mut picture = groups.picture(flow, &name, standing);
    for (members, shown) in groups.members.iter().zip(&mut picture.boxes) {
        let kinds = most_common(flow, members);
        if standing.is_none() {
            shown.remark = kinds.join(", ");
        }
        shown.details = kinds;
    }
    picture.notes.push(format!("{why}: tasks are put together by the number of steps before them"));
    picture
}

/// The kinds that most of these tasks are of.
fn most_common(flow: &Workflow, tasks: &[TaskId]) -> Vec<String> {
    let mut kinds: Vec<KindId> = tasks.iter().map(|task| flow.kind(*task)).collect();
    kinds.sort_unstable();
    let mut counted: Vec<(usize, KindId)> =
        kinds.chunk_by(|left, right| left == right).map(|equal| (equal.len(), equal[0])).collect();
    counted.sort_by_key(|(count, kind)| (std::cmp::Reverse(*count), *kind));
    let mut names: Vec<String> =
        counted.iter().take(KINDS_NAMED).map(|(_, kind)| flow.kind_name(*kind).to_owned()).collect();
    if counted.len() > KINDS_NAMED {
        names.push(format!("{} more kinds", words::thousands((counted.len() - KINDS_NAMED) as u64)));
    }
    names
}

/// Tasks by group.
struct Groups {
    members: Vec<Vec<TaskId>>,
    group_of: Vec<u32>,
}

impl Groups {
    fn new(flow: &Workflow, count: usize, group: impl Fn(TaskId) -> u32) -> Groups {
        let group_of: Vec<u32> = flow.tasks().map(group).collect();
        let mut members = vec![Vec::new(); count];
        for task in flow.tasks().filter(|task| group_of[task.index()] != NONE) {
            members[group_of[task.index()] as usize].push(task);
        }
        Groups { members, group_of }
    }

    fn size(&self, group: usize) -> u64 {
        self.members[group].len() as u64
    }

    fn picture(&self, flow: &Workflow, name: &dyn Fn(usize) -> String, standing: Option<&[Standing]>) -> Picture {
        let mut picture = Picture::default();
        for (at, members) in self.members.iter().enumerate() {
            let tally = standing.map(|standing| Tally::of(members.iter().map(|task| standing[task.index()])));
            let mut details = Vec::new();
            if let [first, ..] = members[..] {
                details.push(format!("for example {}:", flow.name(first)));
                details.extend(task_details(flow, first));
            }
            picture.boxes.push(Box {
                name: name(at),
                count: self.size(at),
                remark: tally.as_ref().map(Tally::words).unwrap_or_default(),
                details,
                is_outside: false,
                standing: tally,
            });
        }
        for (from, to, links) in self.links(flow) {
            let (first, second) = (self.size(from), self.size(to));
            let label = links.words(first, second);
            if from == to {
                // A line from a box to itself says less than these words.
                let own = &mut picture.boxes[from];
                let text = format!("↻ {label}");
                own.details.push(format!("{} of these wait for others of these", words::thousands(links.targets)));
                own.remark = if own.remark.is_empty() { text } else { format!("{}, {text}", own.remark) };
                continue;
            }
            let details = format!(
                "{} of {} before {} of {}",
                words::thousands(links.sources),
                words::thousands(first),
                words::thousands(links.targets),
                words::thousands(second)
            );
            let details = vec![format!("{} → {}", name(from), name(to)), label.clone(), details];
            picture.arrows.push(Arrow { from, to, label, details, is_order_only: false });
        }
        picture.standing = standing.map(|_| {
            let all = picture.boxes.iter().filter_map(|shown| shown.standing.as_ref());
            all.fold(Tally::default(), |sum, tally| sum.plus(tally))
        });
        add_outside(&mut picture, outside::of(flow, &self.group_of, self.members.len()));
        picture
    }

    /// How groups are joined. Every edge is looked at once.
    fn links(&self, flow: &Workflow) -> Vec<(usize, usize, Links)> {
        let mut found = Vec::new();
        // What the group at hand is joined to; where it was noted that a task has been counted for it.
        let mut row: Vec<Option<Links>> = vec![None; self.members.len()];
        let mut last_source = vec![NONE; self.members.len()];
        let mut counted_for = vec![NONE; self.group_of.len()];
        for (from, members) in self.members.iter().enumerate() {
            let mut touched = Vec::new();
            for task in members {
                for child in flow.children(*task) {
                    let to = self.group_of[child.index()];
                    if to == NONE {
                        continue;
                    }
                    let links = row[to as usize].get_or_insert_with(|| {
                        touched.push(to as usize);
                        Links::default()
                    });
                    links.links += 1;
                    if last_source[to as usize] != task.0 {
                        last_source[to as usize] = task.0;
                        links.sources += 1;
                    }
                    if counted_for[child.index()] != from as u32 {
                        counted_for[child.index()] = from as u32;
                        links.targets += 1;
                    }
                }
            }
            touched.sort_unstable();
            found.extend(touched.into_iter().filter_map(|to| Some((from, to, row[to].take()?))));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles};

    fn arrows(text: &str) -> Vec<String> {
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let picture = of_kinds(&flow, &vec![true; flow.task_count()], None);
        let name = |at: usize| &picture.boxes[at].name;
        picture
            .arrows
            .iter()
            .map(|arrow| format!("{} → {}: {}", name(arrow.from), name(arrow.to), arrow.label))
            .collect()
    }

    #[test]
    fn kinds_are_joined_as_their_tasks_are() {
        let found = arrows(
            "tasks:
               a: { foreach: { i: 1..6 }, run: x, in: 'photos/{i}.jpg', out: 'a{i}' }
               b: { foreach: { i: 1..6 }, run: x, in: 'a{i}', out: 'b{i}' }
               c: { run: x, in: { all: b } }",
        );
        assert_eq!(found, ["a → b: 6 · one to one", "b → c: 6 · all to one", "photos/*.jpg → a: 6 · one to one"]);
    }

    #[test]
    fn kinds_that_wait_for_themselves_and_each_other() {
        let text = "tasks:
               a1: { kind: a, run: x, out: a1 }
               a2: { kind: a, run: x, in: a1, out: a2 }
               b1: { kind: b, run: x, in: a2, out: b1 }
               a3: { kind: a, run: x, in: b1 }";
        assert_eq!(arrows(text), ["a → b: 1", "b → a: 1"]);
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        assert_eq!(of_kinds(&flow, &[true; 4], None).boxes[0].remark, "↻ 1");
    }

    #[test]
    fn too_many_arrows_become_steps_too() {
        let mut text = "tasks:\n".to_owned();
        for at in 0..50 {
            let after: Vec<String> = (0..at).map(|before| format!("t{before}")).collect();
            text += &format!("  t{at}: {{ kind: k{at}, noop: true, after: [{}] }}\n", after.join(", "));
        }
        let flow = Workflow::parse(&text, Format::Yaml, "x", &NoFiles).unwrap();
        let picture = of_kinds(&flow, &[true; 50], None);
        assert!(picture.arrows.len() <= 120, "{}", picture.arrows.len());
        assert!(picture.notes[0].starts_with("50 kinds have 1,225 arrows"), "{:?}", picture.notes);
    }

    #[test]
    fn too_many_kinds_become_steps() {
        let mut text = "tasks:\n".to_owned();
        for at in 0..300 {
            let input = if at > 0 { format!("f{}", at - 1) } else { "start".to_owned() };
            text += &format!("  t{at}: {{ kind: k{at}, run: x, in: {input}, out: f{at} }}\n");
        }
        let flow = Workflow::parse(&text, Format::Yaml, "x", &NoFiles).unwrap();
        let picture = of_kinds(&flow, &[true; 300], None);
        let inside = picture.boxes.iter().filter(|shown| !shown.is_outside);
        assert_eq!(inside.clone().count(), 16);
        assert_eq!(inside.map(|shown| shown.count).sum::<u64>(), 300);
        assert_eq!(picture.boxes[0].name, "steps 1 to 19");
        assert!(picture.notes[0].contains("300 kinds"), "{:?}", picture.notes);
    }
}
