//! A fixed number of tasks at once, whatever they ask for.
//!
//! Right when tasks are alike and somebody knows the number; wrong as soon as one of them needs a machine
//! to itself.

use super::Pack;
use crate::ids::ClassId;

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
    fn admits(&self, _: ClassId) -> bool {
        self.running < self.width
    }

    fn started(&mut self, _: ClassId) {
        self.running += 1;
    }

    fn ended(&mut self, _: ClassId) {
        self.running -= 1;
    }

    fn could_ever_admit(&self, _: ClassId) -> bool {
        self.width > 0
    }
}
