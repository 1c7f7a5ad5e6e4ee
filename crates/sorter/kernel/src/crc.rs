//! The checksum of many records: the sum of their CRC-32s, as valsort prints it.
//!
//! A CRC is usually computed front to back, where each step waits for the previous one. For records
//! of 100 bytes, the start and the end of that chain cost more than its middle. But a CRC is
//! linear: word `i` of a record contributes `word * x^(bits after it)`, independently of the other
//! words. For records of one length those powers are constants, so all words are multiplied at
//! once, without carry, and only their sum (an exclusive or) is reduced:
//!
//! ```text
//! record    | word 0 | word 1 | word 2 | ... |
//!               *        *        *              carry-less, each by its own power of x
//!              K0       K1       K2
//!               \________+________/  = 96 bits  --reduce--> 32 bits, once a record
//! ```
//!
//! Folding by powers of x: Gopal et al., "Fast CRC Computation for Generic Polynomials Using
//! PCLMULQDQ Instruction" (Intel, 2009), with one fold per word. The code is chosen at run time:
//! four records side by side in 512-bit registers, one in 128-bit registers, or `crc32fast`, which
//! is also for long records.

mod lines;
mod polynomial;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

pub use lines::LineCrc;

/// Longer records are for `crc32fast`: the powers are as long as the record, and both should fit
/// easily in the first-level cache (32 KB).
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LONGEST: usize = 2 << 10;

/// Computes sums of CRC-32 (IEEE, as in zip and Ethernet) over records of one length.
///
/// ```
/// let crc = kernel::RecordCrc::new(3);
/// let sum = u64::from(crc32fast::hash(b"abc")) + u64::from(crc32fast::hash(b"def"));
/// assert_eq!(crc.sum(b"abcdef"), sum);
/// ```
#[derive(Clone, Debug)]
pub struct RecordCrc {
    record_bytes: usize,
    way: Way,
}

/// The code for this machine.
#[derive(Clone, Debug)]
enum Way {
    Chained,
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Wide(x86::Wide),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Narrow(x86::Narrow),
}

impl RecordCrc {
    /// For records of `record_bytes` bytes, with the fastest instructions of this machine.
    ///
    /// # Panics
    /// If `record_bytes` is zero.
    pub fn new(record_bytes: usize) -> Self {
        assert!(record_bytes > 0, "a record has at least one byte");
        Self {
            record_bytes,
            way: Way::fastest(record_bytes),
        }
    }

    /// The sum of the CRC-32 of every record in `records`. It overflows only from 2^32 records, or
    /// 4 GiB, on: the caller adds the sums of larger inputs in 128 bits.
    ///
    /// # Panics
    /// If `records` are not whole records.
    pub fn sum(&self, records: &[u8]) -> u64 {
        assert_eq!(records.len() % self.record_bytes, 0, "a part of a record");
        match &self.way {
            Way::Chained => chained(records, self.record_bytes),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Way::Wide(wide) => wide.sum(records),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Way::Narrow(narrow) => narrow.sum(records),
        }
    }
}

impl Way {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn fastest(record_bytes: usize) -> Self {
        if record_bytes > LONGEST {
            return Self::Chained;
        }
        let wide = x86::Wide::new(record_bytes).map(Self::Wide);
        let narrow = || x86::Narrow::new(record_bytes).map(Self::Narrow);
        wide.or_else(narrow).unwrap_or(Self::Chained)
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    fn fastest(_: usize) -> Self {
        Self::Chained
    }
}

/// The CRC-32 of a block of bytes, to check it when it is read back from a disk.
pub fn block_crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The sum, with one chain per record.
fn chained(records: &[u8], record_bytes: usize) -> u64 {
    records
        .chunks_exact(record_bytes)
        .map(|record| u64::from(crc32fast::hash(record)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;
    use crate::patterns::Random;

    /// All code that this machine can run.
    fn ways(record_bytes: usize) -> Vec<Way> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let wide = x86::Wide::new(record_bytes).map(Way::Wide);
            let narrow = x86::Narrow::new(record_bytes).map(Way::Narrow);
            wide.into_iter()
                .chain(narrow)
                .chain([Way::Chained])
                .collect()
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        vec![Way::fastest(record_bytes)]
    }

    #[test]
    fn every_way_agrees_with_the_chain_for_every_length() {
        let lengths = if cfg!(miri) { 9 } else { 600 };
        let mut random = Random::new(1);
        for record_bytes in (1..=lengths).chain(few(&[1024, 2047, 2048, 2049, 5000])) {
            for count in few(&[0, 1, 3, 4, 5, 11]) {
                let mut records = vec![0; count * record_bytes];
                random.fill(&mut records);
                let expected = chained(&records, record_bytes);
                for way in ways(record_bytes) {
                    let crc = RecordCrc { record_bytes, way };
                    assert_eq!(crc.sum(&records), expected, "{crc:?} {count}");
                }
                assert_eq!(RecordCrc::new(record_bytes).sum(&records), expected);
            }
        }
    }

    #[test]
    fn single_bits_and_plain_bytes_agree() {
        for record_bytes in few(&[8, 16, 17, 64, 100, 128]) {
            let mut record = vec![0; record_bytes];
            let crc = RecordCrc::new(record_bytes);
            for bit in 0..record_bytes * 8 {
                record[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(crc.sum(&record), chained(&record, record_bytes));
                record[bit / 8] = 0;
            }
            for byte in [0, 0xff, b' '] {
                let records = vec![byte; record_bytes * 9];
                assert_eq!(crc.sum(&records), chained(&records, record_bytes));
            }
        }
    }
}
