//! Inputs: opened read-only, checked, and divided into the units that readers read.
//!
//! Several files are one sequence of records; a directory with a manifest stands for its files. A
//! unit is a number of whole records of one file, or of lines a range of bytes that is cut anywhere
//! (`stages/unit_read.rs`); a direct read of it begins and ends at the whole
//! disk blocks around them:
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
mod listed;
mod opening;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use node::{CodingMemory, File, FileKind, Metadata, Node};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::job::{Behind, IoChoice, Reading, Source};
use crate::records::framing::Framing;
use crate::records::size::portion;
pub(crate) use files::Files;
use listed::Listed;
use opening::{Opened, ends_open, open, set_of};

/// Inputs that stay open while they are not read. The others are opened again for each use, so that
/// any number of inputs needs few descriptors.
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
    reading: Reading,
    /// Whether it is compressed.
    is_compressed: bool,
    /// Whether its last line has no delimiter.
    is_open: bool,
    is_chained: bool,
    /// Bytes before it in this node's input.
    pub first: u64,
    /// Its bytes; 0 for a pipe or compressed file, whose length is unknown.
    pub bytes: u64,
}

/// All inputs of a run.
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
    reading: Reading,
}

/// A range of one input: whole records of one length, or bytes in which lines begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadUnit {
    /// Number of the input.
    pub input: usize,
    /// Offset in that file.
    pub offset: u64,
    pub bytes: usize,
    /// Bytes of that file's header: the first record begins behind them.
    pub header_bytes: u64,
    /// Length of that file.
    pub file_bytes: u64,
    /// Bytes before it in the whole input.
    pub position: u64,
}

