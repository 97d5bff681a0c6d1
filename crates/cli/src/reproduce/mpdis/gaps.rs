//! How many times as long the random order takes as others: the table that most sections have.

use super::super::section::Table;
use super::case::Figures;
use super::{B1, B2, GCS, OG, OWN, PS, Place, Results, Way, gigabytes, heads, times};

/// What is held against B1.
pub(super) const OTHERS: [Way; 4] = [OG, GCS, PS, B2];

/// What such a table shows.
pub(super) struct Gaps<'a> {
    pub(super) caption: String,
    /// Heads of the first columns.
    pub(super) first: &'a [&'a str],
    pub(super) others: &'a [Way],
    /// What was loaded by B1 and OG, if that is shown: what it is called.
    pub(super) loaded: Option<[&'a str; 2]>,
}

impl Gaps<'_> {
    /// The table with a row for each place, which has what stands in its first columns.
    pub(super) fn table(&self, results: &Results, rows: impl IntoIterator<Item = (Vec<String>, Place)>) -> Table {
        let mut head = heads(self.first, self.others);
        head.push("at most");
        head.extend(self.loaded.iter().flatten());
        let mut table = Table::new(self.caption.clone(), &heads(&head, &OWN));
        for (mut row, place) in rows {
            let gap = |way: &Way| place.gap(results, way).words(times);
            let loaded = |way: &Way| place.figure(results, way, Figures::loaded_gb).words(gigabytes);
            row.extend(self.others.iter().map(gap));
            row.push(place.most(results).words(times));
            row.extend(self.loaded.iter().flat_map(|_| [&B1, &OG].map(loaded)));
            row.extend(OWN.iter().map(gap));
            table.rows.push(row);
        }
        table
    }
}
