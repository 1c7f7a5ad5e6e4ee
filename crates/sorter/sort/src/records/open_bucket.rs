//! The open end of a bucket, where records are appended.

use kernel::{Bin, Fill, RowBin};
use node::Buffer;

use crate::records::block::{Chunk, ChunkShape, Mark};
use crate::records::framing::Framing;
use crate::records::size::Size;

/// A chunk that is being filled, and empty ones behind it.
#[derive(Debug, Default)]
pub struct OpenBucket {
    buffers: Vec<Buffer>,
    /// Records in the first buffer.
    filled: Size,
    marks: Vec<Mark>,
    /// Bytes of records that a buffer may hold.
    room: u32,
    /// Records of unlike length that were copied in: by buffer, from the first one on.
    copied: Vec<Fill>,
    /// Room that they left in the last of those.
    left: u32,
}

impl OpenBucket {
    pub(crate) fn new(shape: ChunkShape) -> OpenBucket {
        OpenBucket {
            room: shape.room,
            ..OpenBucket::default()
        }
    }

    /// The room for the bucket's next records: the rest of the first buffer, then the others.
    pub(crate) fn places(&mut self) -> (&mut [u8], impl Iterator<Item = &mut [u8]>) {
        let until = self.room as usize;
        let mut buffers = self
            .buffers
            .iter_mut()
            .map(move |buffer| &mut buffer.bytes_mut()[..until]);
        let tail = buffers.next().map_or(&mut [][..], |first| {
            &mut first[self.filled.bytes as usize..]
        });
        (tail, buffers)
    }

