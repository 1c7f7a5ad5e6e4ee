//! Draws options and lines that are likely to go wrong.

use record::Ties;
use record::text::{KeyOptions, TextKey, TextOrder};

/// SplitMix64: the same cases in every run.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn of<'a, T: ?Sized>(&mut self, values: &[&'a T]) -> &'a T {
        values[self.below(values.len())]
    }
}

/// The salt of drawn orders.
pub const SALT: [u8; 16] = *b"sixteen salty by";

/// Options as the command line gives them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub keys: Vec<String>,
    pub global: String,
    pub separator: Option<u8>,
    pub stable: bool,
    pub unique: bool,
    pub zero: bool,
}

impl Options {
    pub fn draw(draw: &mut Draw) -> Options {
        let mut options = Options::default();
        let count = [0, 1, 1, 1, 2, 2, 3][draw.below(7)];
        options.keys = (0..count).map(|_| key(draw)).collect();
        options.global = if count == 0 || draw.one_in(3) {
            letters(draw)
        } else {
            String::new()
        };
        if draw.one_in(2) {
            let bytes = [
                b',', b':', b'.', b'-', b' ', b'\t', 0, 0xFF, b'0', b'a', b'\n',
            ];
            options.separator = Some(bytes[draw.below(bytes.len())]);
        }
        options.stable = draw.one_in(4);
        options.unique = draw.one_in(6);
        options.zero = draw.one_in(4);
        options
    }

    /// The order, or the reason against it.
    pub fn order(&self) -> Result<TextOrder, String> {
        let keys = self.keys.iter().map(|key| match key.split_once(' ') {
            Some((plus, minus)) => TextKey::obsolete(plus, Some(minus)),
            None if key.starts_with('+') => TextKey::obsolete(key, None),
            None => key.parse(),
        });
        let keys: Result<Vec<TextKey>, _> = keys.collect();
        let keys = keys.map_err(|error| error.to_string())?;
        let global: KeyOptions = self.global.parse().map_err(|_| "letters".to_owned())?;
        let ties = if self.stable || self.unique {
            Ties::Position
        } else {
            Ties::Record
        };
        let order = TextOrder::new(keys, global, self.separator, ties, Some(SALT));
        order.map_err(|error| error.to_string())
    }

    pub fn has_floats(&self) -> bool {
        self.global.contains('g') || self.keys.iter().any(|key| key.contains('g'))
    }

    pub fn end(&self) -> u8 {
        if self.zero { 0 } else { b'\n' }
    }
}

fn letters(draw: &mut Draw) -> String {
    // One way to read the key, mostly; sometimes any, to find contradictions.
    let kind = draw.of(&["", "", "n", "n", "g", "g", "h", "M", "V", "V", "R", "VR"]);
    let mut letters = kind.to_owned();
    for (letter, rare) in [("b", 3), ("f", 4), ("r", 3), ("d", 8), ("i", 8), ("n", 40)] {
        if draw.one_in(rare) {
            letters.push_str(letter);
        }
    }
    letters
}

/// A key in the old form, perhaps with its end after a blank.
fn obsolete_key(draw: &mut Draw) -> String {
    let position = |draw: &mut Draw| {
        let mut position = draw.below(4).to_string();
        if draw.one_in(2) {
            position += &format!(".{}", draw.below(4));
        }
        position + draw.of(&["", "", "b", "n", "r"])
    };
    let plus = position(draw);
    if draw.one_in(3) {
        return format!("+{plus}");
    }
    format!("+{plus} -{}", position(draw))
}

fn key(draw: &mut Draw) -> String {
    if draw.one_in(12) {
        return obsolete_key(draw);
    }
    let mut key = (1 + draw.below(4)).to_string();
    if draw.one_in(3) {
        key += &format!(".{}", 1 + draw.below(5));
    }
    if draw.one_in(2) {
        key += &letters(draw);
    }
    if draw.one_in(2) {
        key += &format!(",{}", 1 + draw.below(4));
        if draw.one_in(3) {
            key += &format!(".{}", draw.below(6));
        }
        if draw.one_in(3) {
            key += draw.of(&["b", "r", "f", "n", "bf"]);
        }
    }
    key
}

const NUMBERS: [&str; 40] = [
    "0",
    "-0",
    "00",
    "1",
    "-1",
    "01",
    "10",
    "12",
    "-12",
    "1.5",
    "1.50",
    "-1.5",
    ".5",
    "-.5",
    "5.",
    "-",
    "--1",
    "+1",
    "+",
    ".",
    "-.",
    "100",
    "99",
    "1234567",
    "12345678901234",
    "0.0001",
    "1000",
    "1001",
    "999999999999",
    "9.99",
    "1,000",
    "1K",
    "2k",
    "3M",
    "-3M",
    "1.5G",
    "5.K",
    "0K",
    "1m",
    "7Ki",
];
const FLOATS: [&str; 40] = [
    "1e5",
    "1e-5",
    "1E5",
    "-1e5",
    "1e",
    "1e+",
    "1e400",
    "1e5000",
    "-1e5000",
    "1e-5000",
    "0x1p3",
    "0x",
    "0xg",
    "0x.8",
    "0x1.8p-1",
    "0X1P+4",
    "inf",
    "-inf",
    "INFINITY",
    "infx",
    "nan",
    "-nan",
    "NaN(5)",
    "nan(x)",
    "nan(0x10)",
    "in",
    "1e-4950",
    "3.6e-4951",
    "1.8e-4951",
    "1e4932",
    "1.2e4932",
    "18446744073709551615",
    "18446744073709551617",
    "9223372036854775809.5",
    "\u{b}7",
    "e5",
    "0.1",
    "0.10000000000000000000001",
    "0x123456789abcdef01",
    "0e99999999999999999999",
];
const NAMES: [&str; 40] = [
    "a", "A", "b", "ab", "a0", "a00", "a1", "a01", "a10", "a9", "a~", "~", "a-", "a.b", ".", "..",
    ".a", "...", ".a.b", "a.tar.gz", "a.tar.Z~", "a.0b", "a.b0", "a1.2.3", "a1.10.3", "a0b", "a0~",
    "jan", "JAN", "  feb", "Mar3", "ja", "december", "dez", "1-2", "z.~1~", "foo.c", "foo.cc",
    "foo1.c", "_",
];
const SYMBOLS: [&[u8]; 20] = [
    b" ", b" ", b"  ", b"\t", b",", b",", b":", b".", b"-", b"\0", b"\xFF", b"\x80", b"~", b"0",
    b"a", b"Z", b"\x01", b"(", b"9", b"\r",
];

/// A line of a few words, with a bias to those of `taste`.
pub fn line(draw: &mut Draw, taste: usize, end: u8) -> Vec<u8> {
    let mut line = Vec::new();
    for _ in 0..draw.below(7) {
        match if draw.one_in(3) { draw.below(5) } else { taste } {
            0 => line.extend_from_slice(draw.of(&NUMBERS).as_bytes()),
            1 => line.extend_from_slice(draw.of(&FLOATS).as_bytes()),
            2 => line.extend_from_slice(draw.of(&NAMES).as_bytes()),
            3 => {
                let digits = draw.next() >> draw.below(64);
                line.extend_from_slice(digits.to_string().as_bytes());
            }
            _ => {
                for _ in 0..draw.below(12) {
                    line.extend_from_slice(draw.of(&SYMBOLS));
                }
            }
        }
        if draw.one_in(2) {
            line.extend_from_slice(draw.of(&SYMBOLS));
        }
        if end == 0 && draw.one_in(8) {
            line.push(b'\n');
        }
    }
    line.retain(|&byte| byte != end);
    line
}
