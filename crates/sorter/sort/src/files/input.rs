//! Inputs: opened read-only, checked, and divided into the units that readers read.
//!
//! Several files are one sequence of records; a directory with a manifest stands for its files. A
//! unit is a number of whole records of one file, or of lines a range of bytes that is cut anywhere
//! (`stages/unit_read.rs`); files of chained records are cut where their index has a record
//! ([`index`]). A direct read of a unit begins and ends at the whole disk blocks around it:
//!
//! ```text
//! disk blocks   |     |     |     |     |     |
//! records         |---+---+---+---+---+---+...
//! unit                |---+---+---|
//! direct read         from block to block around it
//! ```

mod facts;
mod files;
pub(crate) mod header;
pub(crate) mod index;
mod listed;
mod opening;
mod units;

use std::path::Path;
use std::sync::Arc;

use node::{CodingMemory, File, FileKind, Metadata, Node};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::files::spare;
use crate::job::{Behind, IoChoice, ReadOptions, Source};
use crate::records::framing::Framing;
pub(crate) use facts::Stamp;
pub(crate) use files::Files;
use index::Index;
use listed::Listed;
use opening::{Found, Opened, is_unchanged, look_at, replaced};
pub(crate) use units::ReadUnit;

/// Inputs that stay open while they are not read, if the process may have so many. The others are opened
/// again for each use, so that any number of inputs needs few descriptors.
const KEPT_OPEN: usize = 8;

/// One input of a sort, checked when it was opened.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file, if it stays open: pipes and the first few files do.
    kept: Option<File>,
    source: Source,
    seen: Metadata,
    direct: bool,
    /// Bytes at the beginning of the file that are skipped: its header, and the parts of other
    /// ranks.
    skipped: u64,
    /// How it is opened.
    reading: ReadOptions,
    /// Whether its contents are decoded, or have lots: then they are read from front to back.
    is_coded: bool,
    is_compressed: bool,
    /// Whether its last line has no delimiter.
    is_open: bool,
    framing: Framing,
    /// Where it may be cut, if its records are chained.
    index: Option<Arc<Index>>,
    /// Bytes before it in this node's input.
    pub first: u64,
    /// Its bytes; 0 for a pipe or compressed file, whose length is unknown, and for chained records
    /// without an index.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub files: Vec<Input>,
    pub framing: Framing,
    /// Bytes of all of them; `None` if one is read only front to back.
    pub bytes: Option<u64>,
    /// Bytes before them in the input of all ranks.
    pub base: u64,
    /// The lists of the sets, if every input is a set of files.
    pub listed: Option<Listed>,
    /// Memory for decompression. Inputs that are read front to back are read one by one, so it is
    /// that of the largest.
    pub coding: CodingMemory,
    /// Files that may be opened again at the same time.
    at_once: usize,
    /// Inputs that stay open at most, pipes apart.
    kept_open: usize,
    reading: ReadOptions,
}

impl Inputs {
    /// Opens and checks all inputs, and measures whether to bypass the page cache.
    pub(crate) async fn open(
        node: &Node,
        sources: &[Source],
        framing: Framing,
        reading: ReadOptions,
    ) -> Result<Inputs, Failure> {
        let mut inputs = Inputs::none(framing);
        // The system reads ahead of a file that is read front to back.
        let io = if framing.is_chained() && !reading.in_parts {
            IoChoice::Buffered
        } else {
            reading.io
        };
        inputs.reading = ReadOptions { io, ..reading };
        let reading = &inputs.reading.clone();
        inputs.kept_open = KEPT_OPEN.min(spare(node) / 2);
        let mut listed = Some(Listed::default());
        let mut left = sources;
        while !left.is_empty() {
            let first = sources.len() - left.len();
            let found = look_at(node, (left, first), reading).await?;
            let (some, rest) = left.split_at(found.len());
            left = rest;
            for (source, found) in some.iter().zip(found) {
                match found {
                    Found::File(look) => {
                        inputs.add(source, look.end(node).await?)?;
                        listed = None;
                    }
                    Found::Set(directory, manifest) => {
                        let list = Listed {
                            checksum: manifest.checked_sum(directory)?,
                            manifest: directory.join(Manifest::NAME),
                        };
                        listed = listed.map(|all| all.and(list));
                        let seen = match source {
                            Source::Behind(behind) => &behind.seen[..],
                            _ => &[],
                        };
                        let behind = (source.header_bytes(), seen);
                        inputs.add_set(node, (directory, &manifest), behind).await?;
                    }
                }
            }
        }
        inputs.listed = listed.filter(|_| !sources.is_empty());
        inputs.at_once = spare(node);
        Ok(inputs)
    }

