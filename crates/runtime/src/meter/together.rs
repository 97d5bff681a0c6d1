//! What tasks hold together, which is less than the sum of what each of them does.
//!
//! The kernel counts a page for every process that has it: a pool of workers that were forked from one that had read 4 GB holds 4 GB, and would be
//! said to hold as much for each worker, more than there is. Who shares what is told only by looking at each page of each process, which
//! takes far too long. But all tasks together cannot hold more than is in use at all. Where the sum says so, somebody shares, and
//! what is too much is taken off everybody in proportion.

use std::collections::HashMap;

use throng_core::pack::Uses;

/// Takes off what tasks cannot hold where so much is in use; returns what they hold together.
pub fn bound(found: &mut HashMap<i32, Uses>, in_use_bytes: u64) -> u64 {
    let sum: u64 = found.values().map(|uses| uses.bytes).sum();
    if sum <= in_use_bytes {
        return sum;
    }
    let part = in_use_bytes as f64 / sum as f64;
    found.values_mut().for_each(|uses| uses.bytes = (uses.bytes as f64 * part) as u64);
    in_use_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_holds_more_than_there_is() {
        let task = |bytes: u64| Uses { bytes, computing_us: 7 };
        let mut found = HashMap::from([(1, task(4000)), (2, task(12_000)), (3, task(0))]);
        let before = found.clone();
        assert_eq!((bound(&mut found, 16_000), &found), (16_000, &before));
        assert_eq!(bound(&mut found, 4000), 4000);
        assert_eq!(found, HashMap::from([(1, task(1000)), (2, task(3000)), (3, task(0))]));
        assert_eq!(bound(&mut HashMap::new(), 0), 0);
    }
}
