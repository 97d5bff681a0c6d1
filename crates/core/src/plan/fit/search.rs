//! The search: the most promising draft is looked around next.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::frontier::{Point, useful};
use super::super::instances::{Problem, Schedule, pack, revise};
use super::super::planner::{Infeasible, Limits};
use super::drafts::{Draft, FINE_TARGETS, TARGETS, beside, first_fleets, part_of};
use super::{Effort, most};

/// A draft, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The draft.
    pub draft: Draft,
    /// Whether the schedule is what a second look has made of it.
    pub is_revised: bool,
    /// What its schedule costs.
    pub cost: u64,
    /// How long it takes.
    pub makespan: u64,
    /// How many instances of each type it uses.
    used: Vec<u32>,
    is_looked_around: bool,
}

impl Entry {
    fn point(&self) -> Point {
        Point { cost: self.cost, makespan: self.makespan }
    }
}

/// What is beyond a limit counts so many times: a draft a little beyond it is worth a look around, one far beyond it is not.
const BEYOND: f64 = 4.0;
/// So often the time that a budget pays for is halved.
const HALVES: u32 = 16;
/// Without a limit, schedules for so many budgets and deadlines are looked for in turn.
const BETWEEN: u64 = 12;
/// What is beyond the best so far is aimed at by these parts of what it takes or costs, in hundredths.
const BEYOND_THE_BEST: [u64; 5] = [97, 90, 80, 65, 50];

/// Whoever has any time has this many times as much as the slowest schedule takes.
const ANY_TIME: u64 = 4;
/// So many types of machines, the cheapest first, are tried one machine of each before anybody is asked whether there is time: what is cheap is not to be called dear only
/// because there was none.
const SURELY_TRIED: usize = 4;

/// What a search knows, whatever it is for.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What planners of types would do.
    guesses: Rc<[Vec<u16>]>,
    tried: BTreeSet<Draft>,
    /// How many places were looked at.
    looks: usize,
    /// All that gave a schedule.
    entries: Vec<Entry>,
}

/// Drafts that were tried.
#[derive(Clone, Debug)]
pub struct Search<'p> {
    problem: &'p Problem<'p>,
    /// How much may be tried in all.
    effort: Effort,
    most: Vec<u32>,
    known: Known,
}

