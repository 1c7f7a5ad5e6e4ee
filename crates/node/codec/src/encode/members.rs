//! Members: pieces of the contents that are compressed each by itself, on several cores, and follow each
//! other in the file. Every decompressor of these formats reads them as one (RFC 1952, 2.2, of gzip).
//!
//! ```text
//! contents   |.. 0 ..|.. 1 ..|.. 2 ..|.. 3 ..|         the same pieces with any number of workers
//! workers        a       b       a       b
//! file       | 0 | 1  | 2 | 3 |                        in their order
//! ```

use std::io::{self, Write};

use super::Stream;
use crate::workers::Workers;

/// Compresses a member.
pub(super) type Compressor = fn(&[u8]) -> io::Result<Vec<u8>>;

/// A compressor of members into `out`.
pub(super) struct Members<W> {
    out: W,
    compress: Compressor,
    /// The contents of the next member, and the most bytes of one.
    open: Vec<u8>,
    most: usize,
    /// Each takes the contents of a member, and returns its compressed bytes.
    workers: Workers<Vec<u8>, io::Result<Vec<u8>>>,
    /// The last byte of the last member that was written. It is held back until the next member comes: an
    /// output that is given up must not look whole.
    last: Option<u8>,
}

impl<W: Write> Members<W> {
    /// Members of at most that many bytes. Without workers they are compressed where they are written.
    pub(super) fn new(
        out: W,
        (compress, most): (Compressor, usize),
        workers: usize,
    ) -> io::Result<Members<W>> {
        let work = move |contents: Vec<u8>| compress(&contents);
        Ok(Members {
            out,
            compress,
            open: Vec::with_capacity(most),
            most,
            workers: Workers::start("compressor", workers, work)?,
            last: None,
        })
    }

    fn close_member(&mut self) -> io::Result<()> {
        if self.workers.count() == 0 {
            let compressed = (self.compress)(&self.open)?;
            self.open.clear();
            return self.put(&compressed);
        }
        let contents = std::mem::replace(&mut self.open, Vec::with_capacity(self.most));
        self.workers.begin(contents).map_err(|_| has_ended())?;
        if self.workers.waiting() > self.workers.count() {
            self.write_first()?;
        }
        Ok(())
    }

    fn write_first(&mut self) -> io::Result<()> {
        match self.workers.next() {
            Some(first) => {
                let compressed = first.map_err(|_| has_ended())??;
                self.put(&compressed)
            }
            None => Ok(()),
        }
    }

    fn put(&mut self, member: &[u8]) -> io::Result<()> {
        let Some((&last, front)) = member.split_last() else {
            return Ok(());
        };
        self.out.write_all(self.last.as_slice())?;
        self.last = Some(last);
        self.out.write_all(front)
    }
}

impl<W: Write> Write for Members<W> {
    fn write(&mut self, contents: &[u8]) -> io::Result<usize> {
        let taken = contents.len().min(self.most - self.open.len());
        self.open.extend_from_slice(&contents[..taken]);
        if self.open.len() == self.most {
            self.close_member()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Stream<W> for Members<W> {
    fn end(mut self: Box<Self>) -> io::Result<W> {
        let is_first = self.last.is_none() && self.workers.waiting() == 0;
        if is_first || !self.open.is_empty() {
            self.close_member()?;
        }
        while self.workers.waiting() > 0 {
            self.write_first()?;
        }
        self.out.write_all(self.last.as_slice())?;
        Ok(self.out)
    }
}

fn has_ended() -> io::Error {
    io::Error::other("a thread that compresses has ended")
}
