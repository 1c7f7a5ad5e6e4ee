//! Names with version numbers (`-V`).
//!
//! The order is that of Debian's versions, with rules for file names around it:
//!
//! ```text
//! ""   "."   "..   ".hidden"   "others"        first by these classes
//!
//! app-1.10.tar.gz   ->  app-1.10  then  app-1.10.tar.gz      then without suffixes, then with them
//!
//! app-1.10          ->  "app-" 1 "." 10                      texts and numbers in turn
//!                       p < -                                letters before others, `~` before all,
//!                       "a" < "ab", "a~" < "a"               even before the end
//! ```
//!
//! A text may be empty, and a number absent, which is 0. A version is encoded as
//!
//! ```text
//! text      a byte for each of its bytes, END; `~` < END < letters < others
//! number    the number of its digits without zeros before them, then the digits in pairs
//! ..        and so on in turn; END after the last number
//! ```
//!
//! An ended version and one that goes on with a text thus compare END with the text's first byte.

use super::number::digits;
use super::words::Sink;

const TILDE: u8 = 0;
const END: u8 = 1;
/// The number of digits from which on it needs eight bytes more.
const LONG: usize = 0xFF;

/// The bytes of texts in their order: `~`, [`END`], letters, others. Digits have none.
static RANKS: [u8; 256] = ranks();

const fn ranks() -> [u8; 256] {
    let mut ranks = [0; 256];
    let mut next = END + 1;
    let mut letters = true;
    loop {
        let mut byte = 0;
        while byte < 256 {
            let symbol = byte as u8;
            let counts = symbol != b'~' && !symbol.is_ascii_digit();
            if counts && symbol.is_ascii_alphabetic() == letters {
                ranks[byte] = next;
                next += 1;
            }
            byte += 1;
        }
        if !letters {
            break;
        }
        letters = false;
    }
    ranks[b'~' as usize] = TILDE;
    ranks
}

/// Writes bytes that compare as versions do.
pub(super) fn encode(key: &[u8], out: &mut impl Sink) {
    let class = match key {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    out.push(class);
    if class > 2 {
        encode_version(&key[..without_suffixes(key)], out);
        if !out.is_full() {
            encode_version(key, out);
        }
    }
}

/// The length of a name without its suffixes such as `.tar.gz`. A hidden name may be all suffixes.
pub(super) fn without_suffixes(name: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let length = at;
        while let Some(suffix) = suffix(&name[at..]) {
            at += suffix;
        }
        if at >= name.len() {
            return length;
        }
        at += 1;
    }
}

/// The length of the suffix at the start of `text`: a point, a letter or `~`, then also digits.
fn suffix(text: &[u8]) -> Option<usize> {
    let [b'.', first, rest @ ..] = text else {
        return None;
    };
    let starts = first.is_ascii_alphabetic() || *first == b'~';
    let goes_on = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'~';
    starts.then(|| 2 + rest.iter().take_while(goes_on).count())
}

fn encode_version(mut version: &[u8], out: &mut impl Sink) {
    while !version.is_empty() && !out.is_full() {
        let text = version.iter().take_while(|byte| !byte.is_ascii_digit());
        let text = text.count();
        for &byte in &version[..text] {
            out.push(RANKS[usize::from(byte)]);
            if out.is_full() {
                return;
            }
        }
        out.push(END);
        let number = digits(&version[text..]);
        encode_number(number, out);
        version = &version[text + number.len()..];
    }
    out.push(END);
}

/// Writes bytes that compare as the numbers of these digits do.
pub(super) fn encode_number(number: &[u8], out: &mut impl Sink) {
    let zeros = number.iter().take_while(|&&digit| digit == b'0').count();
    let number = &number[zeros..];
    if number.len() < LONG {
        out.push(number.len() as u8);
    } else {
        out.push(LONG as u8);
        out.push_all(&(number.len() as u64).to_be_bytes());
    }
    for pair in number.chunks(2) {
        out.push(
            pair.iter()
                .fold(0, |pair, digit| 10 * pair + (digit - b'0')),
        );
        if out.is_full() {
            return;
        }
    }
}

/// The most bytes that a key of so many bytes is encoded in: a text of one byte and a number of one
/// digit become four bytes, twice.
pub(super) fn most_bytes(key: usize) -> usize {
    key.saturating_mul(4).saturating_add(16)
}
