//! Lines by carry-less multiplication on x86-64: 512 bits wide with four records side by side, or
//! 128 bits with one.
//!
//! ```text
//! wide     record a         | 0a | a1 |      loads end where their record ends; a mask keeps
//!          record b    | 0b | b1 | b2 |      what is before its start out of the first one
//! ```

#![allow(unsafe_code)]

use super::super::x86::{add_lanes, load, load_words, multiply, reduce_narrow, reduce_wide};
use super::super::{LONGEST, polynomial};
use super::{chained, line};
use std::arch::x86_64::*;

/// The constants for both widths.
#[derive(Clone, Debug)]
struct Plan {
    /// Factors of the words of each block; the first block is the last one of a record.
    factors: Vec<u64>,
    /// By length: the CRC of as many zero bytes, the part of a CRC that is not linear.
    zeros: Vec<u32>,
    fold: u64,
}

impl Plan {
    fn new(block_bytes: usize) -> Self {
        let mut factors: Vec<u64> = polynomial::factors().take(LONGEST / 8).collect();
        for block in factors.chunks_mut(block_bytes / 8) {
            block.reverse();
        }
        let mut chain = crc32fast::Hasher::new();
        let zeros = (0..=LONGEST).map(|_| {
            let crc = chain.clone().finalize();
            chain.update(&[0]);
            crc
        });
        Self {
            factors,
            zeros: zeros.collect(),
            fold: polynomial::fold(),
        }
    }
}

/// Four records at a time, by AVX-512 and VPCLMULQDQ.
#[derive(Clone, Debug)]
pub(super) struct Wide(Plan);

/// Bytes of a wide block.
const WIDE: usize = 64;

/// If a record of four has more blocks, the blocks of each are counted on their own. Up to here,
/// four records take as many steps as the longest: steps for nothing cost less than a mispredicted
/// end.
const TOGETHER: usize = 3;

impl Wide {
    /// `None` if this machine lacks the instructions.
    pub(super) fn new() -> Option<Self> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("vpclmulqdq");
        able.then(|| Self(Plan::new(WIDE)))
    }

    pub(super) fn sum(&self, bytes: &[u8], ends: &[u32]) -> u64 {
        let (fours, rest) = ends.as_chunks::<4>();
        let start = fours.last().map_or(0, |four| four[3]);
        // SAFETY: `new` has checked the features.
        unsafe { self.sum_fours(bytes, fours) + chained(bytes, start, rest) }
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
    fn sum_fours(&self, bytes: &[u8], fours: &[[u32; 4]]) -> u64 {
        let (mut total, mut long) = (_mm512_setzero_si512(), 0);
        let mut start = 0;
        for &[a, b, c, d] in fours {
            let records = [
                line(bytes, start, a),
                line(bytes, a, b),
                line(bytes, b, c),
                line(bytes, c, d),
            ];
            let lens = records.map(<[u8]>::len);
            let longest = lens[0].max(lens[1]).max(lens[2].max(lens[3]));
            if longest > LONGEST {
                long += chained(bytes, start, &[a, b, c, d]);
            } else {
                let crcs = reduce_wide(add_lanes(self.multiply(records, longest)), self.0.fold);
                let crcs = _mm512_xor_si512(crcs, self.zeros(lens));
                total = _mm512_add_epi64(total, crcs);
            }
            start = d;
        }
        let mut lanes = [0u64; 8];
        // SAFETY: eight words are 64 bytes.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), total) };
        // The sum of each lane is in its upper half.
        long + lanes[1] + lanes[3] + lanes[5] + lanes[7]
    }

    /// The words of four records times their factors, added.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
    fn multiply(&self, records: [&[u8]; 4], longest: usize) -> [__m512i; 4] {
        let [a, b, c, d] = records;
        if longest <= WIDE {
            self.together::<1>(records)
        } else if longest <= 2 * WIDE {
            self.together::<2>(records)
        } else if longest <= TOGETHER * WIDE {
            self.together::<TOGETHER>(records)
        } else {
            [self.alone(a), self.alone(b), self.alone(c), self.alone(d)]
        }
    }

    /// Four records of at most `BLOCKS` blocks, in as many steps.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
    fn together<const BLOCKS: usize>(&self, records: [&[u8]; 4]) -> [__m512i; 4] {
        let mut sums = [_mm512_setzero_si512(); 4];
        let blocks = self.0.factors.as_chunks().0.iter().take(BLOCKS);
        for (number, factors) in blocks.enumerate() {
            for (sum, record) in sums.iter_mut().zip(records) {
                *sum = add_block(*sum, record, number, factors);
            }
        }
        sums
    }

    /// A record of any number of blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
    fn alone(&self, record: &[u8]) -> __m512i {
        let mut sum = _mm512_setzero_si512();
        let blocks = self.0.factors.as_chunks().0.iter();
        let blocks = blocks.take(record.len().div_ceil(WIDE));
        for (number, factors) in blocks.enumerate() {
            sum = add_block(sum, record, number, factors);
        }
        sum
    }

    /// The CRCs of as many zeros as each record has bytes, in the upper half of each lane.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zeros(&self, lens: [usize; 4]) -> __m512i {
        let [a, b, c, d] = lens.map(|len| self.0.zeros[len] as i32);
        let zeros = _mm512_maskz_set1_epi32(1 << 2, a);
        let zeros = _mm512_mask_set1_epi32(zeros, 1 << 6, b);
        let zeros = _mm512_mask_set1_epi32(zeros, 1 << 10, c);
        _mm512_mask_set1_epi32(zeros, 1 << 14, d)
    }
}

