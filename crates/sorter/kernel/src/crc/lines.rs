//! The checksum of lines: the sum of the CRC-32s of records of unlike length.
//!
//! The factor of a word depends on the bits behind it only. So blocks are counted from the end of a
//! record, and the same factors serve every length. The block at the front is filled up with zeros,
//! which contribute nothing:
//!
//! ```text
//! factors   ... |  block 2  |  block 1  |  block 0  |
//! record a                     000 abcde|fghijklmnop|\n
//! record b                              |00000 abcde|\n
//! ```
//!
//! The CRC of as many zero bytes is the part that is not linear. It comes from a table by length. As in
//! [`RecordCrc`](super::RecordCrc), the code is chosen at run time, and long records are for
//! `crc32fast`.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

/// Computes sums of CRC-32 (IEEE) over records that end with a delimiter, which does not count.
///
/// ```
/// let crc = kernel::LineCrc::new();
/// let sum = u64::from(crc32fast::hash(b"ab")) + u64::from(crc32fast::hash(b"cde"));
/// assert_eq!(crc.sum(b"ab\n\ncde\n", &[3, 4, 8]), sum);
/// ```
#[derive(Clone, Debug)]
pub struct LineCrc(Way);

/// The code for this machine.
#[derive(Clone, Debug)]
enum Way {
    Chained,
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Wide(x86::Wide),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Narrow(x86::Narrow),
}

impl Default for LineCrc {
    fn default() -> Self {
        Self::new()
    }
}

impl LineCrc {
    /// With the fastest instructions of this machine.
    pub fn new() -> Self {
        Self(Way::fastest())
    }

    /// The sum of the CRC-32 of every record without its last byte, the delimiter. Record `i` is
    /// `bytes[ends[i - 1]..ends[i]]`, and the first one starts at zero (see [`ends`](crate::ends)).
    ///
    /// # Panics
    /// If a record has no byte, or ends beyond `bytes`.
    pub fn sum(&self, bytes: &[u8], ends: &[u32]) -> u64 {
        match &self.0 {
            Way::Chained => chained(bytes, 0, ends),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Way::Wide(wide) => wide.sum(bytes, ends),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Way::Narrow(narrow) => narrow.sum(bytes, ends),
        }
    }
}

impl Way {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn fastest() -> Self {
        let wide = x86::Wide::new().map(Self::Wide);
        let narrow = || x86::Narrow::new().map(Self::Narrow);
        wide.or_else(narrow).unwrap_or(Self::Chained)
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    fn fastest() -> Self {
        Self::Chained
    }
}

/// The sum over the records from `start` on, with one chain per record.
fn chained(bytes: &[u8], start: u32, ends: &[u32]) -> u64 {
    let starts = std::iter::once(&start).chain(ends);
    let records = starts
        .zip(ends)
        .map(|(&start, &end)| line(bytes, start, end));
    records
        .map(|record| u64::from(crc32fast::hash(record)))
        .sum()
}

/// A record without its delimiter.
#[inline(always)]
fn line(bytes: &[u8], start: u32, end: u32) -> &[u8] {
    // A record that ends at zero has no byte: the end wraps, and is beyond `bytes`.
    &bytes[start as usize..(end as usize).wrapping_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Random;

    /// All code that this machine can run.
    fn ways() -> Vec<LineCrc> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let wide = x86::Wide::new().map(Way::Wide);
            let narrow = x86::Narrow::new().map(Way::Narrow);
            let ways = wide.into_iter().chain(narrow).chain([Way::Chained]);
            ways.map(LineCrc).collect()
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        vec![LineCrc::new()]
    }

    fn check(ways: &[LineCrc], lengths: &[usize], random: &mut Random) {
        let (mut bytes, mut ends, mut expected) = (Vec::new(), Vec::new(), 0);
        for &length in lengths {
            let mut record = vec![0; length];
            random.fill(&mut record);
            expected += u64::from(crc32fast::hash(&record));
            bytes.extend(record);
            bytes.push(b'\n');
            ends.push(bytes.len() as u32);
        }
        for way in ways {
            assert_eq!(way.sum(&bytes, &ends), expected, "{lengths:?}");
        }
    }

    #[test]
    fn every_way_agrees_with_the_chain_for_every_length() {
        let ways = ways();
        let mut random = Random::new(1);
        let step = if cfg!(miri) { 700 } else { 1 };
        for length in (0..2100).step_by(step).chain([5000]) {
            for count in [1, 4, 5] {
                check(&ways, &vec![length; count], &mut random);
            }
        }
    }

    #[test]
    fn records_of_unlike_length_agree() {
        let ways = ways();
        let mut random = Random::new(2);
        let rounds = if cfg!(miri) { 2 } else { 300 };
        for longest in [2, 20, 70, 200, 260, 600, 3000] {
            for _ in 0..rounds {
                let count = random.below(30) as usize;
                let length = |_| random.below(longest) as usize;
                let lengths: Vec<usize> = (0..count).map(length).collect();
                check(&ways, &lengths, &mut random);
            }
        }
    }

    /// Bytes outside of the mask may be on a page that does not exist.
    #[test]
    fn records_at_the_start_of_a_mapping_agree() {
        let mut bytes = crate::Slab::<u8>::new(2 << 20).unwrap();
        Random::new(3).fill(&mut bytes[..300]);
        for first in [1, 2, 17, 64, 65, 200] {
            let ends = [first, first + 1, first + 9, 299, 300];
            let expected = chained(&bytes, 0, &ends);
            for way in ways() {
                assert_eq!(way.sum(&bytes, &ends), expected, "{first}");
            }
        }
    }

    #[test]
    fn no_records_have_no_sum() {
        for way in ways() {
            assert_eq!(way.sum(b"abc", &[]), 0);
            assert_eq!(way.sum(b"\n\n\n\n\n", &[1, 2, 3, 4, 5]), 0);
        }
    }

    #[test]
    fn an_end_beyond_the_bytes_or_before_its_record_is_a_bug() {
        for way in ways() {
            for ends in [[1, 2, 3, 9], [1, 1, 2, 3], [0, 1, 2, 3], [3, 2, 4, 5]] {
                let sum = std::panic::AssertUnwindSafe(|| way.sum(&[0; 7], &ends));
                assert!(std::panic::catch_unwind(sum).is_err(), "{ends:?}");
            }
        }
    }
}
