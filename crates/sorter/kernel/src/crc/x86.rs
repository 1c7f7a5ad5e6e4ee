//! Carry-less multiplication on x86-64: 512 bits wide with four records side by side, or 128 bits.
//!
//! ```text
//! wide     record a  | a0 | a1 | a2 | a3 |      four 128-bit sums each,
//!          record b  | b0 | b1 | b2 | b3 |      transposed and added:
//!          ...                                  | a | b | c | d |  reduced together
//! ```

#![allow(unsafe_code)]

use super::{chained, polynomial};
use std::arch::x86_64::*;

/// The constants for a record length, for both widths.
#[derive(Clone, Debug)]
struct Plan {
    record_bytes: usize,
    /// One factor for each word of each block.
    factors: Vec<u64>,
    fold: u64,
    /// The CRC of as many zero bytes: the part of a CRC that is not linear.
    zeros: u32,
}

impl Plan {
    /// Factors for blocks of `block_bytes` that start at `starts`.
    fn new(record_bytes: usize, block_bytes: usize, starts: impl Iterator<Item = usize>) -> Self {
        let words = starts.flat_map(|start| (start..start + block_bytes).step_by(8));
        let factors = words.map(|start| {
            // Bits after this word; negative if it crosses the end, where zeros are loaded.
            let behind = (record_bytes as i64 - start as i64 - 8) * 8;
            if behind <= -64 {
                0
            } else {
                polynomial::factor(behind)
            }
        });
        Self {
            record_bytes,
            factors: factors.collect(),
            fold: polynomial::fold(),
            zeros: crc32fast::hash(&vec![0; record_bytes]),
        }
    }
}

/// Four records at a time, by AVX-512 and VPCLMULQDQ.
#[derive(Clone, Debug)]
pub(super) struct Wide(Plan);

/// Bytes of a wide block.
const WIDE: usize = 64;

impl Wide {
    /// `None` if this machine lacks the instructions.
    pub(super) fn new(record_bytes: usize) -> Option<Self> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("vpclmulqdq");
        let starts = (0..record_bytes).step_by(WIDE);
        able.then(|| Self(Plan::new(record_bytes, WIDE, starts)))
    }

    pub(super) fn sum(&self, records: &[u8]) -> u64 {
        let fours = records.chunks_exact(4 * self.0.record_bytes);
        let rest = chained(fours.remainder(), self.0.record_bytes);
        // SAFETY: `new` has checked the features.
        unsafe { self.sum_fours(fours) + rest }
    }

    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
    fn sum_fours(&self, fours: std::slice::ChunksExact<'_, u8>) -> u64 {
        let plan = &self.0;
        let zeros = _mm512_set1_epi64(i64::from(plan.zeros));
        let mut total = _mm512_setzero_si512();
        for four in fours {
            let crcs = self.four(four);
            total = _mm512_add_epi64(total, _mm512_xor_si512(crcs, zeros));
        }
        let mut lanes = [0u64; 8];
        // SAFETY: eight words are 64 bytes.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), total) };
        // The sum of each lane is in its upper half.
        lanes[1] + lanes[3] + lanes[5] + lanes[7]
    }

    /// The linear parts of four records' CRCs, in the upper half of each lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
    fn four(&self, four: &[u8]) -> __m512i {
        let record_bytes = self.0.record_bytes;
        let mut sums = [_mm512_setzero_si512(); 4];
        for (block, factors) in self.0.factors.chunks_exact(WIDE / 8).enumerate() {
            let start = block * WIDE;
            let len = (record_bytes - start).min(WIDE);
            let mask = u64::MAX >> (WIDE - len);
            // SAFETY: eight factors are 64 bytes.
            let factors = unsafe { _mm512_loadu_si512(factors.as_ptr().cast()) };
            for (number, sum) in sums.iter_mut().enumerate() {
                let bytes = &four[number * record_bytes + start..][..len];
                // SAFETY: the mask loads only the `len` bytes of this slice.
                let words = unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) };
                let even = _mm512_clmulepi64_epi128::<0x00>(words, factors);
                let odd = _mm512_clmulepi64_epi128::<0x11>(words, factors);
                *sum = _mm512_xor_si512(*sum, _mm512_xor_si512(even, odd));
            }
        }
        reduce_wide(add_lanes(sums), self.0.fold)
    }
}

/// Adds the four lanes of each register. Lane i of the result is the sum of register i.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_lanes(sums: [__m512i; 4]) -> __m512i {
    let pair = |a, b| {
        let low = _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
        let high = _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
        _mm512_xor_si512(low, high)
    };
    let (ab, cd) = (pair(sums[0], sums[1]), pair(sums[2], sums[3]));
    let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(ab, cd);
    let odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(ab, cd);
    _mm512_xor_si512(even, odd)
}

