//! Inputs: opened read-only, checked, and divided into the units that readers read.
//!
//! Several files are one sequence of records; a directory with a manifest is its files. A unit is a
//! number of whole records of one file; a direct read of it begins and ends at whole disk blocks
//! around them:
//!
//! ```text
//! disk blocks   |     |     |     |     |     |
//! records       ..|---+---+---+---+---+--|..      units of records first .. first + count
//! read               ^ from here to here ^
//! ```

use crate::job::Source;
use crate::records::block::BLOCK_BYTES;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{Buffer, DiskError, File, FileKind, Metadata, Node, Open, Standard};
use pipeline::Failure;
use record::Checksum;

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::job::IoChoice;
use crate::report::Warning;

/// Inputs that stay open while they are not read: the rest is opened again when its turn comes, so
/// that any number of inputs needs few descriptors.
const KEPT_OPEN: usize = 8;

/// An input that was opened and checked.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file, if it stays open: pipes must, and the first few do.
    kept: Option<File>,
    source: Source,
    seen: Metadata,
    /// Whether it is read past the page cache.
    direct: bool,
    /// Records of the file that are left out at its beginning.
    skipped: u64,
    /// This node's records before it.
    pub first: u64,
    /// Its records; 0 for a pipe, which has as many as come.
    pub records: u64,
}

/// All inputs of a run.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub files: Vec<Input>,
    /// Records in all of them, where that is known.
    pub records: Option<u64>,
    /// Position of the first of them in the input of all nodes.
    pub base: u64,
    /// What the sets of files list, if every input is of one.
    pub listed: Option<Listed>,
}

/// What manifests say of all records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    /// Sum over all records.
    pub checksum: Checksum,
    /// The first manifest.
    pub manifest: PathBuf,
}

impl Listed {
    /// # Errors
    /// When what was read is not what is listed.
    pub(crate) fn check(&self, read: Checksum) -> Result<(), SortError> {
        if read == self.checksum {
            return Ok(());
        }
        let what = format!(
            "lists records with checksum {}; what was read has {read}: valsort tells which file it is",
            self.checksum
        );
        Err(SortError::Manifest {
            file: self.manifest.clone(),
            what,
        })
    }
}

/// Some records of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadUnit {
    /// Which input.
    pub input: usize,
    /// First record, within that input.
    pub first: u64,
    /// How many.
    pub records: usize,
    /// Position of the first record in the whole input.
    pub position: u64,
}

impl Inputs {
    /// Opens and checks all inputs, and measures whether to bypass the page cache.
    pub(crate) async fn open(
        node: &Node,
        sources: &[Source],
        record_bytes: usize,
        io: IoChoice,
    ) -> Result<Inputs, Failure> {
        let mut inputs = Inputs::none();
        let mut listed = Some(Listed::default());
        for source in sources {
            let Some((directory, manifest)) = set_of(node, source).await? else {
                let file = open(node, source, io).await?;
                inputs.add(source, file, record_bytes)?;
                listed = None;
                continue;
            };
            let refused = |what| SortError::Manifest {
                file: directory.join(Manifest::NAME),
                what,
            };
            let checksum = manifest.checked_sum(directory)?;
            if let Some(Listed {
                checksum: all,
                manifest: first,
            }) = &mut listed
            {
                *all = all.merge(checksum);
                if first.as_os_str().is_empty() {
                    *first = directory.join(Manifest::NAME);
                }
            }
            if manifest.record_bytes != record_bytes {
                let listed = manifest.record_bytes;
                let what =
                    format!("lists records of {listed} bytes, not {record_bytes}; check --format");
                return Err(refused(what).into());
            }
            for (path, listed) in manifest.paths(directory).into_iter().zip(&manifest.files) {
                let source = Source::Listed(path);
                let file = open(node, &source, io).await?;
                let name = file.path().display().to_string();
                inputs.add(&source, file, record_bytes)?;
                let found = inputs.files.last().map_or(0, |input| input.records);
                if found != listed.records {
                    let what = format!(
                        "lists {} records in {name}, which has {found}",
                        listed.records
                    );
                    return Err(refused(what).into());
                }
            }
        }
        inputs.listed = listed.filter(|_| !sources.is_empty());
        Ok(inputs)
    }

    /// Nothing to read.
    pub(crate) fn none() -> Inputs {
        Inputs {
            files: Vec::new(),
            records: Some(0),
            base: 0,
            listed: None,
        }
    }

