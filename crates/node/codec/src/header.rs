//! Formats told by the first bytes of a file, and the memory that its data takes.
//!
//! Records may begin with any bytes, so a format needs more than its magic number: all of the
//! header must be valid, as far as the file goes. Random bytes pass for a format once in 2^27 (gzip)
//! or more seldom.
//!
//! ```text
//! gzip    1f 8b | 08 | flags | time, ... (6)            three bits of the flags are 0
//! zstd    28 b5 2f fd | flags | window | ...            one bit of the flags is 0
//! lz4     04 22 4d 18 | flags | block size | ... | checksum
//! bzip2   B Z h | 1-9 | first block or end (6)
//! xz      fd 7 z X Z 00 | flags (2) | checksum (4) | first block: filters
//! ```
//!
//! Zstd and lz4 share skippable frames (50-5f 2a 4d 18 | length), which may come first (`front`).

use std::hash::Hasher;

use node::{CodingMemory, Compression};

use crate::damaged::Damaged;
use crate::input::INPUT_BYTES;

/// Bytes at the beginning of a file that tell its format, unless it begins with skippable frames:
/// whole disk blocks, as direct reads need.
pub const LONGEST_HEADER: usize = 4096;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Buffers of this crate, and tables of any decoder.
const AROUND: u64 = INPUT_BYTES as u64 + 512 * KIB;

/// Later frames may take more memory than the first, whose length may be less than a window: this
/// much, as all but the highest levels of zstd, xz and lz4 do, ...
const EXPECTED: u64 = 13 * MIB;

/// ... but this part of the memory limit at most.
const EXPECTED_SHARE: u64 = 8;

/// Memory that the plan of a pipe leaves to a decoder, because the plan is made before the pipe is
/// read: nothing of a small limit, and of a large one the largest window that zstd's tool accepts
/// without being told.
pub const OF_PIPE: CodingMemory = CodingMemory {
    fixed: 0,
    share: 8,
    from: 128 * MIB,
    least: 0,
    most: 128 * MIB,
};

/// Memory for frames that are decoded ahead: this much, ...
const AHEAD: u64 = 32 * MIB;

/// ... more for each core, ...
const AHEAD_OF_CORE: u64 = 8 * MIB;

/// ... to this at most. Of a format that takes none otherwise, nothing of a small limit.
const AHEAD_MOST: u64 = 128 * MIB;
const AHEAD_FROM: u64 = 64 * MIB;

/// With less for each worker, frames are not decoded ahead.
const AHEAD_OF_WORKER: u64 = 4 * MIB;

/// Some ms of work for one of them.
const PIECE_BYTES: usize = 1 << 20;

/// Memory beyond that, which a compressed pipe takes beyond the limit.
const BEYOND_LIMIT: u64 = EXPECTED + AROUND;

/// The number of bzip2's largest blocks, with its tables: four bytes for each byte of a block.
const BZIP2: u64 = 4 * MIB;

/// Windows of zstd that its library accepts.
const ZSTD_WINDOW_LOGS: std::ops::RangeInclusive<u32> = 10..=31;

/// LZ4 data refers to bytes this far back.
const LZ4_WINDOW: u64 = 64 * KIB;

/// The format of a file, and what its first frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format.
    pub format: Compression,
    /// Memory for a decoder of it.
    pub memory: CodingMemory,
    /// The bytes that a frame may take, under the limit of this program.
    pub memory_bytes: u64,
    /// The workers that decode frames ahead.
    pub(crate) ahead: AheadOf,
}

/// Workers that decode frames ahead, the memory for these frames, and what one of them decodes at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AheadOf {
    pub workers: usize,
    pub memory_bytes: u64,
    pub piece_bytes: usize,
}

impl AheadOf {
    /// Workers on that many cores, as far as memory allows.
    fn new(cores: usize, memory_bytes: u64) -> AheadOf {
        let workers = (cores as u64).min(memory_bytes / AHEAD_OF_WORKER) as usize;
        AheadOf {
            workers: if workers < 2 { 0 } else { workers },
            memory_bytes,
            piece_bytes: PIECE_BYTES,
        }
    }
}

impl Header {
    /// The header of a file that begins with these bytes, [`LONGEST_HEADER`] or all, the first of which
    /// is no skippable frame's. None if it is in none of the formats. A decoder gets an eighth of `memory_bytes`, or what its first
    /// frame needs if that is more.
    pub fn of(begin: &[u8], memory_bytes: u64) -> Option<Header> {
        let formats = [
            (Compression::Gzip, is_gzip(begin)),
            (Compression::Zstd, zstd_window_log(begin).is_some()),
            (Compression::Lz4, lz4_block_bytes(begin).is_some()),
            (Compression::Bzip2, is_bzip2(begin)),
            (Compression::Xz, is_xz(begin)),
        ];
        let found = formats.into_iter().find(|(_, is_it)| *is_it);
        found.map(|(format, _)| Header::with(format, begin, memory_bytes))
    }

