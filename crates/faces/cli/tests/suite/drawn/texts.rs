//! Formats, and records of them that are likely to go wrong.

use super::Rng;
use super::order::{Number, Order, Record, Value};
use super::pieces::{LANGUAGES, PIECES, VARIANTS};

/// Numbers of columns, and ten times their values; in lines one that is empty is 0.
const NUMBERS: [(&str, i64); 10] = [
    ("0", 0),
    ("1", 10),
    ("01", 10),
    ("-2", -20),
    ("0.5", 5),
    ("2", 20),
    ("10", 100),
    ("3.0", 30),
    ("-0", 0),
    ("7", 70),
];

/// Lengths around which buffers end.
const EDGES: [usize; 9] = [
    4 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    3 << 20,
    4 << 20,
];

/// The most that a length of two bytes counts, less the columns before.
const MOST_COUNTED: usize = 32_000;

/// A kind of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// With fields between commas, or whole.
    Lines {
        end: u8,
        has_fields: bool,
        lines: OfRecord,
    },
    Csv {
        has_header: bool,
    },
    Tsv {
        has_header: bool,
    },
    Json,
    Fixed {
        pad: usize,
    },
    Gensort,
    /// Records with their length in front: the word, its bytes, whether the largest is first, and
    /// whether it counts itself.
    Counted(&'static str, usize, bool, bool),
    Pairs,
}

/// The lines of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfRecord {
    One,
    /// Those from one that begins with [`START`] to the next.
    Started,
    Two,
}

/// Begins records of several lines, and is nowhere else.
const START: u8 = b'@';

use Format::{Counted, Csv, Fixed, Gensort, Json, Lines, Pairs, Tsv};

/// How records are drawn.
pub(super) struct Taste {
    pub format: Format,
    /// Pieces of their texts.
    pieces: Vec<&'static [u8]>,
    most_pieces: usize,
    /// Keys: their columns, whether each is a number.
    keys: Vec<usize>,
    /// Of three columns the second may be a number.
    is_number: bool,
    /// Whether [`NULL`] stands for a missing number.
    has_null: bool,
    /// Whether a line without a number there has a mistake.
    is_checked: bool,
    /// Lines on top that begin with [`MARK`], and whether a line without it follows, of lines.
    marked: usize,
    is_topped: bool,
    pub order: Order,
}

/// A word for a missing number.
const NULL: &str = "NA";

/// No record begins so.
const MARK: &str = "@head";

impl Format {
    fn draw(draw: &mut Rng) -> Format {
        let has_header = draw.u8(0..5) > 0;
        match draw.u8(0..18) {
            number @ 0..8 => {
                let lines = match draw.u8(0..8) {
                    0 => OfRecord::Started,
                    1 => OfRecord::Two,
                    _ => OfRecord::One,
                };
                let has_nul = lines != OfRecord::One || draw.u8(0..4) == 0;
                Lines {
                    end: if has_nul { 0 } else { b'\n' },
                    has_fields: number >= 5,
                    lines,
                }
            }
            8..11 => Csv { has_header },
            11 => Tsv { has_header },
            12 | 13 => Json,
            14 => Fixed {
                pad: if draw.bool() { 0 } else { draw.usize(0..30) },
            },
            15 => Gensort,
            16 => [
                Counted("rdw", 2, true, true),
                Counted("varlen:u32le", 4, false, false),
                Counted("varlen:u16be", 2, true, false),
            ][draw.usize(0..3)],
            _ => Pairs,
        }
    }