impl Inputs {
    /// Opens and checks all inputs, and measures whether to bypass the page cache.
    pub(crate) async fn open(
        node: &Node,
        sources: &[Source],
        framing: Framing,
        reading: Reading,
    ) -> Result<Inputs, Failure> {
        let mut inputs = Inputs::none(framing);
        // The system reads ahead of a file that is read front to back.
        let io = match framing.is_chained() {
            true => IoChoice::Buffered,
            false => reading.io,
        };
        let reading = Reading { io, ..reading };
        inputs.reading = reading;
        let mut listed = Some(Listed::default());
        for source in sources {
            let Some((directory, manifest)) = set_of(node, source).await? else {
                let opened = open(node, source, reading).await?;
                let is_open = ends_open(node, &opened.file, framing).await?;
                inputs.add(source, opened, is_open)?;
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
            if manifest.order(directory)?.framing() != framing.records() {
                let listed = &manifest.format;
                let what = format!("lists records of format {listed}; check --format");
                return Err(refused(what).into());
            }
            for (path, listed) in manifest.paths(directory).into_iter().zip(&manifest.files) {
                let source = Source::Listed(path);
                let opened = open(node, &source, reading).await?;
                let name = opened.file.path().display().to_string();
                let is_open = ends_open(node, &opened.file, framing).await?;
                inputs.add(&source, opened, is_open)?;
                let bytes = inputs.files.last().map_or(0, |input| input.bytes);
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
        inputs.listed = listed.filter(|_| !sources.is_empty());
        Ok(inputs)
    }

    pub(crate) fn none(framing: Framing) -> Inputs {
        Inputs {
            files: Vec::new(),
            framing,
            bytes: Some(0),
            base: 0,
            listed: None,
            coding: CodingMemory::default(),
            reading: Reading::default(),
        }
    }

    /// Part `number` of `of` equal parts of these records.
    pub(crate) fn part(&self, number: u32, of: u32) -> Inputs {
        let all = self.bytes.unwrap_or(0);
        let upto = |number: u32| self.framing.whole(portion(all, number.into(), of.into()));
        let mut part = self.clone();
        part.narrow(upto(number)..upto(number + 1));
        part.base += self.base;
        part
    }

    fn add(&mut self, source: &Source, opened: Opened, is_open: bool) -> Result<(), SortError> {
        let Opened { file, is_pipe } = opened;
        let seen = file.metadata();
        let bytes = match seen.kind {
            FileKind::Directory => {
                return Err(SortError::Directory {
                    file: file.path().to_owned(),
                });
            }
            FileKind::Sequential => 0,
            FileKind::Regular if self.framing.is_chained() => 0,
            FileKind::Regular => {
                let bytes = seen.length.saturating_sub(source.header_bytes());
                ends_whole(file.path(), (seen.length, bytes), self.framing)?;
                bytes
            }
        };
        let first = self.bytes.unwrap_or(0);
        let sequential = file.is_sequential() || self.framing.is_chained();
        let is_compressed = file.is_coded();
        self.coding = self.coding.or(file.coding_memory());
        self.bytes = self
            .bytes
            .filter(|_| !sequential)
            .map(|before| before + bytes);
        let direct = file.is_direct();
        // The header of a compressed file is skipped each time that the file is opened.
        let skips = is_compressed && source.header_bytes() > 0;
        let kept = (is_pipe || self.files.len() < KEPT_OPEN && !skips).then_some(file);
        let (source, skipped, reading) = (source.clone(), source.header_bytes(), self.reading);
        self.files.push(Input {
            kept,
            source,
            seen,
            direct,
            skipped,
            reading,
            is_compressed,
            is_open,
            is_chained: self.framing.is_chained(),
            first,
            bytes,
        });
        Ok(())
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

    /// The unit of at most `most` bytes that begins at byte `position`.
    pub(crate) fn unit_at(&self, position: u64, most: usize) -> ReadUnit {
        let input = self
            .files
            .partition_point(|input| input.first + input.bytes <= position);
        let Input {
            skipped,
            first,
            bytes,
            ref seen,
            ref source,
            ..
        } = self.files[input];
        let before = position - first;
        ReadUnit {
            input,
            offset: skipped + before,
            bytes: most.min((bytes - before) as usize),
            header_bytes: source.header_bytes(),
            file_bytes: seen.length,
            position: self.base + position,
        }
    }

    /// Keeps the records in a range of bytes: ranks divide an input that all of them name.
    pub(crate) fn narrow(&mut self, range: Range<u64>) {
        for input in &mut self.files {
            let (begin, end) = (input.first, input.first + input.bytes);
            let from = range.start.clamp(begin, end);
            let to = range.end.clamp(from, end);
            (input.skipped, input.bytes) = (input.skipped + from - begin, to - from);
            input.first = from.max(range.start) - range.start;
        }
        self.files.retain(|input| input.bytes > 0);
        (self.base, self.bytes) = (range.start, Some(range.end - range.start));
        // No rank reads all records that are listed.
        self.listed = None;
    }
}

impl Input {
    /// Whether it can be read only from front to back.
    pub(crate) fn is_sequential(&self) -> bool {
        self.seen.kind == FileKind::Sequential || self.is_chained
    }

    /// Whether its last line has no delimiter.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Its records as units of at most `most` bytes each. It is input `number`, and its first
    /// record has position `position`.
    pub(crate) fn units(
        &self,
        number: usize,
        position: u64,
        most: usize,
    ) -> impl Iterator<Item = ReadUnit> + use<> {
        let (all, file_bytes, skipped) = (self.bytes, self.seen.length, self.skipped);
        let header_bytes = self.source.header_bytes();
        (0..all).step_by(most).map(move |offset| ReadUnit {
            input: number,
            offset: skipped + offset,
            header_bytes,
            bytes: most.min((all - offset) as usize),
            file_bytes,
            position: position + offset,
        })
    }

    /// Bytes before the first record, and those behind it that were read already from a source
    /// that can be read only once.
    pub(crate) fn front(&self) -> (u64, Option<Arc<[u8]>>) {
        match &self.source {
            Source::Behind(Behind {
                begun: Some((_, front)),
                bytes,
                ..
            }) => (*bytes, Some(Arc::clone(front))),
            source => (source.header_bytes(), None),
        }
    }

    async fn open(&self, node: &Node) -> Result<File, Failure> {
        let (None, Some(path)) = (&self.kept, self.source.path()) else {
            return Ok(self.kept.clone().expect("standard input stays open"));
        };
        let file = node.open(path, self.source.how(self.direct)).await?;
        let now = file.metadata();
        let replaced = || {
            let file = path.to_owned();
            Failure::from(SortError::Replaced { file })
        };
        if (now.device, now.identity) != (self.seen.device, self.seen.identity) {
            return Err(replaced());
        }
        match self.is_compressed {
            true => {
                let contents = self.reading.behind(node, file, self.skipped).await?;
                contents.ok_or_else(replaced)
            }
            false => Ok(file),
        }
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
