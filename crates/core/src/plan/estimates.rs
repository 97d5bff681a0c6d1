//! How long each task takes on each type of machine, and where that is known from.
//!
//! ```text
//!   given (a file) ──▶ learnt (earlier runs on such a machine) ──▶ derived: from another machine, or from an estimate, by speeds
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::catalogue::{Catalogue, Machine, TaskTime, Times, plain};
use super::instances::Need;
use super::table::{Row, Table};
use crate::ids::{ClassId, KindId, TaskId};
use crate::workflow::Workflow;

/// From where a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Somebody has written it down.
    Given,
    /// Earlier runs took so long.
    Learnt,
    /// It follows from another machine, or from what the workflow expects.
    Derived,
}

impl Source {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Source::Given => "given",
            Source::Learnt => "learnt",
            Source::Derived => "derived",
        }
    }
}

/// A time, and from where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// How long.
    pub time: TaskTime,
    /// From where.
    pub source: Source,
}

/// What is known beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Estimates<'a, 't> {
    /// Machines.
    pub catalogue: &'a Catalogue,
    /// What somebody has written down.
    pub given: &'t Times,
    /// What earlier runs took, by the names of the types.
    pub learnt: &'t Times,
    /// Whether a task is charged for the whole machine, as in the thesis, or for its share of the cores.
    pub charges_share: bool,
    /// Whether a task also takes as long as it takes to bring all that it reads: where that lies is not known before it is known what runs where.
    pub moves: bool,
}

impl Estimates<'_, '_> {
    /// How long tasks of a kind, or a single task, take on a machine that are expected to take so long on an ordinary one.
    pub fn of(&self, name: &str, machine: usize, expected: Option<Duration>) -> Option<Known> {
        let machines = &self.catalogue.machines;
        let given = |at: usize| self.given.of(name, &machines[at].name).map(|time| (time, Source::Given));
        let learnt = |at: usize| self.learnt.of(name, &machines[at].name).map(|time| (time, Source::Learnt));
        if let Some((time, source)) = given(machine).or_else(|| learnt(machine)) {
            return Some(Known { time, source });
        }
        let elsewhere = (0..machines.len()).find_map(|at| Some((at, given(at)?.0)));
        let elsewhere = elsewhere.or_else(|| (0..machines.len()).find_map(|at| Some((at, learnt(at)?.0))));
        let speed = machines[machine].speed;
        let time = match elsewhere {
            Some((at, time)) => scaled(time, machines[at].speed / speed),
            None => {
                let time_ns = u64::try_from(expected?.as_nanos()).unwrap_or(u64::MAX);
                scaled(TaskTime { time_ns, spread_ns: 0 }, 1.0 / speed)
            }
        };
        Some(Known { time, source: Source::Derived })
    }

    /// What a task of a class costs on a machine for so long.
    fn price(&self, flow: &Workflow, class: ClassId, machine: &Machine, time_ns: u64) -> u64 {
        let whole = machine.price.for_time(time_ns).0;
        if !self.charges_share {
            return whole;
        }
        let has = machine.capacity().cpus_milli;
        let takes = need(flow, class, machine).map_or(has, |need| need.cpus_milli);
        (u128::from(whole) * u128::from(takes)).div_ceil(u128::from(has.max(1))) as u64
    }
}

fn scaled(time: TaskTime, by: f64) -> TaskTime {
    let scaled = |ns: u64| if by == 1.0 { ns } else { (ns as f64 * by).round() as u64 };
    TaskTime { time_ns: scaled(time.time_ns), spread_ns: scaled(time.spread_ns) }
}

/// What tasks of a class take of a machine: the first of the ways in which they can run that it has room for. What has a name, a GPU or a licence, no type of machine is known to
/// have. A task takes a slot, and there are as many of these as cores, however little it computes.
pub fn need(flow: &Workflow, class: ClassId, machine: &Machine) -> Option<Need> {
    let ways = flow.alternatives(class).filter(|demand| flow.demand(*demand).named.is_empty());
    let asked = ways.map(|demand| flow.resources(demand));
    let mut needs =
        asked.map(|asked| Need { cpus_milli: asked.cpus_milli.max(1000), memory_bytes: asked.memory_bytes });
    needs.find(|need| need.fits_in(machine.capacity()))
}

/// Tasks of which something is said by their own name: what is said of their kinds does not count for them. A name that is a kind's is not a task's.
pub fn named<'t>(flow: &Workflow, given: &'t Times) -> BTreeMap<TaskId, &'t str> {
    let kinds: BTreeSet<String> = (0..flow.kind_count()).map(|kind| plain(flow.kind_name(KindId::at(kind)))).collect();
    let names = given.names().map(|name| (plain(name), name));
    let wanted: BTreeMap<String, &str> = names.filter(|(plain, _)| !kinds.contains(plain)).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    flow.tasks().filter_map(|task| Some((task, *wanted.get(&plain(&flow.name(task)))?))).collect()
}