    /// Opens the files of a set, each behind a header of that many bytes, which was read when they were
    /// as `seen`.
    async fn add_set(
        &mut self,
        node: &Node,
        (directory, manifest): (&Path, &Manifest),
        (header_bytes, seen): (u64, &[Metadata]),
    ) -> Result<(), Failure> {
        let (framing, reading) = (self.framing, &self.reading.clone());
        let file = directory.join(Manifest::NAME);
        reading.check_set(&file)?;
        let refused = |what| SortError::Manifest { file, what };
        if manifest.order(directory)?.framing() != framing.records() {
            let listed = &manifest.format;
            let what = format!("lists records of format {listed}; check --format");
            return Err(refused(what).into());
        }
        if header_bytes != manifest.header_bytes {
            let what = "lists files with a header; leave --no-header out";
            return Err(refused(what.to_owned()).into());
        }
        let paths = manifest.paths(directory).into_iter();
        let sources = paths.enumerate().map(|(number, path)| {
            Source::Behind(Box::new(Behind {
                source: Source::Listed(path),
                bytes: header_bytes,
                begun: None,
                seen: seen.get(number).copied().into_iter().collect(),
            }))
        });
        let sources: Vec<Source> = sources.collect();
        let mut listed = manifest.files.iter();
        let mut left = &sources[..];
        while !left.is_empty() {
            let found = look_at(node, (left, 0), reading).await?;
            let (some, rest) = left.split_at(found.len());
            left = rest;
            for ((source, look), listed) in some.iter().zip(found).zip(&mut listed) {
                let Found::File(look) = look else { continue };
                let opened = look.end(node).await?;
                let name = opened.file.path().display().to_string();
                self.add(source, opened)?;
                let bytes = self.files.last().map_or(0, |input| input.bytes);
                let found = framing.size_of(bytes).records;
                // Lines are counted when they are read.
                if framing.is_fixed() && found != listed.records {
                    let what = format!(
                        "lists {} records in {name}, which has {found}",
                        listed.records
                    );
                    return Err(refused(what).into());
                }
            }
        }
        Ok(())
    }

    pub(crate) fn none(framing: Framing) -> Inputs {
        Inputs {
            files: Vec::new(),
            framing,
            bytes: Some(0),
            base: 0,
            listed: None,
            coding: CodingMemory::default(),
            at_once: 0,
            kept_open: 0,
            reading: ReadOptions::default(),
        }
    }

    fn add(&mut self, source: &Source, opened: Opened) -> Result<(), SortError> {
        let is_open = opened.ends_open(self.framing);
        let Opened { file, is_pipe, .. } = opened;
        let seen = file.metadata();
        let is_streamed = self.framing.is_chained() && !self.reading.in_parts;
        let bytes = match seen.kind {
            FileKind::Directory => {
                let file = file.path().to_owned();
                return Err(SortError::Directory { file });
            }
            FileKind::Sequential => 0,
            FileKind::Regular if is_streamed => 0,
            FileKind::Regular => {
                let (file_bytes, header) = (seen.length, source.header_bytes());
                // The header was read from it before.
                let Some(bytes) = file_bytes.checked_sub(header) else {
                    let (file, offset) = (file.path().to_owned(), file_bytes);
                    return Err(SortError::Shrunk { file, offset });
                };
                ends_whole(file.path(), (seen.length, bytes), self.framing)?;
                bytes
            }
        };
        let first = self.bytes.unwrap_or(0);
        let sequential = file.is_sequential() || is_streamed;
        let is_coded = file.is_coded();
        let is_compressed = is_coded && file.coding_memory() != CodingMemory::default();
        self.coding = self.coding.or(file.coding_memory());
        self.bytes = self
            .bytes
            .filter(|_| !sequential)
            .map(|before| before + bytes);
        let direct = file.is_direct();
        // The header of a compressed file is skipped each time that the file is opened.
        let skips = is_coded && source.header_bytes() > 0;
        let kept = (is_pipe || self.files.len() < self.kept_open && !skips).then_some(file);
        self.files.push(Input {
            kept,
            source: source.clone(),
            seen,
            direct,
            skipped: source.header_bytes(),
            reading: self.reading.of_input(self.files.len()),
            is_coded,
            is_compressed,
            is_open,
            framing: self.framing,
            index: None,
            first,
            bytes,
        });
        Ok(())
    }