    /// One of several equal parts of these records.
    pub(crate) fn part(&self, number: u32, of: u32) -> Inputs {
        let all = u128::from(self.records.unwrap_or(0));
        let upto = |number: u32| (all * u128::from(number) / u128::from(of)) as u64;
        let mut part = self.clone();
        part.narrow(upto(number)..upto(number + 1));
        part.base += self.base;
        part
    }

    fn add(&mut self, source: &Source, file: File, record_bytes: usize) -> Result<(), SortError> {
        let seen = file.metadata();
        let records = match seen.kind {
            FileKind::Directory => {
                return Err(SortError::Directory {
                    file: file.path().to_owned(),
                });
            }
            FileKind::Sequential => 0,
            FileKind::Regular => whole_records(&file, record_bytes)?,
        };
        let first = self.records.unwrap_or(0);
        let sequential = file.is_sequential();
        self.records = self
            .records
            .filter(|_| !sequential)
            .map(|before| before + records);
        let direct = file.is_direct();
        let kept = (sequential || self.files.len() < KEPT_OPEN).then_some(file);
        let source = source.clone();
        self.files.push(Input {
            kept,
            source,
            seen,
            direct,
            skipped: 0,
            first,
            records,
        });
        Ok(())
    }

    /// Whether every input can be read anywhere.
    pub(crate) fn is_seekable(&self) -> bool {
        self.records.is_some()
    }

    /// Whether every input that can be is read past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        self.files.iter().all(|input| input.direct)
    }

    /// Looks at every regular input again: what is longer now than when it was opened, each file
    /// once. What cannot be found any more by its name is nothing to tell: it was read all the
    /// same.
    pub(crate) async fn grown(&self, node: &Node) -> Vec<Warning> {
        let mut told = BTreeSet::new();
        let mut warnings = Vec::new();
        for Input { source, seen, .. } in &self.files {
            let (Some(path), FileKind::Regular) = (source.path(), seen.kind) else {
                continue;
            };
            let Ok(now) = node.metadata(path).await else {
                continue;
            };
            let same = (now.device, now.identity) == (seen.device, seen.identity);
            if same && now.length > seen.length && told.insert((seen.device, seen.identity)) {
                let (was, now) = (seen.length, now.length);
                warnings.push(Warning::Grew {
                    file: path.to_owned(),
                    was,
                    now,
                });
            }
        }
        warnings
    }

    /// The unit of at most `records` records from position `position` of the whole input on.
    pub(crate) fn unit_at(&self, position: u64, records: usize) -> ReadUnit {
        let input = self
            .files
            .partition_point(|input| input.first + input.records <= position);
        let Input {
            skipped,
            first,
            records: all,
            ..
        } = self.files[input];
        let before = position - first;
        let records = records.min((all - before) as usize);
        ReadUnit {
            input,
            first: skipped + before,
            records,
            position: self.base + position,
        }
    }

    /// Leaves the records of that range alone: what all nodes name is divided among them.
    pub(crate) fn narrow(&mut self, range: Range<u64>) {
        for input in &mut self.files {
            let (begin, end) = (input.first, input.first + input.records);
            let from = range.start.clamp(begin, end);
            let to = range.end.clamp(from, end);
            (input.skipped, input.records) = (input.skipped + from - begin, to - from);
            input.first = from.max(range.start) - range.start;
        }
        self.files.retain(|input| input.records > 0);
        (self.base, self.records) = (range.start, Some(range.end - range.start));
        // Nobody reads all that is listed.
        self.listed = None;
    }
}

impl Input {
    /// Whether it is read front to back only.
    pub(crate) fn is_sequential(&self) -> bool {
        self.seen.kind == FileKind::Sequential
    }

    /// Its records as units of at most `records` each; it is input `number`, and its first record
    /// has that position.
    pub(crate) fn units(
        &self,
        number: usize,
        position: u64,
        records: usize,
    ) -> impl Iterator<Item = ReadUnit> + use<> {
        let all = self.records;
        (0..all).step_by(records).map(move |first| ReadUnit {
            input: number,
            first,
            records: records.min((all - first) as usize),
            position: position + first,
        })
    }

