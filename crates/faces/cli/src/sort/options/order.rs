//! The options for the order of records. Most of them are for lines.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use record::FormatKind;
use units::positive;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Order")]
pub(in crate::sort) struct Order {
    /// Format: lines; csv, tsv or jsonl; fixed:LEN (records of LEN bytes), gensort, rdw,
    /// varlen:TYPE or kv:TYPE
    ///
    /// rdw, varlen:u32le and their like have the length of each record in front, kv:u32le the
    /// lengths of a key and a value.
    ///
    /// Rows of csv and tsv begin with a header, which stays on top. gensort has records of 100 bytes
    /// with the key 0+10.
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub format: String,
    /// Sort key; the first decides first. Of lines: FIELD[.CHAR][OPTIONS][,FIELD[.CHAR][OPTIONS]]
    /// or FIELD:TYPE
    ///
    /// Without an end, the key goes on to the end of the line. Fields and characters, which are
    /// bytes, count from 1. OPTIONS are the letters bdfgiMhnRrV; a key without any has those given
    /// beside it. Without a key, the whole line is compared. TYPE is one of those of rows, as in
    /// 4:date=dmy or 2:ip:desc; without an end, such a key is one field.
    ///
    /// Of rows: COLUMN[:TYPE][:desc], where COLUMN is a name of the header or #3 for the third column,
    /// or of jsonl a name or a path such as $.a.b[0]. TYPE is str (the default), num, natural (file2
    /// before file10), date (ISO 8601), date=dmy, date=mdy, date=PATTERN (of strptime), amount ($1,234.50;
    /// amount=, with a decimal comma), size (2K, 3MB), hex, ip, semver, length, or order=FILE (the order of its
    /// lines). Missing values come first, with :nulls-last last. :nocase and :locale=TAG are for text. Without a
    /// key, the whole row is compared.
    ///
    /// Of binary records: OFFSET+LENGTH[:TYPE][:desc], in bytes. TYPE is bytes (the default), u8,
    /// i8, u16le, u16be ... u128be, i16le ... i128be, f32le, f32be, f64le or f64be; packed, zoned or
    /// zoned-ascii for decimals of mainframes; y2c=1950, y2c-ascii=1950, y2p=1950, y2d=1950 or y2b=1950 for years
    /// of two digits from 1950 to 2049; as-ebcdic, as-ebcdic1047, as-ascii or as-ascii1047 for
    /// text in the order of another alphabet. With :desc the largest comes first. Without a key,
    /// fixed:LEN compares the whole record.
    #[arg(short, long = "key", value_name = "KEY", allow_hyphen_values = true)]
    pub keys: Vec<String>,
    /// Byte between fields, such as , or $'\t'; '\0' is NUL [default: where blanks begin; of csv a
    /// comma]
    #[arg(
        short = 't',
        long = "field-separator",
        value_name = "SEP",
        allow_hyphen_values = true
    )]
    pub separators: Vec<OsString>,
    /// Rows of csv or tsv have no header
    #[arg(long)]
    pub no_header: bool,
    /// Keep lines on top: N of them, or all that begin with PREFIX
    ///
    /// It may be given several times: lines with a prefix come first, and N others follow. Of csv and tsv
    /// the last of the N names the columns; N is 1 there by default. All inputs have the same N lines, and
    /// the same lines with a prefix or none.
    #[arg(long, value_name = "N|PREFIX")]
    pub header: Vec<String>,
    /// Records of several lines: each begins with a line at whose front PATTERN is, a regular expression
    ///
    /// As the stack traces of a log, with '[0-9]{4}-'. Keys go on from line to line: -t $'\n' -k2 compares from the
    /// second line on. Records have no NUL, and the first line of each input begins one.
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub record_start: Option<String>,
    /// Records of N lines each, such as 4 for FASTQ
    #[arg(long, value_name = "N")]
    pub record_lines: Option<u32>,
    /// Word that stands for a missing value of a row, or of a key with a type, such as NA; may be given several times
    #[arg(long = "null", value_name = "WORD")]
    pub nulls: Vec<String>,
    /// Rows of csv or tsv may have fewer columns than the header; their values are missing
    #[arg(long)]
    pub short_rows: bool,
    /// Byte around a field of csv that holds separators, quotes or newlines [default: \"]
    #[arg(long, value_name = "BYTE", allow_hyphen_values = true)]
    pub quote: Option<OsString>,
    /// Largest first
    #[arg(short, long)]
    pub reverse: bool,
    /// Compare decimal numbers
    #[arg(short, long = "numeric-sort")]
    pub numeric: bool,
    /// Compare numbers with units, such as 2K and 1G
    #[arg(short = 'h', long = "human-numeric-sort")]
    pub human: bool,
    /// Compare floating-point numbers, such as 1e9
    #[arg(short, long = "general-numeric-sort")]
    pub general: bool,
    /// Compare names of months: JAN before FEB
    #[arg(short = 'M', long = "month-sort")]
    pub month: bool,
    /// Compare names with version numbers: a-9 before a-10
    #[arg(short = 'V', long = "version-sort", id = "version_sort")]
    pub version: bool,
    /// Shuffle, but keep equal keys together
    #[arg(short = 'R', long = "random-sort")]
    pub random: bool,
    /// Shuffle lines: each has the same chance of each place; SEED, a number, repeats an order
    ///
    /// Unlike -R it parts lines that are equal. With --top N it draws N of the lines. Records of several lines stay
    /// whole, and --header keeps lines on top; rows with newlines in quotes are torn.
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, value_parser = seed)]
    pub shuffle: Option<Option<u64>>,
    /// Compare as an option does: general-numeric, human-numeric, month, numeric, random, version
    #[arg(long, value_name = "WORD", value_parser = letter)]
    pub sort: Vec<char>,
    /// Ignore blanks at the start of keys
    #[arg(short = 'b', long = "ignore-leading-blanks")]
    pub blanks: bool,
    /// Compare only blanks, letters and digits
    #[arg(short, long = "dictionary-order")]
    pub dictionary: bool,
    /// Compare small letters as capital ones
    #[arg(short, long = "ignore-case")]
    pub fold: bool,
    /// Compare only printable characters
    #[arg(short = 'i', long = "ignore-nonprinting")]
    pub printable: bool,
    /// Compare text as people do who write a language, such as de, sv or de-AT-u-kn
    ///
    /// TAG is one of BCP 47: a language, then a region and options of the order, such as -u-kn for
    /// numbers by their value or -u-co-phonebk for a phone book; env is the language of LC_ALL, LC_COLLATE
    /// or LANG. It is for keys of lines and rows that are read as text. Without it, bytes are compared.
    #[arg(long, value_name = "TAG", allow_hyphen_values = true)]
    pub locale: Option<String>,
    /// Keep the input order of records with equal keys
    ///
    /// Otherwise the whole record decides between them.
    #[arg(short, long)]
    pub stable: bool,
    /// Keep only the first of records with equal keys
    #[arg(short, long)]
    pub unique: bool,
    /// With -u: which of records with equal keys is kept, the first or the last of the input
    ///
    /// With -m, --keep last sorts the inputs again.
    #[arg(long, value_enum, value_name = "ONE")]
    pub keep: Option<Kept>,
    /// With -u: before each line, write how many lines have its keys, as uniq -c does
    #[arg(long)]
    pub count: bool,
    /// With -u: add up the numbers of COLUMN in records with equal keys, exactly; may be given several times
    ///
    /// The record that is kept has the total in their place. COLUMN is a column of rows as in a key, the number of a
    /// field of lines, or OFFSET+LENGTH:TYPE of binary records. A total of more than 38 digits, or one that its bytes
    /// cannot hold, is not made: records stay apart, with a warning.
    #[arg(long = "sum", value_name = "COLUMN", allow_hyphen_values = true)]
    pub sums: Vec<String>,
    /// Keep only the first N of the sorted records, in little memory
    #[arg(long, value_name = "N", value_parser = positive)]
    pub top: Option<u64>,
    /// File whose first 16 bytes decide how -R shuffles [default: another order each time]
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub random_source: Vec<PathBuf>,
}

