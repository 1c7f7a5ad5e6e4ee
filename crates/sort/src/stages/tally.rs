//! The account of records: what came in must go out, in order (guarantee 2).

use std::sync::{Arc, Mutex, PoisonError};

use crate::contents::Contents;
use crate::error::SortError;

/// What workers found, added up; clones share it. Sums do not depend on who was first.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    shared: Arc<Mutex<Counts>>,
}

#[derive(Clone, Default)]
struct Counts {
    records_in: u64,
    sum_in: u128,
    records_out: u64,
    sum_out: u128,
    edges: Vec<Edge>,
}

/// The first and last record of a bucket that was sorted.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Records before the bucket.
    pub begin: u64,
    pub first: Vec<u8>,
    pub last: Vec<u8>,
}

impl Tally {
    /// Records that were read.
    pub(crate) fn came_in(&self, records: u64, sum: u128) {
        self.change(|counts| {
            counts.records_in += records;
            counts.sum_in = counts.sum_in.wrapping_add(sum);
        });
    }

    /// Records that are to be written.
    pub(crate) fn goes_out(&self, records: u64, sum: u128, edges: Vec<Edge>) {
        self.change(|counts| {
            counts.records_out += records;
            counts.sum_out = counts.sum_out.wrapping_add(sum);
            counts.edges.extend(edges);
        });
    }

    /// Checksum of what came in.
    pub(crate) fn sum_in(&self) -> u128 {
        self.change(|counts| counts.sum_in)
    }

    /// Checks that nothing was lost and that buckets follow each other in order: the number of
    /// records and their checksum.
    pub(crate) fn settle(&self, contents: &dyn Contents) -> Result<(u64, u128), SortError> {
        let mut counts = self.change(std::mem::take);
        let (records_in, records_out) = (counts.records_in, counts.records_out);
        let (sum_in, sum_out) = (counts.sum_in, counts.sum_out);
        if (records_in, sum_in) != (records_out, sum_out) {
            return Err(SortError::Lost { records_in, records_out, sum_in, sum_out });
        }
        counts.edges.sort_by_key(|edge| edge.begin);
        for pair in counts.edges.windows(2) {
            if !contents.in_order(&pair[0].last, &pair[1].first) {
                return Err(SortError::Disorder { record: pair[1].begin });
            }
        }
        Ok((records_out, sum_out))
    }

    fn change<R>(&self, change: impl FnOnce(&mut Counts) -> R) -> R {
        change(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Bytes;
    use record::{Order, Ties};

    fn edge(begin: u64, first: u8, last: u8) -> Edge {
        Edge { begin, first: vec![first], last: vec![last] }
    }

    fn order() -> Bytes {
        Bytes::new(Order::new(1, &[], Ties::Record).unwrap())
    }

    #[test]
    fn what_came_in_must_go_out() {
        let tally = Tally::default();
        tally.came_in(2, 30);
        tally.came_in(1, 12);
        tally.goes_out(1, 12, vec![edge(2, 9, 9)]);
        tally.goes_out(2, 30, vec![edge(0, 1, 9)]);
        assert_eq!(tally.settle(&order()), Ok((3, 42)));
    }

    #[test]
    fn a_lost_or_changed_record_is_found() {
        for (records, sum) in [(1, 42), (2, 41)] {
            let tally = Tally::default();
            tally.came_in(2, 42);
            tally.goes_out(records, sum, Vec::new());
            assert!(matches!(tally.settle(&order()), Err(SortError::Lost { .. })));
        }
    }

    #[test]
    fn buckets_out_of_order_are_found() {
        let tally = Tally::default();
        tally.goes_out(0, 0, vec![edge(5, 3, 4), edge(0, 1, 4)]);
        assert_eq!(tally.settle(&order()), Err(SortError::Disorder { record: 5 }));
    }
}
