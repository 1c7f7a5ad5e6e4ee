//! Finds the records of a block of lines: where each one ends.
//!
//! ```text
//! bytes   | a b ; c ; ; d e f ; g h        delimiter ;
//! ends          3   5 6       10           behind each delimiter; "g h" is no record yet
//! ```
//!
//! Record `i` is `bytes[ends[i - 1]..ends[i]]`, and the first one starts at zero. A comparison of
//! 64 bytes yields a mask of 64 bits, and its bits become places without a branch for each. The
//! code is chosen at run time: AVX-512, AVX2, or `memchr`, which finds one delimiter at a time.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

/// Replaces `ends` by the end of every record in `bytes`: the offset behind its delimiter. Bytes
/// behind the last delimiter belong to no record.
///
/// ```
/// let mut ends = Vec::new();
/// kernel::ends(b"ab\n\ncd", b'\n', &mut ends);
/// assert_eq!(ends, [3, 4]);
/// ```
///
/// # Panics
/// If `bytes` are 4 GiB or more: an end has 32 bits.
pub fn ends(bytes: &[u8], delimiter: u8, ends: &mut Vec<u32>) {
    assert!(u32::try_from(bytes.len()).is_ok(), "a block below 4 GiB");
    ends.clear();
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if x86::wide(bytes, delimiter, ends) || x86::narrow(bytes, delimiter, ends) {
        return;
    }
    push_each(bytes, 0, delimiter, ends);
}

/// The end of the first record in `bytes`, or `None` if there is no delimiter: the length of a
/// record that is looked up on its own.
///
/// It reads at most 64 bytes more than the record, up to a length of 256. `memchr` may read 160
/// bytes of a short record, and waits for lines that are not in the caches.
#[inline]
pub fn first_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let start = {
        let near = bytes.as_chunks::<{ x86::BLOCK }>().0.iter().take(NEAR);
        for (number, block) in near.clone().enumerate() {
            let found = x86::mask(block, delimiter);
            if found != 0 {
                return Some(number * x86::BLOCK + found.trailing_zeros() as usize + 1);
            }
        }
        near.len() * x86::BLOCK
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let start = 0;
    memchr::memchr(delimiter, &bytes[start..]).map(|place| start + place + 1)
}

/// Blocks that [`first_end`] looks at before it calls `memchr`, which is faster for long records.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const NEAR: usize = 4;

/// Appends the ends in `bytes[start..]`, one delimiter at a time.
fn push_each(bytes: &[u8], start: usize, delimiter: u8, ends: &mut Vec<u32>) {
    let found = memchr::memchr_iter(delimiter, &bytes[start..]);
    ends.extend(found.map(|place| (start + place + 1) as u32));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;
    use crate::patterns::Random;

    fn naive(bytes: &[u8], delimiter: u8) -> Vec<u32> {
        let places = (0..bytes.len()).filter(|&place| bytes[place] == delimiter);
        places.map(|place| place as u32 + 1).collect()
    }

    /// Compares all code that this machine can run.
    fn check(bytes: &[u8], delimiter: u8) {
        let expected = naive(bytes, delimiter);
        let mut found = vec![7; 3];
        ends(bytes, delimiter, &mut found);
        assert_eq!(found, expected);
        let first = expected.first().map(|&end| end as usize);
        assert_eq!(first_end(bytes, delimiter), first);
        found.clear();
        push_each(bytes, 0, delimiter, &mut found);
        assert_eq!(found, expected);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        for way in [x86::wide, x86::narrow] {
            found = Vec::new();
            if way(bytes, delimiter, &mut found) {
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn every_density_and_every_length() {
        let (lengths, step) = if cfg!(miri) { (130, 17) } else { (300, 1) };
        let mut random = Random::new(1);
        for density in few(&[1, 2, 3, 8, 30, 100, 1000]) {
            for len in (0..lengths)
                .step_by(step)
                .chain(few(&[4095, 4096, 4097, 9999]))
            {
                for delimiter in [0, b'\n', 0xff] {
                    let byte = |_| match random.below(density) {
                        0 => delimiter,
                        _ => random.next_u64() as u8,
                    };
                    let bytes: Vec<u8> = (0..len).map(byte).collect();
                    check(&bytes, delimiter);
                }
            }
        }
    }

    #[test]
    fn blocks_without_a_record() {
        check(b"", 0);
        check(b"abc", 0);
        check(&[0; 63], 1);
        check(&[0xff; 4200], b'\n');
    }
}
