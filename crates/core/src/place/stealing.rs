//! Data-aware work stealing: MATRIX's four settings and the one that changes between them.
//!
//! Parameters: `t` (how much of a task's length moving its data may take), `tt` (how long a local queue may be), `neighbours`
//! (how many nodes a thief asks: a number or `sqrt`), `steal` (`half` or `one`), `poll` (the first pause of a thief in vain), `cap` (the
//! pause at which it gives up), `check` (how often the length of the local queue is looked at).

use std::time::Duration;

use super::adapt::{Adapt, Config, WINDOW, Window};
use super::daws::{self, Choice, Terms, Variant};
use super::{Backlog, Hunt, MOVES_WORTH_WAITING, Place, Placement, View};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

const PARAMETERS: [&str; 7] = ["t", "tt", "neighbours", "steal", "poll", "cap", "check"];

/// A fair thief begins anew when its pause comes to this: work may be anywhere at any time.
const FAIR_CAP: Duration = Duration::from_secs(2);

/// How many tasks a thief gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loot {
    Half,
    One,
}

/// The policy of one node.
#[derive(Clone, Debug)]
pub(super) struct Stealing {
    adapt: Adapt,
    /// How many nodes a thief asks; about the square root of all if it does not say.
    neighbours: Option<u32>,
    loot: Loot,
    check: Duration,
    switches: bool,
    /// Whether local tasks are shared by what waiting and moving cost, and not by a horizon.
    is_fair: bool,
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
            "fair" => Config { pause_cap: FAIR_CAP, ..Config::fixed(Variant::Flds, threshold, horizon) },
            _ => Config::adaptive(threshold, horizon),
        };
        let config = Config {
            pause: policy.time("poll", config.pause)?,
            pause_cap: policy.time("cap", config.pause_cap)?,
            ..config
        };
        let neighbours = policy.value("neighbours", None, "a whole number from 1, or sqrt", |text| match text {
            "sqrt" => Some(None),
            _ => text.parse().ok().filter(|number: &u32| *number > 0).map(Some),
        })?;
        let loot = policy.value("steal", Loot::Half, "half or one", |text| match text {
            "half" => Some(Loot::Half),
            "one" => Some(Loot::One),
            _ => None,
        })?;
        let check = policy.time("check", Duration::from_secs(1))?;
        let (switches, is_fair) = (config.switches, policy.name == "fair");
        Ok(Stealing { adapt: Adapt::new(config), neighbours, loot, check, switches, is_fair })
    }
}

impl Place for Stealing {
    fn ready(&mut self, _: &ReadyTask, inputs: &Inputs, view: &mut View<'_>) -> Placement {
        let inputs = daws::Inputs {
            total_bytes: inputs.total_bytes,
            largest_bytes: inputs.largest_bytes,
            holder: inputs.at,
            is_cached: view.has_largest,
        };
        let terms = Terms {
            threshold: self.adapt.threshold(),
            bytes_per_second: view.bandwidth as f64,
            length_seconds: view.estimated.as_secs_f64(),
        };
        match daws::decide(view.me, &inputs, &terms) {
            Choice::Shared => Placement::Share,
            Choice::Local => Placement::Keep,
            Choice::Push(node) => Placement::Push(node),
        }
    }

    fn hunt(&mut self, view: &mut View<'_>) -> Hunt {
        if view.nodes < 2 || self.adapt.is_suspended() {
            return Hunt::Wait;
        }
        let count = self.neighbours.unwrap_or_else(|| daws::neighbour_count(view.nodes));
        Hunt::Steal(daws::drawn(view.rng, view.me, view.nodes, count))
    }

    fn hunted(&mut self, won: bool) -> Option<Duration> {
        if won {
            self.adapt.steal_succeeded();
            return Some(Duration::ZERO);
        }
        self.adapt.steal_failed()
    }

    fn surplus(&mut self, backlog: &Backlog) -> usize {
        let Backlog { local, finished, elapsed, moving, pace, is_asked } = *backlog;
        if self.is_fair {
            // Whoever asks is idle now. What it could have started before this node does is better off there.
            if !is_asked {
                return 0;
            }
            let keep = (moving * MOVES_WORTH_WAITING).as_nanos() / pace.as_nanos().max(1);
            return local.saturating_sub(keep as usize);
        }
        if is_asked {
            return 0;
        }
        let count = daws::surplus(local, finished, elapsed, self.adapt.horizon());
        self.adapt.moved(count);
        count
    }

    fn check_every(&self) -> Option<Duration> {
        self.adapt.horizon().filter(|_| !self.is_fair).map(|_| self.check)
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

    fn calls_idle(&self) -> bool {
        self.is_fair
    }

    fn share_of(&self, length: usize) -> usize {
        match self.loot {
            Loot::Half => daws::share(length),
            Loot::One => length.min(1),
        }
    }

    fn name(&self) -> &'static str {
        match self.adapt.variant() {
            _ if self.is_fair => "fair",
            Variant::Mlb => "mlb",
            Variant::Mdl => "mdl",
            Variant::Rlds => "rlds",
            Variant::Flds => "flds",
        }
    }
}
