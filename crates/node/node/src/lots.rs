//! Lots: bytes drawn at random in front of the records of a file, by which a sort shuffles them.
//!
//! ```text
//! file      b \n a \n              bytes of the disk
//! program   7310 b \n 2254 a \n    what is read, and what is given to be written
//! ```
//!
//! A lot follows from the seed, the number of its file and that of its record alone, so one seed always shuffles
//! alike. It has no delimiter.

use std::fmt;
use std::io::{self, BufRead};
use std::sync::Arc;

use crate::Random;

/// Bytes of a lot, of six random bits each and 64 together. Among 10^9 records two have the same lot in one of forty
/// shuffles.
pub const LOT_BYTES: usize = 11;

/// The first bits of each byte of a lot, and those in which they are. No character of UTF-8 begins with such a byte, so
/// that no lot looks like the front of a line on top.
const FRONT: u8 = 0x80;
const FRONT_BITS: u8 = 0xc0;

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 64 << 10;

/// The lots of the records of a file.
#[derive(Clone, Debug)]
pub struct Lots {
    /// Decides all lots.
    pub seed: u64,
    /// The number of the file, whose lots differ from those of others.
    pub file: u64,
    /// The byte that ends a record, and is in no lot ([`Lots::may_end_with`]).
    pub delimiter: u8,
    /// The lines on top, which have no lots.
    pub heading: Option<Arc<dyn Heading>>,
}

/// The lines on top of a file.
pub trait Heading: fmt::Debug + Send + Sync {
    /// Their bytes, if the front of the file is enough to tell.
    fn bytes(&self, front: &[u8], is_whole: bool) -> Option<usize>;
}

impl Lots {
    /// Whether no lot has this delimiter.
    pub fn may_end_with(delimiter: u8) -> bool {
        delimiter & FRONT_BITS != FRONT
    }
}

/// Puts a lot in front of each record that is read.
#[derive(Debug)]
pub struct Dealer {
    lots: Lots,
    random: Random,
    /// Bytes of the file. Those before `given` were given.
    read: Vec<u8>,
    given: usize,
    has_ended: bool,
    /// Bytes of the heading that were not given, once that is known.
    heading_left: Option<usize>,
    lot: [u8; LOT_BYTES],
    lot_left: usize,
    /// Whether the next byte begins a record that has no lot yet.
    begins: bool,
}

impl Dealer {
    /// For a file of which nothing was read.
    pub fn new(lots: Lots) -> Dealer {
        Dealer {
            random: Random::stream(lots.seed, lots.file),
            read: Vec::new(),
            given: 0,
            has_ended: false,
            heading_left: lots.heading.is_none().then_some(0),
            lot: [0; LOT_BYTES],
            lot_left: 0,
            begins: true,
            lots,
        }
    }

    /// Fills `out`, less only at the end, with records and their lots. `fill` does so with bytes of the file.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn fill(
        &mut self,
        out: &mut [u8],
        mut fill: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        while self.heading_left.is_none() {
            self.read_more(&mut fill)?;
            let heading = self.lots.heading.as_ref().expect("it is not known yet");
            let found = heading.bytes(&self.read, self.has_ended);
            self.heading_left = found.or(self.has_ended.then_some(self.read.len()));
        }
        let mut filled = 0;
        while filled < out.len() {
            let room = &mut out[filled..];
            filled += if self.lot_left > 0 {
                self.give_lot(room)
            } else if self.given < self.read.len() {
                self.give_bytes(room)
            } else if self.has_ended {
                (self.read, self.given) = (Vec::new(), 0);
                break;
            } else {
                // A long heading leaves no large buffer behind.
                self.read.clear();
                self.read.shrink_to(PIECE_BYTES);
                self.given = 0;
                self.read_more(&mut fill)?;
                0
            };
        }
        Ok(filled)
    }

    fn read_more(
        &mut self,
        fill: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let before = self.read.len();
        // A long heading is looked at again with twice its bytes each time.
        let more = PIECE_BYTES.max(before);
        self.read.resize(before + more, 0);
        let filled = fill(&mut self.read[before..]);
        self.read.truncate(before + *filled.as_ref().unwrap_or(&0));
        self.has_ended = filled? < more;
        Ok(())
    }

    fn give_lot(&mut self, room: &mut [u8]) -> usize {
        let bytes = self.lot_left.min(room.len());
        let begin = LOT_BYTES - self.lot_left;
        room[..bytes].copy_from_slice(&self.lot[begin..begin + bytes]);
        self.lot_left -= bytes;
        bytes
    }

    /// Gives bytes of one record or of the heading, or draws the lot that is next.
    fn give_bytes(&mut self, room: &mut [u8]) -> usize {
        let rest = &self.read[self.given..];
        let most = rest.len().min(room.len());
        let bytes = match &mut self.heading_left {
            Some(left @ 1..) => {
                let bytes = most.min(*left);
                *left -= bytes;
                bytes
            }
            _ if self.begins => {
                self.draw();
                return 0;
            }
            _ => {
                let bytes = through(self.lots.delimiter, &rest[..most]);
                self.begins = rest[bytes - 1] == self.lots.delimiter;
                bytes
            }
        };
        room[..bytes].copy_from_slice(&self.read[self.given..][..bytes]);
        self.given += bytes;
        bytes
    }

    fn draw(&mut self) {
        let mut number = self.random.next_u64();
        for byte in self.lot.iter_mut().rev() {
            *byte = FRONT | number as u8 & !FRONT_BITS;
            number >>= 6;
        }
        self.lot_left = LOT_BYTES;
        self.begins = false;
    }
}

