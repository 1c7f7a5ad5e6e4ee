//! The beginning of a source, which tells its format.
//!
//! ```text
//! 50-5f 2a 4d 18 | length | ...      skippable frames, any number of any length
//! a frame of zstd or lz4, or the end
//! ```
//!
//! Nothing bounds what comes before the first frame with data, so the way to it leads through the
//! source and not through a buffer. A skippable frame alone tells a compressed file, with nothing in
//! it, or cut short.

use std::io::{self, Read};

use node::{Compression, Decompress};

use crate::damaged::Damaged;
use crate::header::{Header, LONGEST_HEADER, skippable_bytes};

/// No header of a frame with data is longer.
const FRAME_HEADER: usize = 32;

/// No frame with data is shorter.
const SHORTEST_FRAME: usize = 8;

/// The first bytes of a source: as they are, and behind the skippable frames.
pub struct Front {
    begin: Vec<u8>,
    /// The bytes before the rest of the source, without skippable frames.
    pub(crate) bytes: Vec<u8>,
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
    /// The front of a source that begins with `begin`: [`LONGEST_HEADER`] bytes, or all. `skip` goes
    /// on behind the next bytes of the source, as [`read_past`] does.
    ///
    /// # Errors
    /// When the source fails, or ends within a skippable frame.
    pub fn of<S: Read>(
        begin: Vec<u8>,
        source: &mut S,
        decompress: Decompress,
        skip: impl Fn(&mut S, u64) -> io::Result<u64>,
    ) -> io::Result<Front> {
        let bytes = begin.clone();
        let mut front = Front {
            begin,
            bytes,
            passed: 0,
            decompress,
        };
        if front.may_skip() {
            front.pass(source, skip)?;
        }
        Ok(front)
    }

    fn may_skip(&self) -> bool {
        use Compression::{Lz4, Zstd};
        matches!(
            self.decompress,
            Decompress::Auto | Decompress::From(Zstd | Lz4)
        )
    }

    fn pass<S: Read>(
        &mut self,
        source: &mut S,
        skip: impl Fn(&mut S, u64) -> io::Result<u64>,
    ) -> io::Result<()> {
        let mut at = 0;
        let mut is_all = self.bytes.len() < LONGEST_HEADER;
        while let Some(frame) = skippable_bytes(&self.bytes[at..]) {
            let here = frame.min((self.bytes.len() - at) as u64);
            let mut found = here;
            if !is_all {
                found += skip(source, frame - here)?;
            }
            self.passed += found;
            if found < frame {
                return Err(Damaged::cut_short(Compression::Zstd, self.passed));
            }
            at += here as usize;
            if self.bytes.len() - at < FRAME_HEADER && !is_all {
                self.bytes.drain(..at);
                at = 0;
                let room = (LONGEST_HEADER - self.bytes.len()) as u64;
                source.by_ref().take(room).read_to_end(&mut self.bytes)?;
                is_all = self.bytes.len() < LONGEST_HEADER;
            }
        }
        self.bytes.drain(..at);
        match self.passed > 0 && (1..SHORTEST_FRAME).contains(&self.bytes.len()) {
            true => {
                let after = self.passed + self.bytes.len() as u64;
                Err(Damaged::cut_short(Compression::Zstd, after))
            }
            false => Ok(()),
        }
    }

    /// Whether the source may have been read beyond `begin`.
    pub fn is_skippable(begin: &[u8]) -> bool {
        skippable_bytes(begin).is_some()
    }

    /// The header, if the source is to be decompressed. A decoder gets an eighth of `memory_bytes`,
    /// or what its first frame needs if that is more.
    pub fn header(&self, memory_bytes: u64) -> Option<Header> {
        let of_skippable = [Compression::Zstd, Compression::Lz4];
        match self.decompress {
            Decompress::Never => None,
            Decompress::From(format) => Some(Header::with(format, &self.bytes, memory_bytes)),
            Decompress::Auto if self.passed == 0 => Header::of(&self.bytes, memory_bytes),
            Decompress::Auto if self.bytes.is_empty() => {
                Some(Header::with(Compression::Zstd, &[], memory_bytes))
            }
            Decompress::Auto => Header::of(&self.bytes, memory_bytes)
                .filter(|header| of_skippable.contains(&header.format)),
        }
    }

    /// The bytes before the rest of a source that is not compressed and can be read only once.
    ///
    /// # Errors
    /// When they are gone: what begins with a long skippable frame has other data behind it.
    pub fn plain(mut self) -> io::Result<Vec<u8>> {
        if self.passed > self.begin.len() as u64 {
            return Err(Damaged::other_data(Compression::Zstd, self.passed));
        }
        self.begin.truncate(self.passed as usize);
        self.begin.append(&mut self.bytes);
        Ok(self.begin)
    }
}
