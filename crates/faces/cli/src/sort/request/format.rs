//! The records that `--format`, `--key` and the options of lines ask for.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use record::text::{Locale, TextOrderError, separator};
use record::{Given, Keep, RecordSpec, SpecError};

use crate::sort::options::Arguments;
use crate::sort::options::{Kept, Order};
use terminal::ending::failure::CliFailure;

/// Bytes of a salt.
const SALT_BYTES: usize = 16;

/// The system's generator of random bytes.
const RANDOM: &str = "/dev/urandom";

/// The records and their order.
///
/// # Errors
/// An unknown format, a key or separator with a mistake, options that contradict each other, or no salt.
pub(super) fn of(arguments: &Arguments) -> Result<RecordSpec, CliFailure> {
    let options = &arguments.order;
    let mut given = Given {
        format: options.format.clone(),
        keys: options.keys.clone(),
        separator: separator_of(options)?,
        delimiter: arguments.zero_terminated.then_some(0),
        multiline: options.multiline().map(|(described, _)| described),
        quote: options.quote.as_deref().map(one_byte).transpose()?,
        shuffle: options.shuffle.map(given_or_drawn).transpose()?,
        options: options.letters().parse().expect("letters of options"),
        has_no_header: options.no_header,
        head: options.header.clone(),
        nulls: options.nulls.clone(),
        has_short_rows: options.short_rows,
        locale: locale(options)?,
        salt: None,
        keep: keep(options),
        sums: options.sums.clone(),
    };
    let spec = match RecordSpec::new(&given) {
        Err(SpecError::Text(TextOrderError::NoSalt)) => {
            given.salt = Some(salt(&options.random_source)?);
            RecordSpec::new(&given)
        }
        spec => spec,
    };
    spec.map_err(|error| CliFailure::usage(explained(&error)))
}

fn keep(options: &Order) -> Keep {
    let is_last = options.keep == Some(Kept::Last);
    match (options.unique, options.count, options.stable) {
        (true, true, _) if is_last => Keep::LastCounted,
        (true, true, _) => Keep::Counted,
        (true, false, _) if is_last => Keep::Last,
        (true, false, _) => Keep::First,
        (false, _, true) => Keep::Stable,
        (false, _, false) => Keep::All,
    }
}

/// The mistake; of a key of binary records among lines, with what it needs.
fn explained(error: &SpecError) -> String {
    match error {
        SpecError::TextKey(key) if is_binary(&key.spec) => format!(
            "key \"{}\" is one of binary records, which need --format gensort or fixed:LEN; a \
             key of lines is FIELD[.CHARACTER][OPTIONS][,..], such as -k2,2n",
            key.spec
        ),
        SpecError::TextKey(key) if is_column(&key.spec) => format!(
            "key \"{}\" is no field of lines; of rows it is a column, with --format csv, tsv or jsonl; a key of lines is \
             FIELD[.CHARACTER][OPTIONS][,..], such as -k2,2n",
            key.spec
        ),
        other => other.to_string(),
    }
}

/// Whether a key begins as the name of a column or a path of JSON.
fn is_column(text: &str) -> bool {
    let begins = |letter: char| letter.is_alphabetic() || matches!(letter, '#' | '$' | '_' | '"');
    text.starts_with(begins)
}

/// Whether a key begins as `OFFSET+LENGTH`.
fn is_binary(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once('+');
    parts.is_some_and(|(offset, length)| {
        is_number(offset) && is_number(length.split(':').next().unwrap_or_default())
    })
}

fn one_byte(text: &OsStr) -> Result<u8, CliFailure> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(CliFailure::usage(format!(
            "--quote {}: a quote is one byte, such as --quote \"'\"",
            text.display()
        ))),
    }
}

fn locale(options: &Order) -> Result<Option<Locale>, CliFailure> {
    let tag = match options.locale.as_deref() {
        Some("env") => of_environment(),
        tag => tag.map(str::to_owned),
    };
    let found = tag.as_deref().map(Locale::new).transpose();
    found.map_err(|error| CliFailure::usage(format!("--locale: {error}")))
}

/// The language of the environment as a tag, from the variables that `sort` looks at; none in the C locale.
fn of_environment() -> Option<String> {
    let mut variables = ["LC_ALL", "LC_COLLATE", "LANG"].into_iter();
    let value = variables.find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()))?;
    let name = value.split(['.', '@']).next()?;
    (!matches!(name, "C" | "POSIX")).then(|| name.replace('_', "-"))
}

/// The one separator of all `-t`.
fn separator_of(options: &Order) -> Result<Option<u8>, CliFailure> {
    let mut found = None;
    for text in &options.separators {
        let byte = separator(text.as_bytes())
            .map_err(|error| CliFailure::usage(format!("-t: {error}")))?;
        if found.is_some_and(|other| other != byte) {
            return Err(CliFailure::usage(
                "several separators; lines and rows have one: give -t once",
            ));
        }
        found = Some(byte);
    }
    Ok(found)
}

/// The salt of `-R`: the front of the file that was named, or drawn.
fn salt(named: &[PathBuf]) -> Result<[u8; SALT_BYTES], CliFailure> {
    let path = match named {
        [] => Path::new(RANDOM),
        [first, others @ ..] if others.iter().all(|other| other == first) => first,
        _ => {
            return Err(CliFailure::usage(
                "several files of random bytes; give --random-source once",
            ));
        }
    };
    random(path)
}

/// The seed that was given, or one that is drawn.
fn given_or_drawn(given: Option<u64>) -> Result<u64, CliFailure> {
    given.map_or_else(|| random(Path::new(RANDOM)).map(u64::from_le_bytes), Ok)
}

/// The first bytes of a file of random ones.
fn random<const BYTES: usize>(path: &Path) -> Result<[u8; BYTES], CliFailure> {
    let mut drawn = [0; BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut drawn));
    read.map(|()| drawn).map_err(|cause| {
        let why = match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                format!("end of file; it needs {BYTES} bytes")
            }
            _ => format!("{cause}; name a file of random bytes"),
        };
        CliFailure {
            file: Some(path.to_owned()),
            ..CliFailure::new("io", format!("cannot read {}: {why}", path.display()))
        }
    })
}
