//! Small text files, read and written as a whole through the node's disks.
//!
//! A *text* may have any owner and author, as a manifest, which people move and edit. An *entry* is
//! a text that only programs of one user write and read: a journal, or a part of a checkpoint. An
//! entry is trusted if it is a regular file that belongs to the caller and that no other user can
//! write, and if its seal is whole:
//!
//! ```text
//! { "directories": [ ... ], ... }
//! gristmill-seal 1f0c77a2           CRC-32 of the entry's name, a zero byte, and the text before
//! ```
//!
//! The seal detects a text that was altered, cut, or copied to another name. It does not keep a
//! forger out: the owner and the mode of the file do. Paths never come from an entry; an entry has
//! paths only to compare them with those of the command line.

use std::io;
use std::path::Path;

use node::{Buffer, DiskError, File, Node, NotBelieved, Open};

use crate::files::temporary::Temporary;

/// Bytes of the longest text: a manifest of 14,000 files with keys of 64 bytes, which takes about
/// 40 MB of memory when it is read.
pub const LONGEST_TEXT: u64 = 8 << 20;

/// Bytes of the longest entry. A checkpoint lists each run that was spilled in an epoch, with about
/// 20 bytes for each 2 MiB, so this is an epoch of 10 TiB.
const LONGEST_ENTRY: u64 = 128 << 20;

/// Permission bits of a file that only its owner reads or writes.
pub(crate) const PRIVATE: u32 = 0o600;

/// Permission bits with which users other than the owner write.
pub(crate) const OTHERS_WRITE: u32 = 0o022;

/// Beginning of the last line of an entry.
const SEAL: &str = "\ngristmill-seal ";

/// The result of reading a path where an entry may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Missing,
    /// A file that is not trusted, and why.
    Doubtful(String),
    Text(Vec<u8>),
}

/// The text of a regular file, if it exists.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is too long.
pub(crate) async fn read(node: &Node, path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match node.open(path, Open::Regular { direct: false }).await {
        Err(error) if is_missing(&error) => Ok(None),
        opened => whole(node, opened?, LONGEST_TEXT).await.map(Some),
    }
}

/// The text of a file that only the caller can have written; [`Entry::Doubtful`] if another user
/// may have.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn read_own(node: &Node, path: &Path) -> Result<Entry, DiskError> {
    let file = match node.open(path, Open::Own).await {
        Err(error) if is_missing(&error) => return Ok(Entry::Missing),
        Err(error) => match NotBelieved::of(&error.cause) {
            Some(NotBelieved(why)) => return Ok(Entry::Doubtful(why.clone())),
            None => return Err(error),
        },
        Ok(file) => file,
    };
    if others_write(&file) {
        return Ok(Entry::Doubtful(
            "users other than its owner may write it".to_owned(),
        ));
    }
    whole(node, file, LONGEST_ENTRY).await.map(Entry::Text)
}

/// Whether users other than its owner may write an open file.
pub(crate) fn others_write(file: &File) -> bool {
    file.metadata().mode & OTHERS_WRITE != 0
}

/// The entry at a path, without its seal.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn read_entry(node: &Node, path: &Path) -> Result<Entry, DiskError> {
    Ok(match read_own(node, path).await? {
        Entry::Text(text) => match unsealed(path, text) {
            Some(text) => Entry::Text(text),
            None => Entry::Doubtful("its seal is missing or broken".to_owned()),
        },
        other => other,
    })
}

/// Writes an entry like [`put`], with a seal.
///
/// # Errors
/// When it cannot be written; the path then has its old content or the new entry.
pub(crate) async fn put_entry(
    node: &Node,
    path: &Path,
    mut text: Vec<u8>,
) -> Result<File, DiskError> {
    let seal = seal(path, &text);
    text.extend_from_slice(seal.as_bytes());
    put(node, path, text, PRIVATE).await
}

fn seal(path: &Path, text: &[u8]) -> String {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let crc = kernel::block_crc(&[name, &[0], text].concat());
    format!("{SEAL}{crc:08x}\n")
}

fn unsealed(path: &Path, mut text: Vec<u8>) -> Option<Vec<u8>> {
    let length = text.len().checked_sub(seal(path, &[]).len())?;
    let found = text.split_off(length);
    (found == seal(path, &text).as_bytes()).then_some(text)
}

fn is_missing(error: &DiskError) -> bool {
    error.cause.kind() == io::ErrorKind::NotFound
}

