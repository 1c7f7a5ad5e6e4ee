//! Reads lines from front to back: a block ends with a line, whose end comes with the next read.
//!
//! ```text
//! read n       |..abc\n|def\n|gh|
//! read n + 1   |ijk\n|lm\n|...                "ijk\n" is moved behind "gh"
//! ```
//!
//! Pipes are read so, and files of chained records that have no index.

use std::sync::Arc;

use node::{Buffer, File, Mutex};
use pipeline::{Failure, Worker};
use record::Scanner;

use crate::error::SortError;
use crate::files::input::index::{MOST_OPEN, unended};
use crate::records::block::Block;
use crate::records::size::Size;
use crate::stages::reader::{Held, Reader};
use crate::stages::row_checks::FilePlace;

/// The rest of a pipe, from a line on that is longer than a plan has room for.
pub(crate) struct RestOfPipe {
    pub file: File,
    /// The position of that line in the whole input, and its offset in the file.
    pub position: u64,
    pub offset: u64,
    /// Bytes from there on that were read.
    pub bytes: Arc<[u8]>,
}

/// Where a reader ends before such a line; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Cut(Arc<Mutex<Option<RestOfPipe>>>);

impl Cut {
    /// Whether the reader has ended so.
    pub(super) fn is_made(&self) -> bool {
        self.0.lock().is_some()
    }

    pub(crate) fn take(&self) -> Option<RestOfPipe> {
        self.0.lock().take()
    }
}

/// A file that is read from front to back.
pub(super) struct Stream<'a> {
    pub worker: &'a Worker,
    pub reader: &'a Reader,
    pub file: &'a File,
    /// Position of its first line.
    pub first: u64,
    /// Offset of that line in the file.
    pub skipped: u64,
    /// Bytes from there on that were read already.
    pub front: Option<Arc<[u8]>>,
}

/// Bytes that were read, the last line of which may go on.
struct Open {
    buffer: Buffer,
    start: usize,
    end: usize,
    /// Position of the byte at `start`.
    first: u64,
    /// Where the last line begins, counted from `start`.
    line: usize,
    /// Follows that line.
    scanner: Scanner,
}

