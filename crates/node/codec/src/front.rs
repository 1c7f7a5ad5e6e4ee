//! The beginning of a source, which tells its format.
//!
//! ```text
//! 50-5f 2a 4d 18 | length | ...      skippable frames, any number of any length
//! a frame of zstd or lz4, or the end
//! ```
//!
//! Nothing bounds what comes before the first frame with data, so the way to it leads through the
//! source and not through a buffer. Skippable frames alone are a compressed file with nothing in it;
//! other data behind them is refused, as it may be what is left of such a file.

use std::io::{self, Read};

use node::{Compression, Decompress};

use crate::damaged::Damaged;
use crate::header::{Header, LONGEST_HEADER, skippable_bytes};

/// No header of a frame with data is longer.
const FRAME_HEADER: usize = 32;

/// No frame with data is shorter.
const SHORTEST_FRAME: usize = 8;

/// The first bytes of a source behind its skippable frames.
pub struct Front {
    /// The bytes before the rest of the source.
    pub bytes: Vec<u8>,
    /// Bytes of the skippable frames before them.
    pub(crate) passed: u64,
    decompress: Decompress,
}

/// Reads bytes that are not wanted. Returns their number, less only at the end.
///
/// # Errors
/// When the source fails.
pub fn read_past(source: &mut impl Read, bytes: u64) -> io::Result<u64> {
    io::copy(&mut source.take(bytes), &mut io::sink())
}

impl Front {
    /// The front of a source that begins with `bytes`: [`LONGEST_HEADER`] bytes, or all. `skip` goes
    /// on behind the next bytes of the source, as [`read_past`] does.
    ///
    /// # Errors
    /// When the source fails, ends within a skippable frame, or has other data behind one.
    pub fn of<S: Read>(
        mut bytes: Vec<u8>,
        source: &mut S,
        decompress: Decompress,
        skip: impl Fn(&mut S, u64) -> io::Result<u64>,
    ) -> io::Result<Front> {
        use Compression::{Lz4, Zstd};
        use Decompress::{Auto, From};
        let (mut passed, mut at) = (0, 0);
        let mut is_all = bytes.len() < LONGEST_HEADER;
        let may_skip = matches!(decompress, Auto | From(Zstd | Lz4));
        let cut_short = |after| Err(Damaged::cut_short(Zstd, after));
        while let Some(frame) = skippable_bytes(&bytes[at..]).filter(|_| may_skip) {
            let here = frame.min((bytes.len() - at) as u64);
            let behind = if is_all {
                0
            } else {
                skip(source, frame - here)?
            };
            passed += here + behind;
            if here + behind < frame {
                return cut_short(passed);
            }
            at += here as usize;
            if bytes.len() - at < FRAME_HEADER && !is_all {
                bytes.drain(..at);
                at = 0;
                let room = (LONGEST_HEADER - bytes.len()) as u64;
                source.by_ref().take(room).read_to_end(&mut bytes)?;
                is_all = bytes.len() < LONGEST_HEADER;
            }
        }
        bytes.drain(..at);
        if passed > 0 && (1..SHORTEST_FRAME).contains(&bytes.len()) {
            return cut_short(passed + bytes.len() as u64);
        }
        let front = Front {
            bytes,
            passed,
            decompress,
        };
        if passed > 0 && front.header(0).is_none() {
            return Err(Damaged::other_data(Zstd, passed));
        }
        Ok(front)
    }

    /// Whether skippable frames are all there is.
    pub(crate) fn is_alone(&self) -> bool {
        self.passed > 0 && self.bytes.is_empty()
    }

    /// The header, if the source is to be decompressed. A decoder gets an eighth of `memory_bytes`,
    /// or what its first frame needs if that is more.
    pub fn header(&self, memory_bytes: u64) -> Option<Header> {
        use Compression::{Lz4, Zstd};
        match self.decompress {
            Decompress::Never => None,
            Decompress::From(format) => Some(Header::with(format, &self.bytes, memory_bytes)),
            Decompress::Auto if self.is_alone() => Some(Header::with(Zstd, &[], memory_bytes)),
            Decompress::Auto => Header::of(&self.bytes, memory_bytes)
                .filter(|header| self.passed == 0 || [Zstd, Lz4].contains(&header.format)),
        }
    }
}
