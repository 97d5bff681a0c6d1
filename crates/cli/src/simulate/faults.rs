//! Faults as people ask for them: `--fault crash:node=3,at=10s,back=5s`, in the form in which policies are written.

use std::time::Duration;

use throng_sim::Faults;
use throng_sim::faults::{Crash, Crashes, Drain, FOREVER, Failover, FullDisk, Partition, Slow};

use super::given::{self, Given, Known, read, time_word};
use crate::exit::Failure;
use crate::words;

/// One thing that breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    written: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Crash(Crash),
    Crashes(Crashes),
    Drain(Drain),
    Slow(Slow),
    Partition(Partition),
    Failover(Failover),
    FullDisk(FullDisk),
    Lost(f64),
    Doubled(f64),
    Late(f64, Duration),
    Failing(f64),
    Deadly(f64),
}

/// Every fault there is.
const KNOWN: [Known; 12] = [
    Known {
        name: "crash",
        example: "node=3,at=10s,back=5s",
        does: "a node dies, and comes back empty; without `back`, never",
    },
    Known { name: "crashes", example: "every=1h,back=1m", does: "each node dies by chance, on average after so long" },
    Known {
        name: "drain",
        example: "node=3,at=10s",
        does: "a node finishes what it runs and starts nothing more; others take what waits there",
    },
    Known {
        name: "slow",
        example: "node=2,factor=4,from=0s,until=60s",
        does: "what a node starts takes so many times as long",
    },
    Known {
        name: "partition",
        example: "first=6,from=10s,until=40s",
        does: "nodes from this one on reach neither the others nor the store",
    },
    Known {
        name: "failover",
        example: "at=20s,shard=0,behind=1s",
        does: "a machine of the store loses what it last wrote",
    },
    Known { name: "full-disk", example: "node=2,from=10s,until=60s", does: "a node has no room for more data" },
    Known { name: "lost", example: "share=0.01", does: "so many of all messages do not arrive" },
    Known { name: "doubled", example: "share=0.01", does: "so many arrive twice" },
    Known { name: "late", example: "share=0.05,most=2s", does: "so many are late, by at most so much" },
    Known {
        name: "failing",
        example: "share=0.02",
        does: "so many of all attempts fail, and are tried again if the task has `retries`",
    },
    Known { name: "deadly", example: "share=0.001", does: "so many of all tasks kill the node that runs them" },
];

/// Every fault in a line, for those who ask for help.
pub fn list() -> String {
    given::list(&KNOWN)
}

/// Reads a fault.
pub fn fault(text: &str) -> Result<Fault, String> {
    let policy = read(text, "fault", &KNOWN)?;
    let given = Given::new(&policy, "fault", &KNOWN);
    Ok(Fault { what: what(&given)?, written: policy.to_string() })
}

fn what(given: &Given<'_>) -> Result<What, String> {
    Ok(match given.known.name {
        "crash" => {
            let (node, at) = (given.number("node", None)?, given.time("at", None)?);
            What::Crash(Crash { node, at, back_after: given.back()? })
        }
        "crashes" => {
            let every = given.time("every", None)?;
            if every < Duration::from_secs(1) {
                return Err("`every` has to be 1s or longer: nothing would ever be finished".to_owned());
            }
            What::Crashes(Crashes { every, back_after: given.back()? })
        }
        "drain" => What::Drain(Drain { node: given.number("node", None)?, at: given.time("at", None)? }),
        "slow" => {
            let (node, (from, until)) = (given.number("node", None)?, given.period(true)?);
            let factor = given.value("factor", None, |text| {
                let factor = text.parse().ok().filter(|factor| (1.0..=1e6).contains(factor));
                factor.ok_or_else(|| "write a number from 1 to 1000000".to_owned())
            })?;
            What::Slow(Slow { node, from, until, factor })
        }
        "partition" => {
            let (first, (from, until)) = (given.number("first", None)?, given.period(false)?);
            What::Partition(Partition { first, from, until })
        }
        "failover" => {
            let at = given.time("at", None)?;
            let behind = given.time("behind", Some(Duration::from_secs(1)))?;
            What::Failover(Failover { shard: given.number("shard", Some(0))?, at, behind })
        }
        "full-disk" => {
            let (node, (from, until)) = (given.number("node", None)?, given.period(true)?);
            What::FullDisk(FullDisk { node, from, until })
        }
        "lost" => What::Lost(given.share()?),
        "doubled" => What::Doubled(given.share()?),
        "late" => What::Late(given.share()?, given.time("most", None)?),
        "failing" => What::Failing(given.share()?),
        _ => What::Deadly(given.share()?),
    })
}

/// All of them together, on a cluster with so many nodes and machines of the store.
pub fn faults(asked: &[Fault], nodes: u32, shards: u32) -> Result<Faults, Failure> {
    let mut faults = Faults::default();
    for (at, Fault { written, what }) in asked.iter().enumerate() {
        check_range(written, what, nodes, shards)?;
        let is_same = |other: &Fault| std::mem::discriminant(&other.what) == std::mem::discriminant(what);
        match *what {
            What::Crash(crash) => faults.crashes.push(crash),
            What::Crashes(crashes) => faults.crashes_by_chance.push(crashes),
            What::Drain(drain) => faults.drains.push(drain),
            What::Slow(slow) => faults.slow.push(slow),
            What::Partition(partition) => faults.partitions.push(partition),
            What::Failover(failover) => faults.failovers.push(failover),
            What::FullDisk(disk) => faults.full_disks.push(disk),
            _ if asked[..at].iter().any(is_same) => {
                let name = written.split(':').next().unwrap_or(written);
                return Err(Failure::bad_input(format!("the fault `{name}` is given twice"), "give it once"));
            }
            What::Lost(share) => faults.lost = share,
            What::Doubled(share) => faults.doubled = share,
            What::Late(share, most) => faults.late = (share, most),
            What::Failing(share) => faults.failing = share,
            What::Deadly(share) => faults.deadly = share,
        }
    }
    Ok(faults)
}

