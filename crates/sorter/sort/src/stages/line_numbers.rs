//! The numbers of the lines where rows begin, which messages name: newlines in quotes count.
//!
//! ```text
//! file      read again, from the last place whose line is known
//! stream    counted as it passes: it is read front to back, and only once
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use node::{File, Filled, Mutex, Node};
use record::Framing;

use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
pub(crate) use crate::records::contents::{lines_in, newlines};

/// Bytes that are read at once to count the lines before a row.
const COUNTED_BYTES: usize = 1 << 20;

/// The lines that are known: of each input the number of their ends before some offsets. Clones share
/// them.
#[derive(Clone)]
pub(super) struct LineNumbers {
    known: Arc<Mutex<HashMap<PathBuf, BTreeMap<u64, u64>>>>,
    /// The bytes that end a line: within records of several lines, and at their ends.
    ends: [u8; 2],
}

/// The lines that a record takes; one without lines counts as one.
pub(crate) fn lines_of(record: &[u8], framing: Framing, is_several: bool) -> u64 {
    match framing {
        Framing::Quoted(_) => newlines(record),
        Framing::Delimited(_) if is_several => newlines(record) + 1,
        _ => 1,
    }
}

impl LineNumbers {
    pub(super) fn of(contents: &dyn Contents) -> LineNumbers {
        let end = contents.framing().records().delimiter().unwrap_or(b'\n');
        let is_several = contents.multiline().is_some();
        LineNumbers {
            known: Arc::default(),
            ends: [if is_several { b'\n' } else { end }, end],
        }
    }

    /// The lines that end in these bytes.
    pub(super) fn in_bytes(&self, bytes: &[u8]) -> u64 {
        let [within, end] = self.ends;
        if within == end {
            memchr::memchr_iter(end, bytes).count() as u64
        } else {
            memchr::memchr2_iter(within, end, bytes).count() as u64
        }
    }

    /// Counts the next bytes of a stream, behind a `header` if they are the first.
    pub(super) fn pass(&self, file: &File, (offset, bytes): (u64, &[u8]), header: &[u8]) {
        let mut all = self.known.lock();
        let known = all.entry(file.path().to_owned()).or_default();
        let before = known
            .remove(&offset)
            .unwrap_or_else(|| self.in_bytes(header));
        known.insert(offset, before);
        known.insert(offset + bytes.len() as u64, before + self.in_bytes(bytes));
        while known.len() > 2 {
            known.pop_first();
        }
    }

    /// The line at an offset, from 1; `None` if the file cannot be read again.
    pub(super) async fn at(&self, node: &Node, file: &File, offset: u64) -> Option<u64> {
        let (mut at, mut lines) = (0, 0);
        if let Some(known) = self.known.lock().get(file.path()) {
            (at, lines) = known
                .range(..=offset)
                .next_back()
                .map_or((0, 0), |(&at, &lines)| (at, lines));
        }
        if at == offset {
            return Some(lines + 1);
        }
        if file.is_sequential() {
            return None;
        }
        let buffers = node.buffers(1, COUNTED_BYTES, Filled::Often).ok()?;
        let mut buffer = buffers.into_iter().next()?;
        while at < offset {
            // Direct reads begin with a disk block.
            let skipped = at % BLOCK_BYTES;
            let begin = at - skipped;
            let (read, result) = file
                .read(node, begin, COUNTED_BYTES, buffer)
                .wait(node)
                .await;
            result.ok()?;
            let there = read.len().min((offset - begin) as usize);
            lines += self.in_bytes(read.bytes()[..there].get(skipped as usize..)?);
            if begin + there as u64 <= at {
                return None;
            }
            at = begin + there as u64;
            buffer = read;
        }
        let mut all = self.known.lock();
        all.entry(file.path().to_owned())
            .or_default()
            .insert(offset, lines);
        Some(lines + 1)
    }
}
