//! The open end of a bucket, where records are appended.

use kernel::Bin;
use node::Buffer;

use crate::records::block::{Chunk, ChunkShape, Mark};
use crate::records::size::{Framing, Size};

/// A chunk that is being filled, and empty ones behind it.
#[derive(Debug, Default)]
pub struct OpenBucket {
    buffers: Vec<Buffer>,
    /// Records in the first buffer.
    filled: Size,
    marks: Vec<Mark>,
    /// Bytes of records that a buffer may hold.
    room: u32,
}

impl OpenBucket {
    pub(crate) fn new(shape: ChunkShape) -> OpenBucket {
        OpenBucket {
            room: shape.room,
            ..OpenBucket::default()
        }
    }

    /// The room for the bucket's next records.
    pub fn room(&mut self) -> Bin<'_> {
        let until = self.room as usize;
        let mut buffers = self
            .buffers
            .iter_mut()
            .map(|buffer| &mut buffer.bytes_mut()[..until]);
        let tail = buffers.next().map_or(&mut [][..], |first| {
            &mut first[self.filled.bytes as usize..]
        });
        Bin::new(tail, buffers)
    }

    pub(crate) fn add(&mut self, buffer: Buffer) {
        self.buffers.push(buffer);
    }

    /// Bytes of records that the buffers still hold.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.buffers.len() as u64 * u64::from(self.room) - self.filled.bytes
    }

    /// Notes records that were copied in, the first at `position`. Full chunks go to `full`.
    pub(crate) fn advance(
        &mut self,
        size: Size,
        position: Option<u64>,
        chunk: &ChunkKind,
        full: &mut Vec<Chunk>,
    ) {
        let room = u64::from(self.room);
        let mut done = 0;
        while done < size.bytes {
            if let Some(position) = position {
                self.marks.push(Mark {
                    start: self.filled.bytes as u32,
                    position: position + done,
                });
            }
            let fits = (size.bytes - done).min(room - self.filled.bytes);
            self.filled += chunk.framing.size_of(fits);
            done += fits;
            if self.filled.bytes == room {
                full.extend(self.close(chunk));
            }
        }
        if self.marks.len() >= chunk.shape.marks as usize {
            full.extend(self.close(chunk));
        }
    }

    /// The chunk that was being filled, if it has records.
    pub(crate) fn close(&mut self, chunk: &ChunkKind) -> Option<Chunk> {
        if self.filled.records == 0 {
            return None;
        }
        let mut buffer = self.buffers.remove(0);
        let size = std::mem::take(&mut self.filled);
        buffer.set_len(size.bytes as usize);
        Some(Chunk {
            bucket: chunk.bucket,
            size,
            marks: std::mem::take(&mut self.marks),
            buffer,
        })
    }
}

/// The bucket of a chunk, and the shape of both.
pub(crate) struct ChunkKind {
    pub bucket: u32,
    pub shape: ChunkShape,
    pub framing: Framing,
}
