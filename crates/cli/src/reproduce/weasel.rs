//! The experiments of the paper on Weasel: a node finds out by itself how many tasks of a stage of Montage to run at once.
//!
//! Its stages stand for two kinds of tasks: one that computes and one that reads through a network of which no more than 60 % can be used. Both
//! are run with every fixed number at once, which somebody would have to know beforehand, and with policies that learn it: on modelled nodes,
//! and for real on this machine, where tasks burn cores or read from a server of a limited rate.

mod case;
mod real;
mod server;
mod stages;

use self::case::Case;
use super::publication::{Experiment, Publication};
use super::runner;

/// What came out of the runs of an experiment.
type Results = runner::Results<Case>;

/// The publication.
pub const WEASEL: Publication<Case> = Publication {
    name: "weasel",
    title: "The experiments of Weasel, reproduced",
    about: "Two stages of Montage as synthetic tasks: mProjectPP, which computes, and mDiffFit, which reads through a network of which 60\u{a0}% can be \
            used. Each is run with every fixed number of tasks at once from 1 to four times the cores, and with policies that find out the \
            number by themselves",
    beside: "Rows that begin with Throng are not in the paper: Throng's own policy, and Weasel with a measuring interval of half a second instead of five.",
    quick: "shorter runs, and fewer numbers",
    experiments: &[
        Experiment { name: "simulated", only_if_named: false, cases: stages::simulated, tell: stages::tell_simulated },
        Experiment { name: "real", only_if_named: true, cases: stages::real, tell: stages::tell_real },
    ],
};
