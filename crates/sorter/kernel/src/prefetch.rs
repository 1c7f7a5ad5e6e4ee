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

/// The most lines to prefetch of a record of unlike length; the hardware prefetches the rest.
pub(crate) const MOST_LINES: usize = 4;

/// Lines to prefetch of each record, if lengths are unlike and their mean is `bytes`: enough for
/// records of twice the mean, wherever in a line they start.
///
/// A number for each record would be exact, and its loop would be mispredicted: for lengths of 1 to
/// 200 bytes a scatter then takes 11 ns, and 8 with one number for all.
#[inline(always)]
pub(crate) fn lines_of(bytes: usize) -> usize {
    (1 + bytes.div_ceil(LINE_BYTES / 2)).min(MOST_LINES)
}

/// Prefetches `lines` lines from `address` on.
#[inline(always)]
pub(crate) fn read_lines(address: *const u8, lines: usize) {
    for line in 0..lines {
        read(address.wrapping_add(line * LINE_BYTES));
    }
}
