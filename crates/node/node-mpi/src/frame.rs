//! The layout of small letters on the wire: batches of frames.
//!
//! ```text
//!   batch   mark:4  credits:4  frame ...        credits: batches that the sender has received
//!   frame   kind:1  0:1  port:2  number:4  ...
//!           message   number of words     then the words
//!           ready     number of shipment  then its length:8
//!           cleared   number of shipment
//!           goodbye   only credits will follow
//!           last      nothing will follow
//! ```
//!
//! All numbers are little-endian. Bytes that do not fit this layout are an error, never a panic:
//! another process may run another version.

use node::{Buffer, INLINE_WORDS, MESSAGE_WORDS, Port, Words};

/// The size of a full batch: over TCP a send of up to 256 bytes costs 7 to 30 us, which at 16 KiB
/// is no more than the cost of the bytes.
pub(crate) const BATCH_BYTES: usize = 16 << 10;

/// Changes with this layout, so that two versions do not misread each other.
const MARK: u32 = 0x4753_0001;

const HEAD_BYTES: usize = 8;

/// A part of a batch.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    /// A small message.
    Message { port: Port, words: Words },
    /// A shipment waits for room.
    Ready { port: Port, number: u32, bytes: u64 },
    /// There is room for a shipment, and receives are posted for it.
    Cleared { number: u32 },
    /// Only credits will follow.
    Goodbye,
    /// Nothing will follow.
    Last,
}

impl Frame {
    fn bytes(&self) -> usize {
        HEAD_BYTES
            + match self {
                Frame::Message { words, .. } => 8 * words.len(),
                Frame::Ready { .. } => 8,
                Frame::Cleared { .. } | Frame::Goodbye | Frame::Last => 0,
            }
    }
}

/// A batch that is being written.
pub(crate) struct Batch {
    buffer: Buffer,
    /// The number of small messages in it.
    pub messages: usize,
}

impl Batch {
    /// An empty batch in this memory.
    pub(crate) fn new(mut buffer: Buffer) -> Batch {
        buffer.set_len(HEAD_BYTES);
        Batch {
            buffer,
            messages: 0,
        }
    }

    pub(crate) fn room() -> Buffer {
        Buffer::heap(BATCH_BYTES)
    }

    pub(crate) fn fits(&self, frame: &Frame) -> bool {
        self.buffer.len() + frame.bytes() <= BATCH_BYTES
    }

    /// Adds a frame, which must fit.
    pub(crate) fn add(&mut self, frame: &Frame) {
        match frame {
            Frame::Message { port, words } => {
                self.messages += 1;
                self.head(1, *port, words.len() as u32);
                for word in words.iter() {
                    self.put(&word.to_le_bytes());
                }
            }
            Frame::Ready {
                port,
                number,
                bytes,
            } => {
                self.head(2, *port, *number);
                self.put(&bytes.to_le_bytes());
            }
            Frame::Cleared { number } => self.head(3, Port(0), *number),
            Frame::Goodbye => self.head(4, Port(0), 0),
            Frame::Last => self.head(5, Port(0), 0),
        }
    }

    /// Writes the head of the batch, and returns the bytes to send.
    pub(crate) fn close(mut self, credits: u32) -> Buffer {
        let head = &mut self.buffer.bytes_mut()[..HEAD_BYTES];
        head[..4].copy_from_slice(&MARK.to_le_bytes());
        head[4..].copy_from_slice(&credits.to_le_bytes());
        self.buffer
    }

    fn head(&mut self, kind: u8, port: Port, number: u32) {
        let mut head = [0; HEAD_BYTES];
        head[0] = kind;
        head[2..4].copy_from_slice(&port.0.to_le_bytes());
        head[4..].copy_from_slice(&number.to_le_bytes());
        self.put(&head);
    }

    fn put(&mut self, bytes: &[u8]) {
        let at = self.buffer.len();
        self.buffer.bytes_mut()[at..at + bytes.len()].copy_from_slice(bytes);
        self.buffer.set_len(at + bytes.len());
    }
}

/// A batch that is being read: its credits, then its frames.
pub(crate) struct BatchReader<'a> {
    rest: &'a [u8],
    pub credits: u32,
}