    pub(super) fn words(self) -> Vec<String> {
        let name = match self {
            Lines { end, lines, .. } => {
                let words: &[&str] = match lines {
                    OfRecord::Started => &["--record-start", "@"],
                    OfRecord::Two => &["--record-lines", "2"],
                    OfRecord::One if end == 0 => &["-z"],
                    OfRecord::One => &[],
                };
                return words.iter().map(|&word| word.to_owned()).collect();
            }
            Csv { .. } => "csv".to_owned(),
            Tsv { .. } => "tsv".to_owned(),
            Json => "jsonl".to_owned(),
            Fixed { pad } => format!("fixed:{}", 4 + pad),
            Gensort => "gensort".to_owned(),
            Counted(name, ..) => name.to_owned(),
            Pairs => "kv:u32le".to_owned(),
        };
        let bare = matches!(self, Csv { has_header: false } | Tsv { has_header: false });
        let no_header = bare.then(|| "--no-header".to_owned());
        ["--format".to_owned(), name]
            .into_iter()
            .chain(no_header)
            .collect()
    }

    pub(super) fn end(self) -> Option<u8> {
        match self {
            Lines { end, .. } => Some(end),
            Csv { .. } | Tsv { .. } | Json => Some(b'\n'),
            _ => None,
        }
    }

    fn lines(self) -> OfRecord {
        match self {
            Lines { lines, .. } => lines,
            _ => OfRecord::One,
        }
    }

    /// Records with their ends, as a file has them.
    pub(super) fn file(self, mut records: Vec<u8>) -> Vec<u8> {
        if self.lines() != OfRecord::One {
            let ends = records.iter_mut().filter(|byte| **byte == 0);
            ends.for_each(|byte| *byte = b'\n');
        }
        records
    }

    /// The records of a file, with their ends.
    pub(super) fn records(self, mut file: Vec<u8>) -> Vec<u8> {
        let ends = (0..file.len()).filter(|&at| file[at] == b'\n');
        let is_end = |(number, at): &(usize, usize)| match self.lines() {
            OfRecord::One => false,
            OfRecord::Two => number % 2 == 1,
            OfRecord::Started => {
                let mut next = file[at + 1..].split(|&byte| byte == b'\n');
                at + 1 == file.len() || next.next().is_some_and(|line| line.contains(&START))
            }
        };
        let ends: Vec<usize> = ends.enumerate().filter(is_end).map(|(_, at)| at).collect();
        ends.into_iter().for_each(|at| file[at] = 0);
        file
    }

    /// Whether a file may leave out the end of a last record with these bytes.
    pub(super) fn may_end_open(self, bytes: &[u8]) -> bool {
        self.end().is_some() && (self.lines() == OfRecord::One || !bytes.ends_with(b"\n"))
    }

    pub(super) fn is_rows(self) -> bool {
        matches!(self, Csv { .. } | Tsv { .. } | Json)
    }

    pub(super) fn has_header(self) -> bool {
        matches!(self, Csv { has_header: true } | Tsv { has_header: true })
    }

    /// The bytes that no text of it may have.
    fn refuses(self, piece: &[u8]) -> bool {
        match self {
            Lines {
                end,
                has_fields,
                lines,
            } => {
                let is_end = lines == OfRecord::Two && piece.contains(&b'\n');
                is_end || piece.contains(&end) || has_fields && piece.contains(&b',')
            }
            Tsv { .. } => {
                piece.contains(&b'\t') || piece == b"\xef\xbb\xbf" || piece.contains(&b'\n')
            }
            Csv { .. } => piece == b"\xef\xbb\xbf",
            Json => std::str::from_utf8(piece).is_err() || piece[0] < b' ',
            _ => false,
        }
    }
}

