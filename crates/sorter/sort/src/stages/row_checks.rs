//! Checks rows as they are read: one with a mistake ends the sort, or is set aside.
//!
//! ```text
//! read     |Oslo,9\n|Bonn,x\n|Rome,7\n|         "x" is not a number
//! block    |Oslo,9\n|Rome,7\n|                  | Bonn,x\n > the file of bad rows
//! ```
//!
//! Blank lines are no rows where rows have several values. They are skipped and counted.
//!
//! Rows behind one that is set aside move to its place, and their positions with them, so that
//! positions still ascend.

use std::sync::Arc;

use node::{File, Mutex};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::files::bad_rows::{BadRows, BlockPlace};
use crate::records::block::Block;
use crate::records::contents::{Aside, Contents, Mistake, MistakeCause, Sifting};
use crate::records::size::Size;

use super::line_numbers::LineNumbers;

/// The place of some bytes of the input in a file.
#[derive(Clone, Copy)]
pub(super) struct FilePlace<'a> {
    pub file: &'a File,
    /// The position of a byte in the whole input, and its offset in the file.
    pub position: u64,
    pub offset: u64,
}

/// The account of rows that were checked, over all workers; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Sifted(Arc<Mutex<(Size, u128)>>);

impl Sifted {
    /// Blank lines that were skipped.
    pub(crate) fn blank(&self) -> Size {
        self.0.lock().0
    }

    /// The checksum of numbers that are added up.
    pub(crate) fn totals(&self) -> u128 {
        self.0.lock().1
    }

    fn add(&self, aside: &Aside) {
        if aside.blank.records > 0 || aside.totals > 0 {
            let (blank, totals) = &mut *self.0.lock();
            *blank += aside.blank;
            *totals = totals.wrapping_add(aside.totals);
        }
    }
}

#[derive(Clone)]
pub(crate) struct Sifter {
    contents: Arc<dyn Contents>,
    sifted: Option<Sifted>,
    bad_rows: Option<BadRows>,
    lines: LineNumbers,
}

impl Sifter {
    /// Checks rows of these contents. Blank lines are counted in `sifted`; without it, nothing is
    /// removed. Rows with mistakes go to `bad_rows`; without it, one ends the sort.
    pub(crate) fn new(
        contents: Arc<dyn Contents>,
        sifted: Option<Sifted>,
        bad_rows: Option<BadRows>,
    ) -> Sifter {
        Sifter {
            lines: LineNumbers::of(&*contents),
            contents,
            sifted,
            bad_rows,
        }
    }

    /// Checks the rows of a block. Removes blank lines, and rows with mistakes if they are set aside.
    pub(super) async fn sift(
        &self,
        worker: &Worker,
        block: &mut Block,
        place: FilePlace<'_>,
    ) -> Result<(), Failure> {
        let (file, position) = (place.file, block.first);
        let offset = position - place.position + place.offset;
        let has_lines = self.contents.framing().records().delimiter().is_some();
        if has_lines && file.is_sequential() {
            let bytes = &block.buffer.bytes()[block.range()];
            self.lines
                .pass(file, (offset, bytes), self.contents.header());
        }
        let how = match (&self.sifted, &self.bad_rows) {
            (None, _) => Sifting::Look,
            (Some(_), None) => Sifting::Skip,
            (Some(_), Some(_)) => Sifting::Aside,
        };
        let aside = match self.contents.sift(block, how) {
            Ok(aside) => aside,
            Err(mistake) => return Err(self.error(worker, block, (mistake, place)).await.into()),
        };
        if let Some(sifted) = &self.sifted {
            sifted.add(&aside);
        }
        match &self.bad_rows {
            Some(bad_rows) if aside.records > 0 => {
                let place = BlockPlace {
                    file: file.path(),
                    position,
                    offset,
                    line: self.lines.at(&worker.node, file, offset).await,
                };
                bad_rows.add(worker, place, &aside).await
            }
            _ => Ok(()),
        }
    }

    async fn error(
        &self,
        worker: &Worker,
        block: &Block,
        (mistake, place): (Mistake, FilePlace<'_>),
    ) -> SortError {
        let offset = mistake.position - place.position + place.offset;
        let file = place.file.path().to_owned();
        match mistake.cause {
            MistakeCause::Row(bad) => {
                let before = (mistake.position - block.first) as usize;
                let begin = self
                    .lines
                    .at(&worker.node, place.file, offset - before as u64)
                    .await;
                let rows = &block.buffer.bytes()[block.range()];
                SortError::BadRow {
                    file,
                    line: begin.map(|line| line + self.lines.in_bytes(&rows[..before])),
                    offset,
                    bad: Box::new(bad),
                    cure: "",
                }
            }
            MistakeCause::Record(what) => SortError::BadRecord { file, offset, what },
        }
    }
}
