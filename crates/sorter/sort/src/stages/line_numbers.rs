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
pub(crate) use crate::records::contents::newlines;

/// Bytes that are read at once to count the lines before a row.
const COUNTED_BYTES: usize = 1 << 20;

/// The lines that are known: of each input the number of newlines before some offsets. Clones share
/// them.
#[derive(Clone, Default)]
pub(super) struct LineNumbers(Arc<Mutex<HashMap<PathBuf, BTreeMap<u64, u64>>>>);

/// The lines that a record takes; one without lines counts as one.
pub(crate) fn lines_of(record: &[u8], framing: Framing) -> u64 {
    match framing {
        Framing::Quoted(_) => newlines(record),
        _ => 1,
    }
}

/// The lines of a whole header, which end as lines of records do; those in quotes count.
pub(crate) fn lines_in(header: &[u8], framing: Framing) -> u64 {
    match framing {
        Framing::Delimited(_) => framing.whole(header).0 as u64,
        _ => newlines(header),
    }
}

impl LineNumbers {
    /// Counts the next bytes of a stream, behind a `header` if they are the first.
    pub(super) fn pass(&self, file: &File, (offset, bytes): (u64, &[u8]), header: &[u8]) {
        let mut all = self.0.lock();
        let known = all.entry(file.path().to_owned()).or_default();
        let before = known.remove(&offset).unwrap_or_else(|| newlines(header));
        known.insert(offset, before);
        known.insert(offset + bytes.len() as u64, before + newlines(bytes));
        while known.len() > 2 {
            known.pop_first();
        }
    }

    /// The line at an offset, from 1; `None` if the file cannot be read again.
    pub(super) async fn at(&self, node: &Node, file: &File, offset: u64) -> Option<u64> {
        let (mut at, mut lines) = (0, 0);
        if let Some(known) = self.0.lock().get(file.path()) {
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
            lines += newlines(read.bytes()[..there].get(skipped as usize..)?);
            if begin + there as u64 <= at {
                return None;
            }
            at = begin + there as u64;
            buffer = read;
        }
        let mut all = self.0.lock();
        all.entry(file.path().to_owned())
            .or_default()
            .insert(offset, lines);
        Some(lines + 1)
    }
}