impl<'p> Search<'p> {
    /// A search that has not begun, and need not end.
    pub fn new(problem: &'p Problem<'p>, guesses: &[Vec<u16>]) -> Search<'p> {
        Search::again(problem, Known { guesses: guesses.into(), ..Known::default() })
    }

    /// A search that goes on from what is known, and need not end.
    pub(super) fn again(problem: &'p Problem<'p>, known: Known) -> Search<'p> {
        let most = most(problem.catalogue, problem.task_count());
        Search { problem, effort: Effort::NO_END, most, known }
    }

    /// What it knows.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// All that gave a schedule.
    pub fn entries(&self) -> &[Entry] {
        &self.known.entries
    }

    /// From now on, so much more may be tried.
    pub(super) fn allow(&mut self, more: Effort) {
        self.effort = Effort {
            schedules: self.known.tried.len().saturating_add(more.schedules),
            looks: self.known.looks.saturating_add(more.looks),
        };
    }

    /// The schedule of an entry.
    fn schedule(&self, entry: &Entry) -> Option<Schedule> {
        let schedule = self.packed(&entry.draft, &mut 0, &mut || true)?;
        match entry.is_revised {
            false => Some(schedule),
            true => self.revised(&entry.draft, &schedule, &mut 0, &mut || true),
        }
    }

    fn packed(&self, draft: &Draft, looks: &mut usize, may_go_on: &mut dyn FnMut() -> bool) -> Option<Schedule> {
        pack(self.problem, &draft.recipe, self.types(draft), looks, may_go_on)
    }

    fn revised(
        &self,
        draft: &Draft,
        schedule: &Schedule,
        looks: &mut usize,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Schedule> {
        revise(self.problem, &draft.recipe, self.types(draft), schedule, looks, may_go_on)
    }

    fn types(&self, draft: &Draft) -> Option<&[u16]> {
        draft.guess.map(|guess| self.known.guesses[guess as usize].as_slice())
    }

    /// Tries a draft, if it was not tried before, and takes a second look at what comes of it; says what it takes at first.
    fn attempt(&mut self, draft: Draft, may_go_on: &mut dyn FnMut() -> bool) -> Option<u64> {
        if !self.known.tried.insert(draft.clone()) {
            return None;
        }
        let mut looks = 0;
        let first = self.packed(&draft, &mut looks, may_go_on);
        let second = first.as_ref().and_then(|first| self.revised(&draft, first, &mut looks, may_go_on));
        self.known.looks = self.known.looks.saturating_add(looks);
        // Whoever had no time for it has not tried it.
        if first.is_none() && !may_go_on() {
            self.known.tried.remove(&draft);
        }
        let makespan = first.as_ref().map(|first| first.makespan);
        for (schedule, is_revised) in [(first, false), (second, true)] {
            let Some(schedule) = schedule else { continue };
            self.known.entries.push(Entry {
                draft: draft.clone(),
                is_revised,
                cost: schedule.cost.0,
                makespan: schedule.makespan,
                used: schedule.fleet(self.most.len()),
                is_looked_around: false,
            });
        }
        makespan
    }

    fn may_try(&self) -> bool {
        self.may_try_after(1)
    }

    /// Others may take half of what may be tried.
    fn may_guess(&self) -> bool {
        self.may_try_after(2)
    }

    /// Whether there is effort left if all that was tried counts so many times.
    fn may_try_after(&self, times: usize) -> bool {
        self.known.tried.len().saturating_mul(times) < self.effort.schedules
            && self.known.looks.saturating_mul(times) < self.effort.looks
    }

    /// Tries what a search begins with: some of it whatever the effort, and without asking anybody.
    pub(super) fn seed(&mut self, may_go_on: &mut dyn FnMut() -> bool) {
        for fleet in self.single_machines() {
            self.attempt(Draft::earliest(fleet), &mut || true);
        }
        // All machines that there are take longest to look at. If tasks fit on nothing less, there has to be time for it.
        let (all, has_none) = (self.most.clone(), self.known.entries.is_empty());
        let Some(fastest) = self.attempt(Draft::earliest(all.clone()), &mut || has_none || may_go_on()) else { return };
        let targets = FINE_TARGETS.iter().map(|part| part_of(fastest, *part));
        let mut drafts: Vec<Draft> = targets.map(|target| Draft::cheapest(all.clone(), target, None)).collect();
        drafts.extend(first_fleets(&self.most).into_iter().map(Draft::earliest));
        for draft in drafts {
            if !self.may_try() || !may_go_on() {
                return;
            }
            self.attempt(draft, may_go_on);
        }
        self.pack_guesses(None, may_go_on);
    }

    /// One machine of each of the cheapest types.
    fn single_machines(&self) -> Vec<Vec<u32>> {
        let machines = &self.problem.catalogue.machines;
        let mut types: Vec<usize> = (0..self.most.len()).filter(|machine| self.most[*machine] > 0).collect();
        types.sort_by_key(|machine| machines[*machine].price);
        let one = |of: usize| (0..self.most.len()).map(|machine| u32::from(machine == of)).collect();
        types.into_iter().take(SURELY_TRIED).map(one).collect()
    }

    /// Tries what aims at limits: to be done just by a deadline, or as soon as there is enough money for.
    pub(super) fn aim(&mut self, limits: Limits, may_go_on: &mut dyn FnMut() -> bool) {
        let all = self.most.clone();
        if let Some(deadline) = limits.deadline {
            let guesses = (0..self.known.guesses.len() as u32).map(Some);
            for guess in std::iter::once(None).chain(guesses) {
                if !self.may_try() || !may_go_on() {
                    return;
                }
                self.attempt(Draft::cheapest(all.clone(), deadline, guess), may_go_on);
            }
        }
        let Some(budget) = limits.budget else { return };
        let times = || self.known.entries.iter().map(|entry| entry.makespan);
        let (Some(mut too_early), Some(mut late_enough)) = (times().min(), times().max()) else { return };
        for _ in 0..HALVES {
            let middle = too_early + (late_enough - too_early) / 2;
            if middle == too_early || !self.may_try() || !may_go_on() {
                return;
            }
            let draft = Draft::cheapest(all.clone(), middle, None);
            self.attempt(draft.clone(), may_go_on);
            let cost = self.known.entries.iter().rev().find(|entry| entry.draft == draft).map(|entry| entry.cost);
            if cost.is_some_and(|cost| cost <= budget) { late_enough = middle } else { too_early = middle }
        }
    }

    /// Tries what planners of types would do, perhaps for a deadline.
    pub fn pack_guesses(&mut self, deadline: Option<u64>, may_go_on: &mut dyn FnMut() -> bool) {
        for guess in 0..self.known.guesses.len() as u32 {
            let mut earliest = Draft::earliest(self.most.clone());
            earliest.guess = Some(guess);
            let known = self.known.entries.iter().find(|entry| entry.draft == earliest).map(|entry| entry.makespan);
            let Some(makespan) = known.or_else(|| self.attempt(earliest, may_go_on)) else { continue };
            let targets = TARGETS.iter().map(|part| part_of(makespan, *part)).chain(deadline);
            for target in targets {
                if !self.may_guess() || !may_go_on() {
                    return;
                }
                self.attempt(Draft::cheapest(self.most.clone(), target, Some(guess)), may_go_on);
            }
        }
    }

    /// Looks around the most promising drafts, one after the other, each until something better is found.
    pub(super) fn climb(&mut self, limits: Limits, may_go_on: &mut dyn FnMut() -> bool) {
        let mut turn = 0;
        while self.may_try() && may_go_on() {
            let aim = if limits == Limits::default() { self.in_turn(turn) } else { self.or_beyond(limits, turn) };
            turn += 1;
            let Some(at) = self.most_promising(aim) else { return };
            let is_all_seen = self.look_around(at, aim, may_go_on);
            self.known.entries[at].is_looked_around = is_all_seen;
        }
    }

    /// Tries what is beside an entry, until something is better for an aim. Says whether all of it was tried.
    fn look_around(&mut self, at: usize, aim: Limits, may_go_on: &mut dyn FnMut() -> bool) -> bool {
        let entry = &self.known.entries[at];
        let to_beat = score(entry, aim);
        for other in beside(&entry.draft, &entry.used, entry.makespan, &self.most, aim.deadline) {
            if !self.may_try() || !may_go_on() {
                return false;
            }
            let known = self.known.entries.len();
            self.attempt(other, may_go_on);
            if self.known.entries[known..].iter().any(|entry| score(entry, aim) < to_beat) {
                return false;
            }
        }
        true
    }

    /// The best draft that was not looked around.
    fn most_promising(&self, limits: Limits) -> Option<usize> {
        let open = self.known.entries.iter().enumerate().filter(|(_, entry)| !entry.is_looked_around);
        let scores = open.map(|(at, entry)| (score(entry, limits), at));
        scores.min_by(|(one, at), (other, place)| one.total_cmp(other).then(at.cmp(place))).map(|(_, at)| at)
    }

    /// Where there is no limit, all of the curve is wanted: budgets from the least to the most that anything costs, and deadlines in between, one after the other.
    fn in_turn(&self, turn: u64) -> Limits {
        let [fastest, cheapest] = [false, true].map(|is_for_cost| {
            let key =
                |entry: &&Entry| if is_for_cost { (entry.cost, entry.makespan) } else { (entry.makespan, entry.cost) };
            self.known.entries.iter().min_by_key(key).map_or((1, 1), |entry| (entry.cost.max(1), entry.makespan.max(1)))
        });
        // What costs little is what most people want to know about: steps begin small, and become larger as their squares do. In whole numbers, which are the same on every machine.
        let (part, whole) = (u128::from(turn / 2 % BETWEEN).pow(2), u128::from(BETWEEN - 1).pow(2));
        let between = |least: u64, most: u64| {
            let beyond = u128::from(most.saturating_sub(least)) * part / whole;
            Some(least.saturating_add(beyond as u64))
        };
        match turn % 2 {
            0 => Limits { budget: between(cheapest.0, fastest.0), deadline: None },
            _ => Limits { budget: None, deadline: between(fastest.1, cheapest.1) },
        }
    }

    /// What is better than the best so far is looked for from both sides: within the limits, and as the cheapest of those that are faster, or the fastest of those that are cheaper.
    fn or_beyond(&self, limits: Limits, turn: u64) -> Limits {
        let best = self.best_entry(limits).filter(|_| turn % 2 == 1);
        let part = BEYOND_THE_BEST[(turn / 2) as usize % BEYOND_THE_BEST.len()];
        match best {
            None => limits,
            Some(best) if limits.is_for_cost() => Limits { budget: Some(part_of(best.cost, part)), ..limits },
            Some(best) => Limits { budget: None, deadline: Some(part_of(best.makespan, part)) },
        }
    }

    fn best_entry(&self, limits: Limits) -> Option<&Entry> {
        let key = |entry: &&Entry| match limits.is_for_cost() {
            true => (entry.cost, entry.makespan),
            false => (entry.makespan, entry.cost),
        };
        self.known.entries.iter().filter(|entry| limits.keeps(entry.cost, entry.makespan)).min_by_key(key)
    }

    /// The least time that anything takes.
    pub(super) fn least_time(&self) -> u64 {
        self.known.entries.iter().map(|entry| entry.makespan).min().unwrap_or(0)
    }

    /// More time than anything takes.
    pub(super) fn any_time(&self) -> u64 {
        self.known.entries.iter().map(|entry| entry.makespan).max().unwrap_or(0).saturating_mul(ANY_TIME)
    }

    /// The least that anything costs.
    pub(super) fn least_cost(&self) -> u64 {
        self.known.entries.iter().map(|entry| entry.cost).min().unwrap_or(0)
    }

    /// The curve of cost and makespan of all schedules so far.
    pub(super) fn points(&self) -> Vec<Point> {
        useful(self.known.entries.iter().map(Entry::point).collect())
    }

    /// The best schedule so far that keeps some limits.
    pub fn best_for(&self, limits: Limits) -> Result<Schedule, Infeasible> {
        match self.best_entry(limits) {
            Some(entry) => Ok(self.schedule(entry).expect("it gave a schedule before")),
            None => Err(self.infeasible(limits)),
        }
    }

    fn infeasible(&self, Limits { budget, deadline }: Limits) -> Infeasible {
        let entries = &self.known.entries;
        let cheapest = entries.iter().map(|entry| entry.cost).min().unwrap_or(u64::MAX);
        let fastest = entries.iter().map(|entry| entry.makespan).min().unwrap_or(u64::MAX);
        match (budget, deadline) {
            (Some(budget), _) if cheapest > budget => Infeasible::Budget { least: cheapest },
            (_, Some(deadline)) if fastest > deadline => Infeasible::Deadline { least: fastest },
            (budget, deadline) => {
                let in_time = entries.iter().filter(|entry| deadline.is_none_or(|limit| entry.makespan <= limit));
                let for_money = entries.iter().filter(|entry| budget.is_none_or(|limit| entry.cost <= limit));
                Infeasible::Both {
                    cost_in_time: in_time.map(|entry| entry.cost).min().unwrap_or(u64::MAX),
                    time_for_budget: for_money.map(|entry| entry.makespan).min().unwrap_or(u64::MAX),
                }
            }
        }
    }
}

/// How good a draft is: less is better.
fn score(entry: &Entry, limits: Limits) -> f64 {
    let (cost, makespan) = (entry.cost as f64, entry.makespan as f64);
    let beyond = |is: f64, limit: Option<u64>| limit.map_or(0.0, |limit| (is / limit.max(1) as f64 - 1.0).max(0.0));
    let too_much = beyond(cost, limits.budget) + beyond(makespan, limits.deadline);
    let wanted = if limits.is_for_cost() { cost } else { makespan };
    wanted * (1.0 + BEYOND * too_much)
}