    /// The header of a file in this format, whatever it begins with.
    pub fn with(format: Compression, begin: &[u8], memory_bytes: u64) -> Header {
        let needed = match format {
            Compression::Gzip => 0,
            Compression::Bzip2 => BZIP2,
            Compression::Zstd => zstd_window_log(begin).map_or(0, |log| 1 << log),
            Compression::Lz4 => lz4_block_bytes(begin).map_or(0, lz4_bytes),
            Compression::Xz => xz_dictionary(begin).unwrap_or(0),
        };
        let share = match format {
            Compression::Gzip | Compression::Bzip2 => 0,
            Compression::Zstd | Compression::Lz4 | Compression::Xz => EXPECTED_SHARE,
        };
        let memory = CodingMemory {
            fixed: AROUND,
            from: 0,
            share,
            least: needed,
            most: EXPECTED,
        };
        Header {
            format,
            memory,
            memory_bytes: memory.bytes(memory_bytes),
            ahead: AheadOf::default(),
        }
    }

    /// The same for a decoder that may keep so many cores busy, under that memory limit. Frames that are
    /// decoded ahead have left memory when one that needs much is decoded.
    #[must_use]
    pub fn on_cores(self, cores: usize, memory_bytes: u64) -> Header {
        use Compression::{Gzip, Lz4, Zstd};
        if cores < 2 || ![Gzip, Lz4, Zstd].contains(&self.format) {
            return self;
        }
        let most = AHEAD.saturating_add(AHEAD_OF_CORE.saturating_mul(cores as u64));
        let from = if self.memory.share == 0 {
            AHEAD_FROM
        } else {
            0
        };
        let memory = CodingMemory {
            share: EXPECTED_SHARE,
            from,
            most: most.min(AHEAD_MOST).max(self.memory.most),
            ..self.memory
        };
        Header {
            memory,
            ahead: AheadOf::new(cores, memory.bytes(memory_bytes) - AROUND),
            ..self
        }
    }

    /// The header of a pipe, under that memory limit.
    ///
    /// # Errors
    /// When the first frame needs more memory than a pipe may take.
    pub fn of_pipe(self, memory_bytes: u64) -> Result<Header, Damaged> {
        let most = OF_PIPE.bytes(memory_bytes) + BEYOND_LIMIT;
        if self.memory_bytes > most {
            Err(Damaged::too_large(self.format, most))
        } else {
            let ahead = self.ahead.memory_bytes.min(OF_PIPE.bytes(memory_bytes));
            Ok(Header {
                memory_bytes: most,
                ahead: AheadOf::new(self.ahead.workers, ahead),
                ..self
            })
        }
    }

    /// Memory of it for the data that a decoder refers to.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.memory_bytes - AROUND
    }
}