async fn whole(node: &Node, file: File, longest: u64) -> Result<Vec<u8>, DiskError> {
    let failed = |cause: io::Error| Err(DiskError::new("read", file.path(), cause));
    let length = file.metadata().length;
    if length > longest {
        return failed(io::Error::other(
            "it is longer than any file that Gristmill writes",
        ));
    }
    let bytes = length as usize;
    let (buffer, result) = file
        .read(node, 0, bytes, Buffer::heap(bytes))
        .wait(node)
        .await;
    result?;
    if buffer.len() < bytes {
        return failed(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(buffer.filled().to_vec())
}

/// Replaces the file at `path`, durably and in one step: a reader finds the old content or the new
/// text. Returns the open file, which stays locked as long as it is open. A new file gets the
/// permission bits `mode`, before the process's mask.
///
/// # Errors
/// When it cannot be written; the path then has its old content or the new text.
pub(crate) async fn put(
    node: &Node,
    path: &Path,
    text: Vec<u8>,
    mode: u32,
) -> Result<File, DiskError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let how = Open::Create {
        direct: false,
        mode,
    };
    let draft = Temporary::create(node, directory, how).await?;
    let put = match write(node, &draft.file, text).await {
        Ok(()) => node.rename(&draft.path, path).await,
        failed => failed,
    };
    if put.is_err() {
        draft.remove(node).await;
    }
    put.map_err(|error| DiskError {
        path: path.to_owned(),
        ..error
    })?;
    Ok(draft.file)
}

/// Writes the text of a new file and makes it durable.
pub(crate) async fn write(node: &Node, file: &File, text: Vec<u8>) -> Result<(), DiskError> {
    let bytes = text.len();
    let (_, result) = file
        .write(node, 0, Buffer::new(Box::new(text)), 0..bytes)
        .wait(node)
        .await;
    result?;
    file.sync(node).await
}

/// A path as text, different for different paths: bytes that are not UTF-8 are escaped, and so is
/// the backslash.
pub fn spelled(path: &Path) -> String {
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&part.valid().replace('\\', r"\\"));
        part.invalid()
            .iter()
            .for_each(|byte| text.push_str(&format!(r"\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::run_here;
    use std::fs;

    #[test]
    fn a_text_is_read_up_to_the_longest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0123456789").unwrap();
        let path = file.path().to_owned();
        let texts = run_here(move |node| {
            let path = path.clone();
            async move {
                let open = || node.open(&path, Open::Own);
                let ten = whole(&node, open().await.unwrap(), 10).await.ok();
                let nine = whole(&node, open().await.unwrap(), 9).await.ok();
                let cut = open().await.unwrap();
                fs::write(&path, "0123").unwrap();
                let cut = whole(&node, cut, 10)
                    .await
                    .map_err(|error| error.cause.kind());
                (ten, nine, cut)
            }
        });
        let ended = Err(io::ErrorKind::UnexpectedEof);
        assert_eq!(texts, (Some(b"0123456789".to_vec()), None, ended));
    }

    /// Only a file that does not exist counts as missing.
    #[test]
    fn an_unreadable_file_is_not_missing() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().to_owned();
        run_here(move |node| {
            let path = path.clone();
            async move {
                let missing = path.join("missing");
                assert_eq!(read(&node, &missing).await.unwrap(), None);
                assert_eq!(read_own(&node, &missing).await.unwrap(), Entry::Missing);
                assert!(read(&node, &path).await.is_err());
                assert!(read_own(&node, &path).await.is_err());
            }
        });
    }

    /// The error of a failed rename names the target, and the draft is removed.
    #[test]
    fn a_text_whose_rename_fails_leaves_nothing() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("name");
        fs::create_dir(&path).unwrap();
        let told = run_here({
            let path = path.clone();
            move |node| {
                let path = path.clone();
                async move { put(&node, &path, vec![1], PRIVATE).await.unwrap_err().path }
            }
        });
        assert_eq!(told, path);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_seal_finds_every_change_of_text_and_name() {
        let (path, text) = (
            Path::new("/t/.gristmill-1.journal"),
            b"{\"files\":[]}".to_vec(),
        );
        let sealed = [text.as_slice(), seal(path, &text).as_bytes()].concat();
        assert_eq!(unsealed(path, sealed.clone()), Some(text.clone()));
        assert_eq!(
            unsealed(Path::new("/u/.gristmill-1.journal"), sealed.clone()),
            Some(text)
        );
        assert_eq!(
            unsealed(Path::new("/t/.gristmill-2.journal"), sealed.clone()),
            None
        );
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut altered = sealed.clone();
                altered[at] ^= 1 << bit;
                assert_eq!(unsealed(path, altered), None, "bit {bit} of byte {at}");
            }
            assert_eq!(
                unsealed(path, sealed[..at].to_vec()),
                None,
                "cut at byte {at}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn different_paths_have_different_texts() {
        use std::os::unix::ffi::OsStrExt;
        let spell = |bytes: &[u8]| spelled(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(spell("/café/out".as_bytes()), "/café/out");
        assert_eq!(spell(b"/a\xff\\b"), r"/a\xff\\b");
        assert_ne!(spell(b"/a\xff"), spell(b"/a\\xff"));
        assert_ne!(spell(b"/a\xff"), spell(b"/a\xfe"));
    }
}
