//! Sorts the lines of a bucket: an entry for each, with its prefix and its place.

use std::io;

use kernel::{Entry, row};
use record::Ties;
use record::text::Lead;

use super::Lines;
use super::distinct::Distinct;
use super::windows::{each, first_end, line_at, windows};
use super::words::LineWords;
use crate::records::block::Bucket;
use crate::records::contents::bytes::{records_of, slices_of};
use crate::records::contents::{Contents, Edges, RecordsAt, Workspace};
use crate::records::order::TotalOrder;
use crate::records::size::{Size, Sum};

/// The entries of a bucket's lines, and the repeats that have none.
#[derive(Default)]
struct Filled {
    entries: usize,
    /// The front that all lines share, so that entries have the first word behind it.
    lead: Option<Lead>,
    /// Bytes of the longest line.
    longest: usize,
    dropped: Sum,
}

/// The part of a window's lines whose keys the prefix does not tell from the one before, beyond which the
/// next window is compared without prefixes.
const MOST_TIED: usize = 4;

/// Lines of a bucket for which a look at what they share is worth it.
const LEAST_LED: u64 = 64;

/// Chunks of a bucket that are looked at for that.
const LOOKED_AT: usize = 8;

/// Bytes of keys that are worth leaving out: fewer leave most of a word.
const LEAST_SHARED: usize = 4;

impl Lines {
    /// Checks the order of gathered lines. Returns the sum of their checksums.
    pub(super) fn check_lines(
        &self,
        records: RecordsAt<'_>,
        size: Size,
        edges: &mut Edges,
    ) -> Result<u64, usize> {
        let lines = &records.buffer.bytes()[records.at..][..size.bytes as usize];
        let text = &self.order.text;
        let (mut number, mut sum, mut wrong) = (0, 0, None);
        let mut before: &[u8] = &edges.last;
        // Prefixes tell most lines apart, so that the key of each is sought once; where they do not, they
        // are sought in vain.
        let (mut prefixes, mut tell) = (Vec::new(), true);
        windows(lines, self.order.framing, |_, lines, ends| {
            sum += self.crc_of(lines, ends);
            prefixes.clear();
            let mut lead = None;
            if tell {
                lead = self.lead_of_sorted(lines, ends);
                self.words_behind(&mut lead, lines, ends, &mut prefixes);
            }
            let mut prefix_before = None;
            if tell && !before.is_empty() {
                prefix_before = self.word_behind(lead.as_ref(), before);
            }
            let mut sought = 0;
            for (at, (_, line)) in each(lines, ends).enumerate() {
                let prefix = prefixes.get(at).copied();
                let in_order = match prefix_before.zip(prefix) {
                    _ if before.is_empty() => true,
                    Some((before, prefix)) if before != prefix => before < prefix,
                    Some((_, prefix)) if lead.is_none() && text.is_key(prefix) => {
                        self.in_order_by_rest(before, line)
                    }
                    _ => {
                        sought += 1;
                        self.in_order(before, line)
                    }
                };
                if !in_order {
                    wrong = wrong.or(Some(number + at));
                }
                (before, prefix_before) = (line, prefix);
            }
            tell &= sought <= ends.len() / MOST_TIED;
            number += ends.len();
        });
        if let Some(number) = wrong {
            return Err(number);
        }
        assert_eq!(
            number as u64, size.records,
            "as many lines as were gathered"
        );
        if !lines.is_empty() {
            if edges.first.is_empty() {
                let end = first_end(lines, self.order.framing);
                edges.first.extend_from_slice(&lines[..end]);
            }
            edges.last = before.to_vec();
        }
        Ok(sum)
    }

    /// Whether a line may stand before another one whose first key is equal.
    fn in_order_by_rest(&self, a: &[u8], b: &[u8]) -> bool {
        if self.unique {
            return self.in_order(a, b);
        }
        let [a, b] = [a, b].map(|line| self.order.body(line));
        self.behind.compare(a, b).is_le()
    }

    /// Finds the order of a bucket's lines, and drops those with equal keys if they are not wanted.
    pub(super) fn sort_bucket(
        &self,
        bucket: &Bucket,
        workspace: &mut Workspace,
    ) -> io::Result<Sum> {
        let slices = slices_of(bucket);
        let (entries, scratch) = workspace.reserve(bucket.size.records as usize)?;
        // Lines that compare equal may be the same bytes: their repeats need no sort.
        let filled = if self.unique && self.order.ties() == Ties::Record {
            let mut seen = Distinct::new(&slices, self.order.framing, scratch);
            self.fill(bucket, &slices, entries, |line, row| {
                if seen.is_left() {
                    return None;
                }
                let sum = self.sum_of(line);
                seen.repeats(line, sum.crc as u32, row).then_some(sum)
            })
        } else {
            self.fill(bucket, &slices, entries, |_, _| None)
        };
        let Filled {
            longest,
            ref lead,
            mut dropped,
            ..
        } = filled;
        assert_eq!(
            filled.entries as u64 + dropped.size.records,
            bucket.size.records,
            "chunks have as many lines as they say"
        );
        workspace.truncate(filled.entries);
        let (entries, scratch) = workspace.both();
        let whole = &self.order.text;
        let text = lead.as_ref().map_or(whole, Lead::order);
        let is_of_first = lead.as_ref().is_none_or(Lead::is_in_first_key);
        let is_told =
            is_of_first && whole.seeks() && entries.iter().all(|entry| text.is_key(entry.prefix));
        let behind = if is_told {
            (&self.behind, 1)
        } else {
            (text, 0)
        };
        let words = LineWords {
            slices: &slices,
            bucket,
            order: &self.order,
            behind,
            text,
            words: behind.1 + behind.0.most_words(longest),
        };
        kernel::sort(entries, scratch, &words);
        if self.is_stable() {
            let kept = entries.is_sorted_by(|a, b| {
                a.prefix < b.prefix || a.prefix == b.prefix && words.keeps_order(a, b)
            });
            assert!(kept, "lines with equal keys changed places");
        }
        if self.unique {
            let line = |entry: &Entry| line_at(&slices, entry.row, self.order.framing);
            workspace.dedup(|before, next| {
                // Prefixes tell most lines apart.
                let is_equal =
                    before.prefix == next.prefix && self.keys_equal(line(before), line(next));
                if is_equal {
                    dropped += self.sum_of(line(next));
                }
                is_equal
            });
        }
        Ok(dropped)
    }

