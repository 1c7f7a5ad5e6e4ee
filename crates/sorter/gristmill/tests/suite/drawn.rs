//! Drawn sorts beside plain ones: formats, options, ways in and ways out together, with records and
//! headers of every length and inputs without a row. `GRISTMILL_LONG=1` draws more; `CASES` says how
//! many, and `FROM` where they begin.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use gristmill::{Error, Format, Report, Sorted, Sorter};

use crate::files;

/// Of shuffles.
const SEED: u64 = 42;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn letters(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| b'a' + self.below(4) as u8).collect()
    }
}

/// A record and its place in the order: by `key`, then, if no position decides, by `rest`.
#[derive(Clone, Debug)]
struct Record {
    bytes: Vec<u8>,
    key: Vec<u8>,
    rest: Vec<u8>,
}

/// A number as bytes that compare as it does.
fn ordered(number: i64) -> Vec<u8> {
    ((number as u64) ^ (1 << 63)).to_be_bytes().to_vec()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lines,
    Topped,
    Shuffled,
    Fields,
    Typed,
    Nul,
    Events,
    Pairs,
    Fixed(usize),
    Gensort,
    Short,
    Long,
    Csv,
    CsvWhole,
    CsvUnnamed,
    Tsv,
    Json,
    LinesByKey,
    FixedByKey(usize),
}

impl Kind {
    fn drawn(random: &mut Random) -> Kind {
        let width = random.of(&[8, 9, 12, 100, 4096, 5000, 70_000]);
        let all = [
            Kind::Lines,
            Kind::Topped,
            Kind::Shuffled,
            Kind::Fields,
            Kind::Typed,
            Kind::Nul,
            Kind::Events,
            Kind::Pairs,
            Kind::Fixed(width),
            Kind::Gensort,
            Kind::Short,
            Kind::Long,
            Kind::Csv,
            Kind::CsvWhole,
            Kind::CsvUnnamed,
            Kind::Tsv,
            Kind::Json,
            Kind::LinesByKey,
            Kind::FixedByKey(width),
        ];
        random.of(&all)
    }

    fn format(self) -> Format {
        match self {
            Kind::Lines | Kind::LinesByKey => Format::lines(),
            Kind::Topped => Format::lines().header("1"),
            Kind::Shuffled => Format::lines().header("1").shuffled(SEED),
            Kind::Fields => Format::lines().separator(b',').key("2,2n"),
            Kind::Typed => Format::lines().key("2:num").null("NA"),
            Kind::Nul => Format::lines().delimiter(0).key("1.2"),
            Kind::Events => Format::lines().record_start("@"),
            Kind::Pairs => Format::lines().record_lines(2),
            Kind::Fixed(width) => Format::fixed(width).key("4+4:u32le:desc"),
            Kind::FixedByKey(width) => Format::fixed(width),
            Kind::Gensort => Format::named("gensort"),
            Kind::Short => Format::named("varlen:u16be"),
            Kind::Long => Format::named("varlen:u32le"),
            Kind::Csv => Format::named("csv").key("n:num"),
            Kind::CsvWhole => Format::named("csv"),
            Kind::CsvUnnamed => {
                let format = Format::named("csv").without_header();
                format.separator(b';').key("#1:num:desc")
            }
            Kind::Tsv => Format::named("tsv").key("text"),
            Kind::Json => Format::named("jsonl").key("n:num"),
        }
    }

    fn has_header(self) -> bool {
        matches!(
            self,
            Kind::Topped | Kind::Shuffled | Kind::Csv | Kind::CsvWhole | Kind::Tsv
        )
    }

    /// Whether its records are sorted from files into a file alone.
    fn is_of_files(self) -> bool {
        matches!(self, Kind::Events | Kind::Pairs | Kind::Shuffled)
    }

    fn by_key(self) -> bool {
        matches!(self, Kind::LinesByKey | Kind::FixedByKey(_))
    }

    /// The byte at the end of a record, which may be missing.
    fn end(self) -> Option<u8> {
        match self {
            Kind::Nul => Some(0),
            Kind::Fixed(_) | Kind::FixedByKey(_) | Kind::Gensort | Kind::Short | Kind::Long => None,
            _ => Some(b'\n'),
        }
    }

    fn header(self, bytes: usize) -> Vec<u8> {
        let end = match self {
            Kind::Tsv => "\ttext\n",
            _ => ",text\n",
        };
        // The first column is `n`, the others have names of any length.
        let more = "x".repeat(bytes);
        let separator = &end[..1];
        if more.is_empty() {
            format!("n{end}").into_bytes()
        } else {
            format!("n{separator}{more}{end}").into_bytes()
        }
    }

