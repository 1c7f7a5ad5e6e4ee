//! Parts of a sorted chunk: merges of neighbouring key ranges share the chunk in which they meet.
//!
//! ```text
//! chunk     |ab\n|cdefg\n|ha\n|ij\n|kl\n|ma\n|
//! parts     |... one range ...|.. the next ..|       whole records each
//! ```

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use record::Framing;

use crate::records::block::Chunk;
use crate::records::size::Size;

/// Beginnings of chained records are noted for one record of so many; those between are found from there.
const NOTED: usize = 64;

/// The place of a longer record is remembered: every cut near it would look through it again. A chunk has few.
const LONG: usize = 1 << 16;

/// Some records of a chunk, in its order; clones share the chunk.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    shared: Arc<Shared>,
    /// Records of the chunk before these, and before their end.
    from: Size,
    until: Size,
}

#[derive(Debug)]
struct Shared {
    chunk: Chunk,
    begins: Begins,
    /// Places of long records that were found, in the chunk.
    long: Mutex<Vec<Range<usize>>>,
}

/// How the beginning of a record is found from within it.
#[derive(Debug)]
enum Begins {
    Fixed(usize),
    Behind(u8),
    /// From every so many beginnings of chained records.
    Noted(Vec<u32>, Framing),
    /// It is not sought.
    Unknown,
}

impl Part {
    /// All of a chunk, which is not divided.
    pub(crate) fn whole(chunk: Chunk) -> Part {
        Part::of(chunk, Begins::Unknown)
    }

    /// All of a chunk, which may be divided.
    pub(crate) fn divisible(chunk: Chunk, framing: Framing) -> Part {
        let begins = Begins::of(&chunk.buffer.bytes()[..chunk.size.bytes as usize], framing);
        Part::of(chunk, begins)
    }

    fn of(chunk: Chunk, begins: Begins) -> Part {
        Part {
            from: Size::default(),
            until: chunk.size,
            shared: Arc::new(Shared {
                chunk,
                begins,
                long: Mutex::default(),
            }),
        }
    }

    /// The chunk, if no other part of it is left.
    pub(crate) fn into_chunk(self) -> Option<Chunk> {
        Arc::into_inner(self.shared).map(|shared| shared.chunk)
    }

    pub(crate) fn size(&self) -> Size {
        self.until - self.from
    }

    /// Its records, one behind the other.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        let (from, until) = (self.from.bytes as usize, self.until.bytes as usize);
        &self.shared.chunk.buffer.bytes()[from..until]
    }

    /// Passes these of its first records.
    #[inline]
    pub(crate) fn pass(&mut self, size: Size) {
        self.from += size;
    }

    /// Where the record lies that has byte `at`.
    pub(crate) fn place_of(&self, at: usize) -> Range<usize> {
        let from = self.from.bytes as usize;
        // A place that is in the list is whole, also if a panic came behind it.
        let mut long = self
            .shared
            .long
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = long.iter().find(|found| found.contains(&(from + at))) {
            return found.start - from..found.end - from;
        }
        let begin = self.begin(at);
        let place = begin..begin + self.length(begin);
        if place.len() > LONG {
            long.push(from + place.start..from + place.end);
        }
        place
    }

    /// Takes its records up to the last one that `is_before`, as all that come before that are.
    pub(crate) fn take_before(&mut self, mut is_before: impl FnMut(&[u8]) -> bool) -> Option<Part> {
        let (mut low, mut high) = (0, self.bytes().len());
        // Records that begin before `low` are before the cut, and those from `high` on behind it.
        while low < high {
            let place = self.place_of(low + (high - low) / 2);
            if is_before(&self.bytes()[place.clone()]) {
                low = place.end;
            } else {
                high = place.start;
            }
        }
        self.take(low)
    }

    /// Takes the records in its first `end` bytes, if there are some.
    pub(crate) fn take(&mut self, end: usize) -> Option<Part> {
        let taken = Size {
            records: self.records_in(end),
            bytes: end as u64,
        };
        let mut front = self.clone();
        front.until = self.from + taken;
        self.from = front.until;
        (end > 0).then_some(front)
    }

    /// The number of its records in its first `end` bytes.
    fn records_in(&self, end: usize) -> u64 {
        let all = self.size();
        if end as u64 > all.bytes / 2 {
            all.records - self.count(end..all.bytes as usize)
        } else {
            self.count(0..end)
        }
    }

    fn count(&self, range: Range<usize>) -> u64 {
        let bytes = &self.bytes()[range];
        match &self.shared.begins {
            Begins::Fixed(length) => (bytes.len() / length) as u64,
            Begins::Behind(delimiter) => memchr::memchr_iter(*delimiter, bytes).count() as u64,
            Begins::Noted(_, framing) => framing.split(bytes).count() as u64,
            Begins::Unknown => unreachable!("it is not divided"),
        }
    }

    /// Where the record that has byte `at` begins.
    fn begin(&self, at: usize) -> usize {
        let bytes = self.bytes();
        match &self.shared.begins {
            Begins::Fixed(length) => at - at % length,
            Begins::Behind(delimiter) => {
                memchr::memrchr(*delimiter, &bytes[..at]).map_or(0, |before| before + 1)
            }
            Begins::Noted(noted, framing) => {
                let from = self.from.bytes as usize;
                let next = noted.partition_point(|&begin| begin as usize <= from + at);
                let mut begin = (noted[next - 1] as usize).saturating_sub(from);
                loop {
                    let end = begin + end_of(&bytes[begin..], *framing);
                    if end > at {
                        return begin;
                    }
                    begin = end;
                }
            }
            Begins::Unknown => unreachable!("it is not divided"),
        }
    }

    fn length(&self, begin: usize) -> usize {
        let rest = &self.bytes()[begin..];
        match &self.shared.begins {
            Begins::Fixed(length) => *length,
            Begins::Behind(delimiter) => {
                let end = memchr::memchr(*delimiter, rest);
                end.expect("a part has whole records") + 1
            }
            Begins::Noted(_, framing) => end_of(rest, *framing),
            Begins::Unknown => unreachable!("it is not divided"),
        }
    }
}

