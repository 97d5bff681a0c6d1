//! What rows of slots did in equal steps of time.

use throng_core::account::{Account, Stint};

/// How busy each row was in each step, in slots, for each class of attempts.
pub struct Shares {
    /// How many classes there are.
    classes: usize,
    /// Step by step in each row, class by class in each step.
    cells: Vec<f64>,
}

impl Shares {
    /// Of all attempts together, in one row.
    pub fn of(account: &Account, length_ns: u64, steps: usize, rows: usize) -> Shares {
        Shares::by_class(account, length_ns, (steps, rows), (1, |_: &Stint| 0))
    }

    /// Of attempts by their class. Slots are put into rows evenly, as [`row_of`] says.
    pub fn by_class(
        account: &Account,
        length_ns: u64,
        (steps, rows): (usize, usize),
        (classes, class_of): (usize, impl Fn(&Stint) -> usize),
    ) -> Shares {
        let mut cells = vec![0.0; rows * steps * classes];
        let step_ns = (length_ns.max(1) as f64 / steps as f64).max(f64::MIN_POSITIVE);
        for stint in &account.stints {
            let class = class_of(stint);
            let row = row_of(stint.slot.index(), account.slots as usize, rows);
            let (begin, end) = (stint.decided.0 as f64 / step_ns, stint.finished.0 as f64 / step_ns);
            let mut at = begin;
            while at < end {
                let step = at as usize;
                if step >= steps {
                    break;
                }
                let edge = end.min(step as f64 + 1.0);
                cells[(row * steps + step) * classes + class] += edge - at;
                at = edge;
            }
        }
        Shares { classes, cells }
    }

    /// How many slots were busy in each step, and row after row, whatever with.
    pub fn all(&self) -> Vec<f64> {
        self.cells.chunks(self.classes).map(|cell| cell.iter().sum()).collect()
    }

    /// For each step, and row after row, the class with most time and how many slots were busy with anything.
    pub fn leaders(&self) -> Vec<(usize, f64)> {
        let leader = |cell: &[f64]| {
            let first = (0..cell.len()).max_by(|one, other| cell[*one].total_cmp(&cell[*other]).then(other.cmp(one)));
            (first.unwrap_or(0), cell.iter().sum())
        };
        self.cells.chunks(self.classes).map(leader).collect()
    }
}

/// The row of a slot.
pub fn row_of(slot: usize, slots: usize, rows: usize) -> usize {
    (slot * rows / slots.max(1)).min(rows.saturating_sub(1))
}
