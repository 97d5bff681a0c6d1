//! Data-aware work stealing: MATRIX's four settings and the one that changes between them.
//!
//! Parameters: `t` (how much of a task's length moving its data may take), `tt` (how long a local queue may be), `neighbours`
//! (how many nodes a thief asks: a number or `sqrt`), `steal` (`half` or `one`), `poll` (the first pause of a thief in vain), `cap` (the
//! pause at which it gives up), `check` (how often the length of the local queue is looked at).

use std::time::Duration;

use super::adapt::{Adapt, Config, WINDOW, Window};
use super::daws::{self, Variant};
use super::loot::{self, Loot, Neighbours};
use super::{Backlog, Hunt, Place, Placement, View};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

const PARAMETERS: [&str; 7] = ["t", "tt", "neighbours", "steal", "poll", "cap", "check"];

/// The policy of one node.
#[derive(Clone, Debug)]
pub(super) struct Stealing {
    adapt: Adapt,
    neighbours: Neighbours,
    loot: Loot,
    check: Duration,
    switches: bool,
}

impl Stealing {
    pub(super) fn new(policy: &Policy) -> Result<Stealing, BadPolicy> {
        policy.takes(&PARAMETERS)?;
        let threshold = policy.number("t", 0.5)?;
        let horizon = policy.time("tt", Duration::from_secs(10))?;
        let config = match policy.name.as_str() {
            "mlb" => Config::fixed(Variant::Mlb, threshold, horizon),
            "mdl" => Config::fixed(Variant::Mdl, threshold, horizon),
            "rlds" => Config::fixed(Variant::Rlds, threshold, horizon),
            "flds" => Config::fixed(Variant::Flds, threshold, horizon),
            _ => Config::adaptive(threshold, horizon),
        };
        let config = Config {
            pause: policy.time("poll", config.pause)?,
            pause_cap: policy.time("cap", config.pause_cap)?,
            ..config
        };
        let neighbours = Neighbours::of(policy, Neighbours::SquareRoot)?;
        let loot = Loot::of(policy)?;
        let check = policy.time("check", Duration::from_secs(1))?;
        let switches = config.switches;
        Ok(Stealing { adapt: Adapt::new(config), neighbours, loot, check, switches })
    }
}

impl Place for Stealing {
    fn ready(&mut self, _: &ReadyTask, inputs: &Inputs, view: &mut View<'_>) -> Placement {
        loot::placed(inputs, view, self.adapt.threshold())
    }

    fn hunt(&mut self, view: &mut View<'_>) -> Hunt {
        if view.nodes < 2 || self.adapt.is_suspended() {
            return Hunt::Wait;
        }
        Hunt::Steal(self.neighbours.drawn(view))
    }

    fn hunted(&mut self, won: bool) -> Option<Duration> {
        if won {
            self.adapt.steal_succeeded();
            return Some(Duration::ZERO);
        }
        self.adapt.steal_failed()
    }

    fn surplus(&mut self, backlog: &Backlog) -> usize {
        let Backlog { local, finished, elapsed, is_asked, .. } = *backlog;
        if is_asked {
            return 0;
        }
        let count = daws::surplus(local, finished, elapsed, self.adapt.horizon());
        self.adapt.moved(count);
        count
    }

    fn check_every(&self) -> Option<Duration> {
        self.adapt.horizon().map(|_| self.check)
    }

    fn window_length(&self) -> Option<Duration> {
        self.switches.then_some(WINDOW)
    }

    fn window(&mut self, seen: &Window) -> bool {
        self.adapt.window(seen) == Some(Variant::Mlb)
    }

    fn announced(&mut self) -> bool {
        let was_suspended = self.adapt.is_suspended();
        self.adapt.work_announced();
        was_suspended
    }

    fn keeps_nothing(&self) -> bool {
        self.adapt.variant() == Variant::Mlb
    }

    fn share_of(&self, length: usize) -> usize {
        self.loot.of_queue(length)
    }

    fn name(&self) -> &'static str {
        match self.adapt.variant() {
            Variant::Mlb => "mlb",
            Variant::Mdl => "mdl",
            Variant::Rlds => "rlds",
            Variant::Flds => "flds",
        }
    }
}
