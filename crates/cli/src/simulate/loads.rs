//! What tasks need of a machine and what it has to give, as people say it: `--load needs:cpu=0.1,remote=0.05`.

use throng_core::policy::Policy;
use throng_core::workflow::{Workflow, quantity};
use throng_sim::Crowd;
use throng_sim::crowd::{Needs, NeedsOf, Neighbour, Remote};
use throng_sim::faults::FOREVER;

use super::given::{self, Given, Known, read, time_word};
use crate::exit::Failure;
use crate::words;

/// Everything that can be said.
const KNOWN: [Known; 5] = [
    Known {
        name: "needs",
        example: "kind=align,cpu=0.2,net=0.05,disk=0.1,remote=0.05,memory=2GB,spread=0.5",
        does: "tasks of a kind (or all) need these cores, and parts of their node's network and disks and of what it has from the shared file system, and hold so much memory, give or take a part",
    },
    Known { name: "network", example: "stops=0.6", does: "of a node's network, no more than this part can be used" },
    Known {
        name: "thrash",
        example: "beyond=24,by=0.05",
        does: "each task beyond so many slows all of its node down by this part",
    },
    Known {
        name: "remote",
        example: "serves=1.5,from=60s",
        does: "from then on the shared file system fills the networks of so many nodes",
    },
    Known {
        name: "neighbour",
        example: "cores=2,node=0,from=10s,until=60s",
        does: "strangers want so many cores, on a node or on all",
    },
];

/// Something that is said of tasks or machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    policy: Policy,
}

/// All of it in lines, for those who ask for help.
pub fn list() -> String {
    given::list(&KNOWN)
}

/// Reads one.
pub fn load(text: &str) -> Result<Load, String> {
    let load = Load { policy: read(text, "load", &KNOWN)? };
    add(&mut Crowd::default(), &load)?;
    Ok(load)
}

fn add(crowd: &mut Crowd, load: &Load) -> Result<(), String> {
    let given = Given::new(&load.policy, "load", &KNOWN);
    match given.known.name {
        "needs" => {
            let needs = Needs {
                cores: given.amount("cpu", Some(0.0), 1e6)?,
                network: given.amount("net", Some(0.0), 1.0)?,
                disk: given.amount("disk", Some(0.0), 1.0)?,
                remote: given.amount("remote", Some(0.0), 1.0)?,
                memory_bytes: given.value("memory", Some(0), quantity::bytes)?,
                memory_spread: given.amount("spread", Some(0.0), 1.0)?,
            };
            if load.policy.parameters.iter().all(|(key, _)| key == "kind" || key == "spread") {
                return Err(format!("the load `needs` says nothing: write needs:{}", given.known.example));
            }
            let kind = given.value("kind", Some(None), |text| Ok(Some(text.to_owned())))?;
            crowd.needs.push(NeedsOf { kind, needs });
        }
        "network" => crowd.network_stops_at = given.amount("stops", None, 1.0)?.max(1e-6),
        "thrash" => crowd.thrashing = Some((given.number("beyond", None)?, given.amount("by", None, 1e3)?)),
        "remote" => {
            let from = given.time("from", Some(std::time::Duration::ZERO))?;
            let serves = given.amount("serves", None, 1e9)?;
            if serves == 0.0 {
                return Err("serves=0: nothing would ever come; write a number above 0".to_owned());
            }
            crowd.remote.push(Remote { from, serves });
            crowd.remote.sort_by_key(|remote| remote.from);
        }
        _ => {
            let (from, until) = given.period(true)?;
            let node = given.value("node", Some(None), |text| {
                text.parse().map(Some).map_err(|_| "write a whole number, counted from 0".to_owned())
            })?;
            crowd.neighbours.push(Neighbour { node, cores: given.amount("cores", None, 1e6)?, from, until });
        }
    }
    Ok(())
}

