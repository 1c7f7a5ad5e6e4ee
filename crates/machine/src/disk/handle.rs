//! An open file in memory.

use std::io;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use node::backend::{Control, FileHandle, Request, chain_capacity, set_chain_len};
use node::{Buffer, Metadata, Time};

use super::{Content, Inode, Shared};
use crate::fault::Fault;

const BLOCK_BYTES: u64 = 4096;

pub(super) struct Handle {
    pub shared: Arc<Shared>,
    pub inode: Arc<Inode>,
    pub direct: bool,
}

impl FileHandle for Handle {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(self.inode.metadata())
    }

    fn is_direct(&self) -> bool {
        self.direct
    }

    fn submit(&self, at: Time, request: Request) {
        let handle = Handle {
            shared: Arc::clone(&self.shared),
            inode: Arc::clone(&self.inode),
            direct: self.direct,
        };
        let arrive = move || {
            let end = handle.shared.serve(&request);
            let timeline = Arc::clone(&handle.shared.timeline);
            timeline.call_at(end, Box::new(move || handle.perform(request)));
        };
        self.shared.timeline.call_in_any_order(at, Box::new(arrive));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.shared.count()?;
        match control {
            Control::Preallocate(length) => {
                self.shared.check_room(&self.inode, &(0..length))?;
                let mut content = self.inode.lock();
                content.resize(length);
                content.holes.fill(0..length);
            }
            Control::Truncate(length) => self.inode.lock().resize(length),
            Control::Release(range) => release(&mut self.inode.lock(), &range),
            Control::Lock => {
                return Ok(u64::from(!std::mem::replace(&mut self.inode.lock().locked, true)));
            }
            Control::Resident(_) => {}
            Control::Mode(mode) => self.inode.lock().mode = mode,
        }
        Ok(0)
    }
}

impl Handle {
    fn perform(&self, request: Request) {
        let fault = self.shared.faults.next();
        match request {
            Request::Read { offset, bytes, mut buffer, done } => {
                let result = self
                    .check_blocks(offset, [bytes])
                    .and_then(|()| bytes_read(fault, bytes))
                    .map(|bytes| self.read(offset, bytes, slice::from_mut(&mut buffer)));
                done.complete((buffer, result));
            }
            Request::Write { offset, range, buffer, done } => {
                let result = self
                    .check_blocks(offset, [range.len()])
                    .and_then(|()| fails(fault))
                    .and_then(|()| self.write(offset, &[(&buffer, range)]));
                done.complete((buffer, result));
            }
            Request::ReadChain { offset, mut buffers, done } => {
                let result = self
                    .check_blocks(Some(offset), buffers.iter().map(Buffer::capacity))
                    .and_then(|()| bytes_read(fault, chain_capacity(&buffers)))
                    .map(|bytes| self.read(Some(offset), bytes, &mut buffers));
                done.complete((buffers, result));
            }
            Request::WriteChain { offset, buffers, done } => {
                let parts: Vec<_> = buffers.iter().map(|one| (one, 0..one.capacity())).collect();
                let result = self
                    .check_blocks(Some(offset), buffers.iter().map(Buffer::capacity))
                    .and_then(|()| fails(fault))
                    .and_then(|()| self.write(Some(offset), &parts));
                done.complete((buffers, result));
            }
            Request::Sync { done } => done.complete(fails(fault)),
        }
    }

    /// Fills the first `bytes` of the buffers' memory, as far as the file goes.
    fn read(&self, offset: Option<u64>, bytes: usize, buffers: &mut [Buffer]) {
        let mut content = self.inode.lock();
        let begin = offset.unwrap_or(content.read).min(content.length);
        let end = (begin + bytes as u64).min(content.length);
        set_chain_len(buffers, (end - begin) as usize);
        if let Some(from) = &content.bytes {
            let mut from = &from[begin as usize..end as usize];
            for buffer in buffers {
                let (part, rest) = from.split_at(buffer.len());
                if !buffer.is_counted() {
                    buffer.bytes_mut()[..part.len()].copy_from_slice(part);
                }
                from = rest;
            }
        }
        if offset.is_none() {
            content.read = end;
        }
    }

    /// Writes these parts, one behind the other.
    fn write(&self, offset: Option<u64>, parts: &[(&Buffer, Range<usize>)]) -> io::Result<()> {
        let begin = offset.unwrap_or(self.inode.lock().length);
        let bytes: usize = parts.iter().map(|(_, range)| range.len()).sum();
        let written = begin..begin + bytes as u64;
        self.shared.check_room(&self.inode, &written)?;
        let mut content = self.inode.lock();
        if parts.iter().any(|(buffer, _)| buffer.is_counted()) {
            content.bytes = None;
        }
        let length = written.end.max(content.length);
        content.resize(length);
        content.holes.fill(written);
        if let Some(bytes) = &mut content.bytes {
            let mut at = begin as usize;
            for (buffer, range) in parts {
                bytes[at..at + range.len()].copy_from_slice(&buffer.bytes()[range.clone()]);
                at += range.len();
            }
        }
        Ok(())
    }

    fn check_blocks(
        &self,
        offset: Option<u64>,
        lengths: impl IntoIterator<Item = usize>,
    ) -> io::Result<()> {
        let Some(offset) = offset.filter(|_| self.direct) else {
            return Ok(());
        };
        let whole = |bytes: u64| bytes.is_multiple_of(BLOCK_BYTES);
        match lengths.into_iter().find(|&bytes| !whole(offset) || !whole(bytes as u64)) {
            None => Ok(()),
            Some(bytes) => Err(io::Error::other(format!(
                "direct I/O of {bytes} bytes at {offset} is not in whole blocks"
            ))),
        }
    }
}

fn fails(fault: Option<Fault>) -> io::Result<()> {
    fault.map_or(Ok(()), |fault| Err(fault.error()))
}

/// How many of the bytes that were asked for a read is to look for.
fn bytes_read(fault: Option<Fault>, asked: usize) -> io::Result<usize> {
    match fault {
        Some(Fault::Short) => Ok(asked / 2),
        other => fails(other).map(|()| asked),
    }
}

/// Zeros the range, and gives back the blocks that lie in it as a whole; the last block of a file
/// may be a part of one.
fn release(content: &mut Content, range: &Range<u64>) {
    let end = range.end.min(content.length);
    if let Some(bytes) = &mut content.bytes
        && range.start < end
    {
        bytes[range.start as usize..end as usize].fill(0);
    }
    let blocks_end = range.end - range.end % BLOCK_BYTES;
    content.holes.dig(range.start.next_multiple_of(BLOCK_BYTES)..blocks_end.min(content.length));
}
