//! Draws command lines and inputs that are likely to go wrong.

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

/// A command line, and what it reads.
pub struct Case {
    pub words: Vec<Vec<u8>>,
    /// The files `a`, `b` and `c`.
    pub files: [Vec<u8>; 3],
    /// Standard input.
    pub input: Vec<u8>,
    /// The options alone, if the inputs are to be sorted first, and then merged.
    pub merge: Option<Vec<Vec<u8>>>,
}

impl Case {
    pub fn draw(draw: &mut Draw) -> Case {
        let mut words: Vec<Vec<u8>> = Vec::new();
        let mut sort = Words {
            draw,
            words: &mut words,
        };
        let is_check = sort.order();
        let zero = sort.framing();
        let order = sort.words.clone();
        let merge = !is_check && sort.draw.one_in(12);
        if merge {
            let word = sort.draw.of(&["-m", "--merge"]);
            sort.push(word);
        }
        if !is_check && sort.draw.one_in(8) {
            sort.push("--debug");
        }
        sort.inputs(is_check || merge);
        let draw = sort.draw;
        let taste = draw.below(5);
        let mut text = || text(draw, taste, zero);
        let files = [text(), text(), text()];
        let input = text();
        Case {
            words,
            files,
            input,
            merge: merge.then_some(order),
        }
    }
}

struct Words<'a> {
    draw: &'a mut Draw,
    words: &'a mut Vec<Vec<u8>>,
}

impl Words<'_> {
    fn push(&mut self, word: impl AsRef<[u8]>) {
        self.words.push(word.as_ref().to_vec());
    }

    /// Keys and what they are read as. Returns whether nothing is sorted.
    fn order(&mut self) -> bool {
        let keys = [0, 0, 1, 1, 1, 2, 3][self.draw.below(7)];
        for _ in 0..keys {
            self.key();
        }
        if keys == 0 || self.draw.one_in(3) {
            self.letters();
        }
        if self.draw.one_in(3) {
            self.separator();
        }
        if self.draw.one_in(4) {
            let word = self.draw.of(&["-s", "--stable", "--stab"]);
            self.push(word);
        }
        let is_check = self.draw.one_in(6);
        if is_check {
            let words = [
                "-c",
                "-C",
                "--check",
                "--check=quiet",
                "--check=sil",
                "--check=diagnose-first",
            ];
            let word = self.draw.of(&words);
            self.push(word);
        }
        if self.draw.one_in(4) {
            let word = self.draw.of(&["-u", "--unique"]);
            self.push(word);
        }
        self.push("--random-source=salt");
        is_check
    }

    fn key(&mut self) {
        if self.draw.one_in(10) {
            return self.old_key();
        }
        let key = key(self.draw);
        match self.draw.below(4) {
            0 => {
                self.push("-k");
                self.push(key);
            }
            1 => self.push(format!("--key={key}")),
            2 => {
                let before = self.draw.of(&["b", "r", "f", "s"]);
                self.push(format!("-{before}k{key}"));
            }
            _ => self.push(format!("-k{key}")),
        }
    }

    fn old_key(&mut self) {
        let mut position = |sign: &str| {
            let draw = &mut *self.draw;
            let mut position = format!("{sign}{}", draw.below(4));
            if draw.one_in(2) {
                position += &format!(".{}", draw.below(4));
            }
            position + draw.of(&["", "", "b", "n", "r"])
        };
        let words = [position("+"), position("-")];
        self.push(&words[0]);
        if self.draw.one_in(2) {
            self.push(&words[1]);
        }
    }

    fn letters(&mut self) {
        let letters = letters(self.draw);
        if self.draw.one_in(5) {
            let words = [
                "--sort=numeric",
                "--sort=general",
                "--sort=human-numeric",
                "--sort=month",
                "--sort=version",
                "--sort=ran",
                "--numeric-sort",
                "--reverse",
                "--rever",
                "--ignore-case",
                "--dictionary-order",
                "--human-numeric-sort",
                "--month-sort",
                "--ignore-nonprinting",
                "--ignore-leading-blanks",
                "--version-sort",
            ];
            let word = self.draw.of(&words);
            self.push(word);
        } else if !letters.is_empty() {
            self.push(format!("-{letters}"));
        }
    }

    fn separator(&mut self) {
        let separators: [&[u8]; 12] = [
            b",", b":", b".", b"-", b" ", b"\t", b"\\0", b"\xff", b"=", b"a", b"ab", b"",
        ];
        let separator = self.draw.of(&separators);
        if self.draw.one_in(2) || separator.is_empty() {
            self.push("-t");
            self.push(separator);
        } else {
            self.push([b"-t", separator].concat());
        }
    }

    /// Returns the byte at the end of lines.
    fn framing(&mut self) -> u8 {
        if !self.draw.one_in(5) {
            return b'\n';
        }
        let word = self.draw.of(&["-z", "--zero-terminated", "--zero"]);
        self.push(word);
        0
    }

    fn inputs(&mut self, few: bool) {
        let inputs = [
            "a", "a b", "a b c", "a a", "", "-", "a -", "- a", "-- a", "a --", "missing",
        ];
        let count = if few { 4 } else { inputs.len() };
        let inputs = inputs[self.draw.below(count)];
        // Options may follow the inputs.
        let first = self.draw.one_in(3) && !inputs.contains("--");
        let mut words: Vec<Vec<u8>> = inputs.split_whitespace().map(Vec::from).collect();
        if first {
            words.append(self.words);
            *self.words = words;
        } else {
            self.words.append(&mut words);
        }
    }
}