/// All that is said together; nothing, if nothing is.
pub fn crowd(loads: &[Load], flow: &Workflow, nodes: u32) -> Result<Option<Crowd>, Failure> {
    let mut crowd = Crowd::default();
    for load in loads {
        add(&mut crowd, load).map_err(|error| Failure::bad_input(error, "see `throng simulate --help`"))?;
    }
    let kinds: Vec<&str> =
        (0..flow.kind_count()).map(|kind| flow.kind_name(throng_core::ids::KindId::at(kind))).collect();
    let named = crowd.needs.iter().filter_map(|needs| needs.kind.as_deref());
    if let Some(unknown) = named.into_iter().find(|name| !kinds.contains(name)) {
        let message = format!("--load names the kind `{unknown}`, and no task is of that kind");
        return Err(Failure::bad_input(message, format!("the kinds are {}", kinds.join(", "))));
    }
    if let Some(node) = crowd.neighbours.iter().filter_map(|one| one.node).find(|node| *node >= nodes) {
        let message = format!("there is no node {node}, only {}", words::count(nodes.into(), "node"));
        return Err(Failure::bad_input(message, "nodes are counted from 0"));
    }
    refuse_without_effect(&crowd)?;
    Ok((!loads.is_empty()).then_some(crowd))
}

/// Whoever says what a network or a shared file system has to give wants to see something of it, and would not if no task uses it.
fn refuse_without_effect(crowd: &Crowd) -> Result<(), Failure> {
    let uses = |of: fn(&Needs) -> f64| crowd.needs.iter().any(|needs| of(&needs.needs) > 0.0);
    let message = if !crowd.remote.is_empty() && !uses(|needs| needs.remote) {
        ("remote", "the shared file system", "needs:remote=0.05")
    } else if crowd.network_stops_at < 1.0 && !uses(|needs| needs.network) {
        ("network", "the network", "needs:net=0.05")
    } else {
        return Ok(());
    };
    let (name, what, remedy) = message;
    let message = format!("--load {name} changes nothing: no task is said to need {what}");
    Err(Failure::bad_input(message, format!("say what tasks need of it as well, such as --load {remedy}")))
}

/// What is said, as it is written.
pub fn written(crowd: &Crowd) -> Vec<String> {
    let mut all = Vec::new();
    for NeedsOf { kind, needs } in &crowd.needs {
        let kind = kind.as_ref().map(|kind| format!("kind={kind}"));
        let memory = (needs.memory_bytes > 0).then(|| format!("memory={}", needs.memory_bytes));
        let parts = [
            ("cpu", needs.cores),
            ("net", needs.network),
            ("disk", needs.disk),
            ("remote", needs.remote),
            ("spread", needs.memory_spread),
        ];
        let parts = parts.into_iter().filter(|(_, part)| *part > 0.0).map(|(name, part)| format!("{name}={part}"));
        let keys: Vec<String> = kind.into_iter().chain(parts).chain(memory).collect();
        all.push(format!("needs{}{}", if keys.is_empty() { "" } else { ":" }, keys.join(",")));
    }
    if crowd.network_stops_at < 1.0 {
        all.push(format!("network:stops={}", crowd.network_stops_at));
    }
    all.extend(crowd.thrashing.map(|(beyond, by)| format!("thrash:beyond={beyond},by={by}")));
    let remote = |it: &Remote| format!("remote:serves={},from={}", it.serves, time_word(it.from));
    all.extend(crowd.remote.iter().map(remote));
    for one in &crowd.neighbours {
        let node = one.node.map_or_else(String::new, |node| format!(",node={node}"));
        let until = if one.until == FOREVER { String::new() } else { format!(",until={}", time_word(one.until)) };
        all.push(format!("neighbour:cores={}{node},from={}{until}", one.cores, time_word(one.from)));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn every_example_can_be_read_and_every_mistake_has_its_message() {
        let mut all = Crowd::default();
        for known in &KNOWN {
            add(&mut all, &load(&format!("{}:{}", known.name, known.example)).unwrap()).unwrap();
        }
        let mut again = Crowd::default();
        written(&all).iter().for_each(|text| add(&mut again, &load(text).unwrap()).unwrap());
        assert_eq!(again, all);
        for (text, message) in [
            ("need:cpu=1", "there is no load `need`; did you mean `needs`? known are needs, network"),
            ("needs", "`needs` says nothing: write needs:kind=align"),
            ("needs:kind=align", "`needs` says nothing"),
            ("needs:cpus=1", "the load `needs` has no `cpus`: write needs:kind=align"),
            ("needs:net=2", "net=2: write a number from 0 to 1"),
            ("network", "the load `network` needs `stops`"),
            ("remote:serves=0", "serves=0: nothing would ever come"),
            ("neighbour:cores=1,from=5s,until=5s", "has to be later"),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
