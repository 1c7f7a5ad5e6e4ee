//! The inputs of `gristmill-bench lines`, drawn from a seed, and the options that sort them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use kernel::patterns::Random;
use record::{Generator, RECORD_BYTES, Style};
use terminal::ending::failure::CliFailure;

/// An input, and the options that sort it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Lines of 100 bytes of gensort
    Ascii,
    /// Lines of 8 bytes
    Short,
    /// Lines of 2 to 20 KB
    Long,
    /// Words, the n-th of which is 1/n times as frequent as the first (Zipf)
    Words,
    /// URLs of a few sites
    Urls,
    /// Numbers, with -n
    Numbers,
    /// Fields, with -t, -k3,3n -k1,1
    Fields,
    /// As many lines as in ascii, a twentieth of them distinct, with -u
    Unique,
    /// Those lines without -u
    Repeated,
    /// Rows of CSV with quotes, by two columns
    Rows,
}

/// The columns of rows.
const HEADER: &str = "id,city,price,note";

const WORDS: u64 = 100_000;

impl Case {
    pub const ALL: [Case; 10] = [
        Case::Ascii,
        Case::Short,
        Case::Long,
        Case::Words,
        Case::Urls,
        Case::Numbers,
        Case::Fields,
        Case::Unique,
        Case::Repeated,
        Case::Rows,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Case::Ascii => "lines of 100 bytes",
            Case::Short => "lines of 8 bytes",
            Case::Long => "lines of 2 to 20 KB",
            Case::Words => "words by Zipf's law",
            Case::Urls => "URLs with long common prefixes",
            Case::Numbers => "numbers, -n",
            Case::Fields => "fields, -t, -k3,3n -k1,1",
            Case::Unique => "lines of 100 bytes, 1 in 20 distinct, -u",
            Case::Repeated => "lines of 100 bytes, 1 in 20 distinct",
            Case::Rows => "rows of CSV, by city and price",
        }
    }

    /// The folder of its peers, in `bench/peers`.
    pub fn peers(self) -> &'static str {
        match self {
            Case::Rows => "rows",
            _ => "lines",
        }
    }

    /// Whether peers without options sort it in the same order.
    pub fn is_for_peers(self) -> bool {
        self.options().is_empty() || self == Case::Rows
    }

    /// Options of ours and of GNU sort.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Case::Numbers => &["-n"],
            Case::Fields => &["-t,", "-k3,3n", "-k1,1"],
            Case::Unique => &["-u"],
            Case::Rows => &["--format", "csv", "--key", "city", "--key", "price:num"],
            _ => &[],
        }
    }

    /// Writes about `bytes` bytes of lines to a file. Returns the number of lines.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn draw(self, path: &Path, bytes: u64) -> Result<u64, CliFailure> {
        let write = || -> std::io::Result<u64> {
            let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
            let (mut random, mut line) = (Random::new(1), Vec::new());
            let (mut lines, mut written) = (0, 0);
            if self == Case::Rows {
                writeln!(file, "{HEADER}")?;
            }
            while written < bytes {
                line.clear();
                self.line(lines, bytes, &mut random, &mut line);
                file.write_all(&line)?;
                (lines, written) = (lines + 1, written + line.len() as u64);
            }
            file.into_inner()?.sync_all()?;
            Ok(lines)
        };
        write().map_err(|cause| super::failed(path, &cause))
    }

    fn line(self, number: u64, bytes: u64, random: &mut Random, line: &mut Vec<u8>) {
        let generator = Generator {
            style: Style::Ascii,
            skewed: false,
        };
        let done = match self {
            Case::Ascii => gensort(generator, number, line),
            Case::Unique | Case::Repeated => {
                let distinct = (bytes / RECORD_BYTES as u64 / 20).max(1);
                gensort(generator, random.below(distinct), line)
            }
            Case::Short => writeln!(line, "{:07}", random.below(10_000_000)),
            Case::Long => {
                let length = 2_000 + random.below(18_001);
                letters(length, random, line);
                writeln!(line)
            }
            Case::Words => word(random, line),
            Case::Urls => writeln!(
                line,
                "https://www.example.com/articles/{}/section-{}/page-{}.html?session={}",
                2000 + random.below(24),
                random.below(300),
                random.below(10_000),
                random.below(1_000_000_000),
            ),
            Case::Numbers => {
                let (whole, part) = (random.below(2_000_000_000), random.below(1000));
                writeln!(line, "{}.{part:03}", whole as i64 - 1_000_000_000)
            }
            Case::Fields => {
                letters(6, random, line);
                line.push(b',');
                letters(20, random, line);
                writeln!(line, ",{},{}", random.below(1_000_000), random.below(100))
            }
            Case::Rows => row(number, random, line),
        };
        done.expect("memory takes it");
    }
}

fn gensort(generator: Generator, number: u64, line: &mut Vec<u8>) -> std::io::Result<()> {
    line.resize(RECORD_BYTES, 0);
    generator.fill(number.into(), line);
    // One byte ends a line.
    line.truncate(RECORD_BYTES - 2);
    writeln!(line)
}

fn word(random: &mut Random, line: &mut Vec<u8>) -> std::io::Result<()> {
    // The inverse of the distribution of 1/n over 1..=WORDS, about.
    let u = random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
    let rank = (WORDS as f64).powf(u) as u64;
    let mut word = Random::new(rank);
    let length = 2 + word.below(10);
    letters(length, &mut word, line);
    writeln!(line)
}

fn row(number: u64, random: &mut Random, line: &mut Vec<u8>) -> std::io::Result<()> {
    let (city, note) = (random.below(1000), random.below(1_000_000_000));
    // No two rows have one price, so that all peers write the same. Some compare columns as text only,
    // so prices have leading zeros.
    let price = (number as u32).wrapping_mul(2_654_435_761);
    let quoted = match number % 3 {
        0 => "a \"\"quoted\"\" word, and a comma",
        _ => "only a comma, twice, in quotes",
    };
    writeln!(
        line,
        "{number},\"Town {city}, County {}\",{price:010},\"{quoted} {note}\"",
        city % 40
    )
}

fn letters(count: u64, random: &mut Random, line: &mut Vec<u8>) {
    line.extend((0..count).map(|_| b'a' + random.below(26) as u8));
}
