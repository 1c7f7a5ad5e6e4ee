//! Memory for buffers: one mapping, cut into pieces, in huge pages where they pay.
//!
//! With 4 KiB pages a sort of 10 GB in 1 GiB takes 1.3 times as long, because of TLB misses. The
//! usual setting of the system is `madvise`, so the mapping asks for huge pages.
//!
//! It does not ask for them in a virtual machine that gives free memory back to its host, for
//! buffers of up to 512 MiB that are filled once. Such a machine gives back whole huge pages, and
//! the first touch of one waits for the host: 2.4 to 4.5 ms for 2 MiB where this was measured,
//! against 0.24 ms for a huge page that the machine has kept and 0.7 ms for 512 small ones, which
//! come from the pieces that were too small to give back. docs/benchmarks.md has the measurement.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use node::{Buffer, Filled, Memory};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::facts::gives_free_memory_back;

/// A page, which satisfies the alignment that direct I/O needs on any device.
const ALIGN_BYTES: usize = 4096;

/// The huge page of x86-64, and of aarch64 with 4 KiB pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Memory that a virtual machine is likely to have in pieces too small to give back. With small
/// pages beyond it, each waits for the host: sorts of 1 GB took the same time either way, and sorts
/// of 10 GB were slower.
const KEPT_BYTES: usize = 512 << 20;

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
pub(crate) fn carve(count: usize, bytes: usize, filled: Filled) -> io::Result<Vec<Buffer>> {
    let step = bytes.next_multiple_of(ALIGN_BYTES);
    let total = step.checked_mul(count).ok_or(io::ErrorKind::OutOfMemory)?;
    if total == 0 {
        return Ok(Vec::new());
    }
    let mapping = Arc::new(map(total, huge_pages_pay(total, filled))?);
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

fn huge_pages_pay(bytes: usize, filled: Filled) -> bool {
    let is_at_hand = filled == Filled::Once && bytes <= KEPT_BYTES && gives_free_memory_back();
    bytes >= HUGE_PAGE_BYTES && !is_at_hand
}

fn map(bytes: usize, in_huge_pages: bool) -> io::Result<Mapping> {
    let (protection, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::NORESERVE,
    );
    // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps no other
    // memory.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags) }?;
    let advice = if in_huge_pages {
        Advice::LinuxHugepage
    } else {
        Advice::LinuxNoHugepage
    };
    // Fails where there are no huge pages, which are optional.
    // SAFETY: advice about pages does not change their contents.
    let _ = unsafe { madvise(start, bytes, advice) };
    let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(Mapping { start, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_zeroed_and_apart() {
        let mut buffers = carve(3, 5000, Filled::Once).unwrap();
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
            carve(2, BYTES / 2, Filled::Once).unwrap();
        }
        assert!(pages().saturating_sub(before) < 8 * BYTES / ALIGN_BYTES);
    }

    #[test]
    fn memory_that_is_filled_often_is_in_huge_pages() {
        assert!(huge_pages_pay(HUGE_PAGE_BYTES, Filled::Often));
        assert!(!huge_pages_pay(HUGE_PAGE_BYTES - 1, Filled::Often));
        assert!(huge_pages_pay(KEPT_BYTES + 1, Filled::Once));
        let once = huge_pages_pay(KEPT_BYTES, Filled::Once);
        assert_eq!(once, !gives_free_memory_back());
    }

    /// The kernel says in `smaps` what a mapping asked for: `hg` or `nh`.
    #[test]
    fn the_kernel_is_told() {
        for (filled, flag) in [
            (Filled::Often, " hg"),
            (
                Filled::Once,
                if gives_free_memory_back() {
                    " nh"
                } else {
                    " hg"
                },
            ),
        ] {
            let mut buffers = carve(1, 3 * HUGE_PAGE_BYTES, filled).unwrap();
            let start = buffers[0].bytes_mut().as_ptr() as usize;
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let from = maps.find(&format!("{start:x}-"));
            let flags = maps[from.unwrap()..]
                .lines()
                .find(|line| line.starts_with("VmFlags:"));
            assert!(flags.unwrap().contains(flag), "{filled:?}: {flags:?}");
        }
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        assert!(carve(usize::MAX / 2, 4096, Filled::Often).is_err());
        assert!(carve(1 << 20, 1 << 40, Filled::Often).is_err());
        assert!(carve(0, 4096, Filled::Often).unwrap().is_empty());
    }
}
