//! Memory for buffers: one mapping, cut into pieces, in huge pages where the machine has them.
//!
//! Huge pages matter: with 4 KiB pages the radix kernels are up to 1.6 times slower at ten million
//! records, because of TLB misses. The usual setting of the system is `madvise`, so the mapping
//! asks for them.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use node::{Buffer, Memory};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A page, which satisfies the alignment that direct I/O needs on any device.
const ALIGN_BYTES: usize = 4096;

/// A mapping that is unmapped when its last piece is dropped.
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is plain memory of the process, tied to no thread.
unsafe impl Send for Mapping {}
// SAFETY: `Mapping` gives no access by itself; its pieces do not overlap.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `mmap_anonymous` gave, and no piece is left.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast::<c_void>(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// A part of a mapping that overlaps no other piece.
struct Piece {
    mapping: Arc<Mapping>,
    offset: usize,
    bytes: usize,
}

impl Memory for Piece {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `carve` cuts pieces inside the mapping that do not overlap, the mapping is zeroed
        // by the kernel and lives as long as `self.mapping`; `&self` excludes `bytes_mut`.
        unsafe {
            std::slice::from_raw_parts(self.mapping.start.as_ptr().add(self.offset), self.bytes)
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes every other access to this piece.
        unsafe {
            std::slice::from_raw_parts_mut(self.mapping.start.as_ptr().add(self.offset), self.bytes)
        }
    }
}

/// Makes `count` buffers of `bytes` bytes each from one mapping.
pub(crate) fn carve(count: usize, bytes: usize) -> io::Result<Vec<Buffer>> {
    let step = bytes.next_multiple_of(ALIGN_BYTES);
    let total = step.checked_mul(count).ok_or(io::ErrorKind::OutOfMemory)?;
    if total == 0 {
        return Ok(Vec::new());
    }
    let mapping = Arc::new(map(total)?);
    let buffer = |index: usize| {
        let mapping = Arc::clone(&mapping);
        let offset = index * step;
        Buffer::new(Box::new(Piece {
            mapping,
            offset,
            bytes,
        }))
    };
    Ok((0..count).map(buffer).collect())
}

fn map(bytes: usize) -> io::Result<Mapping> {
    let (protection, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::NORESERVE,
    );
    // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps no other
    // memory.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags) }?;
    // Fails where there are no huge pages, which are optional.
    // SAFETY: advice about pages does not change their contents.
    let _ = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
    let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(Mapping { start, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_zeroed_and_apart() {
        let mut buffers = carve(3, 5000).unwrap();
        for (number, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.bytes().as_ptr() as usize % ALIGN_BYTES, 0);
            assert!(buffer.bytes().iter().all(|&byte| byte == 0));
            buffer.bytes_mut().fill(number as u8 + 1);
        }
        let last = buffers.pop().unwrap();
        drop(buffers);
        assert_eq!(last.bytes().len(), 5000);
        assert!(last.bytes().iter().all(|&byte| byte == 3));
    }

    #[test]
    fn memory_is_unmapped_with_its_last_piece() {
        const BYTES: usize = 256 << 20;
        let pages = || -> usize {
            let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
            sizes.split(' ').next().unwrap().parse().unwrap()
        };
        let before = pages();
        for _ in 0..16 {
            carve(2, BYTES / 2).unwrap();
        }
        assert!(pages().saturating_sub(before) < 8 * BYTES / ALIGN_BYTES);
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        assert!(carve(usize::MAX / 2, 4096).is_err());
        assert!(carve(1 << 20, 1 << 40).is_err());
        assert!(carve(0, 4096).unwrap().is_empty());
    }
}