    /// A record whose text has `length` bytes, where the format has such texts.
    fn record(self, length: usize, columns: usize, random: &mut Random) -> Record {
        let number = random.below(60) as i64 - 30;
        let text = random.letters(length);
        let shown = String::from_utf8(text.clone()).unwrap();
        let of = |body: Vec<u8>, key: Vec<u8>| Record {
            bytes: [&body[..], self.end().as_slice()].concat(),
            rest: body,
            key,
        };
        match self {
            Kind::Lines | Kind::Topped | Kind::Shuffled => of(text.clone(), text),
            Kind::LinesByKey => of(text, ordered(-(length as i64))),
            Kind::Fields => {
                let amount = random.below(100) as i64 - 50;
                let body = format!("w{},{number},{amount},{shown}", random.below(9));
                of(body.into_bytes(), ordered(number))
            }
            Kind::Typed => {
                let (value, key) = if random.one_in(5) {
                    ("NA".to_owned(), Vec::new())
                } else {
                    (number.to_string(), ordered(number))
                };
                of(
                    format!("w{} {value} {shown}", random.below(9)).into_bytes(),
                    key,
                )
            }
            Kind::Events => {
                let lines = "b\n".repeat(random.below(3));
                let body = format!("@{lines}{shown}").into_bytes();
                of(body.clone(), body)
            }
            Kind::Pairs => {
                let body = format!("{}\n{shown}", random.below(9)).into_bytes();
                of(body.clone(), body)
            }
            Kind::Nul => of(text.clone(), text.get(1..).unwrap_or_default().to_vec()),
            Kind::Fixed(width) | Kind::FixedByKey(width) => {
                let mut body = random.letters(width);
                body[4..8].copy_from_slice(&(number + 30).to_le_bytes()[..4]);
                of(body, ordered(-number))
            }
            Kind::Gensort => {
                let mut body = random.letters(100);
                body[1..10].fill(b'k');
                body[9] = body[10];
                let key = body[..10].to_vec();
                of(body, key)
            }
            Kind::Short | Kind::Long => {
                let text = if self == Kind::Short {
                    &text[..length.min(65_535)]
                } else {
                    &text
                };
                let length = match self {
                    Kind::Short => (text.len() as u16).to_be_bytes().to_vec(),
                    _ => (text.len() as u32).to_le_bytes().to_vec(),
                };
                Record {
                    bytes: [&length[..], text].concat(),
                    key: text.to_vec(),
                    rest: Vec::new(),
                }
            }
            Kind::Csv | Kind::CsvWhole => {
                let text = match random.below(40) {
                    0 => format!("\"{shown}\n,\"\"{shown}\""),
                    1 => format!("\"{shown}\""),
                    _ => shown,
                };
                let middle = if columns == 3 { "m," } else { "" };
                let body = format!("{number},{middle}{text}").into_bytes();
                let key = match self {
                    Kind::Csv => ordered(number),
                    _ => body.clone(),
                };
                of(body, key)
            }
            Kind::CsvUnnamed => {
                let text = if random.one_in(40) {
                    format!("\"{shown}\n\"")
                } else {
                    shown
                };
                of(format!("{number};{text}").into_bytes(), ordered(-number))
            }
            Kind::Tsv => {
                let middle = if columns == 3 { "m\t" } else { "" };
                of(format!("{number}\t{middle}{shown}").into_bytes(), text)
            }
            Kind::Json => {
                let body = format!("{{\"n\":{number},\"text\":\"{shown}\"}}");
                of(body.into_bytes(), ordered(number))
            }
        }
    }
}

impl Record {
    /// The record with its number and that of another one; `None` if two bytes have no room for both.
    fn plus(&self, other: &Record, kind: Kind) -> Option<Record> {
        let mut sum = self.clone();
        if kind == Kind::Fields {
            let fields = |record: &Record| -> Vec<String> {
                let text = String::from_utf8(record.bytes.clone()).unwrap();
                text.splitn(4, ',').map(str::to_owned).collect()
            };
            let (mut own, added) = (fields(self), fields(other));
            let number = |fields: &[String]| fields[2].parse::<i64>().unwrap();
            own[2] = (number(&own) + number(&added)).to_string();
            sum.bytes = own.join(",").into_bytes();
            return Some(sum);
        }
        let number = |record: &Record| u16::from_be_bytes([record.bytes[0], record.bytes[1]]);
        let total = number(self).checked_add(number(other))?;
        sum.bytes[..2].copy_from_slice(&total.to_be_bytes());
        Some(sum)
    }
}

