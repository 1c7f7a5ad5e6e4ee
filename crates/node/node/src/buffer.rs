//! Buffers: memory that stages hand to each other, to disks and to other nodes.
//!
//! A real buffer holds bytes that a backend provides (aligned, in huge pages). A counted buffer has
//! only a length, so that a simulation moves terabytes in virtual time. Touching the bytes of a
//! counted buffer is a bug and panics.

use std::fmt;
use std::ops::Range;

/// Memory that a backend provides. Its length never changes.
pub trait Memory: Send + Sync {
    /// The whole memory.
    fn bytes(&self) -> &[u8];
    /// The whole memory, for writing.
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

/// How often a program fills the buffers that it asks for. The memory of buffers that are filled
/// often is worth a slower first touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// Once, or a few times.
    Once,
    /// With more bytes than they hold, many times over in a large job.
    Often,
}

/// Memory whose front part is filled.
pub struct Buffer {
    memory: Option<Box<dyn Memory>>,
    capacity: usize,
    len: usize,
}

impl Buffer {
    /// An empty buffer over this memory.
    pub fn new(memory: Box<dyn Memory>) -> Buffer {
        let capacity = memory.bytes().len();
        Buffer {
            memory: Some(memory),
            capacity,
            len: 0,
        }
    }

    /// An empty buffer of `capacity` bytes from the allocator, for small buffers and tests.
    pub fn heap(capacity: usize) -> Buffer {
        Buffer::new(Box::new(vec![0_u8; capacity]))
    }

    /// An empty counted buffer: it has a capacity and a length, but no bytes.
    pub fn counted(capacity: usize) -> Buffer {
        Buffer {
            memory: None,
            capacity,
            len: 0,
        }
    }

    /// An empty buffer of the same kind (counted, or real from the allocator).
    pub fn sibling(&self, capacity: usize) -> Buffer {
        if self.is_counted() {
            Buffer::counted(capacity)
        } else {
            Buffer::heap(capacity)
        }
    }

    /// Whether it has a length but no bytes.
    pub fn is_counted(&self) -> bool {
        self.memory.is_none()
    }

    /// Bytes that it can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Narrows it to the first `bytes` bytes of its memory, or widens it again. Its length is at most
    /// that then.
    ///
    /// # Panics
    /// When its memory is smaller.
    pub fn set_capacity(&mut self, bytes: usize) {
        let memory = self
            .memory
            .as_deref()
            .map_or(bytes, |all| all.bytes().len());
        assert!(bytes <= memory, "{bytes} of {memory} bytes of memory");
        self.capacity = bytes;
        self.len = self.len.min(bytes);
    }

    /// Bytes that are filled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no byte is filled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Marks the first `len` bytes as filled.
    ///
    /// # Panics
    /// When `len` exceeds the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(
            len <= self.capacity,
            "a buffer of {} cannot hold {len}",
            self.capacity
        );
        self.len = len;
    }

    /// The filled front part.
    pub fn filled(&self) -> &[u8] {
        &self.bytes()[..self.len]
    }

    /// All that it can hold, filled or not.
    pub fn bytes(&self) -> &[u8] {
        let memory = self.memory.as_deref();
        &memory.expect("a counted buffer holds no bytes").bytes()[..self.capacity]
    }

    /// All that it can hold, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = self.memory.as_deref_mut();
        &mut memory.expect("a counted buffer holds no bytes").bytes_mut()[..self.capacity]
    }

    /// Copies `range` of `from` to this buffer at `at`. Copies nothing if one of them is counted.
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
