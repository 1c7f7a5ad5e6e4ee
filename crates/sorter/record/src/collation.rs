//! Text of one alphabet in the order of another: ASCII in the order of EBCDIC, and the reverse.
//!
//! ```text
//! ASCII order    space  digits  capital letters  small letters
//! EBCDIC order   space  small letters  capital letters  digits
//! ```
//!
//! Bytes compare as the bytes that they become when the text is translated. Both alphabets are single
//! bytes and translate one to one (EBCDIC against ISO 8859-1), so distinct bytes stay distinct. Code
//! pages 037 and 1047 are the same but for `[ ] ^`, the not sign, the diaeresis and the capital Y
//! with an acute accent.

use std::cmp::Ordering;

/// The translation that a key is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collation {
    /// ASCII text in the order of EBCDIC, code page 037.
    Ebcdic037,
    /// ASCII text in the order of EBCDIC, code page 1047.
    Ebcdic1047,
    /// EBCDIC text, code page 037, in the order of ASCII.
    Ascii037,
    /// EBCDIC text, code page 1047, in the order of ASCII.
    Ascii1047,
}

/// A translation, by byte.
type Table = [u8; 256];

impl Collation {
    /// Every collation, with the name of its type.
    pub(crate) const NAMES: [(&'static str, Collation); 4] = [
        ("as-ebcdic", Collation::Ebcdic037),
        ("as-ebcdic1047", Collation::Ebcdic1047),
        ("as-ascii", Collation::Ascii037),
        ("as-ascii1047", Collation::Ascii1047),
    ];

    /// At most eight bytes as they compare, left-aligned in a word.
    #[inline]
    pub(crate) fn word(self, bytes: &[u8]) -> u64 {
        let (table, mut word) = (self.table(), [0; 8]);
        for (place, &byte) in word.iter_mut().zip(bytes) {
            *place = table[usize::from(byte)];
        }
        u64::from_be_bytes(word)
    }

    /// The order of two strings of bytes.
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let table = self.table();
        let translate = |byte: &u8| table[usize::from(*byte)];
        a.iter().map(translate).cmp(b.iter().map(translate))
    }

    /// The byte that each byte compares as.
    fn table(self) -> &'static Table {
        match self {
            Collation::Ebcdic037 => &TO_037,
            Collation::Ebcdic1047 => &TO_1047,
            Collation::Ascii037 => &FROM_037,
            Collation::Ascii1047 => &FROM_1047,
        }
    }
}

static TO_037: Table = TABLE_037;

