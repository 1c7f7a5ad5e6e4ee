//! Active Messages as words, in messages of a node.
//!
//! ```text
//!   kind, arguments, handler, slot, payload bytes, piece | job | to, from | request, port | arguments | payload
//! ```
//!
//! A payload that is longer than one message goes in pieces, each with the whole head.

use node::{MESSAGE_WORDS, Port, Rank};

use crate::message::{Args, Handler, Job, MEDIUM_BYTES, Name, Region, SHORT_WORDS, Target};

/// Words in front of the arguments.
const HEAD_WORDS: usize = 4;

/// Bytes of a payload in one message, beside any number of arguments.
pub(crate) const PIECE_BYTES: usize = (MESSAGE_WORDS - HEAD_WORDS - SHORT_WORDS / 2) * 8;

/// The most slots of an endpoint for another: 8 MiB of answers at the receiver.
pub(crate) const MOST_SLOTS: u16 = 1024;

/// Bits of the number of a request in its slot.
const REQUEST_BITS: u32 = 48;

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Reply,
    /// The request was received, and its handler will send no reply: the handler's number is the reason.
    Refusal,
    /// From this bundle to itself: its state has changed.
    Wake,
    /// A request behind the bytes of a shipment; its payload is their target.
    Bulk,
    /// Has this bulk message arrived? Bulk is not sent again: networks lose it only with its sender or receiver.
    Query,
}

const KINDS: [Kind; 6] = [
    Kind::Request,
    Kind::Reply,
    Kind::Refusal,
    Kind::Wake,
    Kind::Bulk,
    Kind::Query,
];

/// One request of a slot: a number is never used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Serial {
    pub slot: u16,
    pub number: u64,
}

/// All of a frame but its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub kind: Kind,
    pub handler: Handler,
    pub args: Args,
    pub job: Job,
    pub serial: Serial,
    /// The number of the endpoint that receives it.
    pub to: u32,
    /// The endpoint that sends it. Its rank is the message's.
    pub from: (Port, u32),
    /// Bytes of the whole payload.
    pub bytes: usize,
}

impl Head {
    /// Number of frames.
    pub fn pieces(&self) -> usize {
        self.bytes.div_ceil(PIECE_BYTES).max(1)
    }

    /// The frames of a message.
    pub fn frames(&self, payload: &[u8]) -> Vec<Vec<u64>> {
        debug_assert_eq!(payload.len(), self.bytes);
        let pieces = 0..self.pieces();
        pieces.map(|piece| self.frame(piece, payload)).collect()
    }

    fn frame(&self, piece: usize, payload: &[u8]) -> Vec<u64> {
        let begin = piece * PIECE_BYTES;
        let part = &payload[begin..payload.len().min(begin + PIECE_BYTES)];
        let mut words = Vec::with_capacity(HEAD_WORDS + SHORT_WORDS / 2 + part.len().div_ceil(8));
        let kind = KINDS.iter().position(|kind| *kind == self.kind);
        words.push(
            kind.expect("all kinds are listed") as u64
                | (self.args.len() as u64) << 4
                | u64::from(self.handler.0) << 8
                | u64::from(self.serial.slot) << 16
                | (self.bytes as u64) << 32
                | (piece as u64) << 48,
        );
        words.push(self.job.0);
        words.push(u64::from(self.to) | u64::from(self.from.1) << 32);
        words.push(self.serial.number | u64::from(self.from.0.0) << REQUEST_BITS);
        let pairs = self.args.chunks(2);
        words.extend(
            pairs.map(|pair| {
                u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32
            }),
        );
        words.extend(part.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }));
        words
    }
}

/// A frame as it arrived: its head, the number of its piece, and the words of the payload.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub head: Head,
    pub piece: usize,
    payload: &'a [u64],
}

