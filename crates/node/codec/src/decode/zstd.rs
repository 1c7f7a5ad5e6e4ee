//! Frames of Zstandard (RFC 8878), told by their headers and those of their blocks.
//!
//! ```text
//! 28 b5 2f fd | flags | window (0, 1) | contents (0-8) | blocks | checksum (0, 4)
//! block: last (1 bit) | kind (2) | bytes (21) | data
//! ```

use std::io::{self, BufRead, Read};

use zstd::bulk::Decompressor;
use zstd::stream::read::Decoder;

use super::ahead::{NotAhead, Piece, Stretch};
use super::frames::Format;
use crate::header::{skippable_bytes, zstd_content_bytes, zstd_window_log};
use crate::input::Input;

/// The longest header of a frame without a dictionary, and one of a block.
const LONGEST_HEADER: usize = 17;
const BLOCK_HEADER: usize = 3;
const CHECKSUM: usize = 4;

/// Contents of a block at most.
const LONGEST_BLOCK: usize = 128 << 10;

/// Tables of a decoder.
const STATE_BYTES: usize = 256 << 10;

/// Frames whose windows are no larger than this.
pub(super) struct Zstd {
    window_log: u32,
}

impl Zstd {
    /// Of windows of at most so many bytes. The library takes a power of two.
    pub(super) fn new(window_bytes: u64) -> Zstd {
        let window_log = window_bytes.max(1).ilog2();
        Zstd { window_log }
    }
}

impl<R: Read> Format<R> for Zstd {
    /// Each frame has a decoder of its own: with the buffers of another the library says other faults.
    type Decoder = Decoder<'static, Input<R>>;

    fn enter(&self, input: &mut Input<R>) -> io::Result<bool> {
        Ok(!input.fill_buf()?.is_empty())
    }

    fn open(&self, input: Input<R>) -> io::Result<Self::Decoder> {
        let mut decoder = Decoder::with_buffer(input)?;
        decoder.window_log_max(self.window_log)?;
        Ok(decoder.single_frame())
    }

    fn close(decoder: Self::Decoder) -> io::Result<Input<R>> {
        Ok(decoder.finish())
    }

    fn measure(&self, bytes: &[u8], _: bool) -> Result<Stretch, NotAhead> {
        if let Some(skipped) = skippable_bytes(bytes) {
            return Ok(Stretch {
                bytes: skipped as usize,
                ..Stretch::default()
            });
        }
        let begin = bytes.get(..LONGEST_HEADER).ok_or(NotAhead::Longer)?;
        let header = FrameHeader::of(begin).ok_or(NotAhead::Unfit)?;
        if header.window_bytes > 1 << self.window_log {
            return Err(NotAhead::Unfit);
        }
        let (end, most) = header.blocks(bytes)?;
        let contents = header.contents.unwrap_or(most);
        // A decoder of the whole frame sees data before the window. What one that has forgotten it makes of damaged
        // references to that, only a checksum tells.
        let is_told = header.has_checksum || contents <= header.window_bytes;
        if contents > most || !is_told {
            return Err(NotAhead::Unfit);
        }
        Ok(Stretch {
            bytes: end,
            contents: contents as usize,
            state: STATE_BYTES,
        })
    }

    fn decode(piece: Piece) -> Option<Vec<u8>> {
        let mut contents = Vec::with_capacity(piece.contents.max(1));
        let mut decoder = Decompressor::new().ok()?;
        let decoded = decoder.decompress_to_buffer(&piece.bytes, &mut contents);
        decoded.ok().map(|_| contents)
    }
}

struct FrameHeader {
    bytes: usize,
    window_bytes: u64,
    contents: Option<u64>,
    has_checksum: bool,
}

impl FrameHeader {
    /// None if the frame needs a dictionary, or is none.
    fn of(begin: &[u8]) -> Option<FrameHeader> {
        const HAS_CHECKSUM: u8 = 0x04;
        const HAS_DICTIONARY: u8 = 0x03;
        zstd_window_log(begin)?;
        let flags = begin[4];
        let is_single = flags & 0x20 != 0;
        if flags & HAS_DICTIONARY != 0 {
            return None;
        }
        let content_field = [usize::from(is_single), 2, 4, 8][usize::from(flags >> 6)];
        let at = if is_single { 5 } else { 6 };
        let contents = zstd_content_bytes(flags, &begin[at..]).filter(|_| content_field > 0);
        let base = 1_u64 << (10 + (begin[5] >> 3));
        let window_bytes = if is_single {
            contents?
        } else {
            base + base / 8 * u64::from(begin[5] & 7)
        };
        Some(FrameHeader {
            bytes: at + content_field,
            window_bytes,
            contents,
            has_checksum: flags & HAS_CHECKSUM != 0,
        })
    }

    /// The end of the frame that `bytes` begin with, and the most bytes of its contents.
    fn blocks(&self, bytes: &[u8]) -> Result<(usize, u64), NotAhead> {
        let longest = self.window_bytes.min(LONGEST_BLOCK as u64);
        let (mut at, mut contents) = (self.bytes, 0);
        loop {
            let header = bytes.get(at..at + BLOCK_HEADER).ok_or(NotAhead::Longer)?;
            let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let (is_last, size) = (header & 1 != 0, header >> 3);
            let (stored, held) = match (header >> 1) & 3 {
                0 => (size, u64::from(size)),
                1 => (1, u64::from(size)),
                2 => (size, longest),
                _ => return Err(NotAhead::Unfit),
            };
            at += BLOCK_HEADER + stored as usize;
            contents += held;
            if is_last {
                let checksum = if self.has_checksum { CHECKSUM } else { 0 };
                return Ok((at + checksum, contents));
            }
        }
    }
}
