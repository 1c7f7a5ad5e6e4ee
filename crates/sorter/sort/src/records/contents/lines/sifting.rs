//! Checks records, and removes blank lines and records with mistakes from a block.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use record::rows::{BadRow, RowCheck};
use record::{Framing, LineOrder, Totals};

use super::windows::{each, windows};
use crate::records::block::Block;
use crate::records::contents::{Aside, Mistake, MistakeCause, Sifting};
use crate::records::size::Size;

/// The rules that records keep.
#[derive(Clone, Default)]
pub(super) struct Check {
    pub rows: Option<RowCheck>,
    /// Lines of which keys have types.
    pub typed: Option<LineOrder>,
    /// Those that some line had; clones share it.
    pub typed_seen: Arc<AtomicU64>,
    /// Every record with a length has this many bytes, behind its header.
    pub least_bytes: usize,
    /// Numbers that are added up.
    pub totals: Totals,
    /// Those that some record had; clones share it.
    pub found: Arc<AtomicU64>,
}

impl Check {
    /// Whether a row may go on behind the newline that was taken for its end.
    fn may_go_on(&self, row: &[u8], framing: Framing) -> bool {
        let rows = self.rows.as_ref().filter(|_| !framing.is_chained());
        rows.is_some_and(|rows| rows.framing().end(row).is_none())
    }

    #[inline]
    pub(super) fn is_blank(&self, record: &[u8], framing: Framing) -> bool {
        let rows = self.rows.as_ref();
        rows.is_some_and(|rows| rows.is_blank(framing.body(record)))
    }

    /// The checksum of its numbers that are added up.
    ///
    /// # Errors
    /// The mistake in a row or line.
    pub(super) fn row(&self, body: &[u8]) -> Result<u128, BadRow> {
        if let Some(rows) = &self.rows {
            rows.check(body)?;
        }
        if let Some(typed) = &self.typed {
            let seen = typed.check(body)?;
            if seen & !self.typed_seen.load(Relaxed) > 0 {
                self.typed_seen.fetch_or(seen, Relaxed);
            }
        }
        if self.totals.is_none() {
            return Ok(0);
        }
        let numbers = self.totals.check(body)?;
        // It is mostly known: other workers look at it, too.
        if numbers.found & !self.found.load(Relaxed) > 0 {
            self.found.fetch_or(numbers.found, Relaxed);
        }
        Ok(numbers.checksum)
    }

    /// Keys and numbers for which no row had a value.
    pub(super) fn unseen(&self) -> Vec<String> {
        let keys = self.rows.as_ref().map_or(Vec::new(), RowCheck::unseen);
        let numbers = self.totals.unseen(self.found.load(Relaxed));
        let seen = self.typed_seen.load(Relaxed);
        let fields = (self.typed.as_ref()).map_or(Vec::new(), |typed| typed.unseen(seen));
        keys.into_iter().chain(fields).chain(numbers).collect()
    }

    fn check(&self, record: &[u8], framing: Framing) -> Result<u128, MistakeCause> {
        let (bytes, needed) = (record.len() - framing.shortest(), self.least_bytes);
        if bytes < needed {
            return Err(MistakeCause::Record(format!(
                "it has {bytes} bytes, and the keys need {needed}; shorten the keys"
            )));
        }
        let checked = self.row(framing.body(record));
        checked.map_err(|bad| match framing {
            Framing::Prefixed(_) => MistakeCause::of_record(&bad),
            _ => MistakeCause::Row(bad),
        })
    }
}