    /// Whether these are files of chained records that have no indexes yet.
    pub(crate) fn lack_indexes(&self) -> bool {
        self.framing.is_chained() && self.is_seekable() && !self.is_indexed()
    }

    pub(crate) fn is_indexed(&self) -> bool {
        self.indexes().next().is_some()
    }

    /// These inputs, each with its index.
    pub(crate) fn indexed(mut self, indexes: Vec<Index>) -> Inputs {
        for (input, index) in self.files.iter_mut().zip(indexes) {
            input.index = Some(Arc::new(index));
        }
        self
    }

    /// The indexes of chained records, as far as they were made.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = &Index> {
        self.files.iter().filter_map(|input| input.index.as_deref())
    }

    /// Delimiters that are missing at the ends of files, and are added when they are read.
    pub(crate) fn added(&self) -> u64 {
        // A header without its delimiter gets one of its own.
        let ends =
            |input: &&Input| input.bytes > 0 && input.skipped + input.bytes == input.seen.length;
        let open = self.files.iter().filter(|input| input.is_open);
        open.filter(ends).count() as u64
    }

    /// Whether every input can be read at any offset.
    pub(crate) fn is_seekable(&self) -> bool {
        self.bytes.is_some()
    }

    /// Whether every input is read past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        self.files.iter().all(|input| input.direct)
    }
}

impl Input {
    /// Whether it can be read only from front to back.
    pub(crate) fn is_sequential(&self) -> bool {
        self.seen.kind == FileKind::Sequential || self.framing.is_chained() && self.index.is_none()
    }

    /// Whether what is added to its file meanwhile is read, or ends the sort: a pipe has no end before,
    /// and a file that is opened again is compared with what it was.
    pub(crate) fn sees_growth(&self) -> bool {
        self.is_sequential() || self.kept.is_none()
    }

    /// Whether its bytes are in that file. Pipes and devices, which have no length, keep none.
    pub(crate) fn is_in(&self, file: &File) -> bool {
        let there = file.metadata();
        let is_same = (there.device, there.identity) == (self.seen.device, self.seen.identity);
        is_same && self.seen.length > 0
    }

    /// The path, for messages; standard input has none.
    pub(crate) fn name(&self) -> &Path {
        self.source.path().unwrap_or(Path::new("standard input"))
    }

    /// Offset in the file of the end of its bytes.
    pub(crate) fn end(&self) -> u64 {
        self.skipped + self.bytes
    }

    /// Whether its last line has no delimiter.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Bytes before the first record, and those behind it that were read already from a source
    /// that can be read only once.
    pub(crate) fn front(&self) -> (u64, Option<Arc<[u8]>>) {
        let front = match &self.source {
            Source::Behind(behind) => behind.begun.as_ref().map(|(_, front)| Arc::clone(front)),
            _ => None,
        };
        (self.source.header_bytes(), front)
    }

    async fn open(&self, node: &Node) -> Result<File, Failure> {
        match &self.kept {
            Some(kept) => Ok(kept.clone()),
            None => self.open_again(node).await,
        }
    }

    /// Opens it beside the file that stays open. A compressed one is read front to back, once, so that
    /// a look at all of it takes another.
    ///
    /// # Panics
    /// Panics on standard input.
    pub(crate) async fn open_again(&self, node: &Node) -> Result<File, Failure> {
        let path = self.source.path().expect("standard input stays open");
        let file = node.open(path, self.source.how(self.direct)).await?;
        is_unchanged(path, &self.seen, &file.metadata())?;
        if self.is_coded {
            let contents = self.reading.behind(node, file, self.skipped).await?;
            return contents.ok_or_else(|| replaced(path).into());
        }
        self.reading.seen(node, file).await
    }
}

/// # Errors
/// When the last `bytes` bytes before offset `end` of a file are not whole records.
pub(crate) fn ends_whole(
    path: &Path,
    (end, bytes): (u64, u64),
    framing: Framing,
) -> Result<(), SortError> {
    let left = bytes - framing.whole(bytes);
    if left == 0 {
        return Ok(());
    }
    Err(SortError::TruncatedRecord {
        file: path.to_owned(),
        offset: end - left,
        left,
        record_bytes: framing.longest(),
    })
}