/// Takes the lots away from records that are written.
#[derive(Debug)]
pub(crate) struct Collector {
    delimiter: u8,
    heading_left: usize,
    lot_left: usize,
}

impl Collector {
    /// For records that are written behind a heading of so many bytes.
    pub fn new(lots: &Lots, heading_bytes: usize) -> Collector {
        Collector {
            delimiter: lots.delimiter,
            heading_left: heading_bytes,
            lot_left: LOT_BYTES,
        }
    }

    /// Moves the next bytes together, without their lots. Returns the number of those that are left.
    ///
    /// # Errors
    /// When a byte should be one of a lot, and is not.
    pub fn collect(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut at = self.heading_left.min(bytes.len());
        self.heading_left -= at;
        let mut kept = at;
        while at < bytes.len() {
            let rest = &bytes[at..];
            if self.lot_left > 0 {
                let lot = &rest[..self.lot_left.min(rest.len())];
                if lot.iter().any(|byte| byte & FRONT_BITS != FRONT) {
                    return Err(lost());
                }
                self.lot_left -= lot.len();
                at += lot.len();
                continue;
            }
            let end = at + through(self.delimiter, rest);
            if bytes[end - 1] == self.delimiter {
                self.lot_left = LOT_BYTES;
            }
            bytes.copy_within(at..end, kept);
            kept += end - at;
            at = end;
        }
        Ok(kept)
    }

    /// # Errors
    /// When the last record has not ended.
    pub fn end(&self) -> io::Result<()> {
        if self.heading_left == 0 && self.lot_left == LOT_BYTES {
            Ok(())
        } else {
            Err(lost())
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("a record has lost its place in the shuffle")
}

/// Bytes up to a delimiter and with it, or all.
fn through(delimiter: u8, mut bytes: &[u8]) -> usize {
    // The library's search is fast, and has no other name.
    let found = bytes.skip_until(delimiter);
    found.expect("memory can be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"# head\n\nb\n\xff\x80\na longer line\nb\nwithout end";

    #[derive(Debug)]
    struct Line;

    impl Heading for Line {
        fn bytes(&self, front: &[u8], _: bool) -> Option<usize> {
            front
                .iter()
                .position(|byte| *byte == b'\n')
                .map(|at| at + 1)
        }
    }

    fn lots(delimiter: u8, heading: Option<Arc<dyn Heading>>) -> Lots {
        Lots {
            seed: 7,
            file: 0,
            delimiter,
            heading,
        }
    }

    /// The bytes that a program sees if it reads so many at a time.
    fn dealt(lots: &Lots, mut file: &[u8], at_once: usize) -> Vec<u8> {
        let mut dealer = Dealer::new(lots.clone());
        let mut seen = Vec::new();
        loop {
            let mut out = vec![0; at_once];
            let filled = dealer
                .fill(&mut out, |out| io::Read::read(&mut file, out))
                .unwrap();
            seen.extend_from_slice(&out[..filled]);
            if filled < at_once {
                return seen;
            }
        }
    }

    fn collected(lots: &Lots, heading_bytes: usize, seen: &[u8], at_once: usize) -> Vec<u8> {
        let mut collector = Collector::new(lots, heading_bytes);
        let mut file = Vec::new();
        for piece in seen.chunks(at_once) {
            let mut piece = piece.to_vec();
            let kept = collector.collect(&mut piece).unwrap();
            file.extend_from_slice(&piece[..kept]);
        }
        assert_eq!(collector.end().is_ok(), seen.ends_with(&[lots.delimiter]));
        file
    }

    #[test]
    fn lots_are_dealt_and_collected_in_any_pieces() {
        for delimiter in [b'\n', 0, b'b', 0xff] {
            assert!(Lots::may_end_with(delimiter));
            let lots = lots(delimiter, None);
            let whole = dealt(&lots, TEXT, 1 << 10);
            let records = TEXT.split_inclusive(|byte| *byte == delimiter).count();
            assert_eq!(whole.len(), TEXT.len() + records * LOT_BYTES);
            let ends = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == delimiter).count();
            assert_eq!(ends(&whole), ends(TEXT));
            for at_once in [1, 2, 3, 8, 9, 10, 41] {
                assert_eq!(dealt(&lots, TEXT, at_once), whole, "{delimiter} {at_once}");
                assert_eq!(collected(&lots, 0, &whole, at_once), TEXT);
            }
        }
    }

    #[test]
    fn lines_on_top_have_no_lots() {
        let lots = lots(b'\n', Some(Arc::new(Line)));
        for at_once in [1, 5, 64] {
            let seen = dealt(&lots, TEXT, at_once);
            assert!(seen.starts_with(b"# head\n"));
            assert_eq!(seen.len(), TEXT.len() + 6 * LOT_BYTES);
            assert_eq!(collected(&lots, 7, &seen, at_once), TEXT);
        }
        // A file that ends within its heading.
        assert_eq!(dealt(&lots, b"# he", 3), b"# he");
        assert_eq!(dealt(&lots, b"", 3), b"");
    }

    #[test]
    fn files_have_lots_of_their_own() {
        let of_file = |file| {
            dealt(
                &Lots {
                    file,
                    ..lots(b'\n', None)
                },
                TEXT,
                64,
            )
        };
        assert_eq!(of_file(1), of_file(1));
        assert_ne!(of_file(1), of_file(2));
    }

    #[test]
    fn a_lost_lot_is_noticed() {
        let mut collector = Collector::new(&lots(b'\n', None), 0);
        let told = collector
            .collect(&mut b"no lot here\n".to_vec())
            .unwrap_err();
        assert!(told.to_string().contains("lost its place"));
    }
}