/// A sort that was drawn.
struct Case {
    kind: Kind,
    header: Vec<u8>,
    records: Vec<Record>,
    /// The records of each file: where they begin.
    cuts: Vec<usize>,
    stable: bool,
    /// Whether it keeps the last of equal records, not the first.
    unique: Option<bool>,
    /// The numbers of equal records that are added up.
    sum: Option<&'static str>,
    top: Option<u64>,
    memory: u64,
    threads: usize,
}

impl Case {
    fn drawn(random: &mut Random) -> Case {
        let kind = Kind::drawn(random);
        let header_bytes = random.of(&[0, 0, 1, 100, 100_000]);
        let header = if kind.has_header() {
            kind.header(header_bytes)
        } else {
            Vec::new()
        };
        let is_large = random.one_in(120);
        let count = match random.below(8) {
            0 => 0,
            1 => random.below(3),
            _ => random.below(60),
        };
        let count = match kind {
            _ if is_large => 0,
            Kind::Fixed(width) | Kind::FixedByKey(width) => count.min((4 << 20) / width),
            _ => count,
        };
        let columns = if header_bytes == 0 { 2 } else { 3 };
        let mut records: Vec<Record> = (0..count)
            .map(|_| {
                let length = random.below(7);
                kind.record(length, columns, random)
            })
            .collect();
        if is_large {
            // More than the smallest memory.
            let mut bytes = 0;
            while bytes < 10 << 20 {
                let length = random.below(400);
                records.push(kind.record(length, columns, random));
                bytes += records.last().unwrap().bytes.len();
            }
        }
        while random.one_in(8) {
            let length = random.of(&[900, 5000, 66_000, 270_000, 600_000, 2_200_000]);
            let at = random.below(records.len() + 1);
            records.insert(at, kind.record(length, columns, random));
        }
        let mut cuts: Vec<usize> = (0..random.below(4))
            .map(|_| random.below(records.len() + 1))
            .collect();
        cuts.extend([0, records.len()]);
        cuts.sort_unstable();
        if kind == Kind::Shuffled {
            // Each record has a number that it draws in its file.
            for (file, cut) in (0..).zip(cuts.windows(2)) {
                let mut drawn = node::Random::stream(SEED, file);
                for record in &mut records[cut[0]..cut[1]] {
                    record.key = drawn.next_u64().to_be_bytes().to_vec();
                }
            }
        }
        let is_sorted = kind != Kind::Shuffled;
        let unique = (random.one_in(4) && is_sorted).then(|| random.one_in(2));
        let sum = match kind {
            Kind::Fields => Some("3"),
            Kind::Fixed(_) => Some("0+2:u16be"),
            _ => None,
        };
        let sum = sum.filter(|_| unique.is_some() && random.one_in(2));
        Case {
            kind,
            header,
            cuts,
            stable: random.one_in(3) && is_sorted,
            unique,
            sum,
            top: (sum.is_none() && random.one_in(4)).then(|| 1 + random.below(30) as u64),
            memory: random.of(&[9, 16, 64, 256]) << 20,
            threads: 1 + random.below(3),
            records,
        }
    }

    fn sorter(&self, place: &Path) -> Sorter {
        let mut sorter = Sorter::new(self.kind.format());
        match self.kind {
            Kind::LinesByKey => sorter = sorter.by_key(|line| -(line.len() as i64)),
            Kind::FixedByKey(_) => {
                sorter = sorter.by_key(|record| {
                    30 - i64::from(u32::from_le_bytes(record[4..8].try_into().unwrap()))
                });
            }
            _ => {}
        }
        if self.stable {
            sorter = sorter.stable();
        }
        match self.unique {
            Some(true) => sorter = sorter.keep_last(),
            Some(false) => sorter = sorter.unique(),
            None => {}
        }
        if let Some(sum) = self.sum {
            sorter = sorter.sum(sum);
        }
        if let Some(top) = self.top {
            sorter = sorter.top(top);
        }
        if self.memory > 256 << 20 {
            sorter = sorter.longest(self.longest());
        }
        let threads = self.threads.try_into().unwrap();
        sorter
            .memory(self.memory)
            .threads(threads)
            .temporary(place.join("spill"))
    }

