//! The experiments of Wylie's thesis (*A scheduling algorithm for Hadoop MapReduce workflows with budget constraints in the heterogeneous cloud*, 2015): workflows of
//! MapReduce jobs are planned for eight budgets and executed on the thesis's cluster, here a modelled one.

mod case;
mod executed;
mod planners;

use self::case::Case;
use super::publication::{Experiment, Publication};
use super::runner;

/// What came out of the runs of an experiment.
type Results = runner::Results<Case>;

/// The publication.
pub const BUDGET: Publication<Case> = Publication {
    name: "budget",
    title: "The experiments on budgets for MapReduce workflows, reproduced",
    about: "SIPHT (31 jobs) and LIGO (40 jobs in two separate graphs) as map and reduce stages, planned for eight budgets from less than the least that they can cost to more than \
            everything on the fastest machines, and executed on the thesis's cluster of 81 nodes, one of which is the master. Times of tasks and sizes of data are invented, since \
            those of the thesis were never published: shapes of curves can be compared with its figures, and figures cannot",
    beside: "Rows and columns that begin with Throng are not in the thesis: plans that count on data having to be moved, and plans of instances that are rented.",
    quick: "fewer planners",
    experiments: &[
        Experiment { name: "sipht", only_if_named: false, cases: executed::sipht, tell: executed::tell_sipht },
        Experiment { name: "ligo", only_if_named: false, cases: executed::ligo, tell: executed::tell_ligo },
        Experiment { name: "planners", only_if_named: false, cases: planners::cases, tell: planners::tell },
    ],
};
