//! Keys of an order of one's own.

use std::cmp::Reverse;

/// A key that records are compared by: its bytes, compared from the first on, order like the keys
/// themselves.
///
/// Numbers, text, arrays of bytes, options, tuples and [`Reverse`] are keys. A key of one's own writes
/// its parts one behind the other:
///
/// ```
/// use gristmill::Key;
/// struct Name { family: String, given: String }
/// impl Key for Name {
///     fn write(&self, out: &mut Vec<u8>) {
///         self.family.write(out);
///         self.given.write(out);
///     }
/// }
/// ```
pub trait Key {
    /// Adds the bytes of this key. No key may be the beginning of another one, so that keys can be
    /// written one behind the other.
    fn write(&self, out: &mut Vec<u8>);
}

macro_rules! unsigned {
    ($($number:ty),*) => { $(
        impl Key for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
    )* };
}

macro_rules! signed {
    ($($number:ty),*) => { $(
        impl Key for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&(self ^ <$number>::MIN).to_be_bytes());
            }
        }
    )* };
}

/// IEEE 754's total order: -0 before 0, NaN at the ends.
macro_rules! float {
    ($($number:ty: $bits:ty),*) => { $(
        impl Key for $number {
            fn write(&self, out: &mut Vec<u8>) {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = self.to_bits();
                let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                out.extend_from_slice(&ordered.to_be_bytes());
            }
        }
    )* };
}

unsigned!(u8, u16, u32, u64, u128, usize);
signed!(i8, i16, i32, i64, i128, isize);
float!(f32: u32, f64: u64);

impl Key for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
}

impl Key for char {
    fn write(&self, out: &mut Vec<u8>) {
        u32::from(*self).write(out);
    }
}

/// As bytes.
impl Key for str {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_bytes().write(out);
    }
}

impl Key for String {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_bytes().write(out);
    }
}

/// 0 ends the bytes, and a 0 among them is followed by 255.
impl Key for [u8] {
    fn write(&self, out: &mut Vec<u8>) {
        for part in self.split_inclusive(|&byte| byte == 0) {
            out.extend_from_slice(part);
            if part.last() == Some(&0) {
                out.push(0xff);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }
}

impl Key for Vec<u8> {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_slice().write(out);
    }
}

impl<const N: usize> Key for [u8; N] {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

impl<K: Key> Key for Reverse<K> {
    fn write(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        self.0.write(out);
        out[begin..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// `None` is first.
impl<K: Key> Key for Option<K> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        if let Some(key) = self {
            key.write(out);
        }
    }
}

macro_rules! tuple {
    ($($part:ident . $number:tt),*) => {
        impl<$($part: Key),*> Key for ($($part,)*) {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$number.write(out);)*
            }
        }
    };
}

tuple!(A.0);
tuple!(A.0, B.1);
tuple!(A.0, B.1, C.2);
tuple!(A.0, B.1, C.2, D.3);

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    fn bytes(key: &impl Key) -> Vec<u8> {
        let mut out = Vec::new();
        key.write(&mut out);
        out
    }

    #[track_caller]
    fn agree<K: Key + PartialOrd>(keys: &[K]) {
        for (number, a) in keys.iter().enumerate() {
            for b in &keys[number..] {
                let (a_bytes, b_bytes) = (bytes(a), bytes(b));
                assert_eq!(a_bytes.cmp(&b_bytes), a.partial_cmp(b).unwrap());
                let is_front = b_bytes.starts_with(&a_bytes) || a_bytes.starts_with(&b_bytes);
                assert_eq!(is_front, a.partial_cmp(b) == Some(Ordering::Equal));
            }
        }
    }

    #[test]
    fn bytes_order_like_keys() {
        agree(&[0_u16, 1, 255, 256, u16::MAX]);
        agree(&[i64::MIN, -256, -1, 0, 1, 300, i64::MAX]);
        agree(&[f64::NEG_INFINITY, -1.5, -1e-300, 0.0, 2.25, f64::INFINITY]);
        agree(&["", "\0", "\0a", "\0\0", "a", "a\0", "a\0b", "ab", "b"].map(str::to_owned));
        agree(&[None, Some(0_u8), Some(9)]);
        agree(&[("a", 2), ("a", 10), ("ab", 1), ("b", 0)]);
        agree(&["", "a", "ab", "b"].map(Reverse));
        agree(&[
            (Reverse("b"), 1.5_f32),
            (Reverse("ab"), 0.0),
            (Reverse("a"), -1.0),
        ]);
        agree(&[false, true]);
        agree(&['a', 'ä', '\u{10ffff}']);
    }
}
