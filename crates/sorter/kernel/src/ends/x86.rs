//! The scan for delimiters on x86-64: 64 bytes become a mask, and the mask becomes places.
//!
//! ```text
//! bytes   | a b ; c ; ; d |        compare:      | 0 0 1 0 1 1 0 |
//! places  | 1 2 3 4 5 6 7 |  the mask compresses |     3   5 6   | > 3 5 6 | + start of the block
//! ```
//!
//! Places are written in groups of fixed size, of which the count of the mask is kept: most blocks
//! need one group, however many delimiters they have, so there is no branch to mispredict.

#![allow(unsafe_code)]

use super::push_each;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Bytes compared at once: as many as a mask has bits.
pub(super) const BLOCK: usize = 64;

/// Bytes between two looks at the capacity of the output. They have at most as many ends.
const STRIP: usize = 4 << 10;

/// Appends all ends by AVX-512, or returns `false` if this machine lacks the instructions.
pub(super) fn wide(bytes: &[u8], delimiter: u8, ends: &mut Vec<u32>) -> bool {
    let able = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt");
    if able {
        in_strips(bytes, delimiter, ends, |strip, start, spare| {
            // SAFETY: the features are there.
            unsafe { strip_wide(strip, start, delimiter, spare) }
        });
    }
    able
}

/// Appends all ends by AVX2, or returns `false` if this machine lacks the instructions.
pub(super) fn narrow(bytes: &[u8], delimiter: u8, ends: &mut Vec<u32>) -> bool {
    let able = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("popcnt");
    if able {
        in_strips(bytes, delimiter, ends, |strip, start, spare| {
            // SAFETY: the features are there.
            unsafe { strip_narrow(strip, start, delimiter, spare) }
        });
    }
    able
}

/// Room for the ends of a strip.
type Spare = [MaybeUninit<u32>];

/// Scans the whole blocks of `bytes` strip by strip; the rest has one delimiter found at a time.
/// `scan` writes the ends in a strip that starts at an offset, and returns how many there are.
#[inline(always)]
fn in_strips(
    bytes: &[u8],
    delimiter: u8,
    ends: &mut Vec<u32>,
    scan: impl Fn(&[[u8; BLOCK]], usize, &mut Spare) -> usize,
) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut start = 0;
    for strip in blocks.chunks(STRIP / BLOCK) {
        ends.reserve(STRIP);
        let count = scan(strip, start, ends.spare_capacity_mut());
        // SAFETY: `scan` has written as many ends behind the length.
        unsafe { ends.set_len(ends.len() + count) };
        start += strip.len() * BLOCK;
    }
    push_each(bytes, bytes.len() - rest.len(), delimiter, ends);
}

/// The numbers of the bytes of a block, from one on: an end is behind its delimiter.
const NUMBERS: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut place = 0;
    while place < BLOCK {
        numbers[place] = place as u8 + 1;
        place += 1;
    }
    numbers
};

/// Ends written at once by [`strip_wide`]: a register of 32-bit numbers.
const GROUP: usize = 16;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn strip_wide(strip: &[[u8; BLOCK]], start: usize, delimiter: u8, spare: &mut Spare) -> usize {
    assert!(spare.len() >= strip.len() * BLOCK, "room for every end");
    let wanted = _mm512_set1_epi8(delimiter as i8);
    // SAFETY: 64 numbers.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let mut starts = _mm512_set1_epi32(start as i32);
    let mut len = 0;
    for block in strip {
        // SAFETY: 64 bytes.
        let block = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let found = _mm512_cmpeq_epi8_mask(block, wanted);
        let count = found.count_ones() as usize;
        let mut places = _mm512_maskz_compress_epi8(found, numbers);
        let mut group = 0;
        loop {
            let ends = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
            let ends = _mm512_add_epi32(ends, starts);
            // SAFETY: each block before this one has at most 64 ends, and this one at most four
            // groups of sixteen: all is within 64 ends a block, for which there is room.
            unsafe { _mm512_storeu_si512(spare.as_mut_ptr().add(len + group).cast(), ends) };
            group += GROUP;
            if group >= count {
                break;
            }
            // Brings the next sixteen places to the front.
            places = _mm512_shuffle_i64x2::<0b00_11_10_01>(places, places);
        }
        len += count;
        starts = _mm512_add_epi32(starts, _mm512_set1_epi32(BLOCK as i32));
    }
    len
}

/// Ends written at once by [`strip_narrow`].
const FEW: usize = 4;

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn strip_narrow(strip: &[[u8; BLOCK]], start: usize, delimiter: u8, spare: &mut Spare) -> usize {
    let wanted = _mm256_set1_epi8(delimiter as i8);
    let mut len = 0;
    for (number, block) in strip.iter().enumerate() {
        let (low, high) = block.split_at(BLOCK / 2);
        let [low, high] = [low, high].map(|half| {
            // SAFETY: a half of a block is 32 bytes.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, wanted)) as u32
        });
        let mut found = u64::from(low) | u64::from(high) << 32;
        let first = (start + number * BLOCK) as u32 + 1;
        let count = found.count_ones() as usize;
        for group in spare[len..][..BLOCK].chunks_exact_mut(FEW) {
            for end in group {
                end.write(first.wrapping_add(found.trailing_zeros()));
                found &= found.wrapping_sub(1);
            }
            if found == 0 {
                break;
            }
        }
        len += count;
    }
    len
}

/// A bit for each byte of the block that is a delimiter, by instructions of every x86-64.
#[inline(always)]
pub(super) fn mask(block: &[u8; BLOCK], delimiter: u8) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().rev().fold(0, |mask, quarter| {
        // SAFETY: sixteen bytes; SSE2 is part of every x86-64.
        let found = unsafe {
            let quarter = _mm_loadu_si128(quarter.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(quarter, _mm_set1_epi8(delimiter as i8)))
        };
        mask << 16 | u64::from(found as u32)
    })
}
