//! A simulated run that is held to a plan, and what it would have cost.

use serde_json::{Value, json};
use throng_core::ids::ObjectId;
use throng_core::plan::Money;
use throng_core::plan::catalogue::Catalogue;
use throng_core::plan::file::PlanFile;
use throng_core::workflow::Workflow;
use throng_sim::planned::node_counts;
use throng_sim::rent::Bill;
use throng_sim::{Cluster, Outcome};

use super::options::ClusterArguments;
use super::summary;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::plan::{MachineArguments, Prepared, read_with};
use crate::words;

/// What a run is held to, and with what it is paid.
pub struct Planned {
    catalogue: Catalogue,
    plan: PlanFile,
    /// What leaves in the end.
    out_bytes: u64,
}

/// Holds a cluster and a workflow to a plan, if there is one.
pub fn hold(
    arguments: &ClusterArguments,
    loaded: &Loaded,
    flow: &mut Workflow,
) -> Result<Option<(Cluster, Planned)>, Failure> {
    let file = arguments.machines.as_ref().and_then(|machines| machines.file());
    let (plan, machines) = match (&arguments.plan, file) {
        (Some(plan), Some(machines)) => (plan, machines),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(Failure::bad_input(
                "a plan is for machines that can be rented, and these are only listed",
                "give --machines the file that the plan was made with",
            ));
        }
        (None, Some(_)) => {
            return Err(Failure::bad_input(
                "a file of machines says what can be rented, and not what is",
                "give --plan a plan by `throng plan --out`, or list machines as 4x8,2x16@1.5",
            ));
        }
    };
    let files = MachineArguments {
        machines: machines.to_owned(),
        times: arguments.times.clone(),
        learn_from: arguments.learn_from.clone(),
    };
    let Prepared { catalogue, tables, .. } = Prepared::of(flow, loaded, &files, false, false)?;
    let plan = read_with(plan, |text, file| PlanFile::read(text, file, flow, &catalogue))?;
    let nodes = node_counts(&plan, &catalogue).iter().sum();
    let cluster = arguments.base(flow, nodes)?.held_to(&plan, &catalogue, &tables, flow);
    let out_bytes = results_bytes(flow);
    Ok(Some((cluster, Planned { catalogue, plan, out_bytes })))
}

/// The size of results that no task reads.
fn results_bytes(flow: &Workflow) -> u64 {
    let mut is_read = vec![false; flow.object_count()];
    flow.tasks().flat_map(|task| flow.inputs(task)).for_each(|object| is_read[object.index()] = true);
    let made = (0..flow.made_count()).map(ObjectId::at).filter(|object| !is_read[object.index()]);
    made.filter_map(|object| flow.expected_size(object)).fold(0, u64::saturating_add)
}

impl Planned {
    fn bill(&self, cluster: &Cluster, outcome: &Outcome) -> Bill {
        Bill::of(outcome, cluster, &self.catalogue, self.out_bytes)
    }

    fn said(&self, name: &str) -> Option<&str> {
        self.plan.head.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Tells what it cost, beside what was planned.
    pub fn tell(&self, cluster: &Cluster, outcome: &Outcome) {
        let bill = self.bill(cluster, outcome);
        let planned = |name| self.said(name).map_or_else(String::new, |value| format!("planned {value}"));
        let money = |amount| words::money(&self.catalogue.currency, amount);
        tell!("{}", summary::row("cost", &money(bill.total()), &planned("cost")));
        tell!("{}", summary::row("", &summary::time(outcome.makespan), &planned("makespan")));
        for (machine, (count, time, cost)) in self.catalogue.machines.iter().zip(&bill.machines) {
            if *count > 0 {
                let told = format!("{count} × {} for {}", words::printable(&machine.name), words::duration(*time));
                tell!("{}", summary::row("", &money(*cost), &told));
            }
        }
        if bill.data > Money::ZERO {
            tell!("{}", summary::row("", &money(bill.data), "for moving data"));
        }
    }

    /// The same for programs.
    pub fn figures(&self, cluster: &Cluster, outcome: &Outcome) -> Value {
        let bill = self.bill(cluster, outcome);
        let machines = self.catalogue.machines.iter().zip(&bill.machines);
        let machines = machines.map(|(machine, (count, time, cost))| {
            json!({ "type": machine.name, "count": count, "time_ns": time.as_nanos() as u64, "cost": cost.to_string() })
        });
        json!({
            "cost": bill.total().to_string(),
            "data_cost": bill.data.to_string(),
            "machines": machines.collect::<Vec<_>>(),
            "planned_cost": self.said("cost"),
            "planned_makespan": self.said("makespan"),
        })
    }
}
