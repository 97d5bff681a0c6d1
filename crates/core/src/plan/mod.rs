//! Plan: which type of machine each task gets, so that a run ends soonest for a budget or costs least for a deadline.
//!
//! ```text
//!   workflow + machines + times ──▶ Prepared: Stages (tasks with time-price tables) ──▶ planners of types ──▶ for each task its row
//!                                        └─ Problem (tasks, needs, data) ──▶ fit, or any planner's types and the packer ──▶ instances, and when each task runs on which
//! ```
//!
//! A planner is a function of what is prepared and of limits ([`planner`]). One file each: those of Wylie's thesis ([`greedy`], [`greedy_stage`], [`optimal`], [`progress`]), those
//! that it reviews ([`exchange`], [`critical_greedy`], [`ggb`], [`b_rate`], [`b_swap`], [`ic_pcp`]), to be compared with, and [`fit`], which it leaves for later. All but `fit` count on as many
//! machines as anyone could wish, each for as long as a task takes; [`rented`] puts what they plan on machines as they can really be had.

pub mod b_rate;
pub mod b_swap;
pub mod bound;
pub mod catalogue;
mod climb;
pub mod critical_greedy;
pub mod estimates;
pub mod exchange;
pub mod extremes;
pub mod file;
pub mod fit;
pub mod frontier;
pub mod ggb;
pub mod graph;
pub mod greedy;
pub mod greedy_stage;
pub mod ic_pcp;
pub mod instances;
pub mod joined;
pub mod layout;
pub mod money;
pub mod optimal;
pub mod planner;
pub mod prepared;
pub mod progress;
pub mod remedy;
pub mod rented;
pub mod stages;
pub mod table;

pub use climb::{Climbed, Offer, Raised, Step};
pub use money::Money;

#[cfg(test)]
mod tests;
