//! Bytes that do not count (`-d`, `-i`), and letters of one case (`-f`).
//!
//! ```text
//!           x-Ray, 2    -d  xRay 2    -i  x-Ray, 2    -f  X-RAY, 2    -df  XRAY 2
//! ```

/// The bytes that count with `-d`: blanks, letters, digits.
static DICTIONARY: [bool; 256] = table(true);
/// The bytes that count with `-i`: printable ASCII.
static PRINTABLE: [bool; 256] = table(false);

const fn table(dictionary: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = if dictionary {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t' | b'\n')
        } else {
            byte.is_ascii_graphic() || byte == b' '
        };
        byte += 1;
    }
    table
}

/// The bytes of a key that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    All,
    Dictionary,
    Printable,
}

/// What is done to a key's bytes before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    keep: Keep,
    fold: bool,
}

impl Edit {
    /// The edit of these options.
    pub(super) fn new(dictionary: bool, printable: bool, fold: bool) -> Edit {
        let keep = match (dictionary, printable) {
            (true, _) => Keep::Dictionary,
            (_, true) => Keep::Printable,
            _ => Keep::All,
        };
        Edit { keep, fold }
    }

    /// Whether no byte is left out.
    pub(super) fn keeps_all(self) -> bool {
        self.keep == Keep::All
    }

    /// Whether letters become capital letters.
    pub(super) fn folds(self) -> bool {
        self.fold
    }

    /// The bytes that count, as they count.
    pub(super) fn apply(self, key: &[u8]) -> impl Iterator<Item = u8> {
        let kept = match self.keep {
            Keep::All => None,
            Keep::Dictionary => Some(&DICTIONARY),
            Keep::Printable => Some(&PRINTABLE),
        };
        let counts = move |byte: &u8| kept.is_none_or(|kept| kept[usize::from(*byte)]);
        let fold = self.fold;
        let change = move |byte: u8| {
            if fold {
                byte.to_ascii_uppercase()
            } else {
                byte
            }
        };
        key.iter().copied().filter(counts).map(change)
    }
}

/// Makes the small letters among eight bytes capital letters, all at once.
#[inline]
pub(super) fn fold_eight(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let low = bytes & !HIGH;
    // The high bit of each sum says whether its byte is at least `a`, or past `z`.
    let from_a = low + (0x80 - b'a' as u64) * EACH;
    let past_z = low + (0x7F - b'z' as u64) * EACH;
    let small = !bytes & (from_a ^ past_z) & HIGH;
    bytes ^ small >> 2
}

/// Whether two texts are the same but for small and capital letters. Characters that a language does not see count.
pub(super) fn is_same_folded(a: &[u8], b: &[u8]) -> bool {
    match (std::str::from_utf8(a), std::str::from_utf8(b)) {
        (Ok(a), Ok(b)) => {
            let folded = |text: &str| {
                text.chars()
                    .flat_map(char::to_lowercase)
                    .collect::<String>()
            };
            folded(a) == folded(b)
        }
        _ => a.eq_ignore_ascii_case(b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::is_blank;
    use super::*;

    #[test]
    fn eight_bytes_fold_as_each_does() {
        for byte in 0..=255_u8 {
            let bytes = [byte, b'a', byte, b'z', byte, b'{', b'`', byte];
            let expected = bytes.map(|byte| byte.to_ascii_uppercase());
            let folded = fold_eight(u64::from_be_bytes(bytes));
            assert_eq!(folded.to_be_bytes(), expected, "{byte}");
        }
    }

    #[test]
    fn the_dictionary_has_the_blanks_of_fields() {
        for byte in 0..=255_u8 {
            let expected = byte.is_ascii_alphanumeric() || is_blank(byte);
            assert_eq!(DICTIONARY[usize::from(byte)], expected, "{byte}");
        }
    }
}