/// What tasks with the same table have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    kind: KindId,
    /// The task itself, if something is said of it alone.
    task: Option<TaskId>,
    class: ClassId,
    expected: Option<Duration>,
    /// How much they read, if that counts.
    bytes: u64,
}

/// Tasks of which nobody knows how long they take, or that can be planned nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Kinds without a time.
    pub timeless: Vec<String>,
    /// Kinds of which a task asks for more than any machine has.
    pub too_large: Vec<String>,
    /// Kinds of which a task runs only with something that has a name, such as GPUs.
    pub named: Vec<String>,
}

/// What is known of tasks with the same table.
#[derive(Clone, Debug)]
pub struct TimesOf {
    /// Their kind.
    pub kind: KindId,
    /// The task, if something is said of it alone.
    pub task: Option<TaskId>,
    /// How long they compute on each machine; nothing where they do not fit.
    pub known: Vec<Option<Known>>,
}

/// The tables of a workflow's tasks.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Tables that differ.
    pub tables: Vec<Table>,
    /// For each task its table.
    pub table_of: Vec<u32>,
    /// For each table what is known.
    pub rows: Vec<TimesOf>,
}

impl Tables {
    /// Works out the tables.
    pub fn of(flow: &Workflow, estimates: &Estimates<'_, '_>) -> Result<Tables, Unknown> {
        let mut made: BTreeMap<Alike, u32> = BTreeMap::new();
        let (mut tables, mut unknown) = (Tables::default(), Unknown::default());
        let named = named(flow, estimates.given);
        for task in flow.tasks() {
            let key = Alike {
                kind: flow.kind(task),
                task: named.contains_key(&task).then_some(task),
                class: flow.class(task, 1),
                expected: expected(flow, task),
                bytes: if estimates.moves { read_bytes(flow, task) } else { 0 },
            };
            let number = match made.get(&key) {
                Some(number) => *number,
                None => {
                    let number = tables.add(flow, estimates, key, &mut unknown);
                    made.insert(key, number);
                    number
                }
            };
            tables.table_of.push(number);
        }
        for kinds in [&mut unknown.timeless, &mut unknown.too_large, &mut unknown.named] {
            kinds.sort_unstable();
            kinds.dedup();
        }
        if unknown == Unknown::default() { Ok(tables) } else { Err(unknown) }
    }

    fn add(
        &mut self,
        flow: &Workflow,
        estimates: &Estimates<'_, '_>,
        Alike { kind, task, class, expected, bytes }: Alike,
        unknown: &mut Unknown,
    ) -> u32 {
        let machines = &estimates.catalogue.machines;
        let name = task.map_or_else(|| flow.kind_name(kind).to_owned(), |task| flow.name(task));
        let fitting: Vec<bool> = machines.iter().map(|machine| need(flow, class, machine).is_some()).collect();
        let known: Vec<Option<Known>> = (0..machines.len())
            .map(|machine| estimates.of(&name, machine, expected).filter(|_| fitting[machine]))
            .collect();
        let row = |(machine, known): (usize, &Option<Known>)| {
            let time = known.as_ref()?.time.time_ns.saturating_add(machines[machine].moving(bytes));
            let price = estimates.price(flow, class, &machines[machine], time);
            Some(Row { time, price, machine: machine as u16 })
        };
        let Some(table) = Table::of(known.iter().enumerate().filter_map(row)) else {
            let needs_names = flow.alternatives(class).all(|demand| !flow.demand(demand).named.is_empty());
            let of = match fitting.contains(&true) {
                true => &mut unknown.timeless,
                false if needs_names => &mut unknown.named,
                false => &mut unknown.too_large,
            };
            of.push(name);
            return 0;
        };
        self.tables.push(table);
        self.rows.push(TimesOf { kind, task, known });
        self.tables.len() as u32 - 1
    }
}

/// How long a task is expected to take on an ordinary machine, as far as the workflow says so.
fn expected(flow: &Workflow, task: TaskId) -> Option<Duration> {
    let built_in = flow.is_noop(task).then_some(Duration::ZERO);
    flow.estimated_time(task).or_else(|| flow.sleep_time(task)).or(built_in)
}

