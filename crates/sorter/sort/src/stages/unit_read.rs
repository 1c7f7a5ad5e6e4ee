//! A read of one unit of a file, and the records that belong to it.
//!
//! Units of records of one length begin and end with a record, and so do units of chained records,
//! which are cut where their index has one. Units of lines are cut anywhere: a unit has the lines that begin behind its first byte, up to the one that begins right behind its
//! end. So no line belongs to two units, and each unit is read on its own.
//!
//! ```text
//! units      |        0        |        1        |        2        |
//! lines      |a\n|bbbb\n|cccccccccc\n|dd\n|eeeeee\n|ff\n|gggggggg\n|
//! owned by     0   0       0           1     1      1 (or 2)  2
//! read       |=================|--|              |=================|--| a look ahead
//! ```
//!
//! If the look ahead does not reach the end of a unit's last line, the line is read again on its
//! own ([`Rest`]): lines that long are rare.

use std::path::PathBuf;

use node::{Buffer, DiskTicket, File, Node};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::input::ReadUnit;
use crate::files::input::index::unended;
use crate::records::block::{BLOCK_BYTES, Block};
use crate::records::framing::Framing;
use crate::records::size::Size;

/// The end of most lines is in the disk block behind the unit.
const LOOK_AHEAD_BYTES: u64 = BLOCK_BYTES;

pub(crate) struct InFlight {
    file: File,
    unit: ReadUnit,
    begin: u64,
    start: usize,
    /// Bytes of the unit, and of its look ahead.
    bytes: usize,
    ticket: DiskTicket,
}

/// The records of a unit.
pub(crate) struct Arrived {
    /// May be empty.
    pub block: Block,
    /// Its last line, if it was not read to its end.
    pub rest: Option<Rest>,
}

/// A line whose end was not read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    file_bytes: u64,
    offset: u64,
    position: u64,
    /// Bytes of its front, which lie behind the block.
    read: usize,
}

impl InFlight {
    /// Asks for a unit, or for the disk blocks around it if the file is read past the page cache.
    pub(crate) fn submit(node: &Node, file: File, unit: ReadUnit, buffer: Buffer) -> InFlight {
        let from = unit.offset;
        let to = from + unit.bytes as u64;
        let to = if unit.is_whole {
            to
        } else {
            unit.file_bytes.min(to + LOOK_AHEAD_BYTES)
        };
        let (begin, end) = if file.is_direct() {
            (from - from % BLOCK_BYTES, to.next_multiple_of(BLOCK_BYTES))
        } else {
            (from, to)
        };
        let ticket = file.read(node, begin, (end - begin) as usize, buffer);
        InFlight {
            file,
            unit,
            begin,
            start: (from - begin) as usize,
            bytes: (to - from) as usize,
            ticket,
        }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn unit(&self) -> ReadUnit {
        self.unit
    }

    /// Waits for the records.
    pub(crate) async fn wait(self, node: &Node, framing: Framing) -> Result<Arrived, Failure> {
        let (buffer, result) = self.ticket.wait(node).await;
        result?;
        if buffer.len() < self.start + self.bytes {
            let (file, offset) = (
                self.file.path().to_owned(),
                self.begin + buffer.len() as u64,
            );
            return Err(SortError::Shrunk { file, offset }.into());
        }
        let block = Block {
            first: self.unit.position,
            size: framing.size_of(self.unit.bytes as u64),
            start: self.start,
            buffer,
            marks: Vec::new(),
        };
        match framing.records() {
            record::Framing::Fixed(_) => Ok(Arrived { block, rest: None }),
            record::Framing::Delimited(delimiter) => {
                Ok(self.unit.lines(block, self.bytes, delimiter))
            }
            chained => {
                let found = self.unit.chained(block, self.bytes, chained);
                let file = || self.file.path().to_owned();
                found.map_err(|offset| changed(file(), offset).into())
            }
        }
    }
}

/// Bytes of a line that are read first, and how many times more each time that it does not end in them.
const FIRST_READ_BYTES: u64 = 64 << 10;
const TIMES_MORE: u64 = 8;

/// Chained records are no longer where they were when the index was made.
fn changed(file: PathBuf, offset: u64) -> SortError {
    let what = "the file changed while it was read; sort it again when no program writes to it";
    SortError::BadRecord {
        file,
        offset,
        what: what.to_owned(),
    }
}

impl ReadUnit {
    /// The chained records at the front of a unit, of which `bytes` bytes were read: all of them, or
    /// those that end in a place.
    ///
    /// # Errors
    /// The offset of a record that does not end where the index says.
    fn chained(
        self,
        mut block: Block,
        bytes: usize,
        framing: record::Framing,
    ) -> Result<Arrived, u64> {
        let read = block.start..block.start + bytes;
        if self.is_open {
            let delimiter = framing.delimiter().expect("rows have one");
            block.size.bytes = complete(&mut block, read, delimiter) as u64;
            return Ok(Arrived { block, rest: None });
        }
        let mut scanner = framing.scanner();
        let found = scanner.last_end(&block.buffer.bytes()[read.clone()]);
        let wrong = |before: usize| self.offset + before as u64;
        let mut end = found.map_err(|bad| wrong(bad.before))?;
        let ends_file = self.offset + bytes as u64 == self.file_bytes;
        if end < bytes && ends_file && unended(&scanner, framing).is_none() {
            let delimiter = framing.delimiter().expect("it has one");
            end = complete(&mut block, read, delimiter);
        }
        if self.is_whole && end < bytes {
            return Err(wrong(end));
        }
        block.size.bytes = end as u64;
        let rest = (end < bytes).then(|| Rest {
            file_bytes: self.file_bytes,
            offset: self.offset + end as u64,
            position: self.position + end as u64,
            read: bytes - end,
        });
        Ok(Arrived { block, rest })
    }

