//! English names of months (`-M`).
//!
//! ```text
//! "  february 3"     skip blanks, compare three letters in any case      2
//! "Febr", "FEB"      the same                                            2
//! "fe", "x", ""      no month: before all others                         0
//! ```

use super::scan::past_blanks;

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// The number of the month that a key starts with, from 1; 0 if there is none.
pub(super) fn month(key: &[u8]) -> u8 {
    let Some(name) = past_blanks(key).first_chunk::<3>() else {
        return 0;
    };
    let name = name.map(|letter| letter.to_ascii_lowercase());
    let place = MONTHS.iter().position(|month| **month == name);
    place.map_or(0, |place| place as u8 + 1)
}
