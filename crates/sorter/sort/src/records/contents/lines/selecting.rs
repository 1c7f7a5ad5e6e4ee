//! Keeps the lines of a block that the output may have.

use super::Lines;
use super::windows::{each, windows};
use crate::records::block::{Block, Ranges};
use crate::records::order::Bound;
use crate::records::repeats::Repeats;

impl Lines {
    /// Removes lines whose keys came before. Returns whether there were any.
    pub(super) fn drop_repeats_of(&self, block: &mut Block, seen: &mut Repeats) -> bool {
        let lines = self.lines(block);
        let kept = seen.sift(&self.order, block.first, |record| {
            windows(lines, self.order.framing, |offset, lines, ends| {
                each(lines, ends).for_each(|(at, line)| record(offset + at, line));
            });
        });
        kept.map(|kept| block.keep(kept)).is_some()
    }

    /// Removes the lines that do not come before `bound`.
    pub(super) fn keep_lines_before(&self, block: &mut Block, bound: &[u8]) {
        let bound = Bound::new(&self.order, bound);
        let mut kept = Ranges::default();
        windows(
            self.lines(block),
            self.order.framing,
            |offset, lines, ends| {
                let before = each(lines, ends).filter(|(_, line)| bound.is_behind(line));
                before.for_each(|(at, line)| kept.add(offset + at, line.len()));
            },
        );
        block.keep(kept);
    }
}
