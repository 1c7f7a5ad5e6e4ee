//! The account of records: those that came in must go out, in order (guarantee 2).
//!
//! ```text
//! came in  =  went out  +  repeated   +  behind the top   +  unread
//!                          (-u: with     (--top: in a        (--top: in no load, only
//!                          checksum)     load, with it)      their number is known)
//! ```
//!
//! Records are left out for the first records only if so many went out.

use crate::records::span::Span;
use crate::records::span::check;
use node::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::SortError;
use crate::records::contents::Contents;
use crate::records::size::{Size, Sum};
use crate::report::SampleCost;

/// Sums over all workers; clones share them. The sums do not depend on the order of workers.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    shared: Arc<Mutex<Counts>>,
}

#[derive(Clone, Default)]
struct Counts {
    records_in: Sum,
    records_out: Sum,
    /// Records that were dropped for the one before, whose keys they have.
    repeated: Sum,
    /// Records of a load behind the first ones, which are wanted.
    behind_top: Sum,
    /// Records that no merge read, because enough others came before them.
    unread: u64,
    /// Records that are wanted, if not all are.
    top: Option<u64>,
    /// Bytes of the output that are in no record.
    added: u64,
    largest: u64,
    buckets: u64,
    /// By the records before them; neighbours in one file are joined.
    spans: BTreeMap<u64, Span>,
    sample: SampleCost,
}

/// The account of a run, settled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Settled {
    /// Records that were written.
    pub sum: Sum,
    /// Records that were not: they had the keys of another, or others were wanted.
    pub dropped: Sum,
    /// Bytes of the counts before records.
    pub added: u64,
    /// Records of the largest bucket.
    pub largest: u64,
    /// Buckets with records.
    pub buckets: u64,
    pub sample: SampleCost,
}

impl Settled {
    /// Adds the account of another range.
    pub(crate) fn add(&mut self, other: &Settled) {
        self.sum += other.sum;
        self.dropped += other.dropped;
        self.added += other.added;
        self.largest = self.largest.max(other.largest);
        self.buckets += other.buckets;
        self.sample.add(other.sample);
    }

    /// Bytes of the output.
    pub(crate) fn bytes(&self) -> u64 {
        self.sum.size.bytes + self.added
    }

    /// Records of the largest bucket over the mean.
    pub(crate) fn unevenness(&self) -> f64 {
        unevenness(self.largest, self.buckets, self.sum.size.records)
    }
}

/// The largest of `count` parts of `all` records, over their mean.
pub(crate) fn unevenness(largest: u64, count: u64, all: u64) -> f64 {
    match count {
        ..=1 => 1.0,
        _ => largest as f64 * count as f64 / all as f64,
    }
}

impl Tally {
    pub(crate) fn sampled(&self, sample: SampleCost) {
        self.change(|counts| counts.sample = sample);
    }

    /// Drops records that have the keys of the one before.
    pub(crate) fn add_repeated(&self, repeated: Sum) {
        self.change(|counts| counts.repeated += repeated);
    }

    /// Leaves out records of a load behind its first ones.
    pub(crate) fn add_behind_top(&self, records: Sum) {
        self.change(|counts| counts.behind_top += records);
    }

    /// Leaves out records that no merge reads, because `top` others come before them.
    pub(crate) fn add_unread(&self, records: u64, top: u64) {
        self.change(|counts| {
            counts.unread += records;
            counts.top = Some(top);
        });
    }

    /// Drops sorted records behind the first one with their keys; `added` bytes say how many.
    pub(crate) fn count(&self, dropped: Sum, added: u64) {
        self.change(|counts| {
            counts.records_out = counts.records_out - dropped;
            counts.repeated += dropped;
            counts.added += added;
        });
    }

    pub(crate) fn add_in(&self, read: Sum) {
        self.change(|counts| counts.records_in += read);
    }

    /// Adds a sorted bucket. Its first and last record are kept only until its neighbours are there,
    /// because large records take much memory.
    pub(crate) fn add_out(&self, bucket: Span, contents: &dyn Contents) -> Result<(), SortError> {
        self.change(|counts| {
            let (size, crc) = (bucket.size, bucket.sum);
            counts.records_out += Sum { size, crc };
            counts.largest = counts.largest.max(size.records);
            counts.buckets += 1;
            counts.add(bucket, contents)
        })
    }

