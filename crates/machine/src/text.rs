//! Files that people name and that are read as a whole: machines, experiments, and figures that
//! were kept.
//!
//! A name may lead to anything. A device need not end, and a pipe makes its reader wait for a
//! writer, so only a regular file is opened, and no more of it is read than such a file can hold.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The longest text that describes a machine or an experiment. Those that come with the program
/// have some kilobytes; a megabyte is a file that was named by mistake.
pub const MOST_BYTES: u64 = 1 << 20;

/// The text of a regular file, at most `most_bytes` of it.
///
/// # Errors
/// When it cannot be read, is no regular file, is longer, or is no text in UTF-8.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<String> {
    let bytes = read_bytes(path, most_bytes)?;
    String::from_utf8(bytes).map_err(|_| refused("it is no text in UTF-8"))
}

/// The bytes of a regular file, at most `most_bytes` of it; the file need not be text.
///
/// # Errors
/// When it cannot be read, is no regular file, or is longer.
pub fn read_bytes(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    // Asked by name: to open a pipe may wait for ever, and to open a device may move it.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        let kind = kind(metadata.file_type());
        return Err(refused(&format!("it is {kind}; name a regular file")));
    }
    up_to(File::open(path)?, most_bytes)
}

fn up_to(reader: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A file may have grown, and a file of /proc does not tell its length, so the bytes read count.
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
    fn a_text_is_as_long_as_it_may_be_and_no_longer() {
        let file = Path::new(file!()).file_name().expect("this file");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        let length = path.metadata().unwrap().len();
        assert_eq!(read(&path, length).unwrap().len() as u64, length);
        let error = read(&path, length - 1).unwrap_err().to_string();
        assert!(error.starts_with("it is longer than "), "{error}");
    }

    #[test]
    fn what_is_no_regular_file_is_named_for_what_it_is() {
        for (path, kind) in [("/dev/null", "a device"), ("/", "a directory")] {
            let error = read(Path::new(path), MOST_BYTES).unwrap_err().to_string();
            assert_eq!(error, format!("it is {kind}; name a regular file"));
        }
        // The length that a file of /proc tells is 0.
        assert!(
            !read(Path::new("/proc/self/status"), MOST_BYTES)
                .unwrap()
                .is_empty()
        );
    }
}