/// Adds block `number` from the end of the record, which may start in the block or behind it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
fn add_block(sum: __m512i, record: &[u8], number: usize, factors: &[u64; WIDE / 8]) -> __m512i {
    let behind = (number + 1) * WIDE;
    // Not a shift, which would do nothing where the whole block is before the record.
    let before = behind.saturating_sub(record.len()).min(WIDE);
    let mask = !_bzhi_u64(u64::MAX, before as u32);
    let start = record.as_ptr_range().end.wrapping_sub(behind);
    // SAFETY: the mask does not load the bytes before the record, and the block does not reach
    // beyond its end.
    let words = unsafe { _mm512_maskz_loadu_epi8(mask, start.cast()) };
    // SAFETY: eight factors are 64 bytes.
    let factors = unsafe { _mm512_loadu_si512(factors.as_ptr().cast()) };
    let even = _mm512_clmulepi64_epi128::<0x00>(words, factors);
    let odd = _mm512_clmulepi64_epi128::<0x11>(words, factors);
    _mm512_xor_si512(sum, _mm512_xor_si512(even, odd))
}

/// One record at a time, by PCLMULQDQ.
#[derive(Clone, Debug)]
pub(super) struct Narrow(Plan);

/// Bytes of a narrow block.
const NARROW: usize = 16;

/// Sixteen bytes from `n` on keep the last `n` bytes of a block.
const MASKS: [u8; 2 * NARROW] = {
    let mut masks = [0; 2 * NARROW];
    let mut place = NARROW;
    while place < 2 * NARROW {
        masks[place] = 0xff;
        place += 1;
    }
    masks
};

impl Narrow {
    /// `None` if this machine lacks the instructions.
    pub(super) fn new() -> Option<Self> {
        is_x86_feature_detected!("pclmulqdq").then(|| Self(Plan::new(NARROW)))
    }

    pub(super) fn sum(&self, bytes: &[u8], ends: &[u32]) -> u64 {
        // SAFETY: `new` has checked the feature.
        unsafe { self.sum_records(bytes, ends) }
    }

    #[target_feature(enable = "pclmulqdq")]
    fn sum_records(&self, bytes: &[u8], ends: &[u32]) -> u64 {
        let (mut total, mut start) = (0, 0);
        for &end in ends {
            let record = line(bytes, start, end);
            // The block at the front of a record starts in the record before it.
            total += if record.len() > LONGEST || (start as usize) < NARROW {
                u64::from(crc32fast::hash(record))
            } else {
                let linear = self.linear(bytes, end as usize - 1, record.len());
                u64::from(linear ^ self.0.zeros[record.len()])
            };
            start = end;
        }
        total
    }

    /// The linear part of the CRC of the record of `len` bytes that ends at `end`.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn linear(&self, bytes: &[u8], end: usize, len: usize) -> u32 {
        let front = len % NARROW;
        let start = end - len + front;
        let (factors, rest) = self.0.factors.split_at((len - front) / 8);
        let mut sum = _mm_setzero_si128();
        let blocks = bytes[start..end].chunks_exact(NARROW).rev();
        for (block, factors) in blocks.zip(factors.chunks_exact(2)) {
            sum = _mm_xor_si128(sum, multiply(load(block), load_words(factors)));
        }
        if let Some(factors) = rest.first_chunk::<2>() {
            let block = _mm_and_si128(load(&bytes[start - NARROW..]), load(&MASKS[front..]));
            sum = _mm_xor_si128(sum, multiply(block, load_words(factors)));
        }
        reduce_narrow(sum, self.0.fold)
    }
}
