//! What of a range of keys is durable, so that a sort can be gone on with (`--resume`).
//!
//! ```text
//! T/.gristmill-JOB-2.begun             range 2: which job, how keys are divided, which files it has
//!   .gristmill-JOB-2.epoch-0 -1 ..     phase one: which records of all inputs have come, and where they lie
//!   .gristmill-JOB-2.part-0 -1 ..      phase two: which partitions the output has
//!   .gristmill-JOB-2.spill-0           the records
//! O/.gristmill-JOB-2.output            what becomes the output
//! ```
//!
//! An entry is a small file that appears whole, by a rename, when what it speaks of is durable. So whatever
//! was killed, and whenever: the entries that are there are true, and what goes beyond them is written again.
//! JOB stands for the name of the output, RANGE for the rank that had the range at first. While a run lives it
//! locks the first entry.

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node, Open};
use pipeline::Failure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cluster::statement::{Part, Statement};
use crate::error::SortError;
use crate::partition::Partition;
use crate::spill::Kept;
use crate::stages::{Left, Span};
use crate::temporary::PREFIX;
use crate::text_file::{self, OURS};

const BEGUN: &str = "begun";

/// The first entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The output, as the job names it.
    pub name: String,
    /// What the job was started for.
    pub statement: Statement,
    /// A number that only ranges of one division have in common.
    pub division: u64,
    pub range: u32,
    /// The inputs, as the command line names them.
    pub sources: Vec<String>,
    /// Memory that it was begun with: less may not do.
    pub memory_bytes: u64,
    /// What the parts of the input are; as many are the ranges.
    pub parts: Vec<Part>,
    /// Each part is read in so many steps.
    pub epochs: u32,
    /// What divides the ranges, and what divides this one into partitions.
    pub ranges: Vec<u8>,
    pub partitions: Vec<u8>,
    /// Records that it has, about.
    pub expected: u64,
    pub chunk_bytes: usize,
    pub spill: Kept,
    /// What becomes the output, and where.
    pub output: PathBuf,
    pub target: PathBuf,
}

/// Records, and the sum of their CRC-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub records: u64,
    pub crc: u128,
}

impl Sum {
    pub(super) fn add(&mut self, other: Sum) {
        self.records += other.records;
        self.crc = self.crc.wrapping_add(other.crc);
    }
}

/// What came in an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Epoch {
    /// What was read of all parts.
    pub read: Sum,
    /// What of it is of this range.
    pub came: Sum,
    /// Of each partition the runs, and how many records they are.
    pub partitions: Vec<(Vec<u64>, u64)>,
}

/// Some more partitions that the output has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Written {
    /// Up to which.
    pub partitions: usize,
    pub span: Option<Span>,
    pub left: Vec<Left>,
}

/// The entries of a range.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// How the names of its files begin, with the directory.
    stem: PathBuf,
    pub begun: Begun,
    pub epochs: Vec<Epoch>,
    pub written: Vec<Written>,
    /// Holds the lock.
    lock: Option<File>,
}

/// How all names of a range begin.
pub(super) fn stem(name: &str, range: u32) -> String {
    let job = kernel::block_crc(name.as_bytes());
    format!("{PREFIX}{job:08x}-{range}.")
}

impl Checkpoint {
    /// Removes what an earlier job of that name left of a range: the first entry first, without which others are
    /// none.
    pub(super) async fn clear(node: &Node, directory: &Path, stem: &str) -> Result<(), Failure> {
        let first = format!("{stem}{BEGUN}");
        let all = node.list(directory).await?;
        if all.contains(&first) {
            drop(lock(node, &directory.join(&first)).await?);
            node.remove(&directory.join(&first)).await?;
        }
        for name in all.iter().filter(|name| name.starts_with(stem) && **name != first) {
            node.remove(&directory.join(name)).await?;
        }
        Ok(())
    }

    /// Begins one where nothing is.
    pub(super) async fn begin(
        node: &Node,
        directory: &Path,
        begun: Begun,
    ) -> Result<Checkpoint, Failure> {
        let stem = directory.join(stem(&begun.name, begun.range));
        let file = text_file::put(node, &with(&stem, BEGUN), text(&begun), OURS).await?;
        let (epochs, written) = (Vec::new(), Vec::new());
        Ok(Checkpoint { stem, begun, epochs, written, lock: Some(file) })
    }

    /// Locks it for this run.
    pub(super) async fn hold(&mut self, node: &Node) -> Result<(), Failure> {
        self.lock = Some(lock(node, &with(&self.stem, BEGUN)).await?);
        Ok(())
    }

    /// Those of all ranges of a job in a directory.
    pub(super) async fn find(
        node: &Node,
        directory: &Path,
        name: &str,
    ) -> Result<Vec<Checkpoint>, Failure> {
        let job = stem(name, 0);
        let job = job.trim_end_matches("0.");
        let Ok(names) = node.list(directory).await else { return Ok(Vec::new()) };
        let mut ranges: Vec<u32> = names
            .iter()
            .filter_map(|name| {
                name.strip_prefix(job)?.strip_suffix(BEGUN)?.strip_suffix('.')?.parse().ok()
            })
            .collect();
        ranges.sort_unstable();
        let mut found = Vec::new();
        for range in ranges {
            found.extend(Checkpoint::open(node, directory.join(stem(name, range)), name).await?);
        }
        Ok(found)
    }

