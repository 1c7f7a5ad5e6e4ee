//! The account of records: those that came in must go out, in order (guarantee 2).
//!
//! ```text
//! came in  =  went out  +  repeated   +  behind the top    +  unread
//!                          (-u: with     (--top: as it was   (--top: only their
//!                          checksum)     read, with it)      number is known)
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
    /// Bytes of the output that are in no record, less those of records that became shorter.
    added: i64,
    /// Records that stayed apart from those with their keys, because a total did not fit.
    apart: u64,
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
    /// Bytes of the counts before records, and of totals beyond the numbers in their places.
    pub added: i64,
    /// Records that a total did not fit.
    pub apart: u64,
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
        self.apart += other.apart;
        self.largest = self.largest.max(other.largest);
        self.buckets += other.buckets;
        self.sample.add(other.sample);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sum.size.bytes.saturating_add_signed(self.added)
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

    /// Leaves out records that no load has: repeats, and others that come behind the first ones.
    pub(crate) fn leave_out(&self, repeated: Sum, behind: Sum) {
        self.change(|counts| {
            counts.records_in += repeated + behind;
            counts.repeated += repeated;
            counts.behind_top += behind;
        });
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

    /// Drops sorted records that were joined with the one before, which is longer by `added` bytes now. `apart` others
    /// were not.
    pub(crate) fn join(&self, dropped: Sum, (added, apart): (i64, u64)) {
        self.change(|counts| {
            counts.records_out = counts.records_out - dropped;
            counts.repeated += dropped;
            counts.added += added;
            counts.apart += apart;
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
            counts.apart += part.apart;
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
            apart: counts.apart,
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
mod tests;