/// Each lane modulo the polynomial, in the lane's upper half. See [`reduce_narrow`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
pub(super) fn reduce_wide(sums: __m512i, fold: u64) -> __m512i {
    let low_half = _mm512_set1_epi64(0xffff_ffff);
    let fold = _mm512_set1_epi64(fold as i64);
    let quotient = _mm512_set1_epi64(polynomial::QUOTIENT as i64);
    let whole = _mm512_set1_epi64(polynomial::WHOLE as i64);
    let folded = _mm512_xor_si512(sums, _mm512_clmulepi64_epi128::<0x00>(sums, fold));
    let top = _mm512_and_si512(folded, low_half);
    let times = _mm512_and_si512(_mm512_clmulepi64_epi128::<0x01>(top, quotient), low_half);
    let multiple = _mm512_bslli_epi128::<8>(_mm512_clmulepi64_epi128::<0x00>(times, whole));
    _mm512_srli_epi64::<32>(_mm512_xor_si512(folded, multiple))
}

/// One record at a time, by PCLMULQDQ.
#[derive(Clone, Debug)]
pub(super) struct Narrow {
    plan: Plan,
    /// Clears the bytes of the last block that are also in the block before it.
    mask: [u8; NARROW],
}

/// Bytes of a narrow block.
const NARROW: usize = 16;

impl Narrow {
    /// `None` if this machine lacks the instructions, or the record is shorter than a block.
    pub(super) fn new(record_bytes: usize) -> Option<Self> {
        if record_bytes < NARROW || !is_x86_feature_detected!("pclmulqdq") {
            return None;
        }
        // The last block ends with the record and overlaps the block before it.
        let last = record_bytes - NARROW;
        let starts = (0..last).step_by(NARROW).chain([last]);
        let fresh = record_bytes - last.next_multiple_of(NARROW);
        let mut mask = [0; NARROW];
        mask[NARROW - fresh..].fill(0xff);
        let plan = Plan::new(record_bytes, NARROW, starts);
        Some(Self { plan, mask })
    }

    pub(super) fn sum(&self, records: &[u8]) -> u64 {
        let records = records.chunks_exact(self.plan.record_bytes);
        // SAFETY: `new` has checked the feature.
        unsafe { self.sum_records(records) }
    }

    #[target_feature(enable = "pclmulqdq")]
    fn sum_records(&self, records: std::slice::ChunksExact<'_, u8>) -> u64 {
        let linear = records.map(|record| self.linear(record));
        linear.map(|crc| u64::from(crc ^ self.plan.zeros)).sum()
    }

    /// The linear part of a record's CRC.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn linear(&self, record: &[u8]) -> u32 {
        let (last_factors, factors) = {
            let (factors, last) = self.plan.factors.split_at(self.plan.factors.len() - 2);
            (last, factors)
        };
        let mut sum = _mm_setzero_si128();
        let blocks = record.chunks(NARROW).zip(factors.chunks_exact(2));
        for (block, factors) in blocks {
            sum = _mm_xor_si128(sum, multiply(load(block), load_words(factors)));
        }
        let last = _mm_and_si128(load(&record[record.len() - NARROW..]), load(&self.mask));
        sum = _mm_xor_si128(sum, multiply(last, load_words(last_factors)));
        reduce_narrow(sum, self.plan.fold)
    }
}

#[inline]
pub(super) fn load(block: &[u8]) -> __m128i {
    let block = block.first_chunk::<NARROW>().expect("a whole block");
    // SAFETY: sixteen bytes; SSE2 is part of every x86-64.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn load_words(words: &[u64]) -> __m128i {
    _mm_set_epi64x(words[1] as i64, words[0] as i64)
}

/// Both words of a block times their factors, added.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn multiply(words: __m128i, factors: __m128i) -> __m128i {
    let even = _mm_clmulepi64_si128::<0x00>(words, factors);
    let odd = _mm_clmulepi64_si128::<0x11>(words, factors);
    _mm_xor_si128(even, odd)
}

/// A sum of 96 bits modulo the polynomial: folds the top 32 bits onto the lower 64, then subtracts
/// a multiple of the polynomial, found by multiplying by its inverse (Barrett).
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn reduce_narrow(sum: __m128i, fold: u64) -> u32 {
    let low_half = _mm_set1_epi64x(0xffff_ffff);
    let constants = _mm_set_epi64x(polynomial::QUOTIENT as i64, fold as i64);
    let whole = _mm_set1_epi64x(polynomial::WHOLE as i64);
    let folded = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x00>(sum, constants));
    let top = _mm_and_si128(folded, low_half);
    let times = _mm_and_si128(_mm_clmulepi64_si128::<0x11>(top, constants), low_half);
    let multiple = _mm_slli_si128::<8>(_mm_clmulepi64_si128::<0x00>(times, whole));
    let rest = _mm_srli_epi64::<32>(_mm_xor_si128(folded, multiple));
    _mm_cvtsi128_si32(_mm_unpackhi_epi64(rest, rest)) as u32
}
