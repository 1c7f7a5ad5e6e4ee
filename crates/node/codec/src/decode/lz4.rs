//! Frames of LZ4, one behind the other, skippable ones between them.
//!
//! The library ends a frame quietly where the file ends between two blocks, so this module looks
//! whether the end of the file was met before that of the frame.

use std::io::{self, ErrorKind, Read};

use lz4_flex::frame::FrameDecoder;

use crate::header::{LZ4_MAGIC, lz4_block_bytes, lz4_bytes, skippable_bytes};
use crate::input::Input;

/// The longest header of a frame.
const FRAME_HEADER: usize = 19;

/// The header of a skippable frame.
const SKIPPABLE_HEADER: usize = 8;

/// All frames of an input.
pub(super) struct Lz4<R: Read> {
    place: Option<FrameState<R>>,
    /// Memory that a frame may take.
    memory_bytes: u64,
}

enum FrameState<R: Read> {
    Between(Input<R>),
    /// Each frame has a decoder of its own: the library's buffers fit the blocks of its first.
    InFrame(FrameDecoder<Input<R>>),
}

impl<R: Read> Lz4<R> {
    pub(super) fn new(input: Input<R>, memory_bytes: u64) -> Lz4<R> {
        Lz4 {
            place: Some(FrameState::Between(input)),
            memory_bytes,
        }
    }

    /// Goes to the next frame. Returns whether there is one.
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
}

impl<R: Read> Read for Lz4<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.place.take() {
                None => return Ok(0),
                Some(FrameState::Between(mut input)) => {
                    if !self.enter(&mut input)? {
                        return Ok(0);
                    }
                    self.place = Some(FrameState::InFrame(FrameDecoder::new(input)));
                }
                Some(FrameState::InFrame(mut frame)) => {
                    let read = frame.read(out)?;
                    if read > 0 {
                        self.place = Some(FrameState::InFrame(frame));
                        return Ok(read);
                    }
                    let input = frame.into_inner();
                    if input.met_end {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    self.place = Some(FrameState::Between(input));
                }
            }
        }
    }
}