/// How much a task reads, as far as anybody knows.
fn read_bytes(flow: &Workflow, task: TaskId) -> u64 {
    flow.inputs(task).filter_map(|object| flow.expected_size(object)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{read_machines, read_times};
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn given_before_learnt_before_derived() {
        let catalogue = read_machines(
            "machines: { a: { price: 1 }, b: { price: 3, speed: 2, cpus: 4 }, c: { price: 9, speed: 4, memory: 1MB } }",
            "m.yaml",
        );
        let catalogue = catalogue.unwrap();
        let times = |text| read_times(text, "t.yaml").unwrap();
        let (given, learnt) =
            (times("times: { x: { a: 8s } }"), times("times: { x: { a: 7s, b: { time: 5s, spread: 1s } } }"));
        let estimates =
            Estimates { catalogue: &catalogue, given: &given, learnt: &learnt, charges_share: false, moves: false };
        let known = |kind, machine| {
            let known = estimates.of(kind, machine, Some(Duration::from_secs(6)))?;
            Some((known.time.time_ns / 1_000_000_000, known.source))
        };
        assert_eq!(
            [0, 1, 2].map(|at| known("x", at)),
            [Some((8, Source::Given)), Some((5, Source::Learnt)), Some((2, Source::Derived))]
        );
        assert_eq!(known("y", 1), Some((3, Source::Derived)), "by its estimate");
        let text = "tasks:\n  x: { noop: true, memory: 2MB }\n  y: { run: q, estimate: { time: 6s }, cpus: 2 }\n";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let tables = Tables::of(&flow, &estimates).unwrap();
        let rows = |table: usize| tables.tables[table].rows().iter().map(|row| row.machine).collect::<Vec<u16>>();
        assert_eq!((rows(0), rows(1)), (vec![0, 1], vec![1]), "memory of one, cores of two");
        let own = times("times: { z: { a: 8s }, 'z:2': { b: 30s }, 'z:3': { a: 1s } }");
        let text = "tasks: { z: { foreach: { i: 1..3 }, run: 'q {i}' } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let tables = Tables::of(&flow, &Estimates { given: &own, ..estimates }).unwrap();
        let seconds = |task: usize| {
            let known = &tables.rows[tables.table_of[task] as usize].known;
            known.iter().flatten().map(|known| known.time.time_ns / 1_000_000_000).collect::<Vec<u64>>()
        };
        assert_eq!([0, 1, 2].map(seconds), [[8, 4, 2], [60, 30, 15], [1, 0, 0]], "a task's own times count first");
        let text = "tasks: { z: { run: q }, w: { run: q, cpus: 99, estimate: { time: 1s } }, g: { run: q, gpus: 1, estimate: { time: 1s } } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let unknown = Tables::of(&flow, &estimates).unwrap_err();
        let [timeless, too_large, named] = ["z", "w", "g"].map(|kind| vec![kind.to_owned()]);
        assert_eq!(unknown, Unknown { timeless, too_large, named });
    }

    #[test]
    fn a_task_is_named_as_kinds_are() {
        let catalogue = read_machines("machines: { a: { price: 1 } }", "m.yaml").unwrap();
        let given = read_times("times: { s_z: { a: 8s }, 's.z:2': { a: 30s }, 's-y:2': { a: 1s } }", "t.yaml").unwrap();
        let text = "tasks: { s-z: { foreach: { i: 1..3 }, run: 'q {i}' } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let learnt = Times::default();
        let estimates =
            Estimates { catalogue: &catalogue, given: &given, learnt: &learnt, charges_share: false, moves: false };
        let tables = Tables::of(&flow, &estimates).unwrap();
        let seconds = |task: usize| tables.tables[tables.table_of[task] as usize].row(0).time / 1_000_000_000;
        assert_eq!([0, 1, 2].map(seconds), [8, 30, 8]);
    }

    #[test]
    fn a_share_is_of_the_cores_that_a_task_would_take_there() {
        let machines = "machines: { one: { price: 1 }, four: { price: 4, cpus: 4 }, eight: { price: 8, cpus: 8 } }";
        let catalogue = read_machines(machines, "m.yaml").unwrap();
        let text = "tasks:\n  least: { run: q, estimate: { time: 1h }, cpus: 0.1 }\n  \
                    some: { run: q, estimate: { time: 1h }, resources: [{ gpus: 1 }, { cpus: 6 }, { cpus: 2 }] }\n";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let nothing = Times::default();
        let prices = |charges_share| {
            let estimates =
                Estimates { catalogue: &catalogue, given: &nothing, learnt: &nothing, charges_share, moves: false };
            [0, 1].map(|task| {
                let class = flow.class(TaskId(task), 1);
                let price = |machine: &Machine| estimates.price(&flow, class, machine, 3_600_000_000_000);
                catalogue.machines.iter().map(price).map(|price| price / 1_000_000_000_000).collect::<Vec<u64>>()
            })
        };
        assert_eq!(prices(false), [vec![1, 4, 8], vec![1, 4, 8]]);
        // A slot is a core, a GPU is nowhere, and six cores are there only on the last.
        assert_eq!(prices(true), [vec![1, 1, 1], vec![1, 2, 6]]);
    }
}