    pub(crate) fn add(&self, part: &Tally, contents: &dyn Contents) -> Result<(), SortError> {
        let part = part.change(std::mem::take);
        self.change(|counts| {
            counts.records_in += part.records_in;
            counts.records_out += part.records_out;
            counts.repeated += part.repeated;
            counts.added += part.added;
            counts.largest = counts.largest.max(part.largest);
            counts.buckets += part.buckets;
            counts.sample.add(part.sample);
            let mut spans = part.spans.into_values();
            spans.try_for_each(|span| counts.add(span, contents))
        })
    }

    /// The stretches of the output that were written so far.
    pub(crate) fn written(&self) -> Vec<Span> {
        self.change(|counts| counts.spans.values().cloned().collect())
    }

    pub(crate) fn repeated(&self) -> Sum {
        self.change(|counts| counts.repeated)
    }

    pub(crate) fn records_in(&self) -> Sum {
        self.change(|counts| counts.records_in)
    }

    /// Checks that no record was lost and that buckets are in order.
    pub(crate) fn settle(&self, contents: &dyn Contents) -> Result<Settled, SortError> {
        let mut counts = self.change(std::mem::take);
        let dropped = counts.check()?;
        let spans: Vec<Span> = std::mem::take(&mut counts.spans).into_values().collect();
        for pair in spans.windows(2) {
            check(&pair[0], &pair[1], contents)?;
        }
        let settled = Settled {
            sum: counts.records_out,
            dropped,
            added: counts.added,
            largest: counts.largest,
            buckets: counts.buckets,
            sample: counts.sample,
        };
        let spans = spans
            .into_iter()
            .map(|span| (span.begin.records, span))
            .collect();
        self.change(|kept| kept.spans = spans);
        Ok(settled)
    }

    /// The stretches of all files, in order, once the account is settled.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.change(|counts| std::mem::take(&mut counts.spans).into_values().collect())
    }

    fn change<R>(&self, change: impl FnOnce(&mut Counts) -> R) -> R {
        change(&mut self.shared.lock())
    }
}

/// # Errors
/// When the records that came in are not those that went out.
pub(crate) fn all_there(came_in: Sum, went_out: Sum) -> Result<(), SortError> {
    if came_in == went_out {
        return Ok(());
    }
    Err(SortError::Lost {
        records_in: came_in.size.records,
        records_out: went_out.size.records,
        sum_in: came_in.crc,
        sum_out: went_out.crc,
    })
}

impl Counts {
    /// Checks that all records are there. Returns those that were left out.
    fn check(&self) -> Result<Sum, SortError> {
        let (came_in, out) = (self.records_in, self.records_out);
        let mut dropped = self.repeated + self.behind_top;
        if self.unread > 0 {
            // Their bytes and checksum are those that are missing.
            let records = self.unread;
            let known = (out + dropped).size;
            let size = Size {
                records,
                bytes: came_in.size.bytes.saturating_sub(known.bytes),
            };
            let crc = came_in.crc.wrapping_sub((out + dropped).crc);
            dropped += Sum { size, crc };
        }
        all_there(came_in, out + dropped)?;
        let wanted = match self.top {
            Some(top) => top.min((came_in - self.repeated).size.records),
            None => out.size.records,
        };
        if out.size.records != wanted {
            return Err(SortError::Lost {
                records_in: wanted,
                records_out: out.size.records,
                sum_in: came_in.crc,
                sum_out: out.crc,
            });
        }
        Ok(dropped)
    }