/// Checks the records of a block. Those with mistakes are returned, if they are set aside.
///
/// # Errors
/// The first mistake, if rows are not set aside; or a quote that is not closed in a line, because
/// its row may go on in the next one.
pub(super) fn sift(
    block: &mut Block,
    check: &Check,
    (framing, how): (Framing, Sifting),
) -> Result<Aside, Mistake> {
    let (mut left_out, mut mistake, mut totals) = (LeftOut::default(), None, 0_u128);
    let rows = &block.buffer.bytes()[block.range()];
    // A line of its own, behind which rows are read anew.
    let (open, rows) = if is_open(rows, framing) {
        rows.split_at(rows.len())
    } else {
        rows.split_at(0)
    };
    if !open.is_empty() {
        left_out.add(0..open.len(), false);
        let bad = check.check(open, framing).err();
        mistake = bad.filter(|_| how != Sifting::Aside).map(|bad| (0, bad));
    }
    windows(rows, framing, |offset, rows, ends| {
        for (at, row) in each(rows, ends) {
            let begin = offset + at;
            let range = begin..begin + row.len();
            if check.is_blank(row, framing) {
                left_out.add(range, true);
                continue;
            }
            match check.check(row, framing) {
                Ok(sum) => totals = totals.wrapping_add(sum),
                Err(bad) => {
                    left_out.add(range, false);
                    if how != Sifting::Aside || check.may_go_on(row, framing) {
                        mistake = mistake.take().or(Some((begin, bad)));
                    }
                }
            }
        }
    });
    if let Some((begin, cause)) = mistake {
        return Err(Mistake {
            position: block.first + begin as u64,
            cause,
        });
    }
    let aside = match how {
        Sifting::Look => Aside::default(),
        Sifting::Skip | Sifting::Aside => remove(block, &left_out, framing),
    };
    Ok(Aside { totals, ..aside })
}

pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The lines that end in these bytes of records or of a header; those in quotes count.
pub(crate) fn lines_in(bytes: &[u8], framing: Framing) -> u64 {
    let end = framing.delimiter().unwrap_or(b'\n');
    memchr::memchr_iter(end, bytes).count() as u64
}

/// Whether the first row does not end: a quote in it is never closed.
pub(crate) fn is_open(rows: &[u8], framing: Framing) -> bool {
    matches!(framing, Framing::Quoted(_)) && !rows.is_empty() && framing.end(rows).is_none()
}

/// Blank lines, and records with mistakes. Those of a kind behind each other make one range, since all
/// records of a block may have mistakes.
#[derive(Default)]
struct LeftOut {
    wrong_records: u64,
    blank_records: u64,
    /// With whether they are blank.
    ranges: Vec<(Range<usize>, bool)>,
}

impl LeftOut {
    fn add(&mut self, record: Range<usize>, is_blank: bool) {
        self.wrong_records += u64::from(!is_blank);
        self.blank_records += u64::from(is_blank);
        match self.ranges.last_mut() {
            Some((last, kind)) if last.end == record.start && *kind == is_blank => {
                last.end = record.end;
            }
            _ => self.ranges.push((record, is_blank)),
        }
    }
}

fn remove(block: &mut Block, left_out: &LeftOut, framing: Framing) -> Aside {
    let lines = |bytes: &[u8]| lines_in(bytes, framing);
    let mut aside = Aside {
        records: left_out.wrong_records,
        blank: Size {
            records: left_out.blank_records,
            bytes: 0,
        },
        ..Aside::default()
    };
    let Some((first, _)) = left_out.ranges.first() else {
        return aside;
    };
    let (all, mut kept) = (block.range(), first.start);
    let rows = &mut block.buffer.bytes_mut()[all.clone()];
    let mut before = lines(&rows[..kept]);
    let begins = left_out.ranges.iter().skip(1).map(|(next, _)| next.start);
    for ((row, is_blank), next) in left_out.ranges.iter().zip(begins.chain([all.len()])) {
        if *is_blank {
            aside.blank.bytes += row.len() as u64;
        } else {
            aside.stretches.push((row.len(), before));
            aside.rows.extend_from_slice(&rows[row.clone()]);
        }
        before += lines(&rows[row.start..next]);
        rows.copy_within(row.end..next, kept);
        kept += next - row.end;
    }
    block.size.bytes = kept as u64;
    aside
}
