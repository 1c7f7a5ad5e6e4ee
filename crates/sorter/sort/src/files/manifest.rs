//! The manifest of an ordered set of files: its files in key order, and the contents of each.
//!
//! ```text
//! DIR/manifest.json              { "gristmill_set": 1, ..., "files": [ ... ] }
//! DIR/part-00000-1f0c77a2          the smallest keys
//! /disk2/part-00001-1f0c77a2
//! DIR/part-00002-1f0c77a2          the largest keys
//! ```
//!
//! The manifest lies in the first directory of the set. Files there are listed by name alone, so
//! that a set in one directory can be moved; all others by their absolute path. A file that no
//! manifest lists belongs to no set.

use std::path::{Path, PathBuf};

use node::Node;
use pipeline::Failure;
use record::{Checksum, Comparison, Ties};
use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::files::text_file;
use crate::files::text_file::Entry;
use crate::records::contents::Contents;
use crate::records::span::Span;

/// A file of a set: the number of its directory in the set, and its name there.
pub(crate) type Placed = (usize, String);

/// The version written, and the only one read.
const VERSION: u32 = 1;

/// Bytes of a key that are listed: enough to tell files apart, even with long keys.
const LISTED_KEY_BYTES: usize = 64;

/// The manifest of a set of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub gristmill_set: u32,
    /// Format of the records, as `--format` has it.
    pub format: String,
    /// The keys, as `--key` has them; the first counts most.
    pub keys: Vec<String>,
    /// Whether equal keys kept their input order (otherwise the whole record decided).
    pub stable: bool,
    /// Length of a record in bytes; 0 if they differ.
    pub record_bytes: usize,
    /// Bytes of the header at the front of each file, which is no record.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub header_bytes: u64,
    /// Number of records in all files.
    pub records: u64,
    /// Sum of the CRC-32 of every record, in hexadecimal digits, as valsort prints it.
    pub checksum: String,
    /// The directory where the set was made. If the manifest lies elsewhere, absolute paths may
    /// lead to files of another set.
    pub directory: String,
    /// The files in key order.
    pub files: Vec<ListedFile>,
}

/// A file of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// Its name next to the manifest, or its absolute path.
    pub path: String,
    /// The host that wrote it, if there were several; the path is one on that host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Number of its records.
    pub records: u64,
    /// Sum of the CRC-32 of every record.
    pub checksum: String,
    /// The keys of its first record, one behind the other, in hexadecimal digits: 64 bytes at most.
    pub first_key: String,
    /// The keys of its last record, likewise.
    pub last_key: String,
}

impl Manifest {
    /// Name of a set's manifest.
    pub const NAME: &str = "manifest.json";

    /// End of the name of a list of all ranks' outputs.
    pub const SUFFIX: &str = ".manifest.json";

    pub(crate) fn add(&mut self, file: ListedFile) {
        self.records += file.records;
        let sum = [&self.checksum, &file.checksum]
            .map(|text| Checksum(u128::from_str_radix(text, 16).expect("a checksum of ours")));
        self.checksum = sum[0].merge(sum[1]).to_string();
        self.files.push(file);
    }

    pub(crate) fn new(contents: &dyn Contents, directory: &Path) -> Manifest {
        let described = contents.comparison().map(|order| order.describe());
        let counted = || {
            (
                format!("fixed:{}", contents.framing().longest()),
                Vec::new(),
            )
        };
        let (format, keys) = described.unwrap_or_else(counted);
        Manifest {
            gristmill_set: VERSION,
            format,
            keys,
            stable: contents.is_stable(),
            record_bytes: if contents.framing().is_fixed() {
                contents.framing().longest()
            } else {
                0
            },
            header_bytes: contents.header().len() as u64,
            records: 0,
            checksum: Checksum::default().to_string(),
            directory: directory.to_string_lossy().into_owned(),
            files: Vec::new(),
        }
    }

    /// The checksum of all records, of a manifest in `directory` that agrees with itself.
    ///
    /// # Errors
    /// When it has no valid order, or its totals are not the sums over its files.
    pub(crate) fn checked_sum(&self, directory: &Path) -> Result<Checksum, SortError> {
        let refused = |what| SortError::Manifest {
            file: directory.join(Manifest::NAME),
            what,
        };
        self.order(directory)?;
        let mut all = (0, Checksum::default());
        for file in &self.files {
            let ListedFile {
                path,
                records,
                checksum,
                ..
            } = file;
            let none = || refused(format!("lists {checksum:?} as the checksum of {path}"));
            all.0 += u128::from(*records);
            all.1 = all.1.merge(checksum_of(checksum).ok_or_else(none)?);
        }
        let advice = "to sort its files all the same, name each of them";
        let wrong = self
            .wrong_totals(all)
            .map(|what| refused(format!("{what}; {advice}")));
        wrong.map_or(Ok(all.1), Err)
    }

    /// How the totals differ from the records and the checksum of all files, if they do.
    pub(crate) fn wrong_totals(&self, (records, checksum): (u128, Checksum)) -> Option<String> {
        let is_wrong =
            u128::from(self.records) != records || checksum_of(&self.checksum) != Some(checksum);
        is_wrong.then(|| {
            format!(
                "lists {} records with checksum {} in all; its files have {records} with {checksum}",
                self.records, self.checksum
            )
        })
    }

