//! Facts about inputs: one is compressed, has grown, or is another than it was.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use node::{FileKind, Metadata, Node};
use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::files::input::{Input, Inputs};
use crate::job::Source;
use crate::report::Warning;

/// Tells the files of an input from those that their names lead to at another time, or elsewhere. The
/// time of change is for edits after which a program sets the time of modification back. It also
/// changes with a name and rights, but a sort from the beginning costs less than records of two forms.
/// The device is left out: its number differs between hosts, and after it was mounted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Lengths and times of modification.
    pub content: u64,
    /// Numbers of the files, and times of change.
    pub files: u64,
}

/// Adds a word to a hash. Different words make different sums of the same one.
fn mixed(sum: u64, word: u64) -> u64 {
    (sum ^ word)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
}

impl Inputs {
    pub(crate) fn stamp(&self) -> Stamp {
        let seen = self.files.iter().map(|input| &input.seen);
        seen.fold(Stamp::default(), |stamp, seen| Stamp {
            content: mixed(mixed(stamp.content, seen.length), seen.modified_ns as u64),
            files: mixed(mixed(stamp.files, seen.identity), seen.changed_ns as u64),
        })
    }

    /// The file that was changed last, for a message.
    pub(crate) fn changed_last(&self) -> PathBuf {
        let last = self.files.iter().max_by_key(|input| input.seen.changed_ns);
        last.map(|input| input.name().to_owned())
            .unwrap_or_default()
    }

    /// An input that no index could make readable at any offset.
    pub(crate) fn undivided(&self) -> Option<&Source> {
        let mut inputs = self.files.iter().filter(|_| !self.is_seekable());
        Some(&inputs.find(|input| input.is_sequential())?.source)
    }

    pub(crate) fn compressed(&self) -> Option<PathBuf> {
        let input = self.files.iter().find(|input| input.is_coded)?;
        Some(input.name().to_owned())
    }

    /// Looks at every regular file again, once all its records are read.
    ///
    /// # Errors
    /// When one was changed in place meanwhile: some of its records may have been read before that,
    /// and others behind it. A file that has only grown may be one that others append to.
    pub(crate) async fn check_unchanged(&self, node: &Node) -> Result<(), SortError> {
        for input in &self.files {
            let Some((path, now)) = input.look_again(node).await else {
                continue;
            };
            let (file, offset) = (path.to_owned(), now.length);
            match now.length.cmp(&input.seen.length) {
                Ordering::Less => return Err(SortError::Shrunk { file, offset }),
                Ordering::Equal if now.modified_ns != input.seen.modified_ns => {
                    return Err(SortError::Replaced { file });
                }
                Ordering::Equal | Ordering::Greater => {}
            }
        }
        Ok(())
    }

    /// Looks at every regular file again, each once, and warns if it has grown since it was opened.
    pub(crate) async fn grown(&self, node: &Node) -> Vec<Warning> {
        let mut told = BTreeSet::new();
        let mut warnings = Vec::new();
        for input in &self.files {
            let Some((path, now)) = input.look_again(node).await else {
                continue;
            };
            // All of a compressed file is read.
            let has_grown = now.length > input.seen.length && !input.is_compressed;
            if has_grown && told.insert((now.device, now.identity)) {
                warnings.push(Warning::Grew {
                    file: path.to_owned(),
                    was: input.seen.length,
                    now: now.length,
                });
            }
        }
        warnings
    }
}

impl Input {
    /// Bytes of the file; 0 if that is not known.
    pub(crate) fn length(&self) -> u64 {
        self.seen.length
    }

    /// The path and the present metadata of a regular file, if the path still leads to it.
    async fn look_again(&self, node: &Node) -> Option<(&Path, Metadata)> {
        let (path, seen) = (self.source.path()?, self.seen);
        if seen.kind != FileKind::Regular && !self.is_coded {
            return None;
        }
        let now = node.metadata(path).await.ok()?;
        let is_it = (now.device, now.identity) == (seen.device, seen.identity);
        is_it.then_some((path, now))
    }
}
