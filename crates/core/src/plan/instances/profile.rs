//! What of an instance is in use when: as many tasks run at once as it has cores and memory for.

/// What a task needs while it runs, or an instance has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Thousandths of cores.
    pub cpus_milli: u64,
    /// Memory.
    pub memory_bytes: u64,
}

impl Need {
    /// Whether there is as much.
    pub fn fits_in(self, has: Need) -> bool {
        self.cpus_milli <= has.cpus_milli && self.memory_bytes <= has.memory_bytes
    }
}

/// What is in use from some time on, until the next step.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u64,
    used: Need,
}

/// An instance's use over time.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    steps: Vec<Step>,
}

impl Profile {
    /// Of an instance that does nothing yet.
    pub(super) fn new() -> Profile {
        Profile { steps: vec![Step { from: 0, used: Need::default() }] }
    }

    /// When there is room for somebody who needs this for so long, from some time on.
    pub(super) fn free(&self, has: Need, need: Need, from: u64, length: u64) -> u64 {
        let fits = |used: Need| {
            used.cpus_milli + need.cpus_milli <= has.cpus_milli
                && used.memory_bytes.saturating_add(need.memory_bytes) <= has.memory_bytes
        };
        let mut begin = from;
        let mut at = self.steps.partition_point(|step| step.from <= from) - 1;
        // From the step in which it would begin on, all steps until its end have to have room.
        while let Some(step) = self.steps.get(at) {
            if step.from >= begin.saturating_add(length.max(1)) {
                break;
            }
            at += 1;
            if !fits(step.used) {
                // The last step is one in which nothing is used: whatever fits at all fits there.
                begin = self.steps.get(at).map_or(begin, |next| next.from);
            }
        }
        begin
    }

    /// Somebody who needs this runs from then on for so long.
    pub(super) fn take(&mut self, need: Need, begin: u64, length: u64) {
        if length == 0 {
            return;
        }
        let first = self.cut(begin);
        let last = self.cut(begin.saturating_add(length));
        for step in &mut self.steps[first..last] {
            step.used.cpus_milli += need.cpus_milli;
            step.used.memory_bytes = step.used.memory_bytes.saturating_add(need.memory_bytes);
        }
        // What is full from beginning to end is one step, or a hundred thousand tasks in a row would be gone through for each that follows.
        self.join(last);
        self.join(first);
    }

    /// A step in which as much is used as in the one before is none of its own.
    fn join(&mut self, at: usize) {
        if at > 0 && self.steps[at].used == self.steps[at - 1].used {
            self.steps.remove(at);
        }
    }

    /// The step that begins at some time: made, if there is none.
    fn cut(&mut self, time: u64) -> usize {
        let at = self.steps.partition_point(|step| step.from < time);
        if self.steps.get(at).is_none_or(|step| step.from != time) {
            let used = self.steps[at - 1].used;
            self.steps.insert(at, Step { from: time, used });
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_at_once_as_there_is_room_for() {
        let need = |cores: u64, memory_bytes| Need { cpus_milli: cores * 1000, memory_bytes };
        let has = need(4, 10);
        let mut profile = Profile::new();
        profile.take(need(2, 1), 0, 10);
        profile.take(need(2, 1), 5, 10);
        let free = |profile: &Profile, need, from, length| profile.free(has, need, from, length);
        assert_eq!(free(&profile, need(2, 0), 0, 5), 0);
        assert_eq!(free(&profile, need(2, 0), 0, 6), 10);
        assert_eq!(free(&profile, need(3, 0), 0, 1), 15);
        assert_eq!(free(&profile, need(1, 9), 0, 1), 0, "memory for one more");
        assert_eq!(free(&profile, need(0, 9), 3, 5), 10);
        let mut row = Profile::new();
        (0..100).for_each(|at| row.take(need(4, 9), at * 7, 7));
        assert_eq!((row.steps.len(), free(&row, need(1, 0), 0, 1)), (2, 700), "a row of tasks is one step");
        row.take(need(0, 0), 900, 5);
        assert_eq!(row.steps.len(), 2, "who needs nothing leaves nothing");
        profile.take(need(4, 9), 15, 1);
        assert_eq!((free(&profile, need(1, 0), 12, 4), free(&profile, need(1, 0), 20, 4)), (16, 20));
    }
}