/// The number at `at`, if it is there.
fn number(begin: &[u8], at: usize) -> Option<u32> {
    let bytes = begin.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

fn is_gzip(begin: &[u8]) -> bool {
    const RESERVED: u8 = 0xe0;
    let is_known = |flags: &u8| flags & RESERVED == 0;
    begin.starts_with(&[0x1f, 0x8b, 8]) && begin.get(3).is_none_or(is_known)
}

/// Its magic number is text, so nothing less than the whole header tells it.
fn is_bzip2(begin: &[u8]) -> bool {
    const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    let is_level = matches!(begin.get(3), Some(b'1'..=b'9'));
    let next = begin.get(4..10);
    begin.starts_with(b"BZh") && is_level && (next == Some(&BLOCK) || next == Some(&END))
}

/// The logarithm of the window of zstd's first frame, rounded up; the least one if the file ends
/// before it says.
pub(crate) fn zstd_window_log(begin: &[u8]) -> Option<u32> {
    const RESERVED: u8 = 0x08;
    const SINGLE_SEGMENT: u8 = 0x20;
    let rest = begin.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?;
    let least = *ZSTD_WINDOW_LOGS.start();
    let Some(&flags) = rest.first() else {
        return Some(least);
    };
    if flags & RESERVED != 0 {
        return None;
    }
    let window = if flags & SINGLE_SEGMENT == 0 {
        let Some(&code) = rest.get(1) else {
            return Some(least);
        };
        let base = 1_u64 << (10 + (code >> 3));
        base + base / 8 * u64::from(code & 7)
    } else {
        zstd_content_bytes(flags, &rest[1..]).unwrap_or(0)
    };
    let log = window.checked_next_power_of_two()?.ilog2().max(least);
    ZSTD_WINDOW_LOGS.contains(&log).then_some(log)
}

/// The content's length in a frame that says it.
pub(crate) fn zstd_content_bytes(flags: u8, rest: &[u8]) -> Option<u64> {
    let dictionary = [0, 1, 2, 4][usize::from(flags & 3)];
    let rest = rest.get(dictionary..)?;
    let field = |bytes: usize| {
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(rest.get(..bytes)?);
        Some(u64::from_le_bytes(all))
    };
    match flags >> 6 {
        0 => field(1),
        1 => Some(field(2)? + 256),
        2 => field(4),
        _ => field(8),
    }
}

/// The longest block of lz4's first frame; the longest of any if the file ends before it says.
pub(crate) fn lz4_block_bytes(begin: &[u8]) -> Option<u64> {
    const VERSION: u8 = 0xc0;
    const RESERVED: u8 = 0x02;
    const RESERVED_IN_BLOCK: u8 = 0x8f;
    const CONTENT_SIZE: u8 = 0x08;
    const DICTIONARY: u8 = 0x01;
    const LONGEST: u64 = 4 * MIB;
    let rest = begin.strip_prefix(&LZ4_MAGIC.to_le_bytes())?;
    let [flags, block, ..] = *rest else {
        return Some(LONGEST);
    };
    if flags & (VERSION | RESERVED) != 0x40 || block & RESERVED_IN_BLOCK != 0 || block < 0x40 {
        return None;
    }
    let fields = [(CONTENT_SIZE, 8), (DICTIONARY, 4)];
    let has = fields.iter().filter(|(flag, _)| flags & flag != 0);
    let described = 2 + has.map(|(_, bytes)| bytes).sum::<usize>();
    #[cfg(feature = "lz4")]
    if let Some(&checksum) = rest.get(described) {
        let mut hasher = twox_hash::XxHash32::with_seed(0);
        hasher.write(&rest[..described]);
        if (hasher.finish() >> 8) as u8 != checksum {
            return None;
        }
    }
    Some((64 * KIB) << (2 * ((block >> 4) - 4)))
}

pub(crate) const LZ4_MAGIC: u32 = 0x184d_2204;

/// Memory for lz4 data in blocks of this length: a compressed block, and two others with a window
/// between them.
pub(crate) fn lz4_bytes(block_bytes: u64) -> u64 {
    3 * block_bytes + LZ4_WINDOW
}

const XZ_MAGIC: [u8; 6] = *b"\xfd7zXZ\0";

/// Bytes of a stream's header.
const XZ_HEADER: usize = 12;

fn is_xz(begin: &[u8]) -> bool {
    begin.starts_with(&XZ_MAGIC)
        && begin.get(6).is_none_or(|&flags| flags == 0)
        && begin.get(..XZ_HEADER).is_none_or(has_xz_checksum)
}

#[cfg(feature = "xz")]
fn has_xz_checksum(header: &[u8]) -> bool {
    number(header, 8) == Some(crc32fast::hash(&header[6..8]))
}

/// A build without xz refuses the file, whatever its checksum.
#[cfg(not(feature = "xz"))]
fn has_xz_checksum(_header: &[u8]) -> bool {
    true
}

/// The dictionary that the last filter of the first block asks for.
fn xz_dictionary(begin: &[u8]) -> Option<u64> {
    const LZMA2: u8 = 0x21;
    const COMPRESSED_SIZE: u8 = 0x40;
    const UNCOMPRESSED_SIZE: u8 = 0x80;
    let block = begin.get(XZ_HEADER..)?;
    let mut at = 2;
    let flags = *block.get(1)?;
    // Numbers have seven bits a byte, and a mark on all but the last.
    let number = |at: &mut usize| loop {
        *at += 1;
        if block.get(*at - 1)? & 0x80 == 0 {
            return Some(());
        }
    };
    for size in [COMPRESSED_SIZE, UNCOMPRESSED_SIZE] {
        if flags & size != 0 {
            number(&mut at)?;
        }
    }
    for _ in 0..=flags & 3 {
        let (filter, bytes) = (*block.get(at)?, usize::from(*block.get(at + 1)?));
        if filter == LZMA2 {
            let code = u32::from(*block.get(at + 2)?);
            let dictionary = u64::from(2 | code & 1) << (code / 2 + 11).min(31);
            return Some(dictionary);
        }
        at += 2 + bytes;
    }
    None
}

/// The length of a skippable frame that comes next.
pub(crate) fn skippable_bytes(begin: &[u8]) -> Option<u64> {
    const MAGIC: u32 = 0x184d_2a50;
    let is_skippable = number(begin, 0)? & !0xf == MAGIC;
    is_skippable.then_some(8 + u64::from(number(begin, 4)?))
}