impl Taste {
    pub(super) fn draw(draw: &mut Rng) -> Taste {
        let format = Format::draw(draw);
        let mut order = Order::default();
        let is_text = matches!(format, Lines { .. }) || format.is_rows();
        if is_text && draw.u8(0..4) == 0 {
            let languages: Vec<&str> = LANGUAGES.split_whitespace().collect();
            let tag = languages[draw.usize(0..languages.len())];
            order.locale = Some(format!("{tag}{}", VARIANTS[draw.usize(0..VARIANTS.len())]));
        }
        let mut pieces: Vec<&'static [u8]> = match draw.u8(0..3) {
            0 if order.locale.is_none() => vec![b"a", b"b", b"c", b"\r", b"\""],
            1 if order.locale.is_none() => vec![b"\0", b"\xff", b"\n", b"\t", b"x", b"\"", b","],
            _ => (0..1 + draw.usize(0..8))
                .map(|_| PIECES[draw.usize(0..PIECES.len())])
                .collect(),
        };
        pieces.retain(|piece| !format.refuses(piece));
        if pieces.is_empty() {
            pieces.push(b"y");
        }
        let mut taste = Taste {
            format,
            pieces,
            most_pieces: 1 + draw.usize(0..6),
            keys: Vec::new(),
            is_number: order.locale.is_none() && draw.bool(),
            has_null: false,
            is_checked: false,
            marked: 0,
            is_topped: false,
            order,
        };
        taste.put_on_top(draw);
        taste.order(draw);
        taste
    }

    /// Whether inputs have lines on top.
    pub(super) fn has_header(&self) -> bool {
        self.format.has_header() || self.marked > 0 || self.is_topped
    }

    /// Draws lines that stay on top.
    fn put_on_top(&mut self, draw: &mut Rng) {
        let is_lines = matches!(self.format, Lines { .. }) && self.format.lines() == OfRecord::One;
        if !(is_lines || self.format.has_header()) || draw.u8(0..5) > 0 {
            return;
        }
        self.marked = draw.usize(0..3);
        self.is_topped = is_lines && draw.bool();
        let words = &mut self.order.words;
        if self.marked > 0 {
            words.extend(["--header", MARK].map(str::to_owned));
        }
        if self.is_topped {
            words.extend(["--header", "1"].map(str::to_owned));
        }
    }

    /// Draws keys and the direction.
    fn order(&mut self, draw: &mut Rng) {
        let (format, order) = (self.format, &mut self.order);
        let has_columns = !matches!(
            format,
            Lines {
                has_fields: false,
                ..
            } | Gensort
                | Pairs
        );
        let columns = [&[][..], &[0], &[1], &[1, 0]][draw.usize(0..4)];
        self.keys = if has_columns {
            columns.to_vec()
        } else {
            Vec::new()
        };
        let is_lines = matches!(format, Lines { .. });
        if is_lines && order.locale.is_none() && draw.u8(0..10) == 0 {
            order.shuffle = Some(draw.u16(0..1000).into());
            order.top = (draw.u8(0..4) == 0).then(|| draw.usize(1..40));
            self.keys.clear();
            return;
        }
        order.is_reverse = is_lines && draw.u8(0..4) == 0;
        if order.is_reverse {
            order.words.push("-r".to_owned());
        }
        if matches!(
            format,
            Lines {
                has_fields: true,
                ..
            }
        ) {
            order.words.extend(["-t".to_owned(), ",".to_owned()]);
        }
        if let Some(tag) = &order.locale {
            order.words.extend(["--locale".to_owned(), tag.clone()]);
        }
        for &column in &self.keys {
            let is_number = column == 1 && self.is_number;
            let is_down = draw.u8(0..3) == 0;
            let down = if is_down { ":desc" } else { "" };
            let is_typed = is_lines && draw.u8(0..4) == 0;
            self.is_checked |= is_number && is_typed;
            let word = match format {
                Lines { .. } if is_typed => {
                    let kind = if is_number { "num" } else { "str" };
                    format!("{}:{kind}{down}", column + 1)
                }
                Lines { .. } => {
                    let letters =
                        ["", "r", "n", "nr"][usize::from(is_down) + 2 * usize::from(is_number)];
                    format!("{0},{0}{letters}", column + 1)
                }
                Csv { has_header: true } | Tsv { has_header: true } | Json => {
                    format!(
                        "{}{}{down}",
                        ["a", "b"][column],
                        if is_number { ":num" } else { "" }
                    )
                }
                Csv { .. } | Tsv { .. } => format!(
                    "#{}{}{down}",
                    column + 1,
                    if is_number { ":num" } else { "" }
                ),
                _ => format!("{}{down}", ["0+2", "2+2:u16be"][column]),
            };
            // A key of lines without letters has those beside it.
            let inherits = is_lines && !is_down && (is_typed || !is_number);
            order
                .descending
                .push(is_down || inherits && order.is_reverse);
            order.words.extend(["--key".to_owned(), word]);
        }
        if matches!(format, Gensort | Pairs) {
            order.descending.push(false);
        }
        order.is_unique = draw.u8(0..if order.locale.is_some() { 2 } else { 4 }) == 0;
        order.is_last_kept = draw.u8(0..3) == 0;
        order.is_counted = is_lines && order.is_unique && draw.u8(0..3) == 0;
        order.is_stable = draw.u8(0..5) == 0;
        order.top = (draw.u8(0..6) == 0).then(|| draw.usize(1..40));
        let joins = order.is_unique && order.locale.is_none();
        self.order.sum = self.sum(draw).filter(|_| joins);
        self.is_checked |= is_lines && self.order.sum.is_some();
        self.has_null = self.is_number && (self.is_checked || format.is_rows()) && draw.bool();
        if self.has_null {
            self.order.words.extend(["--null", NULL].map(str::to_owned));
        }
    }

    /// Whether records may have mistakes that set them aside. Without a header the first row says how many
    /// columns there are.
    pub(super) fn may_be_bad(&self) -> bool {
        let is_one = self.format.lines() == OfRecord::One;
        self.format.has_header() || self.format == Json || self.is_checked && is_one
    }

    /// The second column as `--sum` has it, if all records have a number there, and another one is a key.
    fn sum(&self, draw: &mut Rng) -> Option<String> {
        let sum = match self.format {
            Fixed { .. } | Counted(..) => "2+2:u16be",
            _ if !self.is_number => return None,
            Lines {
                has_fields: true, ..
            } => "2",
            Csv { has_header: false } | Tsv { has_header: false } => "#2",
            Csv { .. } | Tsv { .. } | Json => "b",
            _ => return None,
        };
        let is_free = !self.keys.is_empty() && !self.keys.contains(&1);
        (is_free && draw.bool()).then(|| sum.to_owned())
    }

    fn text(&self, draw: &mut Rng) -> Vec<u8> {
        (0..draw.usize(0..self.most_pieces + 1))
            .flat_map(|_| self.pieces[draw.usize(0..self.pieces.len())])
            .copied()
            .collect()
    }

    /// The header, with a last name of `length` bytes.
    pub(super) fn header(&self, length: usize) -> Vec<u8> {
        let end = self.format.end().map_or('\n', char::from);
        let marked = (0..self.marked).map(|number| format!("{MARK}, \"{number}{end}"));
        let mut marked: String = marked.collect();
        if self.is_topped {
            marked += &format!("{}{end}", "top".repeat(length.max(1)));
        }
        if !self.format.has_header() {
            return marked.into_bytes();
        }
        let gap = if matches!(self.format, Csv { .. }) {
            ','
        } else {
            '\t'
        };
        format!("{marked}a{gap}b{gap}{}\n", "c".repeat(length.max(1))).into_bytes()
    }

    /// A record with `length` more bytes at its end.
    pub(super) fn record(&self, draw: &mut Rng, length: usize) -> Record {
        let mut keys = Vec::new();
        let mut columns = [(); 3].map(|()| self.text(draw));
        if self.is_number {
            let (number, value) = NUMBERS[draw.usize(0..NUMBERS.len())];
            columns[1] = number.into();
            keys.push(Value::Number(value));
            if self.format.is_rows() && draw.u8(0..12) == 0 {
                columns[1].clear();
                keys[0] = Value::Missing;
            }
            if self.has_null && draw.u8(0..6) == 0 {
                columns[1] = NULL.into();
                keys[0] = Value::Missing;
            }
        }
        columns[2].resize(columns[2].len() + length, b'x');
        self.begin_lines(draw, &mut columns);
        let mut at = columns[0].len() + 1;
        let (bytes, before) = match self.format {
            Lines {
                has_fields: false, ..
            } => (std::mem::take(&mut columns[2]), 0),
            Lines { .. } => (columns.join(&b','), 0),
            Csv { .. } => {
                let fields = columns.each_ref().map(|text| quoted(text, draw));
                at = fields[0].len() + 1 + usize::from(fields[1].first() == Some(&b'"'));
                (fields.join(&b','), 0)
            }
            Tsv { .. } => (columns.join(&b'\t'), 0),
            Json => (self.json(&mut columns, draw), 0),
            Fixed { .. } | Gensort => (self.fixed(&mut columns, draw), 0),
            Counted(_, width, is_big, counts_itself) => {
                columns[0] = two(&columns[0]);
                columns[1] = two_bytes(draw);
                columns[2].truncate(if width == 2 { MOST_COUNTED } else { usize::MAX });
                let body = columns.concat();
                let length = body.len() + if counts_itself { 4 } else { 0 };
                let mut front = (length as u32).to_be_bytes()[4 - width..].to_vec();
                if !is_big {
                    front.reverse();
                }
                front.extend(if counts_itself { &[0, 0][..] } else { &[] });
                let before = front.len();
                ([front, body].concat(), before)
            }
            Pairs => {
                let lengths = [0, 2]
                    .map(|column: usize| (columns[column].len() as u32).to_le_bytes())
                    .concat();
                (
                    [lengths, columns[0].clone(), columns[2].clone()].concat(),
                    0,
                )
            }
        };
        let value = |&column: &usize| match self.format {
            _ if column == 1
                && self.is_number
                && !matches!(self.format, Fixed { .. } | Counted(..)) =>
            {
                keys[0].clone()
            }
            _ if self.format.is_rows() && columns[column].is_empty() => Value::Missing,
            _ => Value::Text(columns[column].clone()),
        };
        let keys = match self.format {
            Gensort => vec![Value::Text(bytes[..10].to_vec())],
            Pairs => vec![Value::Text(columns[0].clone())],
            _ => self.keys.iter().map(value).collect(),
        };
        let number = match self.format {
            Fixed { .. } | Counted(..) => Some(Number {
                at: before + 2..before + 4,
                lead: Vec::new(),
                tenths: Some(i64::from(columns[1][0]) << 8 | i64::from(columns[1][1])),
                places: None,
            }),
            Gensort | Pairs => None,
            _ if !self.is_number => None,
            _ => {
                let text = String::from_utf8_lossy(&columns[1]);
                let (mut end, mut lead) = (at + text.len(), Vec::new());
                if self.format == Json {
                    let is_member = |at: &usize| bytes[*at..].starts_with(b"\"b\":");
                    (at, end, lead) = match (0..bytes.len()).find(is_member) {
                        Some(member) if bytes[member + 4] == b'n' => (member + 4, member + 8, lead),
                        Some(member) => {
                            let at = member + 4 + usize::from(bytes[member + 4] == b'"');
                            (at, at + text.len(), lead)
                        }
                        None if bytes.len() == 2 => (1, 1, b"\"b\":".to_vec()),
                        None => (bytes.len() - 1, bytes.len() - 1, b",\"b\":".to_vec()),
                    };
                }
                let tenths = NUMBERS.iter().find(|(number, _)| *number == text);
                Some(Number {
                    at: at..end,
                    lead,
                    tenths: tenths.map(|(_, tenths)| *tenths),
                    places: Some(u32::from(text.contains('.'))),
                })
            }
        };
        Record {
            bytes,
            before,
            keys,
            is_bad: false,
            number,
        }
    }

    /// Gives a record its lines.
    fn begin_lines(&self, draw: &mut Rng, columns: &mut [Vec<u8>; 3]) {
        let Lines {
            has_fields, lines, ..
        } = self.format
        else {
            return;
        };
        match lines {
            OfRecord::One => {}
            OfRecord::Started => columns[if has_fields { 0 } else { 2 }].insert(0, START),
            OfRecord::Two => {
                let at = draw.usize(0..columns[2].len() + 1);
                columns[2].insert(at, b'\n');
            }
        }
    }

    /// A row that has no second column, or a line that has no number there.
    pub(super) fn bad_row(&self, draw: &mut Rng) -> Record {
        let bytes = match self.format {
            Json => b"{\"a\":".to_vec(),
            Lines { .. } => format!("bad,{}th", draw.u8(0..200)).into_bytes(),
            _ => format!("bad{}", draw.u8(0..200)).into_bytes(),
        };
        Record {
            bytes,
            before: 0,
            keys: Vec::new(),
            is_bad: true,
            number: None,
        }
    }

    fn json(&self, columns: &mut [Vec<u8>; 3], draw: &mut Rng) -> Vec<u8> {
        let mut members = Vec::new();
        for (number, name) in ["a", "b", "c"].iter().enumerate() {
            let text = String::from_utf8_lossy(&columns[number]).into_owned();
            if text.is_empty() && draw.bool() {
                members.extend(draw.bool().then(|| format!("\"{name}\":null")));
                continue;
            }
            let is_plain = !text.is_empty() && !text.starts_with("0") && text != NULL;
            let is_number = number == 1 && self.is_number && is_plain;
            let mut value = if is_number && text != "-0" {
                text.clone()
            } else {
                serde_json::Value::from(text.clone()).to_string()
            };
            if draw.u8(0..8) == 0 {
                value = value.replace('a', "\\u0061");
            }
            members.push(format!("\"{name}\":{value}"));
        }
        format!("{{{}}}", members.join(",")).into_bytes()
    }

    /// A record of one length: two bytes, a number of two bytes, and the rest; or of gensort.
    fn fixed(&self, columns: &mut [Vec<u8>; 3], draw: &mut Rng) -> Vec<u8> {
        columns[0] = two(&columns[0]);
        columns[1] = two_bytes(draw);
        let pad = if let Fixed { pad } = self.format {
            pad
        } else {
            96
        };
        columns[2].resize(pad, b'x');
        columns.concat()
    }
}

