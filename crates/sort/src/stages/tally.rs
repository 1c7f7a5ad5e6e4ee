//! The account of records: what came in must go out, in order (guarantee 2).

use crate::records::span::Span;
use crate::records::span::check;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::SortError;
use crate::records::contents::Contents;
use crate::report::SampleCost;

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
    largest: u64,
    buckets: u64,
    /// By their begin; what follows each other in one file is one.
    spans: BTreeMap<u64, Span>,
    sample: SampleCost,
}

/// What the account says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    /// Records sorted.
    pub records: u64,
    /// Their checksum.
    pub checksum: u128,
    /// Records of the largest bucket.
    pub largest: u64,
    /// Buckets with records.
    pub buckets: u64,
    pub sample: SampleCost,
}

impl Settled {
    /// The largest bucket over the mean.
    pub(crate) fn unevenness(&self) -> f64 {
        match self.buckets {
            ..=1 => 1.0,
            buckets => self.largest as f64 * buckets as f64 / self.records as f64,
        }
    }
}

impl Tally {
    /// What choosing splitters took.
    pub(crate) fn sampled(&self, sample: SampleCost) {
        self.change(|counts| counts.sample = sample);
    }

    /// Records that were read.
    pub(crate) fn came_in(&self, records: u64, sum: u128) {
        self.change(|counts| {
            counts.records_in += records;
            counts.sum_in = counts.sum_in.wrapping_add(sum);
        });
    }

    /// A sorted bucket that is to be written. Its edges are kept until its neighbours are there:
    /// large records would take much memory otherwise.
    pub(crate) fn goes_out(&self, bucket: Span, contents: &dyn Contents) -> Result<(), SortError> {
        self.change(|counts| {
            counts.records_out += bucket.records;
            counts.sum_out = counts.sum_out.wrapping_add(bucket.sum);
            counts.largest = counts.largest.max(bucket.records);
            counts.buckets += 1;
            counts.add(bucket, contents)
        })
    }

    /// Records that came in, and their checksum.
    pub(crate) fn came(&self) -> (u64, u128) {
        self.change(|counts| (counts.records_in, counts.sum_in))
    }

    /// Checksum of what came in.
    pub(crate) fn sum_in(&self) -> u128 {
        self.change(|counts| counts.sum_in)
    }

    /// Checks that nothing was lost and that buckets follow each other in order.
    pub(crate) fn settle(&self, contents: &dyn Contents) -> Result<Settled, SortError> {
        let mut counts = self.change(std::mem::take);
        let (records_in, records_out) = (counts.records_in, counts.records_out);
        let (sum_in, sum_out) = (counts.sum_in, counts.sum_out);
        if (records_in, sum_in) != (records_out, sum_out) {
            return Err(SortError::Lost {
                records_in,
                records_out,
                sum_in,
                sum_out,
            });
        }
        let spans: Vec<Span> = std::mem::take(&mut counts.spans).into_values().collect();
        for pair in spans.windows(2) {
            check(&pair[0], &pair[1], contents)?;
        }
        let settled = Settled {
            records: records_out,
            checksum: sum_out,
            largest: counts.largest,
            buckets: counts.buckets,
            sample: counts.sample,
        };
        let spans = spans.into_iter().map(|span| (span.begin, span)).collect();
        self.change(|kept| kept.spans = spans);
        Ok(settled)
    }

    /// What every file holds, in order, once all is settled.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.change(|counts| std::mem::take(&mut counts.spans).into_values().collect())
    }

    fn change<R>(&self, change: impl FnOnce(&mut Counts) -> R) -> R {
        change(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Counts {
    fn add(&mut self, mut span: Span, contents: &dyn Contents) -> Result<(), SortError> {
        let end = span.end();
        if self
            .spans
            .get(&end)
            .is_some_and(|next| span.is_before(next))
        {
            let next = self.spans.remove(&end).expect("it is there");
            span.join(next, contents)?;
        }
        match self.spans.range_mut(..span.begin).next_back() {
            Some((_, before)) if before.is_before(&span) => before.join(span, contents),
            _ => {
                self.spans.insert(span.begin, span);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::contents::Bytes;
    use record::{Order, Ties};

    fn span(begin: u64, records: u64, first: u8, last: u8) -> Span {
        let sum = u128::from(first) + u128::from(last);
        Span {
            begin,
            records,
            file: 0,
            sum,
            first: vec![first],
            last: vec![last],
        }
    }

    fn order() -> Bytes {
        Bytes::new(Order::new(1, &[], Ties::Record).unwrap())
    }

    #[test]
    fn what_came_in_must_go_out() {
        let tally = Tally::default();
        tally.came_in(2, 10);
        tally.came_in(1, 18);
        tally.goes_out(span(2, 1, 9, 9), &order()).unwrap();
        tally.goes_out(span(0, 2, 1, 9), &order()).unwrap();
        let settled = tally.settle(&order()).unwrap();
        assert_eq!((settled.records, settled.checksum), (3, 28));
        assert_eq!((settled.largest, settled.buckets), (2, 2));
        assert!((settled.unevenness() - 2.0 / 1.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_and_one_bucket_are_even() {
        let tally = Tally::default();
        assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
        tally.came_in(5, 10);
        tally.goes_out(span(0, 5, 1, 9), &order()).unwrap();
        assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
    }

    #[test]
    fn a_lost_or_changed_record_is_found() {
        for (records, last) in [(1, 9), (2, 8)] {
            let tally = Tally::default();
            tally.came_in(2, 10);
            tally.goes_out(span(0, records, 1, last), &order()).unwrap();
            assert!(matches!(
                tally.settle(&order()),
                Err(SortError::Lost { .. })
            ));
        }
    }

    #[test]
    fn buckets_out_of_order_are_found_when_both_are_there() {
        let tally = Tally::default();
        tally.goes_out(span(5, 2, 3, 4), &order()).unwrap();
        let found = tally.goes_out(span(0, 5, 1, 4), &order());
        assert_eq!(found, Err(SortError::Disorder { record: 5 }));
    }

    #[test]
    fn files_out_of_order_are_found_in_the_end() {
        let tally = Tally::default();
        tally.came_in(7, 12);
        tally
            .goes_out(
                Span {
                    file: 1,
                    ..span(5, 2, 3, 4)
                },
                &order(),
            )
            .unwrap();
        tally.goes_out(span(0, 5, 1, 4), &order()).unwrap();
        assert_eq!(
            tally.settle(&order()),
            Err(SortError::Disorder { record: 5 })
        );
    }

    #[test]
    fn edges_between_neighbours_are_not_kept() {
        let tally = Tally::default();
        for begin in [0, 4, 1, 3, 2] {
            tally.goes_out(span(begin, 1, 7, 7), &order()).unwrap();
        }
        let spans = tally.spans();
        assert_eq!((spans.len(), spans[0].records, spans[0].sum), (1, 5, 70));
    }
}
