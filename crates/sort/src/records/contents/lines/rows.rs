//! Checks rows, and removes those with mistakes from a block.

use std::ops::Range;

use record::Framing;
use record::rows::{BadRow, RowCheck, RowProblem};

use super::windows::{each, windows};
use crate::records::block::Block;
use crate::records::contents::{Aside, Mistake};

/// Checks the rows of a block. Those with mistakes are returned, if they are to be set `aside`.
///
/// # Errors
/// The first mistake, if rows are not set aside; or a quote that is not closed in a line, because
/// its row may go on in the next one.
pub(super) fn sift(
    block: &mut Block,
    check: &RowCheck,
    (framing, aside): (Framing, bool),
) -> Result<Aside, Mistake> {
    let (mut wrong, mut mistake): (Vec<Range<usize>>, _) = (Vec::new(), None);
    let rows = &block.buffer.bytes()[block.range()];
    windows(rows, framing, |offset, rows, ends| {
        for (at, row) in each(rows, ends) {
            if let Err(bad) = check.check(framing.body(row)) {
                let begin = offset + at;
                wrong.push(begin..begin + row.len());
                if !aside || may_go_on(&bad, framing) {
                    mistake = mistake.take().or(Some((begin, bad)));
                }
            }
        }
    });
    if let Some((begin, row)) = mistake {
        return Err(Mistake {
            position: block.first + begin as u64,
            row,
        });
    }
    Ok(remove(block, &wrong))
}

/// Whether the row may go on behind the newline that was taken for its end.
fn may_go_on(bad: &BadRow, framing: Framing) -> bool {
    bad.problem == RowProblem::OpenQuote && !framing.is_chained()
}

fn remove(block: &mut Block, wrong: &[Range<usize>]) -> Aside {
    let mut aside = Aside::default();
    let Some(first) = wrong.first() else {
        return aside;
    };
    let (all, mut kept) = (block.range(), first.start);
    let rows = &mut block.buffer.bytes_mut()[all.clone()];
    let begins = wrong.iter().skip(1).map(|next| next.start);
    for (row, next) in wrong.iter().zip(begins.chain([all.len()])) {
        aside.records += 1;
        aside.rows.extend_from_slice(&rows[row.clone()]);
        rows.copy_within(row.end..next, kept);
        kept += next - row.end;
    }
    block.size.bytes = kept as u64;
    aside
}