impl Begins {
    fn of(records: &[u8], framing: Framing) -> Begins {
        match framing {
            Framing::Fixed(length) => Begins::Fixed(length),
            Framing::Delimited(delimiter) => Begins::Behind(delimiter),
            // Without quotes rows are lines.
            Framing::Quoted(quoting) if memchr::memchr(quoting.quote, records).is_none() => {
                Begins::Behind(b'\n')
            }
            _ => {
                let begins = framing.split(records).scan(0, |next, record| {
                    let begin = *next;
                    *next += record.len() as u32;
                    Some(begin)
                });
                Begins::Noted(begins.step_by(NOTED).collect(), framing)
            }
        }
    }
}

fn end_of(records: &[u8], framing: Framing) -> usize {
    framing.end(records).expect("a part has whole records")
}

#[cfg(test)]
mod tests {
    use super::*;
    use node::Buffer;
    use record::Quoting;

    fn chunk(records: &[&[u8]]) -> Chunk {
        let bytes = records.concat();
        Chunk {
            bucket: 0,
            size: Size {
                records: records.len() as u64,
                bytes: bytes.len() as u64,
            },
            marks: Vec::new(),
            buffer: Buffer::new(Box::new(bytes)),
        }
    }

    /// In the chunk, and in what is left of it behind a cut.
    #[test]
    fn a_long_record_is_sought_once() {
        let (long, short) = ([&[b'm'; 3 * LONG][..], b"\n"].concat(), &b"short\n"[..]);
        let records = [short, &long, short, &long, short];
        let mut rest = Part::divisible(chunk(&records), Framing::Delimited(b'\n'));
        let second = short.len() * 2 + long.len() + 5;
        for at in [0, 10, second, 11, second + 1, LONG] {
            let place = rest.place_of(at);
            assert!(place.contains(&at) && records.contains(&&rest.bytes()[place]));
        }
        assert_eq!(rest.shared.long.lock().unwrap().len(), 2);
        let before = short.len() + long.len();
        rest.take(before);
        let place = rest.place_of(second + 1 - before);
        assert_eq!(rest.bytes()[place], long);
        assert_eq!(rest.shared.long.lock().unwrap().len(), 2);
    }

    /// Every cut of a chunk, and of each part that it leaves, has the records that were asked for.
    #[test]
    fn a_part_ends_with_the_last_record_before_the_bound() {
        let lines: Vec<Vec<u8>> = (0..200_u8)
            .map(|n| {
                let body = vec![b'a' + n % 20; usize::from(n) * 7 % 31];
                [&[n / 16 + b'A', n % 16 + b'A'][..], &body, b"\n"].concat()
            })
            .collect();
        let quoted: Vec<Vec<u8>> = lines
            .iter()
            .map(|line| [b"\"\n", &line[..line.len() - 1], b"\"\n"].concat())
            .collect();
        let fixed: Vec<Vec<u8>> = lines.iter().map(|line| line[..3].to_vec()).collect();
        let quoting = Framing::Quoted(Quoting::CSV);
        for (records, framing) in [
            (&lines, Framing::Delimited(b'\n')),
            (&lines, quoting),
            (&quoted, quoting),
            (&fixed, Framing::Fixed(3)),
        ] {
            let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
            for (first, second) in [(0, 0), (0, 200), (1, 2), (63, 64), (64, 130), (7, 199)] {
                let mut rest = Part::divisible(chunk(&records), framing);
                let mut found = Vec::new();
                for bound in [first, second] {
                    let before =
                        |record: &[u8]| records.iter().position(|all| *all == record) < Some(bound);
                    let part = rest.take_before(before);
                    let size = part.as_ref().map_or(0, |part| part.size().records);
                    assert_eq!(size as usize + found.len(), bound.max(found.len()));
                    let bytes = part.as_ref().map_or(&[][..], Part::bytes);
                    found.extend(framing.split(bytes).map(<[u8]>::to_vec));
                }
                assert_eq!(found, records[..second]);
                assert_eq!(rest.size().records as usize, 200 - second);
                if let Some(last) = records.get(second..).and_then(<[&[u8]]>::last) {
                    let place = rest.place_of(rest.bytes().len() - 1);
                    assert_eq!(rest.bytes()[place], **last);
                }
            }
        }
    }
}