impl<'a> BatchReader<'a> {
    /// Reads the head of a batch.
    pub(crate) fn new(batch: &'a [u8]) -> Result<BatchReader<'a>, String> {
        let mut reading = BatchReader {
            rest: batch,
            credits: 0,
        };
        let mark = u32::from_le_bytes(reading.take()?);
        if mark != MARK {
            return Err(format!(
                "a batch begins with {mark:#x}; run the same version on all ranks"
            ));
        }
        reading.credits = u32::from_le_bytes(reading.take()?);
        Ok(reading)
    }

    /// The next frame, `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let [kind, _, port @ ..] = self.take::<4>()?;
        let port = Port(u16::from_le_bytes(port));
        let number = u32::from_le_bytes(self.take()?);
        Ok(Some(match kind {
            1 => Frame::Message {
                port,
                words: self.words(number)?,
            },
            2 => Frame::Ready {
                port,
                number,
                bytes: u64::from_le_bytes(self.take()?),
            },
            3 => Frame::Cleared { number },
            4 => Frame::Goodbye,
            5 => Frame::Last,
            kind => return Err(format!("a frame of unknown kind {kind}")),
        }))
    }

    fn words(&mut self, count: u32) -> Result<Words, String> {
        let count = count as usize;
        if count > MESSAGE_WORDS {
            return Err(format!(
                "a message of {count} words; the longest has {MESSAGE_WORDS}"
            ));
        }
        if 8 * count > self.rest.len() {
            return Err("a batch ends within a frame".into());
        }
        let (words, rest) = self.rest.split_at(8 * count);
        self.rest = rest;
        let (words, _) = words.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        if count > INLINE_WORDS {
            return Ok(Words::from(&words.collect::<Vec<_>>()[..]));
        }
        let mut inline = [0; INLINE_WORDS];
        for (to, word) in inline.iter_mut().zip(words) {
            *to = word;
        }
        Ok(Words::from(&inline[..count]))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let split = self.rest.split_first_chunk();
        let (taken, rest) = split.ok_or("a batch ends within a frame")?;
        self.rest = rest;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Frame> {
        let words = |count: u64| Words::from(&(0..count).collect::<Vec<_>>()[..]);
        vec![
            Frame::Message {
                port: Port(7),
                words: words(0),
            },
            Frame::Message {
                port: Port(0xabcd),
                words: words(3),
            },
            Frame::Message {
                port: Port(1),
                words: words(MESSAGE_WORDS as u64),
            },
            Frame::Ready {
                port: Port(9),
                number: u32::MAX,
                bytes: 1 << 40,
            },
            Frame::Cleared { number: 5 },
            Frame::Goodbye,
            Frame::Last,
        ]
    }

    fn written() -> Buffer {
        let mut batch = Batch::new(Batch::room());
        for frame in frames() {
            assert!(batch.fits(&frame));
            batch.add(&frame);
        }
        assert_eq!(batch.messages, 3);
        batch.close(11)
    }

    #[test]
    fn written_frames_are_read() {
        let buffer = written();
        let mut reading = BatchReader::new(buffer.filled()).unwrap();
        assert_eq!(reading.credits, 11);
        for frame in frames() {
            assert_eq!(reading.next(), Ok(Some(frame)));
        }
        assert_eq!(reading.next(), Ok(None));
    }

    #[test]
    fn a_batch_that_is_cut_or_changed_is_an_error_or_other_frames() {
        let buffer = written();
        let read = |bytes: &[u8]| -> Result<usize, String> {
            let mut reading = BatchReader::new(bytes)?;
            let mut count = 0;
            while reading.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        let whole = (0..buffer.len()).filter(|&len| read(&buffer.filled()[..len]).is_ok());
        assert_eq!(
            whole.count(),
            frames().len(),
            "a cut between frames is not noticed here"
        );
        for at in 0..buffer.len() {
            let mut bytes = buffer.filled().to_vec();
            bytes[at] ^= 0x55;
            let _ = read(&bytes);
        }
        assert!(read(&[0; 8]).unwrap_err().contains("version"));
    }

    #[test]
    fn the_longest_message_fits_in_a_batch() {
        const { assert!(2 * HEAD_BYTES + 8 * MESSAGE_WORDS <= BATCH_BYTES) };
    }
}