fn letters(draw: &mut Draw) -> String {
    // One way to read the key, mostly; sometimes any, to find contradictions.
    let kind = draw.of(&["", "", "n", "n", "g", "h", "M", "V", "V", "R", "VR"]);
    let mut letters = kind.to_owned();
    for (letter, rare) in [("b", 3), ("f", 4), ("r", 3), ("d", 8), ("i", 8), ("n", 40)] {
        if draw.one_in(rare) {
            letters.push_str(letter);
        }
    }
    letters
}

fn key(draw: &mut Draw) -> String {
    if draw.one_in(40) {
        let wrong = [
            "", "0", "1.0", "1,", "1,0", "x", "1x", "1 ,2", "1,2,3", "-1", "1-2", "+1", "2,1.",
            " 1",
        ];
        return draw.of(&wrong).to_owned();
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

const NUMBERS: [&str; 24] = [
    "0", "-0", "00", "1", "-1", "01", "10", "12", "1.5", "-1.5", ".5", "5.", "-", "+1", ".", "100",
    "1234567", "1K", "2k", "3M", "1.5G", "1e5", "0x1p3", "-inf",
];
const WORDS: [&str; 24] = [
    "a", "A", "b", "B", "ab", "aB", "abc", "a-b", "a_b", "jan", "FEB", "Mar", "december", "JANx",
    "a1", "a10", "a2", "v1.2.3", "v1.10", "f.txt", "f~", ".hid", "ab\u{e9}", "",
];
const BYTES: &[u8] = b"\0\x01\t\r \x7f\x80\xff\n~!AZaz09.,:-=";

/// Bytes of an input; the last line may have no end.
fn text(draw: &mut Draw, taste: usize, end: u8) -> Vec<u8> {
    let count = [0, 1, 2, 3, 5, 9, 17][draw.below(7)];
    let mut text = Vec::new();
    for _ in 0..count {
        line(draw, taste, &mut text);
        text.push(end);
    }
    if draw.one_in(3) {
        text.pop();
    }
    text
}

fn line(draw: &mut Draw, taste: usize, text: &mut Vec<u8>) {
    for field in 0..[0, 1, 1, 2, 2, 3, 4][draw.below(7)] {
        if field > 0 {
            let gaps: [&[u8]; 8] = [b" ", b" ", b"  ", b"\t", b",", b":", b"=", b"\0"];
            text.extend(draw.of(&gaps));
        }
        match (taste, draw.below(4)) {
            (4, _) | (_, 0) => {
                let length = draw.below(6);
                text.extend((0..length).map(|_| BYTES[draw.below(BYTES.len())]));
            }
            (0 | 1, _) | (2, 1) => text.extend(draw.of(&NUMBERS).bytes()),
            _ => text.extend(draw.of(&WORDS).bytes()),
        }
    }
    if draw.one_in(10) {
        text.push(b'\r');
    }
}
