//! Files whose bytes a program sees as a view has them.
//!
//! ```text
//! file at offsets    | a read | ahead |      both are read, and the view shows the first by the second
//! front to back      | a read | ahead |      what is ahead is kept for the next read
//! ```

use std::io::{self, IoSliceMut};
use std::sync::Arc;

use node::backend::{Control, FileHandle, Request};
use node::{AHEAD_BYTES, Metadata, Stretch, Time, View};

use crate::coded::refuse_request;
use crate::file::OpenFile;
use crate::io_threads::IoThreads;

/// A file that can be read at any offset, with a view that is local.
pub(crate) struct SeenFile {
    pub open: Arc<OpenFile>,
    pub threads: Arc<IoThreads>,
    pub view: Arc<dyn View>,
    /// Its length when it was opened: what others append since is not part of the contents.
    pub length: u64,
}

impl FileHandle for SeenFile {
    fn metadata(&self) -> io::Result<Metadata> {
        self.open.metadata()
    }

    fn is_direct(&self) -> bool {
        self.open.is_direct()
    }

    fn submit(&self, _: Time, request: Request) {
        let (open, view, length) = (Arc::clone(&self.open), Arc::clone(&self.view), self.length);
        self.threads.submit(Box::new(move || match request {
            Request::Read {
                offset: Some(offset),
                bytes,
                mut buffer,
                done,
            } => {
                let out = &mut buffer.bytes_mut()[..bytes];
                let read = read(&open, &*view, (offset, length), out);
                let result = read.map(|read| buffer.set_len(read));
                done.complete((buffer, result));
            }
            other => refuse_request(other),
        }));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }
}

fn read(
    open: &OpenFile,
    view: &dyn View,
    (offset, length): (u64, u64),
    out: &mut [u8],
) -> io::Result<usize> {
    let read = open.read(Some(offset), &mut [IoSliceMut::new(out)])?;
    let left = usize::try_from(length.saturating_sub(offset)).unwrap_or(usize::MAX);
    let (seen, left) = (read.min(left), left.saturating_sub(read));
    // A direct read needs memory that begins as a disk block does.
    let mut room = vec![0; 2 * AHEAD_BYTES];
    let begin = room.as_ptr().align_offset(AHEAD_BYTES);
    let ahead = &mut room[begin..begin + AHEAD_BYTES];
    let behind = if left == 0 || read < out.len() {
        0
    } else {
        open.read(Some(offset + read as u64), &mut [IoSliceMut::new(ahead)])?
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
