//! Prefetches of cache lines.
//!
//! A prefetch is a hint: it cannot fault, whatever the address, and does nothing where there is no
//! such instruction.

#![allow(unsafe_code)]

/// The cache line of every x86-64 and most aarch64 machines.
pub(crate) const LINE_BYTES: usize = 64;

/// Prefetches the line at `address`.
#[inline(always)]
pub(crate) fn read(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch is a hint and never faults; SSE is part of every x86-64.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Prefetches every line of the `bytes` bytes at `address`.
#[inline(always)]
pub(crate) fn read_range(address: *const u8, bytes: usize) {
    let first = address as usize & (LINE_BYTES - 1);
    let mut offset = 0;
    while offset < first + bytes {
        read(address.wrapping_add(offset));
        offset += LINE_BYTES;
    }
}
