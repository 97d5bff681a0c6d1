//! A fixed number of tasks at once, whatever they ask for.
//!
//! Right when tasks are alike and somebody knows the number; wrong as soon as one of them needs a machine
//! to itself.

use super::Pack;
use crate::ids::DemandId;

/// Counts and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    width: u32,
    running: u32,
}

impl Fixed {
    /// Up to `width` tasks at once.
    pub fn new(width: u32) -> Self {
        Fixed { width, running: 0 }
    }
}

impl Pack for Fixed {
    fn admits(&self, _: DemandId) -> bool {
        self.running < self.width
    }

    fn started(&mut self, _: DemandId) {
        self.running += 1;
    }

    fn ended(&mut self, _: DemandId) {
        self.running -= 1;
    }

    fn could_ever_admit(&self, _: DemandId) -> bool {
        self.width > 0
    }
}
