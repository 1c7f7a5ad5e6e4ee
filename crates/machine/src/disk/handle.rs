//! An open file in memory.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use node::backend::{Control, FileHandle, Request};
use node::{Buffer, Metadata, Time};

use super::{Inode, Shared};
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
                self.shared.check_room(&self.inode, length)?;
                self.inode.lock().resize(length);
            }
            Control::Truncate(length) => self.inode.lock().resize(length),
            Control::Release(range) => {
                if let Some(bytes) = &mut self.inode.lock().bytes {
                    bytes[range.start as usize..range.end as usize].fill(0);
                }
            }
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
                let result = match fault {
                    None => self.read(offset, bytes, &mut buffer),
                    Some(Fault::Short) => self.read(offset, bytes / 2, &mut buffer),
                    Some(fault) => Err(fault.error()),
                };
                done.complete((buffer, result));
            }
            Request::Write { offset, range, buffer, done } => {
                let result = match fault {
                    None => self.write(offset, &buffer, range),
                    Some(fault) => Err(fault.error()),
                };
                done.complete((buffer, result));
            }
            Request::Sync { done } => {
                done.complete(fault.map_or(Ok(()), |fault| Err(fault.error())));
            }
        }
    }

    fn read(&self, offset: Option<u64>, bytes: usize, buffer: &mut Buffer) -> io::Result<()> {
        if let Some(offset) = offset {
            self.check_blocks(offset, bytes as u64)?;
        }
        let mut content = self.inode.lock();
        let begin = offset.unwrap_or(content.read).min(content.length);
        let end = (begin + bytes as u64).min(content.length);
        buffer.set_len((end - begin) as usize);
        match &content.bytes {
            Some(from) if !buffer.is_counted() => {
                let part = &from[begin as usize..end as usize];
                buffer.bytes_mut()[..part.len()].copy_from_slice(part);
            }
            _ => {}
        }
        if offset.is_none() {
            content.read = end;
        }
        Ok(())
    }

    fn write(&self, offset: Option<u64>, buffer: &Buffer, range: Range<usize>) -> io::Result<()> {
        if let Some(offset) = offset {
            self.check_blocks(offset, range.len() as u64)?;
        }
        let begin = offset.unwrap_or(self.inode.lock().length);
        let end = begin + range.len() as u64;
        let length = end.max(self.inode.lock().length);
        self.shared.check_room(&self.inode, length)?;
        let mut content = self.inode.lock();
        if buffer.is_counted() {
            content.bytes = None;
        }
        content.resize(length);
        if let Some(bytes) = &mut content.bytes {
            bytes[begin as usize..end as usize].copy_from_slice(&buffer.bytes()[range]);
        }
        Ok(())
    }

    fn check_blocks(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if self.direct && !(offset.is_multiple_of(BLOCK_BYTES) && bytes.is_multiple_of(BLOCK_BYTES))
        {
            return Err(io::Error::other(format!(
                "direct I/O of {bytes} bytes at {offset} is not in whole blocks"
            )));
        }
        Ok(())
    }
}