    /// The one whose files' names begin so, as far as it is there.
    async fn open(node: &Node, stem: PathBuf, name: &str) -> Result<Option<Checkpoint>, Failure> {
        let path = with(&stem, BEGUN);
        let Some(begun) = entry::<Begun>(node, &path).await? else { return Ok(None) };
        // Another name with the same checksum.
        if begun.name != name {
            let what = format!("is of a sort into {}", begun.name);
            return Err(SortError::Checkpoint { file: path, what }.into());
        }
        let (mut epochs, mut written) = (Vec::new(), Vec::new());
        while let Some(epoch) = entry(node, &epoch_path(&stem, epochs.len())).await? {
            epochs.push(epoch);
        }
        while let Some(more) = entry(node, &written_path(&stem, written.len())).await? {
            written.push(more);
        }
        let found = Checkpoint { stem, begun, epochs, written, lock: None };
        Ok(found.has_its_files(node).await.then_some(found))
    }

    /// Whether all that the entries speak of is there.
    async fn has_its_files(&self, node: &Node) -> bool {
        for path in &self.begun.spill.paths {
            if node.metadata(path).await.is_err() {
                return false;
            }
        }
        node.metadata(&self.begun.output).await.is_ok() || self.is_named(node).await
    }

    /// Whether the output has its name already: it was complete, and what is there has its length.
    pub(super) async fn is_named(&self, node: &Node) -> bool {
        let records = self.came().records;
        let bytes = records * self.begun.statement.record_bytes as u64;
        let is_written = self.has_come() && self.partitions_written() == self.partition_count();
        let is_gone = node.metadata(&self.begun.output).await.is_err();
        let target = node.metadata(&self.begun.target).await;
        is_written && is_gone && target.is_ok_and(|target| target.length == bytes)
    }

    /// All that has come.
    pub(super) fn came(&self) -> Sum {
        let mut all = Sum::default();
        self.epochs.iter().for_each(|epoch| all.add(epoch.came));
        all
    }

    /// All that was read of all parts.
    pub(super) fn read(&self) -> Sum {
        let mut all = Sum::default();
        self.epochs.iter().for_each(|epoch| all.add(epoch.read));
        all
    }

    fn partition_count(&self) -> usize {
        self.epochs.iter().map(|epoch| epoch.partitions.len()).max().unwrap_or(0)
    }

    /// Whether all records of the range have come.
    pub(super) fn has_come(&self) -> bool {
        self.epochs.len() == self.begun.epochs as usize
    }

    /// How many partitions the output has.
    pub(super) fn partitions_written(&self) -> usize {
        self.written.last().map_or(0, |written| written.partitions)
    }

    /// The partitions, as far as they have come.
    pub(super) fn partitions(&self) -> Vec<Partition> {
        let mut all: Vec<Partition> = Vec::new();
        all.resize_with(self.partition_count(), Partition::default);
        for epoch in &self.epochs {
            for (partition, (runs, records)) in all.iter_mut().zip(&epoch.partitions) {
                partition.add(runs, *records);
            }
        }
        all
    }

    /// What is durable of an epoch.
    pub(super) async fn add_epoch(&mut self, node: &Node, epoch: Epoch) -> Result<(), DiskError> {
        text_file::put(node, &epoch_path(&self.stem, self.epochs.len()), text(&epoch), OURS)
            .await?;
        self.epochs.push(epoch);
        Ok(())
    }

    /// Forgets the epochs from that one on, the last first: others do not have them.
    pub(super) async fn cut(&mut self, node: &Node, epochs: usize) -> Result<(), DiskError> {
        while self.epochs.len() > epochs {
            self.epochs.pop();
            node.remove(&epoch_path(&self.stem, self.epochs.len())).await?;
        }
        Ok(())
    }

    /// What is durable of the output.
    pub(super) async fn add_written(
        &mut self,
        node: &Node,
        more: Written,
    ) -> Result<(), DiskError> {
        text_file::put(node, &written_path(&self.stem, self.written.len()), text(&more), OURS)
            .await?;
        self.written.push(more);
        Ok(())
    }

    /// Removes all of it: nobody goes on with it any more. The first entry goes first, without which others are
    /// none.
    pub(super) async fn remove(self, node: &Node) {
        let entries = (0..self.epochs.len()).map(|number| epoch_path(&self.stem, number));
        let parts = (0..self.written.len()).map(|number| written_path(&self.stem, number));
        let own = [with(&self.stem, BEGUN)].into_iter().chain(entries).chain(parts);
        let files = self.begun.spill.paths.iter().cloned().chain([self.begun.output.clone()]);
        for path in own.chain(files) {
            let _ = node.remove(&path).await;
        }
    }
}

fn with(stem: &Path, what: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(what);
    path.into()
}

fn epoch_path(stem: &Path, number: usize) -> PathBuf {
    with(stem, &format!("epoch-{number}"))
}

fn written_path(stem: &Path, number: usize) -> PathBuf {
    with(stem, &format!("part-{number}"))
}

fn text(entry: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(entry).expect("text and numbers")
}

async fn entry<T: DeserializeOwned>(node: &Node, path: &Path) -> Result<Option<T>, Failure> {
    let Some(text) = text_file::read(node, path).await? else { return Ok(None) };
    let refused = |error: serde_json::Error| SortError::Checkpoint {
        file: path.to_owned(),
        what: format!("is not as this version writes it ({error})"),
    };
    Ok(Some(serde_json::from_slice(&text).map_err(refused)?))
}

/// A run that lives holds its checkpoint.
async fn lock(node: &Node, path: &Path) -> Result<File, Failure> {
    // Some file systems lock only what can be written.
    let file = node.open(path, Open::Keep { direct: false, mode: 0o600 }).await?;
    match file.lock(node).await {
        Ok(false) => {
            let what = "belongs to a sort that is running".to_owned();
            Err(SortError::Checkpoint { file: path.to_owned(), what }.into())
        }
        Err(error) if error.cause.kind() != std::io::ErrorKind::Unsupported => Err(error.into()),
        _ => Ok(file),
    }
}
