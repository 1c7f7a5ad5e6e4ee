//! The open end of a bucket, while records are copied into it.

use kernel::Bin;
use node::Buffer;

use crate::records::block::{Chunk, ChunkShape, Mark};

/// The open end of a bucket: a chunk that is being filled, and fresh ones behind it.
#[derive(Debug, Default)]
pub struct OpenBucket {
    buffers: Vec<Buffer>,
    /// Records in the first of the buffers.
    records: u32,
    marks: Vec<Mark>,
    /// Records that a buffer may hold.
    most: u32,
}

impl OpenBucket {
    pub(crate) fn new(shape: ChunkShape) -> OpenBucket {
        OpenBucket {
            most: shape.records,
            ..OpenBucket::default()
        }
    }

    /// Where the bucket's next records go.
    pub fn room(&mut self, record_bytes: usize) -> Bin<'_> {
        let [filled, until] = [self.records, self.most].map(|count| count as usize * record_bytes);
        let mut buffers = self
            .buffers
            .iter_mut()
            .map(|buffer| &mut buffer.bytes_mut()[..until]);
        let tail = buffers
            .next()
            .map_or(&mut [][..], |first| &mut first[filled..]);
        Bin::new(tail, buffers)
    }

    /// Room for more records.
    pub(crate) fn add(&mut self, buffer: Buffer) {
        self.buffers.push(buffer);
    }

    /// Records that still fit.
    pub(crate) fn room_records(&self) -> u32 {
        self.buffers.len() as u32 * self.most - self.records
    }

    /// Takes note of `count` records that were copied in, the first with rank `position`; full
    /// chunks go to `full`.
    pub(crate) fn advance(
        &mut self,
        count: u32,
        position: Option<u64>,
        chunk: &Place,
        full: &mut Vec<Chunk>,
    ) {
        let mut left = count;
        while left > 0 {
            let fits = left.min(chunk.shape.records - self.records);
            if let Some(position) = position {
                let position = position + u64::from(count - left);
                self.marks.push(Mark {
                    start: self.records,
                    position,
                });
            }
            self.records += fits;
            left -= fits;
            if self.records == chunk.shape.records {
                full.extend(self.close(chunk));
            }
        }
        if self.marks.len() >= chunk.shape.marks as usize {
            full.extend(self.close(chunk));
        }
    }

    /// The chunk that was being filled, if it holds anything.
    pub(crate) fn close(&mut self, chunk: &Place) -> Option<Chunk> {
        if self.records == 0 {
            return None;
        }
        let mut buffer = self.buffers.remove(0);
        let records = std::mem::take(&mut self.records);
        buffer.set_len(records as usize * chunk.record_bytes);
        Some(Chunk {
            bucket: chunk.bucket,
            records,
            marks: std::mem::take(&mut self.marks),
            buffer,
        })
    }
}

/// Whose chunk it is.
pub(crate) struct Place {
    pub bucket: u32,
    pub shape: ChunkShape,
    pub record_bytes: usize,
}