impl Frame<'_> {
    /// `None` if these words are no frame: another program sent them.
    pub fn read(words: &[u64]) -> Option<Frame<'_>> {
        let (&[first, job, numbers, last], rest) = words.split_first_chunk::<HEAD_WORDS>()?;
        let count = (first >> 4 & 15) as usize;
        let kind = *KINDS.get((first & 15) as usize)?;
        let (bytes, piece) = ((first >> 32 & 0xffff) as usize, (first >> 48) as usize);
        if count > SHORT_WORDS || bytes > MEDIUM_BYTES {
            return None;
        }
        let (pairs, payload) = rest.split_at_checked(count.div_ceil(2))?;
        let mut args = [0; SHORT_WORDS];
        for (two, pair) in args.chunks_mut(2).zip(pairs) {
            (two[0], two[1]) = (*pair as u32, (*pair >> 32) as u32);
        }
        let head = Head {
            kind,
            handler: Handler((first >> 8) as u8),
            args: Args::new(&args[..count]),
            job: Job(job),
            serial: Serial {
                slot: (first >> 16) as u16,
                number: last & ((1 << REQUEST_BITS) - 1),
            },
            to: numbers as u32,
            from: (Port((last >> REQUEST_BITS) as u16), (numbers >> 32) as u32),
            bytes,
        };
        let frame = Frame {
            piece,
            payload,
            head,
        };
        let is_slot = frame.head.serial.slot < MOST_SLOTS;
        let is_piece = piece < frame.head.pieces() && payload.len() == frame.len().div_ceil(8);
        let fits = is_slot && is_piece;
        fits.then_some(frame)
    }

    /// Bytes of the payload in this piece.
    fn len(&self) -> usize {
        PIECE_BYTES.min(self.head.bytes - self.piece * PIECE_BYTES)
    }

    /// The endpoint that sent it from this rank.
    pub fn sender(&self, rank: Rank) -> Name {
        let (port, number) = self.head.from;
        Name { rank, port, number }
    }

    /// The target of a bulk message, whose payload it is.
    pub fn target(&self) -> Option<Target> {
        let &[region, offset] = self.payload else {
            return None;
        };
        let region = Region(region.try_into().ok()?);
        let is_whole = self.head.kind == Kind::Bulk && self.head.bytes == 16;
        is_whole.then_some(Target { region, offset })
    }

    pub fn is_last_piece(&self) -> bool {
        self.piece + 1 == self.head.pieces()
    }
}

/// A payload that arrives in pieces, in any order and some of them twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    /// A bit for each piece that has come.
    come: u8,
}

impl Pieces {
    /// Adds a piece; gives the payload when it is whole.
    pub fn add(&mut self, frame: &Frame<'_>) -> Option<Vec<u8>> {
        self.bytes.resize(frame.head.bytes, 0);
        let begin = frame.piece * PIECE_BYTES;
        let place = &mut self.bytes[begin..begin + frame.len()];
        for (bytes, word) in place.chunks_mut(8).zip(frame.payload) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        self.come |= 1 << frame.piece;
        let is_whole = self.come.count_ones() as usize == frame.head.pieces();
        is_whole.then(|| std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(args: &[u32], bytes: usize) -> Head {
        Head {
            kind: Kind::Reply,
            handler: Handler(255),
            args: Args::new(args),
            job: Job(u64::MAX - 1),
            serial: Serial {
                slot: 0x03fe,
                number: (1 << REQUEST_BITS) - 2,
            },
            to: u32::MAX,
            from: (Port(0xabcd), 7),
            bytes,
        }
    }

    #[test]
    fn every_size_and_count_comes_back() {
        for count in 0..=SHORT_WORDS {
            let args: Vec<u32> = (0..count as u32).map(|at| u32::MAX - at).collect();
            for bytes in [
                0,
                1,
                7,
                8,
                PIECE_BYTES - 1,
                PIECE_BYTES,
                PIECE_BYTES + 1,
                MEDIUM_BYTES,
            ] {
                let payload: Vec<u8> = (0..bytes).map(|at| (at * 7 + 1) as u8).collect();
                let head = head(&args, bytes);
                let frames = head.frames(&payload);
                assert_eq!(frames.len(), head.pieces());
                let mut pieces = Pieces::default();
                let mut whole = None;
                for words in frames.iter().rev() {
                    assert!(words.len() <= MESSAGE_WORDS);
                    assert!(whole.is_none(), "whole before its last piece");
                    let frame = Frame::read(words).unwrap();
                    assert_eq!(frame.head, head);
                    whole = pieces.add(&frame);
                }
                assert_eq!(whole.unwrap(), payload);
            }
        }
    }

    #[test]
    fn a_piece_that_comes_twice_counts_once() {
        let payload = vec![9; 2 * PIECE_BYTES];
        let frames = head(&[], payload.len()).frames(&payload);
        let mut pieces = Pieces::default();
        for _ in 0..3 {
            assert!(pieces.add(&Frame::read(&frames[1]).unwrap()).is_none());
        }
        assert_eq!(pieces.add(&Frame::read(&frames[0]).unwrap()), Some(payload));
    }

    /// Words of another program are no frame, or one whose parts agree.
    #[test]
    fn foreign_words_are_no_frame() {
        let whole = head(&[1, 2, 3], 20).frames(&[5; 20]).remove(0);
        for cut in 0..whole.len() {
            assert!(Frame::read(&whole[..cut]).is_none(), "{cut} words");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(Frame::read(&longer).is_none());
        for (bits, at) in [(15, 0), (9, 4), (0xffff, 32), (1, 48)] {
            let mut other = whole.clone();
            other[0] |= bits << at;
            assert!(Frame::read(&other).is_none(), "{bits} at bit {at}");
        }
    }
}
