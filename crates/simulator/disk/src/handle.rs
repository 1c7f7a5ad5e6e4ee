//! An open file in memory.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use node::backend::{Control, FileHandle, Request, set_chain_len};
use node::{Buffer, Metadata, Time};

use super::Shared;
use super::content::{BLOCK_BYTES, Change, Inode};
use super::fault::Fault;
use super::journal::{Data, Entry};

#[derive(Clone)]
pub(super) struct Handle {
    pub shared: Arc<Shared>,
    /// The path by which it was opened.
    pub path: Arc<Path>,
    pub inode: Arc<Inode>,
    pub direct: bool,
    /// The life of the disks in which it was opened.
    pub life: u64,
    /// The node that opened it.
    pub host: u32,
}

impl FileHandle for Handle {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata {
            device: self.shared.device_of(&self.path),
            ..self.inode.metadata()
        })
    }

    fn is_direct(&self) -> bool {
        self.direct
    }

    fn submit(&self, at: Time, request: Request) {
        let handle = self.clone();
        let arrive = move || {
            if handle.is_dead() {
                return;
            }
            let end = handle.shared.serve(&handle.inode, &request);
            let timeline = Arc::clone(&handle.shared.timeline);
            timeline.call_at(end, Box::new(move || handle.perform(request)));
        };
        if self.shared.keeps_order(&self.inode) {
            self.shared.timeline.call_at(at, Box::new(arrive));
        } else {
            self.shared.timeline.call_in_any_order(at, Box::new(arrive));
        }
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.shared.count(&self.path)?;
        let change = match control {
            Control::Preallocate(range) => {
                self.shared.check_room(&self.inode, &range)?;
                Change::Reserve(range)
            }
            Control::Truncate(length) => Change::Resize(length),
            Control::Release(_) if !self.shared.lock().has_holes => {
                return Err(io::ErrorKind::Unsupported.into());
            }
            Control::Release(range) => Change::Release(range),
            Control::Access(access) => Change::Access(access),
            Control::Lock => {
                return Ok(u64::from(!std::mem::replace(
                    &mut self.inode.lock().locked,
                    true,
                )));
            }
            Control::Resident(_) | Control::Appends => return Ok(0),
        };
        match &change {
            Change::Reserve(range) => self.shared.place(&self.inode, range.clone()),
            Change::Release(range) => self.shared.release(&self.inode, range.clone()),
            Change::Resize(length) => self.shared.release(&self.inode, *length..u64::MAX),
            Change::Access(_) => {}
        }
        self.inode.lock().change(&change);
        self.shared.note(|| Entry::Change {
            file: self.inode.number,
            change,
        });
        Ok(0)
    }
}

impl Handle {
    /// Whether the power has failed since it was opened.
    fn is_dead(&self) -> bool {
        self.shared.lock().life != self.life
    }

    fn perform(&self, request: Request) {
        if self.is_dead() {
            return;
        }
        let fault = self.shared.faults.next(&self.path);
        match request {
            Request::Read {
                offset,
                bytes,
                mut buffer,
                done,
            } => {
                let result = self
                    .start_read(fault, offset, [bytes])
                    .map(|bytes| self.read(offset, bytes, slice::from_mut(&mut buffer)));
                done.complete((buffer, result));
            }
            Request::Write {
                offset,
                range,
                buffer,
                done,
            } => {
                let result = self
                    .start_write(fault, offset, [range.len()])
                    .and_then(|()| self.write(offset, &[(&buffer, range)]));
                done.complete((buffer, result));
            }
            Request::ReadChain {
                offset,
                mut buffers,
                done,
            } => {
                let offset = Some(offset);
                let result = self
                    .start_read(fault, offset, buffers.iter().map(Buffer::capacity))
                    .map(|bytes| self.read(offset, bytes, &mut buffers));
                done.complete((buffers, result));
            }
            Request::WriteChain {
                offset,
                buffers,
                done,
            } => {
                let offset = Some(offset);
                let parts: Vec<_> = buffers.iter().map(|one| (one, 0..one.capacity())).collect();
                let result = self
                    .start_write(fault, offset, buffers.iter().map(Buffer::capacity))
                    .and_then(|()| self.write(offset, &parts));
                done.complete((buffers, result));
            }
            Request::Sync { done } => {
                done.complete(fails(fault).map(|()| self.shared.sync(&self.inode, self.host)));
            }
        }
    }

    /// The number of bytes that a read may return at most.
    fn start_read(
        &self,
        fault: Option<Fault>,
        offset: Option<u64>,
        lengths: impl IntoIterator<Item = usize> + Clone,
    ) -> io::Result<usize> {
        self.check_blocks(offset, lengths.clone())?;
        let bytes = lengths.into_iter().sum();
        match fault {
            Some(Fault::Short) => Ok(bytes / 2),
            other => fails(other).map(|()| bytes),
        }
    }

    fn start_write(
        &self,
        fault: Option<Fault>,
        offset: Option<u64>,
        lengths: impl IntoIterator<Item = usize>,
    ) -> io::Result<()> {
        self.check_blocks(offset, lengths)?;
        fails(fault)
    }

    /// Fills the first `bytes` bytes of the buffers, up to the end of the file.
    fn read(&self, offset: Option<u64>, bytes: usize, buffers: &mut [Buffer]) {
        let mut content = self.inode.lock();
        let begin = offset.unwrap_or(content.has_read).min(content.length);
        let end = (begin + bytes as u64).min(content.length);
        set_chain_len(buffers, (end - begin) as usize);
        let mut at = begin;
        for buffer in buffers {
            let len = buffer.len();
            if !buffer.is_counted() {
                content.read(at, &mut buffer.bytes_mut()[..len]);
            }
            at += len as u64;
        }
        if offset.is_none() {
            content.has_read = end;
        }
    }

    /// Writes parts of buffers one behind the other.
    fn write(&self, offset: Option<u64>, parts: &[(&Buffer, Range<usize>)]) -> io::Result<()> {
        let begin = offset.unwrap_or(self.inode.lock().length);
        let bytes: usize = parts.iter().map(|(_, range)| range.len()).sum();
        let written = begin..begin + bytes as u64;
        self.shared.check_room(&self.inode, &written)?;
        if parts.iter().any(|(buffer, _)| buffer.is_counted()) {
            self.inode.lock().count(&written);
            self.shared
                .note(|| self.written(begin, Data::Counted(bytes as u64)));
            return Ok(());
        }
        let mut at = begin;
        for (buffer, range) in parts {
            self.put(at, &buffer.bytes()[range.clone()]);
            at += range.len() as u64;
        }
        Ok(())
    }

    /// Writes bytes, which the spoiler may change.
    fn put(&self, at: u64, bytes: &[u8]) {
        let mut spoilt = Vec::new();
        let mut state = self.shared.lock();
        let bytes = match &mut state.spoiler {
            None => bytes,
            Some(spoil) => {
                spoilt.extend_from_slice(bytes);
                spoil(&self.path, at, &mut spoilt);
                &spoilt
            }
        };
        drop(state);
        self.inode.lock().write(at, bytes);
        self.shared
            .note(|| self.written(at, Data::Bytes(bytes.to_vec())));
    }

    fn written(&self, offset: u64, data: Data) -> Entry {
        Entry::Write {
            file: self.inode.number,
            host: self.host,
            offset,
            data,
        }
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
        match lengths
            .into_iter()
            .find(|&bytes| !whole(offset) || !whole(bytes as u64))
        {
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
