//! Reading files that users name: machines, experiments, and saved figures.
//!
//! A name may lead to anything. A device may be endless, and a pipe makes its reader wait for a
//! writer. So only regular files are opened, and only a limited number of bytes is read.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Value;

/// Bytes of the longest machine or experiment file. The built-in ones have some kilobytes, so a
/// larger file was named by mistake.
pub const MOST_BYTES: u64 = 1 << 20;

/// Reads a regular file of at most `most_bytes` bytes as text.
///
/// # Errors
/// If it cannot be read, is not a regular file, is longer, or is not UTF-8.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<String> {
    let bytes = read_bytes(path, most_bytes)?;
    String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text"))
}

/// Parses TOML.
///
/// # Errors
/// The first mistake in one line, with the number of its line.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| 1 + text[..span.start].matches('\n').count());
        let line = line.map_or(String::new(), |line| format!("line {line}: "));
        format!("{line}{}", message(&error))
    })
}

/// Parses TOML with other values: each change is `KEY=VALUE`, and the parts of a key stand between dots. In a
/// list of tables all of them are changed; without a value, the key is left out. The key `PLACE.KEY` of a list
/// changes the table of that place alone, from 1.
///
/// # Errors
/// The first mistake, with the change or the line.
pub fn parse_changed<T: DeserializeOwned>(text: &str, changes: &[String]) -> Result<T, String> {
    if changes.is_empty() {
        return parse(text);
    }
    let mut all = Value::Table(parse(text)?);
    for change in changes {
        apply(&mut all, change).map_err(|why| format!("{change}: {why}"))?;
    }
    all.try_into().map_err(|error: toml::de::Error| {
        format!("with {}: {}", changes.join(", "), message(&error))
    })
}

/// The message of an error, in one line.
fn message(error: &toml::de::Error) -> String {
    error.message().trim().replace('\n', " ")
}

fn apply(all: &mut Value, change: &str) -> Result<(), String> {
    if change.contains(char::is_control) {
        return Err("write KEY=VALUE in one line".to_owned());
    }
    let (key, value) = change.split_once('=').ok_or("write KEY=VALUE")?;
    let value = match value.trim() {
        "" => None,
        value => Some(parsed(value)),
    };
    let parts: Vec<&str> = key.split('.').map(str::trim).collect();
    put(all, &parts, value.as_ref())
}

/// A number or another value of TOML; anything else is text.
fn parsed(value: &str) -> Value {
    let line: Result<toml::Table, _> = toml::from_str(&format!("value = {value}"));
    let known = line.ok().and_then(|mut line| line.remove("value"));
    known.unwrap_or_else(|| Value::String(value.to_owned()))
}

fn put(place: &mut Value, parts: &[&str], value: Option<&Value>) -> Result<(), String> {
    let (part, rest) = parts.split_first().ok_or("the key is missing")?;
    match place {
        Value::Array(tables) => match part.parse::<usize>() {
            Ok(number) => {
                let known = tables.len();
                let table = number
                    .checked_sub(1)
                    .and_then(|number| tables.get_mut(number));
                put(
                    table.ok_or(format!("there are {known}, not {number}"))?,
                    rest,
                    value,
                )
            }
            Err(_) => tables
                .iter_mut()
                .try_for_each(|table| put(table, parts, value)),
        },
        Value::Table(table) if rest.is_empty() => {
            match value {
                Some(value) => table.insert((*part).to_owned(), value.clone()),
                None => table.remove(*part),
            };
            Ok(())
        }
        Value::Table(table) => {
            let inner = table.get_mut(*part).ok_or(format!("there is no {part}"))?;
            put(inner, rest, value)
        }
        _ => Err(format!("{part}: it has no keys")),
    }
}

/// Reads a regular file of at most `most_bytes` bytes.
///
/// # Errors
/// If it cannot be read, is not a regular file, or is longer.
pub fn read_bytes(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    // Checked before opening: opening a pipe may wait for ever, and opening a device may have
    // effects.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        let kind = kind(metadata.file_type());
        return Err(refused(&format!("it is {kind}; name a regular file")));
    }
    up_to(File::open(path)?, most_bytes)
}

fn up_to(reader: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The length is checked after reading: a file may grow, and files of /proc have length 0.
    reader.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let most = most_bytes >> 20;
        return Err(refused(&format!(
            "it is longer than {most} MiB; name another file"
        )));
    }
    Ok(bytes)
}

fn kind(of: FileType) -> &'static str {
    if of.is_dir() {
        "a directory"
    } else if of.is_fifo() {
        "a pipe"
    } else if of.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::other(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_by_key() {
        let text = "a = 1\n[t]\nb = 2.5\n[[l]]\nc = 3\nd = 4\n[[l]]\nc = 5\n";
        let changed = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            parse_changed::<toml::Table>(text, &changes)
        };
        let all = changed(&["a=7", "t.b=[1, 2]", "l.c=word", "l.1.d="]).unwrap();
        let expected = "a = 7\n[t]\nb = [1, 2]\n[[l]]\nc = \"word\"\n[[l]]\nc = \"word\"\n";
        assert_eq!(all, parse(expected).unwrap());
        for (change, told) in [
            ("a", "a: write KEY=VALUE"),
            ("x.y=1", "x.y=1: there is no x"),
            ("a.y=1", "a.y=1: y: it has no keys"),
            ("l.3.c=1", "l.3.c=1: there are 2, not 3"),
        ] {
            assert_eq!(changed(&[change]).unwrap_err(), told);
        }
    }

    #[test]
    fn a_text_of_the_most_bytes_is_read() {
        let file = Path::new(file!()).file_name().expect("this file");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        let length = path.metadata().unwrap().len();
        assert_eq!(read(&path, length).unwrap().len() as u64, length);
        let error = read(&path, length - 1).unwrap_err().to_string();
        assert!(error.starts_with("it is longer than "), "{error}");
    }

    #[test]
    fn errors_name_the_kind_of_file() {
        for (path, kind) in [("/dev/null", "a device"), ("/", "a directory")] {
            let error = read(Path::new(path), MOST_BYTES).unwrap_err().to_string();
            assert_eq!(error, format!("it is {kind}; name a regular file"));
        }
        // The length of a file of /proc is 0.
        assert!(
            !read(Path::new("/proc/self/status"), MOST_BYTES)
                .unwrap()
                .is_empty()
        );
    }
}