    /// The room for records of one length.
    pub fn room(&mut self) -> Bin<'_> {
        let (tail, others) = self.places();
        Bin::new(tail, others)
    }

    /// The room for records of unlike length.
    pub(crate) fn row_room(&mut self) -> RowBin<'_> {
        let left = self.left();
        let (tail, others) = self.places();
        RowBin::new(tail, left, others)
    }

    pub(crate) fn add(&mut self, buffer: Buffer) {
        self.buffers.push(buffer);
    }

    /// Bytes of records that the buffers still hold.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.buffers.len() as u64 * u64::from(self.room) - self.filled.bytes
    }

    /// Room for records of unlike length in the buffer that is being filled.
    pub(crate) fn left(&self) -> u32 {
        match (self.buffers.is_empty(), self.filled.records) {
            (true, _) => 0,
            (false, 0) => self.room,
            (false, _) => self.left,
        }
    }

    /// Notes how records of unlike length were copied in: their size by buffer, and the room that
    /// is left in the last one.
    pub(crate) fn copied(&mut self, fills: impl IntoIterator<Item = Fill>, left: u32) {
        self.copied.extend(fills);
        self.left = left;
    }

    /// Notes records that were copied in, the first at `position`. Full chunks go to `full`.
    pub(crate) fn advance(
        &mut self,
        size: Size,
        position: Option<u64>,
        chunk: &ChunkKind,
        full: &mut Vec<Chunk>,
    ) {
        if chunk.framing.is_fixed() {
            self.advance_evenly(size, position, chunk, full)
        } else {
            self.advance_by_buffer(position, chunk, full)
        }
        if self.marks.len() >= chunk.shape.marks as usize {
            full.extend(self.close(chunk));
        }
    }

    fn advance_evenly(
        &mut self,
        size: Size,
        position: Option<u64>,
        chunk: &ChunkKind,
        full: &mut Vec<Chunk>,
    ) {
        let room = u64::from(self.room);
        let mut done = 0;
        while done < size.bytes {
            let fits = (size.bytes - done).min(room - self.filled.bytes);
            self.fill(
                chunk.framing.size_of(fits),
                position.map(|first| first + done),
            );
            done += fits;
            if self.filled.bytes == room {
                full.extend(self.close(chunk));
            }
        }
    }

    fn advance_by_buffer(
        &mut self,
        position: Option<u64>,
        chunk: &ChunkKind,
        full: &mut Vec<Chunk>,
    ) {
        let mut copied = std::mem::take(&mut self.copied);
        let mut done = 0;
        for (number, fill) in copied.drain(..).enumerate() {
            let size = Size {
                records: fill.records.into(),
                bytes: fill.bytes.into(),
            };
            if number > 0 {
                full.extend(self.close(chunk));
            }
            if size.records > 0 {
                self.fill(size, position.map(|first| first + done));
            }
            done += size.bytes;
        }
        self.copied = copied;
    }

    fn fill(&mut self, size: Size, position: Option<u64>) {
        if let Some(position) = position {
            self.marks.push(Mark {
                start: self.filled.bytes as u32,
                position,
            });
        }
        self.filled += size;
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

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: u32 = 10;

    fn kind(marks: u32) -> ChunkKind {
        ChunkKind {
            bucket: 3,
            shape: ChunkShape { room: ROOM, marks },
            framing: Framing::ending(record::Framing::Delimited(b'\n')),
        }
    }

    fn open(buffers: usize, kind: &ChunkKind) -> OpenBucket {
        let mut open = OpenBucket::new(kind.shape);
        (0..buffers).for_each(|_| open.add(Buffer::heap(16)));
        open
    }

    fn fill(records: u32, bytes: u32) -> Fill {
        Fill { records, bytes }
    }

    fn sizes(chunks: &[Chunk]) -> Vec<(u64, u64)> {
        let size = |chunk: &Chunk| (chunk.size.records, chunk.size.bytes);
        chunks.iter().map(size).collect()
    }

    #[test]
    fn a_chunk_of_lines_ends_where_the_next_one_is_filled() {
        let kind = kind(u32::MAX);
        let (mut open, mut full) = (open(3, &kind), Vec::new());
        assert_eq!(open.left(), ROOM);
        open.copied([fill(2, 7), fill(1, 9), fill(3, 4)], 2);
        open.advance(Size::default(), Some(50), &kind, &mut full);
        assert_eq!(sizes(&full), [(2, 7), (1, 9)]);
        assert_eq!(open.left(), 2, "as the kernel says: short lines take more");
        // The positions of lines that were copied together follow each other.
        let last = open.close(&kind).unwrap();
        assert_eq!((last.size.bytes, last.bucket), (4, 3));
        let position = |chunk: &Chunk| chunk.marks[0].position;
        assert_eq!([&full[0], &full[1], &last].map(position), [50, 57, 66]);
        assert!(open.close(&kind).is_none());
    }

    #[test]
    fn a_line_that_does_not_fit_ends_the_chunk_before_it() {
        let kind = kind(u32::MAX);
        let (mut open, mut full) = (open(2, &kind), Vec::new());
        open.copied([fill(1, 8)], 2);
        open.advance(Size::default(), None, &kind, &mut full);
        assert!(full.is_empty());
        // Nothing of the next part fits in what is left.
        open.copied([fill(0, 0), fill(1, 6)], 4);
        open.advance(Size::default(), None, &kind, &mut full);
        assert_eq!(sizes(&full), [(1, 8)]);
        assert!(full[0].marks.is_empty(), "the order needs no positions");
        assert_eq!((open.left(), open.room_bytes()), (4, 4));
    }

    #[test]
    fn marks_may_end_a_chunk_of_lines() {
        let kind = kind(2);
        let (mut open, mut full) = (open(2, &kind), Vec::new());
        for position in [10, 40, 70] {
            open.copied([fill(1, 2)], 6);
            open.advance(Size::default(), Some(position), &kind, &mut full);
        }
        assert_eq!(sizes(&full), [(2, 4)]);
        let starts: Vec<(u32, u64)> = full[0]
            .marks
            .iter()
            .map(|mark| (mark.start, mark.position))
            .collect();
        assert_eq!(starts, [(0, 10), (2, 40)]);
        assert_eq!(open.left(), 6);
    }
}
