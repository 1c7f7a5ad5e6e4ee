//! Scratch memory: zeroed, and on huge pages when it is large.
//!
//! A pass over a thousand bins touches a thousand places in turn. With pages of 4 KiB most of them
//! miss the translation cache, which slows radix sorts by up to 1.6 times. So a slab of 2 MiB is
//! aligned to 2 MiB, and asks for huge pages before it is touched:
//!
//! ```text
//! mapped   |......|#################################|...|
//!          unused ^ multiple of 2 MiB: the slab      unused, unmapped
//! ```
//!
//! The system provides pages when they are first written, so an unused tail costs nothing.
//!
//! Smaller slabs of 128 KiB and more are mappings, too. The heap of glibc would keep dropped slabs
//! of many lengths resident: 45 MB beside a memory limit of 24 MB were seen.

#![allow(unsafe_code)]

use bytemuck::Pod;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The huge page of x86-64, and of aarch64 with 4 KiB pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Slabs of this size have a mapping of their own. The heap of glibc begins with the same limit,
/// but raises it to the largest block that was freed.
const MAPPED_BYTES: usize = 128 << 10;

/// The alignment of slabs from the heap, a cache line.
const ALIGNMENT: usize = 64;

/// Zeroed memory for `T`s of fixed length. It is aligned to a cache line, or to 2 MiB from that
/// size on.
#[derive(Debug)]
pub struct Slab<T> {
    start: NonNull<T>,
    len: usize,
    bytes: usize,
    mapped: bool,
    owns: PhantomData<T>,
}

// SAFETY: a slab owns its memory as a `Vec<T>` does.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slab<T> {}

impl<T: Pod> Slab<T> {
    /// Zeroed memory for `len` items.
    ///
    /// # Errors
    /// If the system has not enough memory.
    ///
    /// # Panics
    /// If `T` is aligned to more than a cache line.
    pub fn new(len: usize) -> io::Result<Self> {
        assert!(align_of::<T>() <= ALIGNMENT, "aligned to more than a line");
        let bytes = len
            .checked_mul(size_of::<T>())
            .filter(|&bytes| bytes <= isize::MAX as usize - 2 * HUGE_PAGE_BYTES)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let mapped = MAPS && bytes >= MAPPED_BYTES;
        let start = match bytes {
            0 => NonNull::<Line>::dangling().cast(),
            _ if mapped => map(bytes)?,
            _ => allocate(bytes)?,
        };
        Ok(Self {
            start: start.cast(),
            len,
            bytes,
            mapped,
            owns: PhantomData,
        })
    }
}

/// A type with the alignment of the shortest slab.
#[repr(align(64))]
struct Line;

impl<T> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and holds `len` items; zeros are a value of every `Pod`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the slab is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        let start = self.start.cast::<u8>();
        if self.mapped {
            // SAFETY: `new` mapped exactly these bytes, and no borrow of them is left.
            unsafe { unmap(start, self.bytes) };
        } else if self.bytes > 0 {
            // SAFETY: `new` allocated exactly this layout.
            unsafe { dealloc(start.as_ptr(), layout(self.bytes)) };
        }
    }
}

/// The layout of a slab from the heap.
fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGNMENT).expect("below isize::MAX by far, as checked")
}

fn allocate(bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: `bytes` is not zero.
    let start = unsafe { alloc_zeroed(layout(bytes)) };
    NonNull::new(start).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Whether large slabs are mapped.
const MAPS: bool = cfg!(all(target_os = "linux", not(miri)));

#[cfg(all(target_os = "linux", not(miri)))]
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    let wanted = pages(bytes);
    let is_huge = bytes >= HUGE_PAGE_BYTES;
    let mapped = wanted + if is_huge { HUGE_PAGE_BYTES } else { 0 };
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a private mapping at an address that the kernel chooses overlaps no other memory.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, access, MapFlags::PRIVATE)? };
    let start = start.cast::<u8>();
    if !is_huge {
        return Ok(NonNull::new(start).expect("the kernel maps nothing at null"));
    }
    let unused = start.align_offset(HUGE_PAGE_BYTES);
    // SAFETY: `unused` is below a huge page, so both ends and the slab are inside the mapping; the
    // ends are whole pages without references.
    let slab = unsafe {
        let slab = NonNull::new_unchecked(start.add(unused));
        give_back(start, unused);
        give_back(slab.as_ptr().add(wanted), mapped - unused - wanted);
        // Huge pages are optional.
        let _ = madvise(slab.as_ptr().cast(), wanted, Advice::LinuxHugepage);
        slab
    };
    Ok(slab)
}

/// # Safety
/// The range is part of a mapping and whole pages, and there is no reference to it.
#[cfg(all(target_os = "linux", not(miri)))]
unsafe fn give_back(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: by the caller. A failure leaves the range mapped, which does no harm.
        let _ = unsafe { rustix::mm::munmap(start.cast(), bytes) };
    }
}

/// # Safety
/// `start` is a slab of this size from `map`, and there is no reference to it.
#[cfg(all(target_os = "linux", not(miri)))]
unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: by the caller.
    unsafe { give_back(start.as_ptr(), pages(bytes)) };
}

/// The bytes mapped for a slab: whole pages of any size up to 64 KiB.
#[cfg(all(target_os = "linux", not(miri)))]
fn pages(bytes: usize) -> usize {
    bytes.next_multiple_of(64 << 10)
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    allocate(bytes)
}

/// # Safety
/// It is never called, because nothing is mapped.
#[cfg(not(all(target_os = "linux", not(miri))))]
unsafe fn unmap(_: NonNull<u8>, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_zeroed_aligned_and_writable() {
        let mapped = [MAPPED_BYTES, (2 << 20) - 1, 2 << 20, (5 << 20) + 1];
        // Miri maps nothing, and takes a minute for a megabyte.
        let mapped = if cfg!(miri) { &[][..] } else { &mapped };
        for &len in [0, 1, 1000].iter().chain(mapped) {
            let mut slab = Slab::<u8>::new(len).unwrap();
            assert_eq!(slab.len(), len);
            assert_eq!(slab.as_ptr() as usize % ALIGNMENT, 0);
            if MAPS && len >= HUGE_PAGE_BYTES {
                assert_eq!(slab.as_ptr() as usize % HUGE_PAGE_BYTES, 0);
            }
            assert!(slab.iter().all(|&byte| byte == 0));
            slab.fill(7);
            assert!(slab.iter().all(|&byte| byte == 7));
        }
    }

    /// The size of this process's address space in bytes.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn address_space_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        let kib = line.trim().strip_suffix(" kB").unwrap();
        kib.parse::<usize>().unwrap() << 10
    }

    /// Both the slab and the memory mapped to align it are unmapped. Other tests may map a few
    /// gigabytes meanwhile; ten thousand leaked slabs would be twenty.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_dropped_slab_is_unmapped() {
        let before = address_space_bytes();
        for _ in 0..10_000 {
            drop(Slab::<u8>::new(HUGE_PAGE_BYTES + 1).unwrap());
        }
        let grown = address_space_bytes().saturating_sub(before);
        assert!(grown < 10 << 30, "{grown} bytes are still mapped");
    }

    #[test]
    fn a_slab_too_large_is_an_error() {
        assert!(Slab::<u64>::new(usize::MAX / 8).is_err());
        assert!(Slab::<u64>::new(usize::MAX).is_err());
    }
}
