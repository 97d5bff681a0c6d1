//! What tasks have computed when they are young: that tells whether they are in each other's way long before any of them ends.

use std::time::Duration;

/// What a task has computed at some age.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Look {
    pub(in super::super) age: Duration,
    pub(in super::super) computed: Duration,
}

/// What several have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Early {
    looks: u32,
    ages: Duration,
    computed: Duration,
}

impl Early {
    pub(super) fn take_in(&mut self, look: Look) {
        self.looks += 1;
        self.ages += look.age;
        self.computed += look.computed;
    }

    /// What one of them has computed, on average.
    pub(super) fn mean(&self) -> Option<Look> {
        (self.looks > 0).then(|| Look { age: self.ages / self.looks, computed: self.computed / self.looks })
    }
}
