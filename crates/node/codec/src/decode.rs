//! The contents of a compressed file, front to back.

mod ahead;
mod frames;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "zstd")]
mod zstd;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use node::Compression;

use crate::damaged::Damaged;
use crate::front::Front;
use crate::header::Header;
use crate::input::Input;
use ahead::Ahead;
use frames::{Format, Frames, Place};

/// A decoder, which takes memory from the first read to the last.
pub struct Decoder<R> {
    header: Header,
    consumed: Arc<AtomicU64>,
    state: State<R>,
}

enum State<R> {
    /// Nothing was read yet.
    Begin(Front, R),
    Reads(Box<dyn Read + Send>),
    Failed,
    Ended,
}

impl<R: Read + Send + 'static> Decoder<R> {
    /// The contents of a file with that front; the rest comes from `source`.
    pub fn new(header: Header, front: Front, source: R) -> Decoder<R> {
        Decoder {
            header,
            consumed: Arc::default(),
            state: State::Begin(front, source),
        }
    }

    /// Fills `out`, less only at the end of the contents.
    ///
    /// # Errors
    /// When the source fails, or a [`Damaged`] file, to the end of which nothing is missing or
    /// left over.
    pub fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            match self.read_some(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(cause) => {
                    self.state = State::Failed;
                    let Header {
                        format,
                        memory_bytes,
                        ..
                    } = self.header;
                    let position = self.consumed.load(Ordering::Relaxed);
                    return Err(Damaged::error(format, position, memory_bytes, cause));
                }
            }
        }
        Ok(filled)
    }

    fn read_some(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.state {
                State::Begin(..) => self.begin()?,
                State::Reads(decoder) => {
                    let read = decoder.read(out)?;
                    if read == 0 {
                        self.state = State::Ended;
                    }
                    return Ok(read);
                }
                State::Failed => return Err(io::ErrorKind::InvalidData.into()),
                State::Ended => return Ok(0),
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let State::Begin(front, source) = std::mem::replace(&mut self.state, State::Failed) else {
            return Ok(());
        };
        if front.is_alone() {
            self.state = State::Ended;
            return Ok(());
        }
        let input = Input::new(&front.bytes, source);
        self.consumed = input.consumed();
        self.consumed.fetch_add(front.passed, Ordering::Relaxed);
        self.state = State::Reads(self.decoder(input)?);
        Ok(())
    }

    fn decoder(&self, input: Input<R>) -> io::Result<Box<dyn Read + Send>> {
        let (window_bytes, ahead) = (self.header.window_bytes(), self.header.ahead);
        Ok(match self.header.format {
            #[cfg(feature = "gzip")]
            Compression::Gzip => {
                let first = Place::Within(gzip::Gzip.open(input)?);
                Box::new(Frames::new(gzip::Gzip, first, Ahead::new(ahead)))
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let format = zstd::Zstd::new(window_bytes);
                let first = Place::Within(format.open(input)?);
                Box::new(Frames::new(format, first, Ahead::new(ahead)))
            }
            #[cfg(feature = "lz4")]
            Compression::Lz4 => {
                let format = lz4::Lz4 {
                    memory_bytes: window_bytes,
                };
                Box::new(Frames::new(
                    format,
                    Place::Between(input),
                    Ahead::new(ahead),
                ))
            }
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            #[cfg(feature = "xz")]
            Compression::Xz => {
                // The limit counts the decoder's tables, which are not a part of the window.
                let memory = self.header.memory_bytes.div_ceil(1 << 10);
                let limit = u32::try_from(memory).unwrap_or(u32::MAX - 1);
                Box::new(lzma_rust2::XzReader::new_mem_limit(input, true, limit))
            }
            #[allow(unreachable_patterns, reason = "where all formats are built")]
            format => return Err(Damaged::not_built(format)),
        })
    }
}

impl<R: Read + Send + 'static> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.fill(out)
    }
}

#[cfg(all(test, feature = "gzip", feature = "lz4", feature = "zstd"))]
mod tests;
