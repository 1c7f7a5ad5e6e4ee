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

use node::{File, Filled, Mutex, Node};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::files::bad_rows::BadRows;
use crate::records::block::Block;
use crate::records::contents::{Contents, Mistake, MistakeCause, Sifting};
use crate::records::size::Size;

/// Bytes that are read at once to count the lines before a mistake.
const COUNTED_BYTES: usize = 1 << 20;

/// The place of some bytes of the input in a file.
#[derive(Clone, Copy)]
pub(super) struct FilePlace<'a> {
    pub file: &'a File,
    /// The position of a byte in the whole input, and its offset in the file.
    pub position: u64,
    pub offset: u64,
    /// Newlines before that byte, if the file cannot be read again.
    pub newlines: Option<u64>,
}

/// Blank lines that were skipped, over all workers; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Skipped(Arc<Mutex<Size>>);

impl Skipped {
    pub(crate) fn all(&self) -> Size {
        *self.0.lock()
    }
}

/// Checks rows.
#[derive(Clone)]
pub(crate) struct Sifter {
    pub contents: Arc<dyn Contents>,
    /// The account of blank lines; without it, nothing is removed.
    pub skipped: Option<Skipped>,
    /// Where rows with mistakes go; without it, one ends the sort.
    pub bad_rows: Option<BadRows>,
}

impl Sifter {
    /// Checks the rows of a block. Removes blank lines, and rows with mistakes if they are set aside.
    pub(super) async fn sift(
        &self,
        worker: &Worker,
        block: &mut Block,
        place: FilePlace<'_>,
    ) -> Result<(), Failure> {
        let how = match (&self.skipped, &self.bad_rows) {
            (None, _) => Sifting::Look,
            (Some(_), None) => Sifting::Skip,
            (Some(_), Some(_)) => Sifting::Aside,
        };
        let aside = match self.contents.sift(block, how) {
            Ok(aside) => aside,
            Err(mistake) => return Err(place.error(worker, block, mistake).await.into()),
        };
        if let Some(skipped) = self.skipped.as_ref().filter(|_| aside.blank.records > 0) {
            *skipped.0.lock() += aside.blank;
        }
        match &self.bad_rows {
            Some(bad_rows) if aside.records > 0 => {
                bad_rows.add(worker, aside.records, &aside.rows).await
            }
            _ => Ok(()),
        }
    }
}

impl FilePlace<'_> {
    async fn error(self, worker: &Worker, block: &Block, mistake: Mistake) -> SortError {
        let offset = mistake.position - self.position + self.offset;
        let file = self.file.path().to_owned();
        match mistake.cause {
            MistakeCause::Row(bad) => SortError::BadRow {
                file,
                line: match self.newlines {
                    Some(before) => {
                        let rows = &block.buffer.bytes()[block.range()];
                        let wrong = (mistake.position - block.first) as usize;
                        Some(before + newlines(&rows[..wrong]) + 1)
                    }
                    None => line_at(&worker.node, self.file, offset).await,
                },
                offset,
                bad,
            },
            MistakeCause::Short(bytes, needed) => SortError::BadRecord {
                file,
                offset,
                what: format!("it has {bytes} bytes, and the keys need {needed}; shorten the keys"),
            },
        }
    }
}

pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The number of the line at an offset, from 1; `None` if the file cannot be read again.
async fn line_at(node: &Node, file: &File, offset: u64) -> Option<u64> {
    if file.is_sequential() {
        return None;
    }
    let buffers = node.buffers(1, COUNTED_BYTES, Filled::Often).ok()?;
    let mut buffer = buffers.into_iter().next()?;
    let (mut at, mut line) = (0, 1);
    while at < offset {
        let (read, result) = file.read(node, at, COUNTED_BYTES, buffer).wait(node).await;
        result.ok()?;
        let there = read.len().min((offset - at) as usize);
        if there == 0 {
            return None;
        }
        line += newlines(&read.bytes()[..there]);
        at += there as u64;
        buffer = read;
    }
    Some(line)
}