    /// Bytes of the longest record or header.
    fn longest(&self) -> usize {
        let all = self.records.iter().map(|record| record.bytes.len());
        all.max().unwrap_or(1).max(self.header.len())
    }

    fn in_order(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        let by_position = self.stable || self.unique.is_some() || self.kind.by_key();
        records.sort_by(|a, b| {
            let ties = if by_position {
                std::cmp::Ordering::Equal
            } else {
                a.rest.cmp(&b.rest)
            };
            a.key.cmp(&b.key).then(ties)
        });
        records
    }

    /// Records as the output has them.
    fn expected(&self) -> Vec<Record> {
        let mut all = self.in_order(&self.records);
        if let Some(is_last) = self.unique {
            let mut kept: Vec<Record> = Vec::new();
            for group in all.chunk_by_mut(|a, b| a.key == b.key) {
                if is_last {
                    group.reverse();
                }
                for record in group.iter() {
                    let same = kept.last_mut().filter(|kept| kept.key == record.key);
                    let joined = same.as_ref().and_then(|kept| match self.sum {
                        Some(_) => kept.plus(record, self.kind),
                        None => Some((*kept).clone()),
                    });
                    match (same, joined) {
                        (Some(kept), Some(joined)) => *kept = joined,
                        _ => kept.push(record.clone()),
                    }
                }
            }
            all = kept;
        }
        if let Some(top) = self.top {
            all.truncate(top as usize);
        }
        all
    }

    /// Files of the records; some lack the last delimiter, and some have no byte.
    fn files(&self, place: &Path, random: &mut Random, is_sorted: bool) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (number, cut) in self.cuts.windows(2).enumerate() {
            let part = &self.records[cut[0]..cut[1]];
            let part = if is_sorted {
                self.in_order(part)
            } else {
                part.to_vec()
            };
            let mut bytes = self.header.clone();
            if part.is_empty() && random.one_in(2) {
                bytes.clear();
            }
            part.iter().for_each(|record| bytes.extend(&record.bytes));
            if random.one_in(3) && ends_in(&bytes, self.kind.end()) {
                bytes.pop();
            }
            paths.push(place.join(format!("in{number}")));
            fs::write(&paths[number], bytes).unwrap();
        }
        paths
    }

    fn push(&self, place: &Path, random: &mut Random) -> Result<Sorted, Error> {
        let mut feed = self.sorter(place).start()?;
        let header = Some(&self.header).filter(|header| !header.is_empty());
        // Without a row there may be no header, too.
        let header = header.filter(|_| !self.records.is_empty() || random.one_in(2));
        let records = header
            .into_iter()
            .chain(self.records.iter().map(|record| &record.bytes));
        let records: Vec<&Vec<u8>> = records.collect();
        match random.below(4) {
            0 => feed.push_all(&records)?,
            1 => {
                let all: Vec<u8> = records.into_iter().flatten().copied().collect();
                let room = random.of(&[1, 7, 4096, 300_000]);
                feed.push_reader(BufReader::with_capacity(room, &all[..]))?;
            }
            2 => {
                for record in records {
                    if !feed.try_push(record)? {
                        feed.push(record)?;
                    }
                }
            }
            _ => {
                for record in records {
                    let lacks = random.one_in(2) && ends_in(record, self.kind.end());
                    feed.push(&record[..record.len() - usize::from(lacks)])?;
                }
            }
        }
        feed.finish()
    }

    /// Sorts in a way that is drawn; returns the output.
    fn run(&self, place: &Path, random: &mut Random) -> Result<(Vec<u8>, Report), Error> {
        let may_merge = !self.kind.by_key() && self.kind != Kind::Shuffled;
        let is_merge = may_merge && random.one_in(5);
        let end = random.of(&["", "", "", ".gz", ".zst", ".lz4"]);
        let out = place.join(format!("out{end}"));
        match random.below(5) {
            0..3 if self.kind.is_of_files() => {
                let refused = self.sorter(place).start().err().expect("it is refused");
                assert!(refused.to_string().contains("from files into a file"));
                let paths = self.files(place, random, false);
                let report = self.sorter(place).sort_files(paths, &out)?;
                Ok((content(&out), report))
            }
            0 | 1 => drain(self.push(place, random)?, &out, random),
            2 => {
                let paths = self.files(place, random, false);
                drain(self.sorter(place).read_files(paths)?, &out, random)
            }
            _ => {
                let paths = self.files(place, random, is_merge);
                let report = if is_merge {
                    self.sorter(place).merge_files(paths, &out)?
                } else {
                    self.sorter(place).sort_files(paths, &out)?
                };
                Ok((content(&out), report))
            }
        }
    }
}

