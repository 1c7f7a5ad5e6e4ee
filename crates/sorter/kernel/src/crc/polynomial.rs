//! Powers of x modulo the polynomial of CRC-32.
//!
//! Polynomials over bits are written as in CRC-32: the coefficient of x^0 is the highest bit. So a
//! multiplication by x is a shift to the right, and a bit that is shifted out (x^32) is replaced by
//! the rest of the polynomial.
#![cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]

/// x^32 modulo the polynomial of IEEE 802.3.
const IEEE: u32 = 0xedb8_8320;

/// The polynomial with all 33 coefficients, that of x^32 in the lowest bit.
pub(super) const WHOLE: u64 = 0x1_db71_0641;

/// x^64 divided by the polynomial, with 33 coefficients as above (Barrett's constant).
pub(super) const QUOTIENT: u64 = 0x1_f701_1641;

fn times_x(value: u32) -> u32 {
    (value >> 1) ^ (if value & 1 == 1 { IEEE } else { 0 })
}

/// The inverse of [`times_x`]. It exists because the polynomial is not divisible by x: the highest
/// bit of `IEEE` is set.
fn over_x(value: u32) -> u32 {
    let carry = value >> 31;
    ((value ^ (if carry == 1 { IEEE } else { 0 })) << 1) | carry
}

/// x^`exponent` modulo the polynomial; the exponent may be negative.
pub(super) fn power(exponent: i64) -> u32 {
    let one = 1 << 31;
    let step = if exponent < 0 { over_x } else { times_x };
    (0..exponent.unsigned_abs()).fold(one, |value, _| step(value))
}

/// The factor for a 64-bit word whose lowest coefficient is x^`behind`: the product is the word's
/// part of the CRC.
///
/// The CRC is that of the record times x^32. A carry-less product of two reflected 64-bit words is
/// one bit too low, a factor x; hence 31. The factor is in the upper half of its word.
pub(super) fn factor(behind: i64) -> u64 {
    u64::from(power(behind + 31)) << 32
}

/// The factors of the 64-bit words of a record from its last word on, which has no bits behind it.
pub(super) fn factors() -> impl Iterator<Item = u64> {
    let word = |first: &u32| Some((0..64).fold(*first, |value, _| times_x(value)));
    std::iter::successors(Some(power(31)), word).map(|power| u64::from(power) << 32)
}

/// The factor that brings coefficients from x^64 on down to the lower 64: x^64, less one as above.
pub(super) fn fold() -> u64 {
    u64::from(power(63)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_go_both_ways() {
        assert_eq!(power(0), 1 << 31);
        assert_eq!(power(31), 1);
        assert_eq!(power(32), IEEE);
        for exponent in 1..100 {
            let product = (0..exponent).fold(power(-exponent), |value, _| times_x(value));
            assert_eq!(product, power(0));
        }
    }

    #[test]
    fn factors_go_from_the_end() {
        let expected = (0..20).map(|word| factor(64 * word));
        assert!(factors().take(20).eq(expected));
    }
}
