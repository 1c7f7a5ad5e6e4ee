//! Bytes on their way to the output that the buffer before had no room for: the header of a file, or
//! the rest of a record that reaches beyond its buffer.
//!
//! ```text
//! carry     header...............        rd
//! buffers   |header........|....ab|cd|reco|rd|efg|...
//! ```
//!
//! The carried bytes may be longer than a buffer; they fill as many as they need.

use node::Buffer;

#[derive(Debug, Default)]
pub(super) struct Carry {
    /// Without bytes if records are only counted.
    bytes: Vec<u8>,
    /// Bytes at the front that went to buffers.
    gone: usize,
    left: usize,
}

impl Carry {
    pub(super) fn of(bytes: &[u8]) -> Carry {
        Carry {
            bytes: bytes.to_vec(),
            gone: 0,
            left: bytes.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Bytes that are left.
    pub(super) fn len(&self) -> usize {
        self.left
    }

    /// Puts as many bytes as fit between `start` and `limit`. Returns their end.
    pub(super) fn put(&mut self, buffer: &mut Buffer, start: usize, limit: usize) -> usize {
        let count = self.left.min(limit - start);
        if count > 0 && !buffer.is_counted() {
            let from = &self.bytes[self.gone..self.gone + count];
            buffer.bytes_mut()[start..start + count].copy_from_slice(from);
        }
        self.gone += count;
        self.left -= count;
        start + count
    }

    /// Keeps the bytes from `limit` to `end` for the next buffers.
    pub(super) fn keep(&mut self, buffer: &Buffer, limit: usize, end: usize) {
        assert!(self.is_empty(), "bytes leave in their order");
        self.bytes.clear();
        if !buffer.is_counted() {
            self.bytes.extend_from_slice(&buffer.bytes()[limit..end]);
        }
        (self.gone, self.left) = (0, end - limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_fill_as_many_buffers_as_they_need() {
        let all: Vec<u8> = (0..100).collect();
        for (start, limit) in [(0, 1), (0, 7), (3, 10), (0, 100), (5, 200)] {
            let (mut carry, mut found) = (Carry::of(&all), Vec::new());
            while !carry.is_empty() {
                let mut buffer = Buffer::heap(limit);
                let end = carry.put(&mut buffer, start, limit);
                assert!(end == limit || carry.is_empty());
                found.extend_from_slice(&buffer.bytes()[start..end]);
            }
            assert_eq!(found, all);
        }
    }

    #[test]
    fn the_rest_of_a_record_follows() {
        let mut buffer = Buffer::heap(8);
        buffer.bytes_mut().copy_from_slice(b"abcdefgh");
        let mut carry = Carry::default();
        assert_eq!(carry.put(&mut buffer, 3, 8), 3);
        carry.keep(&buffer, 5, 8);
        let mut next = Buffer::heap(8);
        assert_eq!((carry.put(&mut next, 1, 3), carry.len()), (3, 1));
        assert_eq!(carry.put(&mut next, 3, 8), 4);
        assert_eq!(&next.bytes()[1..4], b"fgh");
    }
}