fn ends_in(bytes: &[u8], end: Option<u8>) -> bool {
    // A line without its delimiter must have a byte: without one it is none.
    end.is_some()
        && bytes.last() == end.as_ref()
        && bytes.len() > 1
        && bytes[bytes.len() - 2..][0] != bytes[bytes.len() - 1]
}

/// The records of a file, which may be compressed: those of one byte in their order.
fn content(path: &Path) -> Vec<u8> {
    let stored = fs::read(path).unwrap();
    if path.extension().is_none() || stored.is_empty() {
        return stored;
    }
    let plain = path.with_extension("plain");
    let as_it_is = Sorter::new(Format::fixed(1))
        .by_key(|_| 0_u8)
        .memory(1 << 30);
    as_it_is.sort_files([path], &plain).unwrap();
    fs::read(plain).unwrap()
}

/// Takes all records, in ways that change at moments that are drawn.
pub fn drain(
    mut sorted: Sorted,
    out: &Path,
    random: &mut Random,
) -> Result<(Vec<u8>, Report), Error> {
    let mut all = Vec::new();
    let mut left = random.of(&[0, 1, 3, 20, 1000, usize::MAX]);
    while left > 0 {
        left -= 1;
        let is_patient = random.one_in(2);
        let next = if is_patient {
            sorted.next()?
        } else {
            sorted.try_next()?
        };
        match next {
            Some(record) => all.extend_from_slice(record),
            None if is_patient => {
                assert!(sorted.next()?.is_none(), "the end stays");
                return Ok((all, *sorted.report().expect("it has ended")));
            }
            None => {}
        }
    }
    let report = match random.below(3) {
        0 => sorted.write_to(&mut all)?,
        1 => {
            let report = sorted.write_file(out)?;
            all.extend(content(out));
            report
        }
        _ => {
            let mut rest = Vec::new();
            let report = sorted.write_to(&mut rest)?;
            all.extend(rest);
            report
        }
    };
    Ok((all, report))
}

fn try_case(seed: u64) {
    let random = &mut Random(seed);
    let mut case = Case::drawn(random);
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("spill")).unwrap();
    let ways = random.next();
    let mut ran = case.run(place.path(), &mut Random(ways));
    if let Err(Error::Memory(_)) = ran {
        assert!(
            case.longest() > 8 << 10 || case.memory < 16 << 20 || case.records.len() > 1000,
            "seed {seed}: {ran:?}"
        );
        case.memory = 1 << 30;
        ran = case.run(place.path(), &mut Random(ways));
    }
    let context = || {
        format!(
            "seed {seed}: {:?}, {} records in files of {:?}, header {}, longest {}, stable {}, unique {:?}, sum {:?}, top {:?}, memory {}",
            case.kind,
            case.records.len(),
            case.cuts,
            case.header.len(),
            case.longest(),
            case.stable,
            case.unique,
            case.sum,
            case.top,
            case.memory
        )
    };
    let (got, report) = ran.unwrap_or_else(|error| panic!("{}: {error}", context()));
    let expected = case.expected();
    let rows: Vec<u8> = expected
        .iter()
        .flat_map(|record| record.bytes.clone())
        .collect();
    let all = [&case.header[..], &rows].concat();
    // Inputs without a row may have no header.
    let is_right = got == all || rows.is_empty() && got.is_empty();
    assert!(
        is_right,
        "{}: {} bytes of {}",
        context(),
        got.len(),
        all.len()
    );
    assert_eq!(report.records, expected.len() as u64, "{}", context());
    // The header is none of the records.
    let bytes = got.len() - case.header.len().min(got.len());
    assert_eq!(report.bytes, bytes as u64, "{}", context());
    assert_eq!(files(&place.path().join("spill")), [""; 0], "{}", context());
}

#[test]
fn drawn_sorts_are_as_plain_ones() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let is_long = number("GRISTMILL_LONG") == Some(1);
    let cases = number("CASES").unwrap_or(if is_long { 700 } else { 300 });
    let from = number("FROM").unwrap_or(0);
    let mut failed = Vec::new();
    for seed in from..from + cases {
        if let Err(panic) = std::panic::catch_unwind(|| try_case(seed)) {
            failed.push(panic.downcast_ref::<String>().cloned().unwrap_or_default());
        }
    }
    assert!(
        failed.is_empty(),
        "{} cases differ: {failed:#?}",
        failed.len()
    );
}