    /// The manifest in `directory`, if there is one, and if only the caller can have written it: it
    /// says which files of an old set to remove.
    ///
    /// # Errors
    /// As [`Manifest::read`], and when another user may have written it.
    pub(crate) async fn read_own(
        node: &Node,
        directory: &Path,
    ) -> Result<Option<Manifest>, Failure> {
        let path = directory.join(Manifest::NAME);
        match text_file::read_own(node, &path).await? {
            Entry::Missing => Ok(None),
            Entry::Text(text) => Ok(Some(Manifest::parse(&path, &text)?)),
            Entry::Doubtful(why) => Err(SortError::Manifest {
                file: path,
                what: format!("cannot be trusted: {why}"),
            }
            .into()),
        }
    }

    /// The manifest in `directory`, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is no manifest.
    pub async fn read(node: &Node, directory: &Path) -> Result<Option<Manifest>, Failure> {
        Manifest::read_from(node, &directory.join(Manifest::NAME)).await
    }

    /// The manifest at `path`, if there is one.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub async fn read_from(node: &Node, path: &Path) -> Result<Option<Manifest>, Failure> {
        let Some(text) = text_file::read(node, path).await? else {
            return Ok(None);
        };
        Ok(Some(Manifest::parse(path, &text)?))
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Manifest, SortError> {
        let refused = |what| SortError::Manifest {
            file: path.to_owned(),
            what,
        };
        let parsed = serde_json::from_slice(text);
        let manifest: Manifest = parsed
            .map_err(|error| refused(format!("is not the manifest of a set of files: {error}")))?;
        if manifest.gristmill_set != VERSION {
            let version = manifest.gristmill_set;
            return Err(refused(format!("has version {version}, not {VERSION}")));
        }
        Ok(manifest)
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("text and numbers");
        text.push(b'\n');
        text
    }

    /// The order of the records.
    ///
    /// # Errors
    /// When the manifest, which lies in `directory`, has no valid order.
    pub fn order(&self, directory: &Path) -> Result<Comparison, SortError> {
        let ties = if self.stable {
            Ties::Position
        } else {
            Ties::Record
        };
        let refused = |what| SortError::Manifest {
            file: directory.join(Manifest::NAME),
            what,
        };
        let order = Comparison::parse(&self.format, &self.keys, ties);
        let order = order.map_err(|error| refused(format!("says no order: {error}")))?;
        let length = match order.framing() {
            record::Framing::Fixed(length) => length,
            _ => 0,
        };
        if length != self.record_bytes {
            return Err(refused(format!(
                "has two lengths of records: {}",
                self.format
            )));
        }
        Ok(order)
    }

    /// Paths of the files in key order, of a manifest in `directory`.
    pub fn paths(&self, directory: &Path) -> Vec<PathBuf> {
        let path = |file: &ListedFile| directory.join(&file.path);
        self.files.iter().map(path).collect()
    }

    /// Whether it lies in the directory that it was made for, links followed, and is no copy.
    pub(crate) fn is_at_home(&self, directory: &Path) -> bool {
        self.directory == directory.to_string_lossy()
    }

    /// The files of this set to remove when a new one in these directories replaces it, links
    /// followed; and the number of files elsewhere, which stay. If the set is a copy, only copied
    /// files belong to it.
    pub(crate) fn placed(&self, directories: &[PathBuf]) -> (Vec<Placed>, usize) {
        let is_at_home = self.is_at_home(&directories[0]);
        let place = |file: &ListedFile| -> Option<Placed> {
            let path = Path::new(&file.path);
            let name = path.file_name()?.to_str()?.to_owned();
            let number = if is_name(&file.path) {
                0
            } else {
                directories
                    .iter()
                    .position(|directory| is_at_home && path.parent() == Some(directory))?
            };
            is_part(&name).then_some((number, name))
        };
        let placed: Vec<Placed> = self.files.iter().filter_map(place).collect();
        let elsewhere = if is_at_home {
            self.files.len() - placed.len()
        } else {
            0
        };
        (placed, elsewhere)
    }
}

impl ListedFile {
    /// The file that holds these spans.
    pub(crate) fn of(path: String, contents: &dyn Contents, spans: &[Span]) -> ListedFile {
        let sum = spans
            .iter()
            .fold(0_u128, |sum, bucket| sum.wrapping_add(bucket.sum));
        let order = contents.comparison();
        let key = |record: Option<&Vec<u8>>| match (&order, record) {
            (Some(order), Some(record)) => listed_key(order, record),
            _ => String::new(),
        };
        ListedFile {
            path,
            host: None,
            records: spans.iter().map(|span| span.size.records).sum(),
            checksum: Checksum(sum).to_string(),
            first_key: key(spans.first().map(|span| &span.first)),
            last_key: key(spans.last().map(|span| &span.last)),
        }
    }
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// A checksum from its hexadecimal digits, if they are valid.
fn checksum_of(digits: &str) -> Option<Checksum> {
    // Rust's numbers may have a sign.
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_hexadecimal)
        .map(Checksum)
}

pub(crate) fn listed_key(order: &Comparison, record: &[u8]) -> String {
    let bytes = order.key_bytes(record, LISTED_KEY_BYTES);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of file `number` of a set; `tag` tells runs apart.
pub(crate) fn part_name(number: usize, tag: u32) -> String {
    format!("part-{number:05}-{tag:08x}")
}

/// Whether a file has such a name: no other file is ever removed, whatever a manifest lists.
pub(crate) fn is_part(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((number, tag)) = name
        .strip_prefix("part-")
        .and_then(|rest| rest.split_once('-'))
    else {
        return false;
    };
    let digits =
        |text: &str, least| text.len() >= least && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits(number, 5) && digits(tag, 8) && tag.len() == 8
}

/// Whether a listed path is a name next to the manifest.
pub(crate) fn is_name(path: &str) -> bool {
    !path.contains('/')
}
