//! The search: the most promising draft is looked around next.

use std::collections::BTreeSet;

use super::super::instances::{Problem, Schedule, pack};
use super::super::planner::{Infeasible, Limits};
use super::drafts::{Draft, TARGETS, beside, first_fleets, part_of};
use super::{Effort, most};

/// A draft, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The draft.
    pub draft: Draft,
    /// What its schedule costs.
    pub cost: u64,
    /// How long it takes.
    pub makespan: u64,
    is_looked_around: bool,
}

/// What is beyond a limit counts so many times: a draft a little beyond it is worth a look around, one far beyond it is not.
const BEYOND: f64 = 4.0;
/// Without a limit, schedules for so many budgets are looked for in turn.
const BUDGETS: u64 = 12;

/// Drafts that were tried.
#[derive(Debug)]
pub struct Search<'p> {
    problem: &'p Problem<'p>,
    guesses: &'p [Vec<u16>],
    limits: Limits,
    effort: Effort,
    most: Vec<u32>,
    tried: BTreeSet<Draft>,
    /// All that gave a schedule.
    pub entries: Vec<Entry>,
}

impl<'p> Search<'p> {
    /// A search that has not begun.
    pub fn new(problem: &'p Problem<'p>, guesses: &'p [Vec<u16>], limits: Limits, effort: Effort) -> Search<'p> {
        let most = most(problem.catalogue, problem.task_count());
        Search { problem, guesses, limits, effort, most, tried: BTreeSet::new(), entries: Vec::new() }
    }

    /// The schedule of a draft.
    pub fn schedule(&self, draft: &Draft) -> Option<Schedule> {
        let types = draft.guess.map(|guess| self.guesses[guess as usize].as_slice());
        pack(self.problem, &draft.recipe, types)
    }

    /// Tries a draft, if it was not tried before; says what it takes.
    fn attempt(&mut self, draft: Draft) -> Option<u64> {
        if !self.tried.insert(draft.clone()) {
            return None;
        }
        let schedule = self.schedule(&draft)?;
        let (cost, makespan) = (schedule.cost.0, schedule.makespan);
        self.entries.push(Entry { draft, cost, makespan, is_looked_around: false });
        Some(makespan)
    }

    fn may_try(&self) -> bool {
        self.may_try_after(self.tried.len())
    }

    /// Others may take half of what may be tried.
    fn may_guess(&self) -> bool {
        self.may_try_after(self.tried.len().saturating_mul(2))
    }

    fn may_try_after(&self, tried: usize) -> bool {
        tried < self.effort.schedules && tried.saturating_mul(self.problem.task_count()) < self.effort.tasks
    }

    /// Tries what a search begins with. One draft at least, whatever the effort.
    pub fn seed(&mut self, may_go_on: &mut dyn FnMut() -> bool) {
        let fastest = self.attempt(Draft::earliest(self.most.clone())).unwrap_or(0);
        let all = self.most.clone();
        let targets = TARGETS.iter().map(|part| part_of(fastest, *part)).chain(self.limits.deadline);
        let mut drafts: Vec<Draft> = targets.map(|target| Draft::cheapest(all.clone(), target, None)).collect();
        drafts.extend(first_fleets(&self.most).into_iter().map(Draft::earliest));
        for draft in drafts {
            if !self.may_try() || !may_go_on() {
                return;
            }
            self.attempt(draft);
        }
        self.pack_guesses(may_go_on);
    }

    /// Tries what planners of types would do.
    pub fn pack_guesses(&mut self, may_go_on: &mut dyn FnMut() -> bool) {
        for guess in 0..self.guesses.len() as u32 {
            let mut earliest = Draft::earliest(self.most.clone());
            earliest.guess = Some(guess);
            let Some(makespan) = self.attempt(earliest) else { continue };
            let targets = TARGETS.iter().map(|part| part_of(makespan, *part)).chain(self.limits.deadline);
            for target in targets {
                if !self.may_guess() || !may_go_on() {
                    return;
                }
                self.attempt(Draft::cheapest(self.most.clone(), target, Some(guess)));
            }
        }
    }

    /// Looks around the most promising drafts, one after the other.
    pub fn climb(&mut self, may_go_on: &mut dyn FnMut() -> bool) {
        let mut turn = 0;
        while self.may_try() && may_go_on() {
            let Some(at) = self.most_promising(turn) else { return };
            turn += 1;
            self.entries[at].is_looked_around = true;
            let draft = self.entries[at].draft.clone();
            let Some(schedule) = self.schedule(&draft) else { continue };
            for draft in beside(&draft, &schedule, &self.most, self.limits.deadline) {
                if !self.may_try() || !may_go_on() {
                    return;
                }
                self.attempt(draft);
            }
        }
    }

    /// The best draft that was not looked around.
    fn most_promising(&self, turn: u64) -> Option<usize> {
        let limits = if self.limits == Limits::default() { self.limits_in_turn(turn) } else { self.limits };
        let open = self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_looked_around);
        let scores = open.map(|(at, entry)| (score(entry, limits), at));
        scores.min_by(|(one, at), (other, place)| one.total_cmp(other).then(at.cmp(place))).map(|(_, at)| at)
    }