/// ISO 8859-1 in EBCDIC, code page 037: IBM's table CP00037, sixteen bytes a line.
#[rustfmt::skip]
const TABLE_037: Table = [
    0x00, 0x01, 0x02, 0x03, 0x37, 0x2D, 0x2E, 0x2F, 0x16, 0x05, 0x25, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
    0x10, 0x11, 0x12, 0x13, 0x3C, 0x3D, 0x32, 0x26, 0x18, 0x19, 0x3F, 0x27, 0x1C, 0x1D, 0x1E, 0x1F,
    0x40, 0x5A, 0x7F, 0x7B, 0x5B, 0x6C, 0x50, 0x7D, 0x4D, 0x5D, 0x5C, 0x4E, 0x6B, 0x60, 0x4B, 0x61,
    0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0x7A, 0x5E, 0x4C, 0x7E, 0x6E, 0x6F,
    0x7C, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6,
    0xD7, 0xD8, 0xD9, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xBA, 0xE0, 0xBB, 0xB0, 0x6D,
    0x79, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xC0, 0x4F, 0xD0, 0xA1, 0x07,
    0x20, 0x21, 0x22, 0x23, 0x24, 0x15, 0x06, 0x17, 0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x09, 0x0A, 0x1B,
    0x30, 0x31, 0x1A, 0x33, 0x34, 0x35, 0x36, 0x08, 0x38, 0x39, 0x3A, 0x3B, 0x04, 0x14, 0x3E, 0xFF,
    0x41, 0xAA, 0x4A, 0xB1, 0x9F, 0xB2, 0x6A, 0xB5, 0xBD, 0xB4, 0x9A, 0x8A, 0x5F, 0xCA, 0xAF, 0xBC,
    0x90, 0x8F, 0xEA, 0xFA, 0xBE, 0xA0, 0xB6, 0xB3, 0x9D, 0xDA, 0x9B, 0x8B, 0xB7, 0xB8, 0xB9, 0xAB,
    0x64, 0x65, 0x62, 0x66, 0x63, 0x67, 0x9E, 0x68, 0x74, 0x71, 0x72, 0x73, 0x78, 0x75, 0x76, 0x77,
    0xAC, 0x69, 0xED, 0xEE, 0xEB, 0xEF, 0xEC, 0xBF, 0x80, 0xFD, 0xFE, 0xFB, 0xFC, 0xAD, 0xAE, 0x59,
    0x44, 0x45, 0x42, 0x46, 0x43, 0x47, 0x9C, 0x48, 0x54, 0x51, 0x52, 0x53, 0x58, 0x55, 0x56, 0x57,
    0x8C, 0x49, 0xCD, 0xCE, 0xCB, 0xCF, 0xCC, 0xE1, 0x70, 0xDD, 0xDE, 0xDB, 0xDC, 0x8D, 0x8E, 0xDF,
];

/// The bytes of EBCDIC that code page 1047 exchanges.
const EXCHANGED_IN_1047: [(u8, u8); 3] = [(0x5F, 0xB0), (0xAD, 0xBA), (0xBB, 0xBD)];

static TO_1047: Table = TABLE_1047;

const TABLE_1047: Table = {
    let (mut table, mut byte) = (TABLE_037, 0);
    while byte < table.len() {
        let mut pair = 0;
        while pair < EXCHANGED_IN_1047.len() {
            let (one, other) = EXCHANGED_IN_1047[pair];
            if TABLE_037[byte] == one {
                table[byte] = other;
            } else if TABLE_037[byte] == other {
                table[byte] = one;
            }
            pair += 1;
        }
        byte += 1;
    }
    table
};

static FROM_037: Table = inverse(&TABLE_037);
static FROM_1047: Table = inverse(&TABLE_1047);

/// The translation back.
const fn inverse(table: &Table) -> Table {
    let (mut inverse, mut byte) = ([0; 256], 0);
    while byte < table.len() {
        inverse[table[byte] as usize] = byte as u8;
        byte += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_are_one_to_one_and_back() {
        for (to, from) in [
            (Collation::Ebcdic037, Collation::Ascii037),
            (Collation::Ebcdic1047, Collation::Ascii1047),
        ] {
            for byte in 0..=255_u8 {
                let there = to.table()[usize::from(byte)];
                assert_eq!(from.table()[usize::from(there)], byte, "{to:?}");
            }
        }
    }

    #[test]
    fn known_letters_are_at_their_places() {
        let place = |collation: Collation, byte: u8| collation.table()[usize::from(byte)];
        for (byte, both) in [
            (b' ', 0x40),
            (b'a', 0x81),
            (b'Z', 0xE9),
            (b'0', 0xF0),
            (b'{', 0xC0),
        ] {
            assert_eq!(place(Collation::Ebcdic037, byte), both);
            assert_eq!(place(Collation::Ebcdic1047, byte), both);
        }
        let brackets = [
            (b'[', 0xBA, 0xAD),
            (b']', 0xBB, 0xBD),
            (b'^', 0xB0, 0x5F),
            (0xAC, 0x5F, 0xB0),
        ];
        for (byte, old, new) in brackets {
            assert_eq!(place(Collation::Ebcdic037, byte), old);
            assert_eq!(place(Collation::Ebcdic1047, byte), new);
        }
    }
}
