//! Time-price tables: how long a task takes on each type of machine, and what that costs.
//!
//! Only rows that anybody could want are kept: a dearer machine may well be slower. What is left is ordered, each row faster and dearer than
//! the one before it, so a row is known by its rank, and more rank is more speed.

/// A task on a type of machine. Times and prices are whole numbers of whatever unit: nothing here depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How long it takes.
    pub time: u64,
    /// What that costs.
    pub price: u64,
    /// On which type of machine.
    pub machine: u16,
}

/// The useful rows, the cheapest first; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// So many rows at most, for ranks are bytes.
    pub const MOST_ROWS: usize = u8::MAX as usize;

    /// Keeps what is useful; of equal rows, that of the first machine. Nothing if there is no row.
    pub fn of(rows: impl IntoIterator<Item = Row>) -> Option<Table> {
        let mut rows: Vec<Row> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|row| (row.price, row.time, row.machine));
        let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
        for row in rows {
            if kept.last().is_none_or(|last| row.time < last.time) {
                kept.push(row);
            }
        }
        assert!(kept.len() <= Table::MOST_ROWS, "there are more types of machines than can be told apart");
        (!kept.is_empty()).then_some(Table { rows: kept })
    }

    /// The rows, by rank.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// A row by its rank.
    pub fn row(&self, rank: u8) -> Row {
        self.rows[usize::from(rank)]
    }

    /// The highest rank.
    pub fn fastest(&self) -> u8 {
        (self.rows.len() - 1) as u8
    }

    /// The rank of the cheapest row that takes no longer than this.
    pub fn within(&self, time: u64) -> Option<u8> {
        let rank = self.rows.partition_point(|row| row.time > time);
        (rank < self.rows.len()).then_some(rank as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dearer_and_not_faster_goes() {
        let [times, prices] = [[9, 5, 7, 5, 3], [1, 4, 4, 3, 9]];
        let rows = (0..5).map(|at| Row { time: times[at], price: prices[at], machine: at as u16 });
        let table = Table::of(rows).unwrap();
        let kept: Vec<(u64, u64, u16)> = table.rows().iter().map(|row| (row.time, row.price, row.machine)).collect();
        assert_eq!(kept, [(9, 1, 0), (5, 3, 3), (3, 9, 4)]);
        assert_eq!([10, 9, 8, 3, 2].map(|time| table.within(time)), [Some(0), Some(0), Some(1), Some(2), None]);
        assert_eq!(Table::of([]), None);
    }
}
