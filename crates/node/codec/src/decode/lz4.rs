//! Frames of LZ4, one behind the other, skippable ones between them.
//!
//! ```text
//! 04 22 4d 18 | flags | block size | contents (0, 8) | dictionary (0, 4) | checksum | blocks | 0 (4) | checksum (0, 4)
//! block: bytes (31 bits) | stored (1) | data | checksum (0, 4)
//! ```
//!
//! The library ends a frame quietly where the file ends between two blocks, so this module looks
//! whether the end of the file was met before that of the frame.

use std::io::{self, ErrorKind, Read};

use lz4_flex::frame::FrameDecoder;

use super::ahead::{NotAhead, Piece, Stretch};
use super::frames::Format;
use crate::header::{LZ4_MAGIC, lz4_block_bytes, lz4_bytes, skippable_bytes};
use crate::input::Input;

/// The longest header of a frame.
const FRAME_HEADER: usize = 19;

/// The header of a skippable frame.
const SKIPPABLE_HEADER: usize = 8;

/// The bytes of a block, and a checksum.
const FIELD: usize = 4;

/// Frames that take at most so many bytes of memory.
pub(super) struct Lz4 {
    pub memory_bytes: u64,
}

impl<R: Read> Format<R> for Lz4 {
    /// Each frame has a decoder of its own: the library's buffers fit the blocks of its first.
    type Decoder = FrameDecoder<Input<R>>;

    fn enter(&self, input: &mut Input<R>) -> io::Result<bool> {
        loop {
            let begin = input.peek(FRAME_HEADER)?;
            if begin.is_empty() {
                return Ok(false);
            }
            if let Some(bytes) = skippable_bytes(begin) {
                input.skip(bytes)?;
                continue;
            }
            if begin.len() < SKIPPABLE_HEADER {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let Some(block) = lz4_block_bytes(begin) else {
                let what = if begin.starts_with(&LZ4_MAGIC.to_le_bytes()) {
                    "the header of a frame is wrong"
                } else {
                    "no frame follows"
                };
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            };
            return if lz4_bytes(block) > self.memory_bytes {
                Err(ErrorKind::OutOfMemory.into())
            } else {
                Ok(true)
            };
        }
    }

    fn open(&self, input: Input<R>) -> io::Result<Self::Decoder> {
        Ok(FrameDecoder::new(input))
    }

    fn close(decoder: Self::Decoder) -> io::Result<Input<R>> {
        let input = decoder.into_inner();
        if input.met_end {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(input)
    }

    fn measure(&self, bytes: &[u8], _: bool) -> Result<Stretch, NotAhead> {
        if let Some(skipped) = skippable_bytes(bytes) {
            return Ok(Stretch {
                bytes: skipped as usize,
                ..Stretch::default()
            });
        }
        let begin = bytes.get(..FRAME_HEADER).ok_or(NotAhead::Longer)?;
        let block = lz4_block_bytes(begin).ok_or(NotAhead::Unfit)?;
        if lz4_bytes(block) > self.memory_bytes {
            return Err(NotAhead::Unfit);
        }
        let (end, contents) = blocks(bytes, block as usize)?;
        Ok(Stretch {
            bytes: end,
            contents,
            state: lz4_bytes(block) as usize,
        })
    }

    fn decode(piece: Piece) -> Option<Vec<u8>> {
        piece.decode(
            |rest| FrameDecoder::new(behind_skippable(rest)),
            FrameDecoder::into_inner,
        )
    }
}

/// The bytes behind skippable frames that come first.
fn behind_skippable(mut bytes: &[u8]) -> &[u8] {
    while let Some(skipped) = skippable_bytes(bytes) {
        bytes = bytes.get(skipped as usize..).unwrap_or_default();
    }
    bytes
}

/// The end of the frame that `bytes` begin with, and the most bytes of its contents.
fn blocks(bytes: &[u8], longest: usize) -> Result<(usize, usize), NotAhead> {
    const BLOCK_CHECKSUM: u8 = 0x10;
    const CONTENT_SIZE: u8 = 0x08;
    const CONTENT_CHECKSUM: u8 = 0x04;
    const DICTIONARY: u8 = 0x01;
    let flags = bytes[4];
    let field = |flag: u8, bytes: usize| if flags & flag == 0 { 0 } else { bytes };
    let mut at = 7 + field(CONTENT_SIZE, 8) + field(DICTIONARY, 4);
    let mut contents = 0;
    loop {
        let block = bytes.get(at..at + FIELD).ok_or(NotAhead::Longer)?;
        let block = u32::from_le_bytes(block.try_into().expect("four bytes"));
        let (is_stored, size) = (block >> 31 == 1, (block & !(1 << 31)) as usize);
        at += FIELD;
        if block == 0 {
            return Ok((at + field(CONTENT_CHECKSUM, FIELD), contents));
        }
        if size > longest {
            return Err(NotAhead::Unfit);
        }
        at += size + field(BLOCK_CHECKSUM, FIELD);
        contents += if is_stored { size } else { longest };
    }
}
