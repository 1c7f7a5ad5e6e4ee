//! Compressed bytes on their way to a decoder: buffered, counted, and looked at ahead.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a read. Some 1 ms of decompression, so the system reads ahead meanwhile.
pub(crate) const INPUT_BYTES: usize = 128 << 10;

/// A source with a buffer.
pub(crate) struct Input<R> {
    source: R,
    buffer: Box<[u8]>,
    at: usize,
    filled: usize,
    consumed: Arc<AtomicU64>,
    /// Whether a decoder wanted more bytes than there are.
    pub met_end: bool,
}

impl<R: Read> Input<R> {
    /// A source whose first bytes have been read already.
    pub(crate) fn new(begin: &[u8], source: R) -> Input<R> {
        let mut buffer = vec![0; INPUT_BYTES.max(begin.len())].into_boxed_slice();
        buffer[..begin.len()].copy_from_slice(begin);
        Input {
            source,
            buffer,
            at: 0,
            filled: begin.len(),
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
        if self.filled - self.at < bytes {
            self.buffer.copy_within(self.at..self.filled, 0);
            (self.at, self.filled) = (0, self.filled - self.at);
        }
        while self.filled < self.at + bytes {
            match self.source.read(&mut self.buffer[self.filled..])? {
                0 => break,
                read => self.filled += read,
            }
        }
        let end = self.filled.min(self.at + bytes);
        Ok(&self.buffer[self.at..end])
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
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.filled {
            (self.at, self.filled) = (0, 0);
            self.filled = self.source.read(&mut self.buffer)?;
            self.met_end = self.filled == 0;
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        assert!(self.at <= self.filled, "more was consumed than read");
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
