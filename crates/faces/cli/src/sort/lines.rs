//! `--format lines`: the order that the options ask for.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use record::text::{KeyOptions, Locale, TextKey, TextOrder, TextOrderError, TextTies, separator};

use super::Arguments;
use super::options::Order;
use super::words::OBSOLETE;
use terminal::ending::failure::CliFailure;

/// Bytes of a salt.
const SALT_BYTES: usize = 16;

/// The system's generator of random bytes.
const RANDOM: &str = "/dev/urandom";

/// The byte that ends a line.
pub(super) fn delimiter(arguments: &Arguments) -> u8 {
    if arguments.zero_terminated { 0 } else { b'\n' }
}

/// The order of the lines.
///
/// # Errors
/// A wrong key or separator, options that contradict each other, no salt.
pub(super) fn order(arguments: &Arguments) -> Result<TextOrder, CliFailure> {
    let options = &arguments.order;
    let keys: Result<Vec<TextKey>, _> = options.keys.iter().map(|text| key(text)).collect();
    let keys = keys?;
    let global: KeyOptions = options.letters().parse().expect("letters of options");
    let separator = separator_of(arguments)?;
    let ties = if options.stable || options.unique {
        TextTies::Position
    } else {
        TextTies::Line
    };
    let new = |salt| TextOrder::new(keys.clone(), global, separator, ties, salt);
    let order = match new(None) {
        Err(TextOrderError::NoSalt) => new(Some(salt(&options.random_source)?)),
        order => order,
    };
    let order = order.map_err(|error| CliFailure::usage(error.to_string()))?;
    let Some(locale) = locale(options)? else {
        return Ok(order);
    };
    let order = order.with_locale(locale);
    order.map_err(|error| CliFailure::usage(error.to_string()))
}

/// The language of text, of lines and of rows.
///
/// # Errors
/// A tag that is none.
pub(super) fn locale(options: &Order) -> Result<Option<Locale>, CliFailure> {
    let found = options.locale.as_deref().map(Locale::new).transpose();
    found.map_err(|error| CliFailure::usage(format!("--locale: {error}")))
}

/// Reads a key, in the old form if it is marked so.
fn key(text: &str) -> Result<TextKey, CliFailure> {
    let key = match text.strip_prefix(OBSOLETE) {
        None => text.parse(),
        Some(old) => match old.split_once(' ') {
            None => TextKey::obsolete(old, None),
            Some((plus, minus)) => TextKey::obsolete(plus, Some(minus)),
        },
    };
    key.map_err(|error| {
        let message = if is_binary(text) { format!(
            "key \"{text}\" is one of binary records, which need --format gensort or fixed:LEN; a \
             key of lines is FIELD[.CHARACTER][OPTIONS][,..], such as -k2,2n"
        ) } else { error.to_string() };
        CliFailure::usage(message)
    })
}

/// Whether a key begins as `OFFSET+LENGTH`.
fn is_binary(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once('+');
    parts.is_some_and(|(offset, length)| {
        is_number(offset) && is_number(length.split(':').next().unwrap_or_default())
    })
}

/// The one separator of all `-t`.
pub(super) fn separator_of(arguments: &Arguments) -> Result<Option<u8>, CliFailure> {
    use std::os::unix::ffi::OsStrExt;
    let mut found = None;
    for text in &arguments.order.separators {
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
    let mut salt = [0; SALT_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut salt));
    read.map(|()| salt).map_err(|cause| {
        let why = match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                format!("end of file; -R needs {SALT_BYTES} bytes")
            }
            _ => format!("{cause}; name a file of random bytes"),
        };
        CliFailure {
            file: Some(path.to_owned()),
            ..CliFailure::new("io", format!("cannot read {}: {why}", path.display()))
        }
    })
}