    /// The file, opened again if it did not stay open.
    async fn open(&self, node: &Node) -> Result<File, Failure> {
        let (None, Some(path)) = (&self.kept, self.source.path()) else {
            return Ok(self.kept.clone().expect("standard input stays open"));
        };
        let file = node.open(path, self.source.how(self.direct)).await?;
        let now = file.metadata();
        if (now.device, now.identity) != (self.seen.device, self.seen.identity) {
            return Err(SortError::Replaced {
                file: path.to_owned(),
            }
            .into());
        }
        Ok(file)
    }
}

/// One task's way to the files of the inputs: the one it used last stays open.
pub(crate) struct Files {
    inputs: Arc<Inputs>,
    last: Option<(usize, File)>,
}

impl Files {
    pub(crate) fn new(inputs: &Arc<Inputs>) -> Files {
        Files {
            inputs: Arc::clone(inputs),
            last: None,
        }
    }

    /// The file of input `number`.
    pub(crate) async fn of(&mut self, node: &Node, number: usize) -> Result<File, Failure> {
        match &self.last {
            Some((last, file)) if *last == number => Ok(file.clone()),
            _ => {
                let file = self.inputs.files[number].open(node).await?;
                self.last = Some((number, file.clone()));
                Ok(file)
            }
        }
    }
}

/// The records of a file, if it ends with one.
fn whole_records(file: &File, record_bytes: usize) -> Result<u64, SortError> {
    let length = file.metadata().length;
    let left = length % record_bytes as u64;
    if left == 0 {
        return Ok(length / record_bytes as u64);
    }
    let path: &Path = file.path();
    let (file, offset) = (path.to_owned(), length - left);
    Err(SortError::TruncatedRecord {
        file,
        offset,
        left,
        record_bytes,
    })
}

/// The set of files that a source is, and its directory, if it is one.
async fn set_of<'a>(
    node: &Node,
    source: &'a Source,
) -> Result<Option<(&'a Path, Manifest)>, Failure> {
    let Source::Path(path) = source else {
        return Ok(None);
    };
    let found = node.metadata(path).await;
    if !found.is_ok_and(|found| found.kind == FileKind::Directory) {
        return Ok(None);
    }
    Ok(Manifest::read(node, path)
        .await?
        .map(|manifest| (path.as_path(), manifest)))
}

async fn open(node: &Node, source: &Source, io: IoChoice) -> Result<File, DiskError> {
    let Some(path) = source.path() else {
        return node.standard(Standard::Input).await;
    };
    let file = node.open(path, source.how(io == IoChoice::Direct)).await?;
    let seen = file.metadata();
    // A file that a manifest lists must have the length that it says.
    let is_named = matches!(source, Source::Path(_));
    if is_named && seen.kind == FileKind::Regular && seen.length == 0 {
        return as_stream_if_filled(node, path, file).await;
    }
    if io != IoChoice::Auto || file.is_sequential() || is_cached(node, &file).await? {
        return Ok(file);
    }
    node.open(path, source.how(true)).await
}

/// The file of length 0 as it is if it is empty, else as a stream. The kernel makes files such as
/// those of `/proc` when they are read, and gives them no length before; a byte that can be read
/// shows that.
async fn as_stream_if_filled(node: &Node, path: &Path, file: File) -> Result<File, DiskError> {
    let file = match file.is_direct() {
        true => node.open(path, Open::Read { direct: false }).await?,
        false => file,
    };
    let (byte, result) = file.read(node, 0, 1, Buffer::heap(1)).wait(node).await;
    result?;
    // An ordinary file that somebody fills just now has a length by then.
    let is_filled = !byte.is_empty() && node.metadata(path).await?.length == 0;
    Ok(if is_filled {
        file.front_to_back()
    } else {
        file
    })
}

/// Pages looked at to tell whether a file is cached: a few microseconds each.
const PROBES: u64 = 32;

/// Whether at least half of the file lies in the page cache, by a sample of its pages.
async fn is_cached(node: &Node, file: &File) -> Result<bool, DiskError> {
    let blocks = file.metadata().length / BLOCK_BYTES;
    if blocks == 0 {
        return Ok(true);
    }
    let probes = PROBES.min(blocks);
    let mut resident = 0;
    for probe in 0..probes {
        let begin = probe * blocks / probes * BLOCK_BYTES;
        resident += file.resident(node, begin..begin + BLOCK_BYTES).await?;
    }
    Ok(resident * 2 >= probes * BLOCK_BYTES)
}
