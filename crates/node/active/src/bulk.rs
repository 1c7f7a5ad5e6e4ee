//! Memory that bulk messages come from and go to.
//!
//! ```text
//!   bytes | frame | words of the frame      one shipment; the frame is behind them, so that they begin a page
//! ```
//!
//! A message that fills all of a region is not copied there: the region and the buffer that it arrived in change
//! places.

use node::Buffer;

use crate::message::{NotRun, Target};

/// Words of the longest frame of a bulk message, and one for their number.
const TAIL_WORDS: usize = 11;

/// Bytes behind those of a message.
pub(crate) const TAIL_BYTES: usize = 8 * TAIL_WORDS;

/// Bytes to send, or those that arrived. It can be changed, cut, and sent again when it is back.
#[derive(Debug)]
pub struct Bulk {
    buffer: Buffer,
    len: usize,
}

/// A bulk message that has arrived, in the memory that was lent for it.
pub(crate) struct Arrived {
    pub target: Target,
    pub memory: Bulk,
}

impl Arrived {
    /// The place and the number of the bytes.
    pub fn extent(&self) -> (Target, usize) {
        (self.target, self.memory.len)
    }
}

impl Bulk {
    /// All of a buffer's memory but for the frame.
    pub(crate) fn over(buffer: Buffer) -> Bulk {
        let len = buffer.capacity() - TAIL_BYTES;
        Bulk { buffer, len }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.len]
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.bytes_mut()[..self.len]
    }

    /// The most bytes that it can hold.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity() - TAIL_BYTES
    }

    /// Makes it shorter or longer. Bytes behind the former length may be any, if it was sent or received.
    ///
    /// # Panics
    /// When `len` exceeds the capacity.
    pub fn set_len(&mut self, len: usize) {
        let most = self.capacity();
        assert!(len <= most, "{len} bytes in memory of {most}");
        self.len = len;
    }

    /// Takes the bytes of a message at an offset.
    pub(crate) fn take(&mut self, offset: u64, message: &mut Bulk) -> Result<(), NotRun> {
        let is_full = offset == 0 && message.len == self.len && self.len == self.capacity();
        if is_full && message.capacity() == self.capacity() {
            std::mem::swap(self, message);
            return Ok(());
        }
        let offset = usize::try_from(offset).map_err(|_| NotRun::NoMemory)?;
        let end = offset.checked_add(message.len).ok_or(NotRun::NoMemory)?;
        let place = self.bytes_mut().get_mut(offset..end);
        place
            .ok_or(NotRun::NoMemory)?
            .copy_from_slice(message.bytes());
        Ok(())
    }

    /// The shipment of these bytes and a frame.
    pub(crate) fn close(mut self, frame: &[u64]) -> Buffer {
        assert!(frame.len() < TAIL_WORDS, "{} words of a frame", frame.len());
        let tail = &mut self.buffer.bytes_mut()[self.len..self.len + TAIL_BYTES];
        let (frame_bytes, count) = tail.split_at_mut(TAIL_BYTES - 8);
        for (place, word) in frame_bytes.chunks_exact_mut(8).zip(frame) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        count.copy_from_slice(&(frame.len() as u64).to_le_bytes());
        self.buffer.set_len(self.len + TAIL_BYTES);
        self.buffer
    }

    /// The bytes of a shipment, and the words of its frame; none if it is not one of this protocol.
    pub(crate) fn open(buffer: Buffer) -> (Bulk, Option<Vec<u64>>) {
        let words = words_behind(buffer.filled());
        let len = if words.is_some() {
            buffer.len() - TAIL_BYTES
        } else {
            0
        };
        (Bulk { buffer, len }, words)
    }

    pub(crate) fn into_buffer(self) -> Buffer {
        self.buffer
    }
}

fn words_behind(filled: &[u8]) -> Option<Vec<u64>> {
    let (_, tail) = filled.split_last_chunk::<TAIL_BYTES>()?;
    let (words, _) = tail.as_chunks::<8>();
    let (count, frame) = words.split_last()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let frame = frame.get(..count)?;
    Some(frame.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
