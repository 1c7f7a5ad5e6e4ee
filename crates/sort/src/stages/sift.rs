//! Checks rows as they are read: one with a mistake ends the sort, or is set aside.
//!
//! ```text
//! read     |Oslo,9\n|Bonn,x\n|Rome,7\n|         "x" is not a number
//! block    |Oslo,9\n|Rome,7\n|                  | Bonn,x\n > the file of bad rows
//! ```
//!
//! Rows behind one that is set aside move to its place, and their positions with them, so that
//! positions still ascend.

use std::sync::Arc;

use node::{File, Filled, Node};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::files::bad_rows::BadRows;
use crate::records::block::Block;
use crate::records::contents::{Contents, Mistake, MistakeCause};

/// Bytes that are read at once to count the lines before a mistake.
const COUNTED_BYTES: usize = 1 << 20;

/// The place of some bytes of the input in a file.
#[derive(Clone, Copy)]
pub(super) struct FilePlace<'a> {
    pub file: &'a File,
    /// The position of a byte in the whole input, and its offset in the file.
    pub position: u64,
    pub offset: u64,
}

/// Checks rows.
#[derive(Clone)]
pub(crate) struct Sifter {
    pub contents: Arc<dyn Contents>,
    /// Where rows with mistakes go; without it, one ends the sort.
    pub bad_rows: Option<BadRows>,
}

impl Sifter {
    /// Checks the rows of a block, and removes those with mistakes if they are set aside.
    pub(super) async fn sift(
        &self,
        worker: &Worker,
        block: &mut Block,
        place: FilePlace<'_>,
    ) -> Result<(), Failure> {
        let aside = match self.contents.sift(block, self.bad_rows.is_some()) {
            Ok(aside) => aside,
            Err(mistake) => return Err(place.error(worker, mistake).await.into()),
        };
        match &self.bad_rows {
            Some(bad_rows) if aside.records > 0 => {
                bad_rows.add(worker, aside.records, &aside.rows).await
            }
            _ => Ok(()),
        }
    }
}

impl FilePlace<'_> {
    async fn error(self, worker: &Worker, mistake: Mistake) -> SortError {
        let offset = mistake.position - self.position + self.offset;
        let file = self.file.path().to_owned();
        match mistake.cause {
            MistakeCause::Row(bad) => SortError::BadRow {
                file,
                line: line_at(&worker.node, self.file, offset).await,
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
        line += memchr::memchr_iter(b'\n', &read.bytes()[..there]).count() as u64;
        at += there as u64;
        buffer = read;
    }
    Some(line)
}
