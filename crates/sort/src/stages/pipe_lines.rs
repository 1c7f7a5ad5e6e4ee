//! Reads lines from a pipe: a block ends with a line, whose end comes with the next read.
//!
//! ```text
//! read n       |..abc\n|def\n|gh|
//! read n + 1   |ijk\n|lm\n|...                "ijk\n" is moved behind "gh"
//! ```

use node::{Buffer, File};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::Block;
use crate::records::size::Size;
use crate::stages::reader::{Held, Reader};

/// Bytes that were read, the last line of which may go on.
struct Open {
    buffer: Buffer,
    start: usize,
    end: usize,
    /// Position of the byte at `start`.
    first: u64,
}

impl Open {
    fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[self.start..self.end]
    }

    fn room(&self) -> usize {
        self.buffer.capacity() - self.end
    }

    fn add(&mut self, more: &[u8]) {
        let end = self.end + more.len();
        self.buffer.bytes_mut()[self.end..end].copy_from_slice(more);
        self.end = end;
    }

    fn block(self) -> Block {
        Block {
            first: self.first,
            size: Size {
                records: 0,
                bytes: (self.end - self.start) as u64,
            },
            start: self.start,
            buffer: self.buffer,
            marks: Vec::new(),
        }
    }
}

/// Reads a pipe whose first line has position `first`. Returns the position behind its last line.
pub(super) async fn read_lines(
    worker: &Worker,
    reader: &Reader,
    file: &File,
    first: u64,
    held: &mut Held,
) -> Result<u64, Failure> {
    let delimiter = reader.framing.records().delimiter().expect("lines");
    let mut open: Option<Open> = None;
    let (mut offset, mut position) = (0, first);
    loop {
        let unit = reader.unit();
        let buffer = worker.take(&reader.pool).await?;
        let read = file.read(&worker.node, offset, unit, buffer);
        let (buffer, result) = read.wait(&worker.node).await;
        result?;
        let bytes = buffer.len();
        offset += bytes as u64;
        let ends = bytes < unit;
        let mut read = Open {
            buffer,
            start: 0,
            end: bytes,
            first: position,
        };
        position += bytes as u64;
        if let Some(before) = open.take() {
            let (found, mut line) = go_on(worker, reader, before, (&mut read, held)).await?;
            if !found && !ends {
                reader.pool.give(&worker.node, read.buffer).await;
                open = Some(line);
                continue;
            }
            if !found {
                line.add(&[delimiter]);
                position += 1;
            }
            held.hand_on(worker, reader, line.block()).await?;
        }
        if ends {
            if read.bytes().last().is_some_and(|&last| last != delimiter) {
                read.add(&[delimiter]);
                position += 1;
            }
            held.hand_on(worker, reader, read.block()).await?;
            return Ok(position);
        }
        match read.bytes().last() {
            Some(&last) if last != delimiter => open = Some(read),
            _ => held.hand_on(worker, reader, read.block()).await?,
        }
    }
}

/// Moves the rest of an open line from the front of a read to the line's buffer. Returns whether
/// the line ends there, and its buffer.
async fn go_on(
    worker: &Worker,
    reader: &Reader,
    mut open: Open,
    (read, held): (&mut Open, &mut Held),
) -> Result<(bool, Open), Failure> {
    let delimiter = reader.framing.records().delimiter().expect("lines");
    let found = memchr::memchr(delimiter, read.bytes());
    let more = found.map_or(read.bytes().len(), |before| before + 1);
    // A missing delimiter at the end of the pipe has room, too.
    if open.room() <= more {
        open = move_line(worker, reader, open, (more, held)).await?;
    }
    open.add(&read.bytes()[..more]);
    read.start = more;
    read.first += more as u64;
    Ok((found.is_some(), open))
}

/// Hands on all lines but the last one, which moves to a buffer of its own and grows by `more`
/// bytes.
///
/// No deadlock: the lines before it are handed on first. So the reader holds one filled buffer, the
/// read with the rest of the line, while it waits for the second, as in every other read.
async fn move_line(
    worker: &Worker,
    reader: &Reader,
    mut open: Open,
    (more, held): (usize, &mut Held),
) -> Result<Open, Failure> {
    let delimiter = reader.framing.records().delimiter().expect("lines");
    let before = memchr::memrchr(delimiter, open.bytes()).map_or(0, |at| at + 1);
    let (line, first) = (open.bytes()[before..].to_vec(), open.first + before as u64);
    let limit = reader.framing.longest();
    if line.len() + more > limit {
        let (position, limit) = (first, limit as u64);
        return Err(SortError::LongLine { position, limit }.into());
    }
    open.end = open.start + before;
    held.hand_on(worker, reader, open.block()).await?;
    let mut moved = Open {
        buffer: worker.take(&reader.pool).await?,
        start: 0,
        end: 0,
        first,
    };
    moved.add(&line);
    Ok(moved)
}