    /// An entry for each line that is not `repeated`, which returns the sum of one that is.
    fn fill(
        &self,
        bucket: &Bucket,
        slices: &[&[u8]],
        entries: &mut [Entry],
        mut repeated: impl FnMut(&[u8], u64) -> Option<Sum>,
    ) -> Filled {
        let mut filled = Filled {
            lead: self.lead_of_bucket(bucket),
            ..Filled::default()
        };
        let mut prefixes = Vec::new();
        for (number, chunk) in (0..).zip(&bucket.chunks) {
            windows(
                records_of(chunk),
                self.order.framing,
                |offset, lines, ends| {
                    let had_lead = filled.lead.is_some();
                    self.words_behind(&mut filled.lead, lines, ends, &mut prefixes);
                    if had_lead && filled.lead.is_none() {
                        for entry in &mut entries[..filled.entries] {
                            let line = line_at(slices, entry.row, self.order.framing);
                            entry.prefix = self.order.word(line, 0);
                        }
                    }
                    for ((at, line), &prefix) in each(lines, ends).zip(&prefixes) {
                        let row = row(number, (offset + at) as u32);
                        if let Some(sum) = repeated(line, row) {
                            filled.dropped += sum;
                            continue;
                        }
                        entries[filled.entries] = Entry { prefix, row };
                        filled.entries += 1;
                        filled.longest = filled.longest.max(line.len());
                    }
                },
            );
        }
        filled
    }

    /// The front that the lines of a bucket may share, by the first ones of some chunks.
    fn lead_of_bucket(&self, bucket: &Bucket) -> Option<Lead> {
        if bucket.size.records < LEAST_LED {
            return None;
        }
        let step = bucket.chunks.len().div_ceil(LOOKED_AT);
        let framing = self.order.framing;
        let mut first = Vec::new();
        for chunk in bucket.chunks.iter().step_by(step) {
            let mut lines = records_of(chunk);
            for _ in 0..2 {
                if !lines.is_empty() {
                    let (line, rest) = lines.split_at(first_end(lines, framing));
                    first.push(self.order.body(line));
                    lines = rest;
                }
            }
        }
        let several = first.len() > 1;
        several.then(|| self.lead_of(&first)).flatten()
    }

    /// The front that sorted lines share.
    fn lead_of_sorted(&self, lines: &[u8], ends: &[u32]) -> Option<Lead> {
        let [first, .., before_last, last] = ends else {
            return None;
        };
        let ends = [0..*first as usize, *before_last as usize..*last as usize];
        let both = ends.map(|range| self.order.body(&lines[range]));
        self.lead_of(&both)
    }

    /// The front that lines share. Where repeats of keys are dropped, it is none behind all keys, since words
    /// there tell equal keys apart.
    fn lead_of(&self, lines: &[&[u8]]) -> Option<Lead> {
        let lead = self.order.text.lead_of(lines, LEAST_SHARED);
        lead.filter(|lead| !(self.unique && lead.is_behind_keys()))
    }

    fn word_behind(&self, lead: Option<&Lead>, line: &[u8]) -> Option<u64> {
        match lead {
            Some(lead) => lead.word_behind(self.order.body(line)),
            None => Some(self.order.word(line, 0)),
        }
    }

    /// The words of a window's lines behind what they share; their prefixes, and no lead any more, if one
    /// does not share it.
    fn words_behind(
        &self,
        lead: &mut Option<Lead>,
        lines: &[u8],
        ends: &[u32],
        words: &mut Vec<u64>,
    ) {
        if let Some(shared) = lead {
            words.clear();
            let bodies = each(lines, ends).map(|(_, line)| self.order.body(line));
            words.extend(bodies.map_while(|line| shared.word_behind(line)));
            if words.len() == ends.len() {
                return;
            }
            *lead = None;
        }
        self.prefixes(lines, ends, words);
    }

    /// The prefix of each line of a window.
    fn prefixes(&self, lines: &[u8], ends: &[u32], prefixes: &mut Vec<u64>) {
        prefixes.resize(ends.len(), 0);
        let bodies = each(lines, ends).map(|(_, line)| self.order.body(line));
        self.order.text.prefixes(bodies, prefixes);
    }
}