    fn add(&mut self, mut span: Span, contents: &dyn Contents) -> Result<(), SortError> {
        let end = span.end();
        if self
            .spans
            .get(&end.records)
            .is_some_and(|next| span.is_before(next))
        {
            let next = self.spans.remove(&end.records).expect("it is there");
            span.join(next, contents)?;
        }
        match self.spans.range_mut(..span.begin.records).next_back() {
            Some((_, before)) if before.is_before(&span) => before.join(span, contents),
            _ => {
                self.spans.insert(span.begin.records, span);
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
        let size = |records| Size {
            records,
            bytes: records,
        };
        Span {
            begin: size(begin),
            size: size(records),
            file: 0,
            sum,
            first: vec![first],
            last: vec![last],
        }
    }

    fn read(records: u64, crc: u128) -> Sum {
        let size = Size {
            records,
            bytes: records,
        };
        Sum { size, crc }
    }

    fn order() -> Bytes {
        Bytes::new(Order::new(1, &[], Ties::Record).unwrap())
    }

    #[test]
    fn what_came_in_must_go_out() {
        let tally = Tally::default();
        tally.add_in(read(2, 10));
        tally.add_in(read(1, 18));
        tally.add_out(span(2, 1, 9, 9), &order()).unwrap();
        tally.add_out(span(0, 2, 1, 9), &order()).unwrap();
        let settled = tally.settle(&order()).unwrap();
        assert_eq!(settled.sum, read(3, 28));
        assert_eq!((settled.largest, settled.buckets), (2, 2));
        assert!((settled.unevenness() - 2.0 / 1.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_and_one_bucket_are_even() {
        let tally = Tally::default();
        assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
        tally.add_in(read(5, 10));
        tally.add_out(span(0, 5, 1, 9), &order()).unwrap();
        assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
    }

    #[test]
    fn a_lost_or_changed_record_is_found() {
        for (records, last) in [(1, 9), (2, 8)] {
            let tally = Tally::default();
            tally.add_in(read(2, 10));
            tally.add_out(span(0, records, 1, last), &order()).unwrap();
            assert!(matches!(
                tally.settle(&order()),
                Err(SortError::Lost { .. })
            ));
        }
    }

    #[test]
    fn records_are_left_out_behind_the_first_ones_only() {
        // Of eight records two are repeated and one is cut from its load.
        let settled = |written, unread, top| {
            let tally = Tally::default();
            tally.add_in(read(8, 80));
            tally.add_repeated(read(2, 20));
            tally.add_behind_top(read(1, 10));
            tally.add_unread(unread, top);
            tally.add_out(span(0, written, 20, 30), &order()).unwrap();
            tally.settle(&order()).map(|settled| settled.dropped)
        };
        assert_eq!(settled(3, 2, 3), Ok(read(5, 30)));
        assert_eq!(settled(5, 0, 5).unwrap().size.records, 3);
        // One was not read and not written; one more was read than was written.
        for (written, unread, top) in [(3, 1, 3), (3, 3, 3), (3, 2, 4), (3, 2, 2), (3, 2, 9)] {
            let found = settled(written, unread, top);
            assert!(matches!(found, Err(SortError::Lost { .. })), "{found:?}");
        }
    }

    #[test]
    fn buckets_out_of_order_are_found_when_both_are_there() {
        let tally = Tally::default();
        tally.add_out(span(5, 2, 3, 4), &order()).unwrap();
        let found = tally.add_out(span(0, 5, 1, 4), &order());
        assert_eq!(found, Err(SortError::Disorder { record: 5 }));
    }

    #[test]
    fn files_out_of_order_are_found_in_the_end() {
        let tally = Tally::default();
        tally.add_in(read(7, 12));
        tally
            .add_out(
                Span {
                    file: 1,
                    ..span(5, 2, 3, 4)
                },
                &order(),
            )
            .unwrap();
        tally.add_out(span(0, 5, 1, 4), &order()).unwrap();
        assert_eq!(
            tally.settle(&order()),
            Err(SortError::Disorder { record: 5 })
        );
    }

    #[test]
    fn edges_between_neighbours_are_not_kept() {
        let tally = Tally::default();
        for begin in [0, 4, 1, 3, 2] {
            tally.add_out(span(begin, 1, 7, 7), &order()).unwrap();
        }
        let spans = tally.spans();
        assert_eq!(
            (spans.len(), spans[0].size.records, spans[0].sum),
            (1, 5, 70)
        );
    }
}