impl Open {
    fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[self.start..self.end]
    }

    fn room(&self) -> usize {
        self.buffer.capacity() - self.end
    }

    fn line_position(&self) -> u64 {
        self.first + self.line as u64
    }

    fn add(&mut self, more: &[u8]) {
        let end = self.end + more.len();
        self.buffer.bytes_mut()[self.end..end].copy_from_slice(more);
        self.end = end;
    }

    /// The lines before the last one.
    fn block_before_line(self) -> Block {
        let end = self.start + self.line;
        Open { end, ..self }.block()
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

impl Stream<'_> {
    /// Reads all lines. Returns the position behind the last one.
    pub(super) async fn read(&self, held: &mut Held) -> Result<u64, Failure> {
        let (worker, reader) = (self.worker, self.reader);
        let mut open: Option<Open> = None;
        let (mut offset, mut position) = (self.skipped, self.first);
        loop {
            let buffer = worker.take(&reader.pool).await?;
            let (buffer, ends) = self.read_unit(offset, buffer).await?;
            let bytes = buffer.len();
            offset += bytes as u64;
            let mut read = Open {
                buffer,
                start: 0,
                end: bytes,
                first: position,
                line: 0,
                scanner: reader.framing.records().scanner(),
            };
            position += bytes as u64;
            if let Some(before) = open.take() {
                if self.cuts(&before, &read, offset) {
                    reader.pool.give(&worker.node, read.buffer).await;
                    let end = before.line_position();
                    self.hand_on(before.block_before_line(), held).await?;
                    return Ok(end);
                }
                let (found, line) = self.go_on(before, (&mut read, held)).await?;
                if !found && !ends {
                    reader.pool.give(&worker.node, read.buffer).await;
                    open = Some(line);
                    continue;
                }
                position += if found {
                    self.hand_on(line.block(), held).await.map(|()| 0)?
                } else {
                    self.end(line, held).await?
                };
            }
            let goes_on = self.find_last(&mut read)?;
            if goes_on && !ends {
                open = Some(read);
                continue;
            }
            position += if goes_on {
                self.end(read, held).await?
            } else {
                self.hand_on(read.block(), held).await.map(|()| 0)?
            };
            if ends {
                return Ok(position);
            }
        }
    }

    /// Ends this reader before a line that goes on in `read` and is too long for the plan; another plan begins
    /// with that line. Returns whether it does.
    /// The next byte that comes has that offset in the file.
    fn cuts(&self, open: &Open, read: &Open, offset: u64) -> bool {
        let Some(cut) = &self.reader.cut else {
            return false;
        };
        let line = &open.bytes()[open.line..];
        let fresh = read.bytes();
        // A mistake in the line is told where the line is read.
        let end = open.scanner.clone().end(fresh).unwrap_or(Some(0));
        if line.len() + end.unwrap_or(fresh.len()) <= self.reader.framing.longest() {
            return false;
        }
        let known = (offset - self.skipped) as usize;
        let front = self.front.as_deref().and_then(|front| front.get(known..));
        *cut.0.lock() = Some(RestOfPipe {
            file: self.file.clone(),
            position: open.line_position(),
            offset: offset - (line.len() + fresh.len()) as u64,
            bytes: [line, fresh, front.unwrap_or_default()].concat().into(),
        });
        true
    }

    async fn hand_on(&self, mut block: Block, held: &mut Held) -> Result<(), Failure> {
        let place = FilePlace {
            file: self.file,
            position: self.first,
            offset: self.skipped,
        };
        self.reader.sift(self.worker, &mut block, place).await?;
        held.hand_on(self.worker, self.reader, block).await
    }

    /// Reads a unit, or a part of the bytes that were read already. The end of the file comes with
    /// it if the second is true.
    async fn read_unit(&self, offset: u64, mut buffer: Buffer) -> Result<(Buffer, bool), Failure> {
        let (node, unit) = (&self.worker.node, self.reader.unit_bytes);
        let read = (offset - self.skipped) as usize;
        if let Some(left) = self.front.as_ref().and_then(|front| front.get(read..))
            && !left.is_empty()
        {
            let bytes = left.len().min(unit);
            buffer.bytes_mut()[..bytes].copy_from_slice(&left[..bytes]);
            buffer.set_len(bytes);
            return Ok((buffer, false));
        }
        let ticket = self.file.read(node, offset, unit, buffer);
        let (buffer, result) = ticket.wait(node).await;
        result?;
        let ends = buffer.len() < unit;
        Ok((buffer, ends))
    }

    /// Looks for the last line. True if it goes on behind the bytes.
    fn find_last(&self, read: &mut Open) -> Result<bool, Failure> {
        let bytes = &read.buffer.bytes()[read.start..read.end];
        let found = read.scanner.last_end(bytes);
        read.line = found.map_err(|bad| {
            let before = bad.before as u64;
            self.bad_record(read.first + before, bad.to_string())
        })?;
        Ok(read.scanner.is_within())
    }

    /// Moves the rest of an open line from the front of a read to the line's buffer. Returns
    /// whether the line ends there, and its buffer.
    async fn go_on(
        &self,
        mut open: Open,
        (read, held): (&mut Open, &mut Held),
    ) -> Result<(bool, Open), Failure> {
        let position = open.line_position();
        let found = open.scanner.end(read.bytes());
        let found = found.map_err(|bad| self.bad_record(position, bad.to_string()))?;
        let more = found.unwrap_or(read.bytes().len());
        // A missing delimiter at the end of the file has room, too.
        if open.room() <= more {
            open = self.move_line(open, more, held).await?;
        }
        open.add(&read.bytes()[..more]);
        read.start = more;
        read.first += more as u64;
        Ok((found.is_some(), open))
    }

    /// Hands on all lines but the last one, which moves to a buffer of its own and grows by `more`
    /// bytes.
    ///
    /// No deadlock: the lines before it are handed on first. So the reader holds one filled buffer,
    /// the read with the rest of the line, while it waits for the second, as in every other read.
    async fn move_line(
        &self,
        mut open: Open,
        more: usize,
        held: &mut Held,
    ) -> Result<Open, Failure> {
        let (line, first) = (open.bytes()[open.line..].to_vec(), open.line_position());
        let limit = self.reader.framing.longest();
        if line.len() + more > limit {
            return Err(SortError::LongLine {
                file: None,
                position: Some(first),
                read: (line.len() + more) as u64,
                limit: limit as u64,
            }
            .into());
        }
        open.end = open.start + open.line;
        let scanner = open.scanner.clone();
        self.hand_on(open.block(), held).await?;
        let mut moved = Open {
            scanner,
            ..self.opened(first).await?
        };
        moved.add(&line);
        Ok(moved)
    }

    /// Hands on the last lines of the file, of which the last one goes on. Returns the number of bytes
    /// added.
    async fn end(&self, mut open: Open, held: &mut Held) -> Result<u64, Failure> {
        let (mut added, mut lines) = (0, 0);
        let most = if self.reader.sifter.is_some() {
            MOST_OPEN
        } else {
            0
        };
        while open.scanner.is_quoted() && lines < most {
            // The line of a quote that is never closed is a block of its own; rows are read anew behind it.
            let (row, position) = (open.bytes()[open.line..].to_vec(), open.line_position());
            open.end = open.start + open.line;
            self.hand_on(open.block(), held).await?;
            let line = memchr::memchr(b'\n', &row).map_or(row.len(), |before| before + 1);
            let mut first = self.opened(position).await?;
            first.add(&row[..line]);
            let ends = row[..line].ends_with(b"\n");
            first.add(if ends { b"" } else { b"\n" });
            self.hand_on(first.block(), held).await?;
            open = self.opened(position + line as u64).await?;
            open.add(&row[line..]);
            self.find_last(&mut open)?;
            (added, lines) = (added + u64::from(!ends), lines + 1);
        }
        if open.scanner.is_within() {
            added += self.complete(&mut open)?;
        }
        self.hand_on(open.block(), held).await?;
        Ok(added)
    }

    /// An empty buffer for the lines from a position on.
    async fn opened(&self, first: u64) -> Result<Open, Failure> {
        Ok(Open {
            buffer: self.worker.take(&self.reader.pool).await?,
            start: 0,
            end: 0,
            first,
            line: 0,
            scanner: self.reader.framing.records().scanner(),
        })
    }

    /// Ends the last line of the file, which goes on. Returns the number of bytes added.
    fn complete(&self, open: &mut Open) -> Result<u64, Failure> {
        let framing = self.reader.framing.records();
        if let Some(what) = unended(&open.scanner, framing) {
            return Err(self.bad_record(open.line_position(), what.to_owned()));
        }
        let delimiter = framing.delimiter();
        open.add(delimiter.as_slice());
        Ok(1)
    }

    fn bad_record(&self, position: u64, what: String) -> Failure {
        let file = self.file.path().to_owned();
        let offset = self.skipped + position - self.first;
        SortError::BadRecord { file, offset, what }.into()
    }
}