fn check_range(written: &str, what: &What, nodes: u32, shards: u32) -> Result<(), Failure> {
    let node = match what {
        What::Crash(Crash { node, .. })
        | What::Drain(Drain { node, .. })
        | What::Slow(Slow { node, .. })
        | What::FullDisk(FullDisk { node, .. }) => node,
        What::Partition(Partition { first, .. }) => first,
        What::Failover(Failover { shard, .. }) if *shard >= shards => {
            let there_are = words::count(shards.into(), "machine");
            let message = format!("{written}: the store has no machine {shard}, only {there_are}");
            return Err(Failure::bad_input(message, "they are counted from 0; --store-shards says how many there are"));
        }
        _ => return Ok(()),
    };
    if *node < nodes {
        return Ok(());
    }
    let message = format!("{written}: there is no node {node}, only {}", words::count(nodes.into(), "node"));
    Err(Failure::bad_input(message, "nodes are counted from 0"))
}

/// Faults as they are written.
pub fn written(faults: &Faults) -> Vec<String> {
    let back = |back: Option<Duration>| back.map_or_else(String::new, |time| format!(",back={}", time_word(time)));
    let period = |from: Duration, until: Duration| match until {
        FOREVER => format!("from={}", time_word(from)),
        until => format!("from={},until={}", time_word(from), time_word(until)),
    };
    let mut all = Vec::new();
    let Faults { crashes, crashes_by_chance, drains, slow, partitions, failovers, full_disks, .. } = faults;
    all.extend(
        crashes.iter().map(|it| format!("crash:node={},at={}{}", it.node, time_word(it.at), back(it.back_after))),
    );
    all.extend(
        crashes_by_chance.iter().map(|it| format!("crashes:every={}{}", time_word(it.every), back(it.back_after))),
    );
    all.extend(
        slow.iter().map(|it| format!("slow:node={},factor={},{}", it.node, it.factor, period(it.from, it.until))),
    );
    all.extend(partitions.iter().map(|it| format!("partition:first={},{}", it.first, period(it.from, it.until))));
    all.extend(drains.iter().map(|it| format!("drain:node={},at={}", it.node, time_word(it.at))));
    let behind = |it: &Failover| (time_word(it.at), it.shard, time_word(it.behind));
    all.extend(
        failovers
            .iter()
            .map(behind)
            .map(|(at, shard, behind)| format!("failover:at={at},shard={shard},behind={behind}")),
    );
    all.extend(full_disks.iter().map(|it| format!("full-disk:node={},{}", it.node, period(it.from, it.until))));
    let shares =
        [("lost", faults.lost), ("doubled", faults.doubled), ("failing", faults.failing), ("deadly", faults.deadly)];
    all.extend(
        shares.into_iter().filter(|(_, share)| *share > 0.0).map(|(name, share)| format!("{name}:share={share}")),
    );
    let (share, most) = faults.late;
    if share > 0.0 {
        all.push(format!("late:share={share},most={}", time_word(most)));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let asked: Vec<Fault> =
            KNOWN.iter().map(|known| fault(&format!("{}:{}", known.name, known.example)).unwrap()).collect();
        let all = faults(&asked, 8, 1).unwrap();
        let again: Vec<Fault> = written(&all).iter().map(|text| fault(text).unwrap()).collect();
        assert_eq!(faults(&again, 8, 1).unwrap(), all);
        assert_eq!(written(&all).len(), KNOWN.len());
        let short =
            ["crash:node=0,at=0", "crashes:every=1h", "slow:node=0,factor=2", "full-disk:node=0", "failover:at=1s"];
        let asked: Vec<Fault> = short.iter().map(|text| fault(text).unwrap()).collect();
        let all = faults(&asked, 1, 1).unwrap();
        let again: Vec<Fault> = written(&all).iter().map(|text| fault(text).unwrap()).collect();
        assert_eq!(faults(&again, 1, 1).unwrap(), all);
    }

    #[test]
    fn every_mistake_has_its_message() {
        for (text, message) in [
            ("crsh:node=1", "there is no fault `crsh`; did you mean `crash`? known are crash, crashes, drain"),
            ("crash:node", "`node` is not of the form key=value"),
            ("crash:nod=1,at=1s", "the fault `crash` has no `nod`: write crash:node=3,at=10s,back=5s"),
            ("crash:node=1", "the fault `crash` needs `at`: write crash:node=3,at=10s,back=5s"),
            ("crash", "the fault `crash` needs `node`"),
            ("crash:node=1,node=2,at=1s", "`node` is given twice"),
            ("crash:node=one,at=1s", "node=one: write a whole number, counted from 0"),
            ("crash:node=1,at=1 parsec", "at=1 parsec: unknown unit of time `parsec`"),
            ("crashes:every=10ms", "`every` has to be 1s or longer"),
            ("slow:node=1,factor=0.5", "factor=0.5: write a number from 1"),
            ("partition:first=1,from=10s", "the fault `partition` needs `until`"),
            ("partition:first=1,from=10s,until=5s", "`until` (5s) has to be later than `from` (10s)"),
            ("lost:share=2", "share=2: write a number from 0 to 1"),
        ] {
            let error = fault(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