/// One of records with equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kept {
    First,
    Last,
}

/// The words of `--sort`, and the option that each stands for.
const WORDS: [(&str, char); 6] = [
    ("general-numeric", 'g'),
    ("human-numeric", 'h'),
    ("month", 'M'),
    ("numeric", 'n'),
    ("random", 'R'),
    ("version", 'V'),
];

/// The seed of a shuffle.
fn seed(text: &str) -> Result<u64, String> {
    let wrong = |_| "a seed is a whole number below 2^64, such as 42".to_owned();
    text.parse().map_err(wrong)
}

/// The option that a word of `--sort`, or its beginning, stands for.
fn letter(word: &str) -> Result<char, String> {
    let begun = |(name, _): &&(&str, char)| !word.is_empty() && name.starts_with(word);
    let found = WORDS.iter().find(begun).map(|&(_, letter)| letter);
    found.ok_or_else(|| format!("give one of {}", WORDS.map(|(name, _)| name).join(", ")))
}

impl Order {
    pub fn kind(&self) -> FormatKind {
        FormatKind::of(&self.format)
    }

    /// Records of several lines, as their description has them, and the option.
    pub fn multiline(&self) -> Option<(String, &'static str)> {
        let start = self.record_start.as_ref();
        let start = start.map(|pattern| (format!("start:{pattern}"), "--record-start"));
        let lines = self.record_lines;
        start.or_else(|| lines.map(|lines| (format!("lines:{lines}"), "--record-lines")))
    }

    /// The noun for that number of records.
    pub fn noun(&self, number: u64) -> &'static str {
        match (self.kind(), number) {
            (FormatKind::Lines, 1) if self.multiline().is_some() => "record",
            (FormatKind::Lines, _) if self.multiline().is_some() => "records",
            (FormatKind::Lines, 1) => "line",
            (FormatKind::Lines, _) => "lines",
            (FormatKind::Binary, 1) => "record",
            (FormatKind::Binary, _) => "records",
            (_, 1) => "row",
            _ => "rows",
        }
    }

    /// The option that joins records with equal keys, if there is one.
    pub fn joins(&self) -> Option<&'static str> {
        let sum = (!self.sums.is_empty()).then_some("--sum");
        self.count.then_some("--count").or(sum)
    }

    /// Whether keys are shuffled in an order of their own each time.
    pub fn draws_salt(&self) -> bool {
        let is_random = |key: &String| key.contains('R');
        let shuffles = self.letters().contains('R') || self.keys.iter().any(is_random);
        self.kind() == FormatKind::Lines && shuffles && self.random_source.is_empty()
    }

    /// The letters of the options that keys without options have.
    pub fn letters(&self) -> String {
        let given = [
            (self.blanks, 'b'),
            (self.dictionary, 'd'),
            (self.fold, 'f'),
            (self.general, 'g'),
            (self.printable, 'i'),
            (self.month, 'M'),
            (self.human, 'h'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.reverse, 'r'),
            (self.version, 'V'),
        ];
        let given = given.into_iter().filter(|(given, _)| *given);
        let letters = given.map(|(_, letter)| letter);
        letters.chain(self.sort.iter().copied()).collect()
    }
}
