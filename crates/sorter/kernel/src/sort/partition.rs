//! The move of a pass over more memory than the caches hold: write-combining.
//!
//! Entries of one bin are collected in a small buffer and written to memory as whole lines, past
//! the caches. So a line of the target is never read just to be overwritten, and a thousand open
//! bins touch a thousand buffers in the second-level cache instead of a thousand pages.
//!
//! ```text
//! source  | e | e | e | e | ...          buffers, one per bin       target
//!           \____ digit ____>  bin 0  | e | e | . | . | --full--> | line | line | ...
//!                              bin 1  | e | . | . | . |
//! ```
//!
//! The slot of an entry in its buffer is the low bits of its final position, so buffers and lines
//! of the target are aligned with each other; only the first buffer of a bin may begin in its
//! middle. Source: Balkesen et al., "Main-Memory Hash Joins on Multi-Core CPUs" (ICDE 2013),
//! software-managed buffers; Wassenberg and Sanders, "Engineering a Multi-core Radix Sort"
//! (Euro-Par 2011).

#![allow(unsafe_code)]

use super::digit::Digit;
use crate::Entry;

/// Entries of a buffer: four lines. The branch for a full buffer is hard to predict, so it should
/// be taken rarely; and 1,024 buffers are 256 KB, a quarter of a second-level cache (measured: 4,
/// 8, 16, 32 slots take 14.3, 13.3, 12.7, 12.8 ns per entry in all).
const SLOTS: usize = 16;

/// Targets from this length on are written past the caches: with their source they are 16 MB, half
/// of a third-level cache that cores share.
pub(super) const STREAMED: usize = 1 << 19;

/// The buffer of one bin, aligned like its lines in the target.
#[repr(C, align(256))]
#[derive(Clone, Copy)]
pub(super) struct Buffer([Entry; SLOTS]);

/// The buffers and first positions of all bins. The memory is reused for the next pass.
#[derive(Default)]
pub(super) struct Buffers {
    buffers: Vec<Buffer>,
    begin: Vec<u32>,
}

/// The memory that a pass writes to, shared by the threads of a parallel pass.
#[derive(Clone, Copy)]
pub(super) struct Target {
    start: *mut Entry,
    len: usize,
    /// Whether it is too large for the caches.
    streamed: bool,
}

// SAFETY: a `Target` is an address. Writing through it is unsafe, and the writer promises that no
// other thread writes to the same positions.
unsafe impl Send for Target {}
// SAFETY: as above; it has no operation of its own.
unsafe impl Sync for Target {}

impl Target {
    pub(super) fn new(target: &mut [Entry]) -> Self {
        Self {
            start: target.as_mut_ptr(),
            len: target.len(),
            streamed: target.len() >= STREAMED,
        }
    }
}

impl Buffers {
    /// Moves each entry of `source` to the next position of its bin in `target`. `next` holds these
    /// positions, and afterwards the end of each bin.
    ///
    /// # Safety
    /// For every bin, as many positions from `next[bin]` on as `source` has entries of that bin are
    /// inside `target` and belong to this bin and this call only.
    pub(super) unsafe fn partition(
        &mut self,
        source: &[Entry],
        target: Target,
        digit: Digit,
        next: &mut [u32],
    ) {
        assert_eq!(next.len(), digit.bins());
        let empty = Buffer([Entry::default(); SLOTS]);
        self.buffers
            .resize(self.buffers.len().max(next.len()), empty);
        self.begin.clear();
        self.begin.extend_from_slice(next);
        // Makes slot 0 of a buffer correspond to an aligned address.
        let skew = (target.start as usize / size_of::<Entry>()) % SLOTS;
        let buffers = &mut self.buffers[..];
        for entry in source {
            let bin = digit.of(entry.prefix);
            // SAFETY: `bin` is below `digit.bins()`, the length of `next`; `buffers` is no shorter.
            let (position, buffer) =
                unsafe { (next.get_unchecked_mut(bin), buffers.get_unchecked_mut(bin)) };
            let slot = (*position as usize + skew) % SLOTS;
            buffer.0[slot] = *entry;
            *position += 1;
            if slot == SLOTS - 1 {
                let end = *position as usize;
                let begin = self.begin[bin] as usize;
                debug_assert!(end <= target.len);
                // SAFETY: the slots up to here hold the entries of positions `begin..end` of this
                // bin, which belong to this call.
                unsafe { flush(buffer, target, begin, end) };
            }
        }
        for (bin, buffer) in buffers.iter().enumerate().take(next.len()) {
            let end = next[bin] as usize;
            let held = ((end + skew) % SLOTS).min(end - self.begin[bin] as usize);
            for position in end - held..end {
                debug_assert!(position < target.len);
                // SAFETY: the last positions of this bin, which belong to this call.
                unsafe { *target.start.add(position) = buffer.0[(position + skew) % SLOTS] };
            }
        }
        fence();
    }
}

/// Writes a full buffer to the positions before `end`, except for those before `begin`.
///
/// # Safety
/// Positions `begin..end` of `target` may be written, and `end` is aligned to a buffer's end.
#[inline(always)]
unsafe fn flush(buffer: &Buffer, target: Target, begin: usize, end: usize) {
    if end - begin >= SLOTS {
        // SAFETY: `end - SLOTS >= begin`, and that address is aligned like the buffer.
        unsafe {
            let start = target.start.add(end - SLOTS);
            if target.streamed {
                stream(buffer, start);
            } else {
                start.cast::<[Entry; SLOTS]>().write(buffer.0);
            }
        }
    } else {
        for position in begin..end {
            // SAFETY: inside `begin..end`; the last slot is that of `end - 1`.
            unsafe { *target.start.add(position) = buffer.0[SLOTS + position - end] };
        }
    }
}

/// Writes a whole buffer past the caches.
///
/// # Safety
/// `target` is aligned to a line and may be written for one buffer.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn stream(buffer: &Buffer, target: *mut Entry) {
    use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
    for (slot, entry) in buffer.0.iter().enumerate() {
        // SAFETY: an entry is 16 aligned bytes; SSE2 is part of every x86-64.
        unsafe {
            let value = _mm_load_si128(std::ptr::from_ref(entry).cast::<__m128i>());
            _mm_stream_si128(target.add(slot).cast::<__m128i>(), value);
        }
    }
}

/// Writes a whole buffer.
///
/// # Safety
/// `target` may be written for one buffer.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
unsafe fn stream(buffer: &Buffer, target: *mut Entry) {
    // SAFETY: by the caller.
    unsafe { target.cast::<[Entry; SLOTS]>().write(buffer.0) };
}

/// Orders the streamed lines before later writes of this thread, and before its end.
fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of every x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
