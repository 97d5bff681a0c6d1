//! Those who wait for a task, put together: what they ask of it depends on where it runs only in so far as some of them are there.

/// Somebody who waits for a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// Where it is.
    pub(super) instance: u32,
    /// By when the task has to end if it is on the same instance, and if it is on another.
    pub(super) by: u64,
    pub(super) by_elsewhere: u64,
    /// Until when what it reads has to be kept for it; 0 if it reads nothing.
    pub(super) kept_until: u64,
    /// How much it reads.
    pub(super) bytes: u64,
}

/// What is asked of a task on some instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// By when it has to end.
    pub(super) by: u64,
    /// Until when its instance has to be kept for those elsewhere.
    pub(super) kept_until: u64,
    /// How much is sent to those elsewhere.
    pub(super) sent_bytes: u64,
}

/// All who wait for a task.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// One for each instance, in the order of these.
    on: Vec<Waiter>,
    /// The least time by which those elsewhere want it, and the least of all others but those on that instance.
    first: (u64, u32),
    second: u64,
    /// The longest time for which it is kept, likewise.
    longest: (u64, u32),
    less_long: u64,
    bytes: u64,
}

impl Waiting {
    /// What comes to an instance once, several there may read: so the most that one of them reads counts, not all together.
    pub(super) fn of(mut waiters: Vec<Waiter>) -> Waiting {
        waiters.sort_unstable_by_key(|waiter| waiter.instance);
        waiters.dedup_by(|other, one| {
            let is_same = other.instance == one.instance;
            if is_same {
                one.by = one.by.min(other.by);
                one.by_elsewhere = one.by_elsewhere.min(other.by_elsewhere);
                one.kept_until = one.kept_until.max(other.kept_until);
                one.bytes = one.bytes.max(other.bytes);
            }
            is_same
        });
        let mut waiting = Waiting { first: (u64::MAX, u32::MAX), second: u64::MAX, ..Waiting::default() };
        waiting.longest.1 = u32::MAX;
        for waiter in &waiters {
            let (wanted, kept) = ((waiter.by_elsewhere, waiter.instance), (waiter.kept_until, waiter.instance));
            if wanted < waiting.first {
                waiting.second = std::mem::replace(&mut waiting.first, wanted).0;
            } else {
                waiting.second = waiting.second.min(wanted.0);
            }
            if kept.0 > waiting.longest.0 {
                waiting.less_long = std::mem::replace(&mut waiting.longest, kept).0;
            } else {
                waiting.less_long = waiting.less_long.max(kept.0);
            }
            waiting.bytes = waiting.bytes.saturating_add(waiter.bytes);
        }
        waiting.on = waiters;
        waiting
    }

    /// What they ask of it on an instance.
    pub(super) fn on(&self, instance: u32) -> Asked {
        let here = self.on.binary_search_by_key(&instance, |waiter| waiter.instance).ok().map(|at| self.on[at]);
        let (by, bytes) = here.map_or((u64::MAX, 0), |here| (here.by, here.bytes));
        let is_elsewhere = |of: u32| of != instance;
        Asked {
            by: by.min(if is_elsewhere(self.first.1) { self.first.0 } else { self.second }),
            kept_until: if is_elsewhere(self.longest.1) { self.longest.0 } else { self.less_long },
            sent_bytes: self.bytes - bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_is_asked_is_what_each_of_them_asks() {
        for seed in 1..=500 {
            let mut rng = Rng::new(seed);
            let waiters: Vec<Waiter> = (0..rng.below(12))
                .map(|_| {
                    let by = 100 + rng.below(50);
                    Waiter {
                        instance: rng.below(5) as u32,
                        by,
                        by_elsewhere: by - rng.below(30),
                        kept_until: rng.below(3) * rng.below(90),
                        bytes: rng.below(100),
                    }
                })
                .collect();
            let waiting = Waiting::of(waiters.clone());
            for instance in 0..6 {
                let is_here = |waiter: &&Waiter| waiter.instance == instance;
                let (here, elsewhere): (Vec<&Waiter>, Vec<&Waiter>) = waiters.iter().partition(is_here);
                let by = here.iter().map(|waiter| waiter.by).chain(elsewhere.iter().map(|waiter| waiter.by_elsewhere));
                let most = |other: u32| {
                    let there = elsewhere.iter().filter(|waiter| waiter.instance == other);
                    there.map(|waiter| waiter.bytes).max().unwrap_or(0)
                };
                let asked = Asked {
                    by: by.min().unwrap_or(u64::MAX),
                    kept_until: elsewhere.iter().map(|waiter| waiter.kept_until).max().unwrap_or(0),
                    sent_bytes: (0..5).map(most).sum(),
                };
                assert_eq!(waiting.on(instance), asked, "seed {seed}");
            }
        }
    }
}
