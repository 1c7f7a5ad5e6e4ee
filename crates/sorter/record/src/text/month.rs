//! English names of months (`-M`).
//!
//! ```text
//! "  february 3"     skip blanks, compare three letters in any case      2
//! "Febr", "FEB"      the same                                            2
//! "fe", "x", ""      no month: before all others                         0
//! ```

use super::scan::past_blanks;

const NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The number of the month that a key starts with, from 1; 0 if there is none.
pub(super) fn month(key: &[u8]) -> u8 {
    let front = past_blanks(key).first_chunk::<3>();
    front.and_then(|letters| of_name(letters)).unwrap_or(0)
}

/// The number of the month that these letters are the name of, or three of its first letters or more.
pub(super) fn of_name(letters: &[u8]) -> Option<u8> {
    let begins = |name: &&str| {
        let front = name.as_bytes().get(..letters.len());
        letters.len() >= 3 && front.is_some_and(|front| front.eq_ignore_ascii_case(letters))
    };
    let place = NAMES.iter().position(begins)?;
    Some(place as u8 + 1)
}
