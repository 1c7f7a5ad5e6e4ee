//! Decimals between two numbers of extended precision, sorted beside GNU, which rounds with strtold.

use num_bigint::BigUint;

use super::draw::{Draw, Options};
use super::gnu::{assert_same_output, is_here, salt_file};

/// The exact decimal digits of `value * 2^exponent`, and one less and one more in a further digit.
fn around(value: u128, exponent: i64) -> [String; 3] {
    let size = exponent.unsigned_abs() as u32;
    let (digits, tens) = if exponent >= 0 {
        (BigUint::from(value) << size, 0)
    } else {
        (
            BigUint::from(value) * BigUint::from(5_u8).pow(size),
            exponent,
        )
    };
    let digits: BigUint = digits * 10_u8;
    let write = |digits: BigUint| format!("{digits}e{}", tens - 1);
    [&digits - 1_u8, digits.clone(), digits + 1_u8].map(write)
}

/// An exponent: of a number near the smallest, near the largest, near 1, or any.
fn exponent(draw: &mut Draw) -> i64 {
    match draw.below(4) {
        0 => -16_510 + draw.below(130) as i64,
        1 => 16_315 + draw.below(6) as i64,
        2 => -100 + draw.below(140) as i64,
        _ => -16_400 + draw.below(32_700) as i64,
    }
}

#[test]
fn ties_are_rounded_as_by_gnu() {
    if !is_here() {
        return;
    }
    let salt = salt_file("floats");
    let options = Options {
        global: "g".to_owned(),
        unique: true,
        ..Options::default()
    };
    let mut draw = Draw(3);
    for _ in 0..60 {
        let exponent = exponent(&mut draw);
        let mantissa = u128::from(draw.next() | 1 << 63);
        let even = mantissa & !1;
        let halves = [
            2 * even,
            2 * even + 1,
            2 * even + 2,
            2 * even + 3,
            2 * even + 4,
        ];
        let values = halves.iter().flat_map(|&value| around(value, exponent));
        let mut lines: Vec<Vec<u8>> = values.map(String::into_bytes).collect();
        for place in (1..lines.len()).rev() {
            lines.swap(place, draw.below(place + 1));
        }
        assert_same_output(&options, &salt, &lines);
    }
}
