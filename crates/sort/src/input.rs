//! Inputs: opened read-only, checked, and divided into the units that readers read.
//!
//! Several files are one sequence of records. A unit is a number of whole records of one file; a
//! direct read of it begins and ends at whole disk blocks around them:
//!
//! ```text
//! disk blocks   |     |     |     |     |     |
//! records       ..|---+---+---+---+---+--|..      units of records first .. first + count
//! read               ^ from here to here ^
//! ```

use std::path::PathBuf;

use node::{DiskError, File, FileKind, Node, Open, Standard};
use pipeline::Failure;

use crate::error::SortError;
use crate::job::IoChoice;

/// The block of direct I/O: a page, which fits every device's block.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Where records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, a device or a named pipe.
    Path(PathBuf),
    /// Standard input.
    Standard,
}

/// An opened input.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file.
    pub file: File,
    /// Position of its first record in the whole input.
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
}

impl Inputs {
    /// Opens and checks all inputs, and measures whether to bypass the page cache.
    pub(crate) async fn open(
        node: &Node,
        sources: &[Source],
        record_bytes: usize,
        io: IoChoice,
    ) -> Result<Inputs, Failure> {
        let mut inputs = Inputs { files: Vec::new(), records: Some(0) };
        for source in sources {
            let file = open(node, source, io).await?;
            inputs.add(file, record_bytes)?;
        }
        Ok(inputs)
    }

    fn add(&mut self, file: File, record_bytes: usize) -> Result<(), SortError> {
        let metadata = file.metadata();
        let first = self.records.unwrap_or(0);
        match metadata.kind {
            FileKind::Directory => {
                return Err(SortError::Directory { file: file.path().to_owned() });
            }
            FileKind::Sequential => {
                self.records = None;
                self.files.push(Input { file, first, records: 0 });
                return Ok(());
            }
            FileKind::Regular => {}
        }
        let left = metadata.length % record_bytes as u64;
        if left > 0 {
            let (file, offset) = (file.path().to_owned(), metadata.length - left);
            return Err(SortError::TruncatedRecord { file, offset, left, record_bytes });
        }
        let records = metadata.length / record_bytes as u64;
        self.records = self.records.map(|before| before + records);
        self.files.push(Input { file, first, records });
        Ok(())
    }

    /// Whether every input can be read anywhere.
    pub(crate) fn is_seekable(&self) -> bool {
        self.records.is_some()
    }

    /// Whether every input that can be is read past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        self.files.iter().all(|input| input.file.is_direct())
    }

    /// All records as units of at most `records` each, in order.
    pub(crate) fn units(&self, records: usize) -> impl Iterator<Item = ReadUnit> + '_ {
        self.files.iter().enumerate().flat_map(move |(number, input)| {
            (0..input.records).step_by(records).map(move |first| ReadUnit {
                input: number,
                first,
                records: records.min((input.records - first) as usize),
            })
        })
    }

    /// The unit of at most `records` records from position `position` of the whole input on.
    pub(crate) fn unit_at(&self, position: u64, records: usize) -> ReadUnit {
        let input = self.files.partition_point(|input| input.first + input.records <= position);
        let first = position - self.files[input].first;
        let left = self.files[input].records - first;
        ReadUnit { input, first, records: records.min(left as usize) }
    }
}

async fn open(node: &Node, source: &Source, io: IoChoice) -> Result<File, DiskError> {
    let Source::Path(path) = source else {
        return node.standard(Standard::Input).await;
    };
    let file = node.open(path, Open::Read { direct: io == IoChoice::Direct }).await?;
    if io != IoChoice::Auto || file.is_sequential() || is_cached(node, &file).await? {
        return Ok(file);
    }
    node.open(path, Open::Read { direct: true }).await
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