/// The first two bytes.
fn two(text: &[u8]) -> Vec<u8> {
    text.iter().copied().chain([b'.'; 2]).take(2).collect()
}

/// A field of CSV, in quotes where it must be, and sometimes where it need not.
/// A number of two bytes. Two large ones have no room for their sum.
fn two_bytes(draw: &mut Rng) -> Vec<u8> {
    let large = if draw.u8(0..20) == 0 { 40_000 } else { 0 };
    u16::to_be_bytes(large + draw.u16(0..4)).to_vec()
}

fn quoted(text: &[u8], draw: &mut Rng) -> Vec<u8> {
    let must = text.iter().any(|byte| b",\"\r\n".contains(byte));
    if !must && draw.u8(0..6) > 0 {
        return text.to_vec();
    }
    let doubled = text.iter().flat_map(|&byte| {
        if byte == b'"' {
            vec![b'"'; 2]
        } else {
            vec![byte]
        }
    });
    [b'"'].into_iter().chain(doubled).chain([b'"']).collect()
}

/// A length near one at which buffers end.
pub(super) fn edge(draw: &mut Rng) -> usize {
    let edge = EDGES[draw.usize(0..EDGES.len())];
    match draw.u8(0..3) {
        0 => edge + draw.usize(0..40) - 20,
        1 => edge + draw.usize(0..200_000),
        _ => edge - draw.usize(0..4000),
    }
}
