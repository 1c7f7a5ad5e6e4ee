//! Checks records, and removes those with mistakes from a block.

use std::ops::Range;

use record::Framing;
use record::rows::RowCheck;

use super::windows::{each, windows};
use crate::records::block::Block;
use crate::records::contents::{Aside, Mistake, MistakeCause};

/// The rules that records keep.
pub(super) enum Check {
    Rows(RowCheck),
    /// Every record has this many bytes, behind its header.
    LeastBytes(usize),
}

impl Check {
    /// Whether a row may go on behind the newline that was taken for its end.
    fn may_go_on(&self, row: &[u8], framing: Framing) -> bool {
        match self {
            Check::Rows(rows) if !framing.is_chained() => rows.framing().end(row).is_none(),
            _ => false,
        }
    }

    fn check(&self, record: &[u8], framing: Framing) -> Result<(), MistakeCause> {
        match self {
            Check::Rows(rows) => rows.check(framing.body(record)).map_err(MistakeCause::Row),
            Check::LeastBytes(least) => match record.len() - framing.shortest() {
                bytes if bytes < *least => Err(MistakeCause::Short(bytes, *least)),
                _ => Ok(()),
            },
        }
    }
}

/// Checks the records of a block. Those with mistakes are returned, if they are to be set `aside`.
///
/// # Errors
/// The first mistake, if rows are not set aside; or a quote that is not closed in a line, because
/// its row may go on in the next one.
pub(super) fn sift(
    block: &mut Block,
    check: &Check,
    (framing, aside): (Framing, bool),
) -> Result<Aside, Mistake> {
    let (mut wrong, mut mistake) = (Wrong::default(), None);
    let rows = &block.buffer.bytes()[block.range()];
    windows(rows, framing, |offset, rows, ends| {
        for (at, row) in each(rows, ends) {
            if let Err(bad) = check.check(row, framing) {
                let begin = offset + at;
                wrong.add(begin..begin + row.len());
                if !aside || check.may_go_on(row, framing) {
                    mistake = mistake.take().or(Some((begin, bad)));
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
    Ok(remove(block, &wrong))
}

/// Records with mistakes. Those behind each other make one range, since all records of a block may
/// have mistakes.
#[derive(Default)]
struct Wrong {
    records: u64,
    ranges: Vec<Range<usize>>,
}

impl Wrong {
    fn add(&mut self, record: Range<usize>) {
        self.records += 1;
        match self.ranges.last_mut() {
            Some(last) if last.end == record.start => last.end = record.end,
            _ => self.ranges.push(record),
        }
    }
}

fn remove(block: &mut Block, wrong: &Wrong) -> Aside {
    let mut aside = Aside {
        records: wrong.records,
        ..Aside::default()
    };
    let Some(first) = wrong.ranges.first() else {
        return aside;
    };
    let (all, mut kept) = (block.range(), first.start);
    let rows = &mut block.buffer.bytes_mut()[all.clone()];
    let begins = wrong.ranges.iter().skip(1).map(|next| next.start);
    for (row, next) in wrong.ranges.iter().zip(begins.chain([all.len()])) {
        aside.rows.extend_from_slice(&rows[row.clone()]);
        rows.copy_within(row.end..next, kept);
        kept += next - row.end;
    }
    block.size.bytes = kept as u64;
    aside
}