    /// Where there is no limit, all of the curve is wanted: budgets from the least to the most that anything costs, one after the other.
    fn limits_in_turn(&self, turn: u64) -> Limits {
        let costs = self.entries.iter().map(|entry| entry.cost);
        let fastest =
            self.entries.iter().min_by_key(|entry| (entry.makespan, entry.cost)).map_or(0, |entry| entry.cost);
        let least = costs.min().unwrap_or(0).max(1);
        // Each so many times the one before, since what costs little is what most people want to know about.
        let ratio = (fastest.max(least) as f64 / least as f64).powf((turn % BUDGETS) as f64 / (BUDGETS - 1) as f64);
        Limits { budget: Some((least as f64 * ratio) as u64), deadline: None }
    }

    /// The best schedule that keeps its limits.
    pub fn best(&self) -> Result<Schedule, Infeasible> {
        self.best_for(self.limits)
    }

    /// The best schedule so far that keeps some limits.
    pub fn best_for(&self, limits: Limits) -> Result<Schedule, Infeasible> {
        let Limits { budget, deadline } = limits;
        let keeps = |entry: &&Entry| {
            budget.is_none_or(|budget| entry.cost <= budget)
                && deadline.is_none_or(|deadline| entry.makespan <= deadline)
        };
        let key = |entry: &&Entry| match deadline {
            Some(_) if budget.is_none() => (entry.cost, entry.makespan),
            _ => (entry.makespan, entry.cost),
        };
        match self.entries.iter().filter(keeps).min_by_key(key) {
            Some(entry) => Ok(self.schedule(&entry.draft).expect("it gave a schedule before")),
            None => Err(self.infeasible(limits)),
        }
    }

    fn infeasible(&self, Limits { budget, deadline }: Limits) -> Infeasible {
        let cheapest = self.entries.iter().map(|entry| entry.cost).min().unwrap_or(u64::MAX);
        let fastest = self.entries.iter().map(|entry| entry.makespan).min().unwrap_or(u64::MAX);
        match (budget, deadline) {
            (Some(budget), _) if cheapest > budget => Infeasible::Budget { least: cheapest },
            (_, Some(deadline)) if fastest > deadline => Infeasible::Deadline { least: fastest },
            (budget, deadline) => {
                let in_time = self.entries.iter().filter(|entry| deadline.is_none_or(|limit| entry.makespan <= limit));
                let for_money = self.entries.iter().filter(|entry| budget.is_none_or(|limit| entry.cost <= limit));
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
    let wanted = match limits {
        Limits { budget: None, deadline: Some(_) } => cost,
        _ => makespan,
    };
    wanted * (1.0 + BEYOND * too_much)
}
