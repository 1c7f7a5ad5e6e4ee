//! Bytes that a program sees as a view has them.
//!
//! ```text
//! file at offsets    | a read | ahead |      both are read, and the view shows the first by the second
//! front to back      | a read | ahead |      what is ahead is kept for the next read
//! ```

use std::io;
use std::sync::Arc;

use node::{AHEAD_BYTES, Stretch, View};

/// A stretch of a file of that length, from an offset on, as a view shows it. `fill` reads into the bytes at an
/// offset, fewer only at the end of the file. What is behind the length is no part of the contents.
pub(crate) fn read_seen(
    view: &dyn View,
    (offset, length): (u64, u64),
    out: &mut [u8],
    fill: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let read = fill(offset, out)?;
    let left = usize::try_from(length.saturating_sub(offset)).unwrap_or(usize::MAX);
    let (seen, left) = (read.min(left), left.saturating_sub(read));
    // A direct read needs memory that begins as a disk block does.
    let mut room = vec![0; 2 * AHEAD_BYTES];
    let begin = room.as_ptr().align_offset(AHEAD_BYTES);
    let ahead = &mut room[begin..begin + AHEAD_BYTES];
    let behind = if left == 0 || read < out.len() {
        0
    } else {
        fill(offset + read as u64, ahead)?
    };
    view.show(Stretch {
        offset,
        bytes: &mut out[..seen],
        ahead: &ahead[..behind.min(left)],
        kept: &mut 0,
    })?;
    Ok(read)
}

/// The view of contents that are read from front to back.
pub(crate) struct Seeing {
    view: Arc<dyn View>,
    offset: u64,
    kept: u64,
    ahead: Vec<u8>,
    has_ended: bool,
}

impl Seeing {
    pub(crate) fn new(view: Arc<dyn View>) -> Seeing {
        Seeing {
            view,
            offset: 0,
            kept: 0,
            ahead: Vec::new(),
            has_ended: false,
        }
    }

    /// Fills `out` with what `fill` reads, which reads less only at the end.
    pub(crate) fn fill(
        &mut self,
        out: &mut [u8],
        mut fill: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let begun = self.ahead.len().min(out.len());
        out[..begun].copy_from_slice(&self.ahead[..begun]);
        self.ahead.drain(..begun);
        let filled = begun + self.more(&mut out[begun..], &mut fill)?;
        let (kept, mut ahead) = (self.ahead.len(), std::mem::take(&mut self.ahead));
        ahead.resize(AHEAD_BYTES, 0);
        let more = self.more(&mut ahead[kept..], &mut fill)?;
        ahead.truncate(kept + more);
        self.ahead = ahead;
        self.view.show(Stretch {
            offset: self.offset,
            bytes: &mut out[..filled],
            ahead: &self.ahead,
            kept: &mut self.kept,
        })?;
        self.offset += filled as u64;
        Ok(filled)
    }

    /// A terminal would be asked for more after its end.
    fn more(
        &mut self,
        out: &mut [u8],
        fill: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.has_ended || out.is_empty() {
            return Ok(0);
        }
        let read = fill(out)?;
        self.has_ended = read < out.len();
        Ok(read)
    }
}
