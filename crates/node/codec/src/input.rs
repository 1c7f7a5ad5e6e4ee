//! Compressed bytes on their way to a decoder: buffered, counted, and looked at ahead.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a read. Some 1 ms of decompression, so the system reads ahead meanwhile.
pub(crate) const INPUT_BYTES: usize = 128 << 10;

/// Bytes that may be left of a read when another is needed to see a header.
const LEFT_BYTES: usize = 64;

/// A source with a buffer.
///
/// ```text
/// | consumed | shown to a decoder | read ahead, by reads | room |
///            at                shown                 filled
/// ```
///
/// A decoder is shown the bytes of one read at a time, also of those that were read ahead. So where it
/// meets a fault does not depend on who has looked at the bytes before.
pub(crate) struct Input<R> {
    source: R,
    buffer: Vec<u8>,
    at: usize,
    shown: usize,
    filled: usize,
    /// Lengths of the reads behind those shown.
    reads: VecDeque<usize>,
    /// Bytes of a read at most.
    read_bytes: usize,
    /// Whether the source has ended, and its fault that no decoder has met yet.
    has_ended: bool,
    fault: Option<io::Error>,
    consumed: Arc<AtomicU64>,
    /// Whether a decoder wanted more bytes than there are.
    pub met_end: bool,
}

impl<R: Read> Input<R> {
    /// A source whose first bytes have been read already.
    pub(crate) fn new(begin: &[u8], source: R) -> Input<R> {
        let read_bytes = INPUT_BYTES.max(begin.len());
        let mut buffer = vec![0; read_bytes + LEFT_BYTES];
        buffer[..begin.len()].copy_from_slice(begin);
        Input {
            source,
            buffer,
            at: 0,
            shown: begin.len(),
            filled: begin.len(),
            reads: VecDeque::new(),
            read_bytes,
            has_ended: false,
            fault: None,
            consumed: Arc::default(),
            met_end: false,
        }
    }

    /// The count of consumed bytes.
    pub(crate) fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// The next `bytes` bytes, fewer only at the end. They stay.
    pub(crate) fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        while self.ahead().len() < bytes && self.read_ahead()? > 0 {}
        let end = self.filled.min(self.at + bytes);
        while self.shown < end {
            self.show();
        }
        Ok(&self.buffer[self.at..end])
    }

    /// Reads ahead until there are so many bytes, or no more. Returns whether bytes came.
    pub(crate) fn look(&mut self, bytes: usize) -> bool {
        let before = self.ahead().len();
        while self.ahead().len() < bytes && !self.has_ended {
            if let Err(fault) = self.read_ahead() {
                // A decoder is told, when it has seen all before.
                self.fault = Some(fault);
                break;
            }
        }
        self.ahead().len() > before
    }

    /// Whether there are more bytes than these.
    pub(crate) fn goes_on_behind(&mut self, bytes: usize) -> bool {
        self.ahead().len() > bytes || self.look(bytes + 1)
    }

    /// Bytes that have been consumed.
    pub(crate) fn position(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// The bytes that have been read and not consumed.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.at..self.filled]
    }

    /// Whether there are none behind those.
    pub(crate) fn is_all(&self) -> bool {
        self.has_ended
    }

    /// Consumes `bytes` bytes.
    ///
    /// # Errors
    /// When there are fewer.
    pub(crate) fn skip(&mut self, mut bytes: u64) -> io::Result<()> {
        while bytes > 0 {
            let next = self.fill_buf()?.len() as u64;
            if next == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let skipped = bytes.min(next);
            self.consume(skipped as usize);
            bytes -= skipped;
        }
        Ok(())
    }

    fn show(&mut self) {
        self.shown += self.reads.pop_front().unwrap_or(0);
    }

    fn read_ahead(&mut self) -> io::Result<usize> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if self.has_ended {
            return Ok(0);
        }
        self.make_room();
        let room = self.filled..self.filled + self.read_bytes;
        let read = self.source.read(&mut self.buffer[room])?;
        self.filled += read;
        self.has_ended = read == 0;
        if read > 0 {
            self.reads.push_back(read);
        }
        Ok(read)
    }

    /// Makes room for a read. Bytes are moved only if they are not more than those consumed before them.
    fn make_room(&mut self) {
        let (left, usual) = (self.filled - self.at, self.read_bytes + LEFT_BYTES);
        if left <= self.at {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.shown -= self.at;
            (self.at, self.filled) = (0, left);
        }
        if left == 0 && self.buffer.len() > usual {
            self.buffer = vec![0; usual];
        }
        let needed = self.filled + self.read_bytes;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.shown {
            if self.reads.is_empty() {
                self.met_end = self.read_ahead()? == 0;
            }
            self.show();
        }
        Ok(&self.buffer[self.at..self.shown])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        assert!(self.at <= self.shown, "more was consumed than shown");
        self.consumed.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut next = self.fill_buf()?;
        let read = next.read(out)?;
        self.consume(read);
        Ok(read)
    }
}
