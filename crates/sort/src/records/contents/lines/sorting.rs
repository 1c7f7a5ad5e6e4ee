//! Sorts the lines of a bucket: an entry for each, with its prefix and its place.

use std::io;

use kernel::{Entry, row};

use super::Lines;
use super::windows::{each, line_at, windows};
use super::words::LineWords;
use crate::records::block::Bucket;
use crate::records::contents::bytes::{records_of, slices_of};
use crate::records::contents::{Contents, Workspace};
use crate::records::order::TotalOrder;
use crate::records::size::Sum;

impl Lines {
    /// Finds the order of a bucket's lines, and drops those with equal keys if they are not wanted.
    pub(super) fn sort_bucket(
        &self,
        bucket: &Bucket,
        workspace: &mut Workspace,
    ) -> io::Result<Sum> {
        let records = bucket.size.records as usize;
        let (entries, scratch) = workspace.reserve(records)?;
        let (mut filled, mut longest) = (0, 0);
        for (number, chunk) in bucket.chunks.iter().enumerate() {
            windows(
                records_of(chunk),
                self.order.framing,
                |offset, lines, ends| {
                    let free = entries[filled..].iter_mut();
                    for (entry, (at, line)) in free.zip(each(lines, ends)) {
                        entry.prefix = self.order.word(line, 0);
                        entry.row = row(number as u32, (offset + at) as u32);
                        longest = longest.max(line.len());
                    }
                    filled += ends.len();
                },
            );
        }
        assert_eq!(filled, records, "chunks have as many lines as they say");
        let slices = slices_of(bucket);
        let words = LineWords {
            slices: &slices,
            bucket,
            order: &self.order,
            words: self.order.text.most_words(longest),
        };
        kernel::sort(entries, scratch, &words);
        if self.is_stable() {
            let kept = entries.is_sorted_by(|a, b| a.prefix < b.prefix || words.keeps_order(a, b));
            assert!(kept, "lines with equal keys changed places");
        }
        let mut dropped = Sum::default();
        if self.unique {
            let line = |entry: &Entry| line_at(&slices, entry.row, self.order.framing);
            workspace.dedup(|kept, next| {
                // Prefixes tell most lines apart.
                let is_equal =
                    kept.prefix == next.prefix && self.keys_equal(line(kept), line(next));
                if is_equal {
                    dropped += self.sum_of(line(next));
                }
                is_equal
            });
        }
        Ok(dropped)
    }
}
