//! Buffers: memory that stages hand to each other, to disks and to other nodes.
//!
//! Real buffers hold bytes that a backend provides (aligned, in huge pages). Counted buffers hold
//! none: in a simulation over counts they carry lengths alone, so that the same stages move
//! terabytes in virtual time. Touching the bytes of a counted buffer is a bug and panics.

use std::fmt;
use std::ops::Range;

/// Memory a backend provides.
pub trait Memory: Send {
    /// All of it.
    fn bytes(&self) -> &[u8];
    /// All of it, to write to.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl Memory for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// A piece of memory with a filled front part.
pub struct Buffer {
    memory: Option<Box<dyn Memory>>,
    capacity: usize,
    len: usize,
}

impl Buffer {
    /// A buffer over this memory, empty.
    pub fn new(memory: Box<dyn Memory>) -> Buffer {
        let capacity = memory.bytes().len();
        Buffer {
            memory: Some(memory),
            capacity,
            len: 0,
        }
    }

    /// A buffer from ordinary memory: small helpers and tests.
    pub fn heap(capacity: usize) -> Buffer {
        Buffer::new(Box::new(vec![0_u8; capacity]))
    }

    /// A buffer that holds counts alone.
    pub fn counted(capacity: usize) -> Buffer {
        Buffer {
            memory: None,
            capacity,
            len: 0,
        }
    }

    /// An empty buffer of `capacity` of the same kind as this one, from ordinary memory.
    pub fn sibling(&self, capacity: usize) -> Buffer {
        if self.is_counted() {
            Buffer::counted(capacity)
        } else {
            Buffer::heap(capacity)
        }
    }

    /// Whether it holds counts alone.
    pub fn is_counted(&self) -> bool {
        self.memory.is_none()
    }

    /// How much fits.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How much is filled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is filled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Says how much is filled.
    pub fn set_len(&mut self, len: usize) {
        assert!(
            len <= self.capacity,
            "a buffer of {} cannot hold {len}",
            self.capacity
        );
        self.len = len;
    }

    /// The filled part.
    pub fn filled(&self) -> &[u8] {
        &self.bytes()[..self.len]
    }

    /// All of its memory.
    pub fn bytes(&self) -> &[u8] {
        self.memory
            .as_deref()
            .expect("a counted buffer holds no bytes")
            .bytes()
    }

    /// All of its memory, to write to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory
            .as_deref_mut()
            .expect("a counted buffer holds no bytes")
            .bytes_mut()
    }

    /// Copies `range` of `from` to this buffer at `at`; between counted buffers nothing moves.
    pub fn copy_from(&mut self, at: usize, from: &Buffer, range: Range<usize>) {
        assert!(at + range.len() <= self.capacity && range.end <= from.capacity);
        if !self.is_counted() && !from.is_counted() {
            self.bytes_mut()[at..at + range.len()].copy_from_slice(&from.bytes()[range]);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_counted() { "counted" } else { "real" };
        write!(out, "Buffer({kind}, {} of {})", self.len, self.capacity)
    }
}