    /// Narrows a block to the lines of this unit, of which `bytes` bytes were read.
    fn lines(self, mut block: Block, bytes: usize, delimiter: u8) -> Arrived {
        let begin = block.start;
        let read = &block.buffer.bytes()[begin..begin + bytes];
        let ends_file = self.offset + bytes as u64 == self.file_bytes;
        let first = if self.offset == self.header_bytes {
            Some(0)
        } else {
            memchr::memchr(delimiter, &read[..self.bytes]).map(|before| before + 1)
        };
        let Some(first) = first else {
            // All of the unit is in the middle of a line.
            block.size = Size::default();
            return Arrived { block, rest: None };
        };
        let ends = if self.bytes < bytes || !ends_file {
            memchr::memchr(delimiter, &read[self.bytes..])
        } else {
            None
        };
        let (end, rest) = match ends {
            Some(before) => (self.bytes + before + 1, None),
            None if ends_file => (complete(&mut block, begin..begin + bytes, delimiter), None),
            None => {
                let last = memchr::memrchr(delimiter, &read[first..]);
                let last = last.map_or(first, |before| first + before + 1);
                let begins = Rest {
                    file_bytes: self.file_bytes,
                    offset: self.offset + last as u64,
                    position: self.position + last as u64,
                    read: bytes - last,
                };
                (last, Some(begins))
            }
        };
        block.first = self.position + first as u64;
        block.start = begin + first;
        block.size.bytes = end.saturating_sub(first) as u64;
        Arrived { block, rest }
    }
}

/// Adds a delimiter behind the `read` bytes if the file's last line has none. Returns the end of the
/// lines.
fn complete(block: &mut Block, read: std::ops::Range<usize>, delimiter: u8) -> usize {
    let bytes = block.buffer.bytes_mut();
    let is_complete = read.is_empty() || bytes[read.end - 1] == delimiter;
    if !is_complete {
        bytes[read.end] = delimiter;
    }
    read.len() + usize::from(!is_complete)
}

impl Rest {
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The front of the line, in the buffer of the block before it.
    pub(crate) fn front<'b>(&self, block: &'b Block) -> &'b [u8] {
        &block.buffer.bytes()[block.range().end..][..self.read]
    }

    /// Reads the whole line to a buffer: more of it each time, since the limit of its length may be far
    /// from it.
    ///
    /// # Errors
    /// When it is longer than `framing` allows, or the disk fails.
    pub(crate) async fn read(
        self,
        node: &Node,
        file: &File,
        mut buffer: Buffer,
        framing: Framing,
    ) -> Result<Block, Failure> {
        let limit = framing.longest() as u64;
        let delimiter = framing.records().delimiter().expect("a line");
        let mut most = limit.min(FIRST_READ_BYTES.max(2 * self.read as u64));
        loop {
            let unit = self.unit(most);
            let read = InFlight::submit(node, file.clone(), unit, buffer);
            let mut block = read.wait(node, Framing::fixed(1)).await?.block;
            let ends = self.ends_in(&mut block, unit, delimiter);
            // A delimiter that the file's last line lacks is beyond the bytes that were asked for.
            if ends && block.size.bytes <= limit {
                return Ok(block);
            }
            if most == limit {
                return Err(SortError::LongLine {
                    file: None,
                    position: Some(self.position),
                    read: block.range().len().max(most as usize) as u64,
                    limit,
                }
                .into());
            }
            most = limit.min(most * TIMES_MORE);
            buffer = block.buffer;
        }
    }

    /// A read of at most so many bytes of the line.
    fn unit(&self, most: u64) -> ReadUnit {
        ReadUnit {
            input: 0,
            offset: self.offset,
            header_bytes: 0,
            bytes: most.min(self.file_bytes - self.offset) as usize,
            file_bytes: self.file_bytes,
            position: self.position,
            is_whole: true,
            is_open: false,
        }
    }

    /// Cuts a block that was read to the line, if it ends there; returns whether it does.
    fn ends_in(&self, block: &mut Block, unit: ReadUnit, delimiter: u8) -> bool {
        let line = block.range();
        let end = match memchr::memchr(delimiter, &block.buffer.bytes()[line.clone()]) {
            Some(before) => Some(before + 1),
            None if self.offset + unit.bytes as u64 == self.file_bytes => {
                Some(complete(block, line, delimiter))
            }
            None => None,
        };
        block.size = Size {
            records: 0,
            bytes: end.unwrap_or(0) as u64,
        };
        end.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a unit, each with its position; the file begins at position 100.
    fn lines_of(file: &[u8], unit: ReadUnit, look_ahead: usize) -> Vec<(u64, Vec<u8>)> {
        let offset = unit.offset as usize;
        let bytes = (unit.bytes + look_ahead).min(file.len() - offset);
        // A direct read has other bytes before it, and a buffer has room behind it.
        let mut buffer = Buffer::heap(bytes + 7);
        buffer.bytes_mut()[3..3 + bytes].copy_from_slice(&file[offset..offset + bytes]);
        buffer.bytes_mut()[..3].copy_from_slice(b"x\nx");
        let block = Block {
            first: unit.position,
            size: Size::default(),
            start: 3,
            buffer,
            marks: Vec::new(),
        };
        let Arrived { block, rest } = unit.lines(block, bytes, b'\n');
        let (mut lines, mut position) = (Vec::new(), block.first);
        let found = &block.buffer.bytes()[block.range()];
        for line in found.split_inclusive(|&byte| byte == b'\n') {
            lines.push((position, line.to_vec()));
            position += line.len() as u64;
        }
        if let Some(rest) = rest {
            let mut line = file[rest.offset as usize..].to_vec();
            line.push(b'\n');
            let end = line.iter().position(|&byte| byte == b'\n').unwrap();
            lines.push((rest.position, line[..=end].to_vec()));
        }
        lines
    }

    #[test]
    fn every_line_belongs_to_one_unit_however_the_file_is_cut() {
        let files: [&[u8]; 8] = [
            b"a\n\nbbbb\nccccccccc\n\n\ndd\ne\n",
            b"a\n\nbbbb\nccccccccc\n\n\ndd\ne",
            b"\n\n\n\n",
            b"\n",
            b"x",
            b"no delimiter at all",
            b"ends\nopen, and is longer than the rest",
            b"\nbegins with an empty one\n",
        ];
        for file in files {
            let mut position = 100;
            let all = file.split_inclusive(|&byte| byte == b'\n').map(|line| {
                let mut whole = line.to_vec();
                if whole.last() != Some(&b'\n') {
                    whole.push(b'\n');
                }
                position += line.len() as u64;
                (position - line.len() as u64, whole)
            });
            let all: Vec<_> = all.collect();
            for most in 1..=file.len() + 1 {
                for look_ahead in 0..=file.len() {
                    let units = (0..file.len()).step_by(most).map(|offset| ReadUnit {
                        input: 0,
                        offset: offset as u64,
                        header_bytes: 0,
                        bytes: most.min(file.len() - offset),
                        file_bytes: file.len() as u64,
                        position: 100 + offset as u64,
                        is_whole: false,
                        is_open: false,
                    });
                    let found: Vec<_> = units
                        .flat_map(|unit| lines_of(file, unit, look_ahead))
                        .collect();
                    assert_eq!(found, all, "units of {most}, {look_ahead} ahead");
                }
            }
        }
    }
}
