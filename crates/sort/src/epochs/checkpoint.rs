//! What of a range of keys is durable, so that a sort can be gone on with (`--resume`).
//!
//! ```text
//! T/.gristmill-JOB-2.begun             range 2: which job, how keys are divided, which files it has
//!   .gristmill-JOB-2.epoch-0 -1 ..     phase one: which records of all inputs have come, and where they lie
//!   .gristmill-JOB-2.part-0 -1 ..      phase two: which partitions the output has
//! ```
//!
//! An entry is a small file that appears whole, by a rename, when what it speaks of is durable. So
//! whatever was killed, and whenever: the entries that are there are true, and what goes beyond
//! them is written again. While a run lives it locks the first entry.
//!
//! Paths never come from an entry: `site` says where the files of a range are. An entry has the
//! paths that it was written for, and is refused where these differ. It is refused as well if
//! another user may have written it (`text_file`), or if a number of it cannot be (`bounds`).

use std::path::{Path, PathBuf};

use node::{DiskError, File, Metadata, Node, NotBelieved, Open};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::epochs::paths::{Site, is_file_name};
use crate::files::output::hold;
use crate::files::spill::kept_paths;
use crate::files::text_file;
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::records::span::{Left, Span};
use crate::runs::partition::Partition;

pub(crate) const BEGUN: &str = "begun";

/// The first entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The output, as the job names it.
    pub name: String,
    /// What the job was started for.
    pub statement: Fingerprint,
    /// A number that only ranges of one division have in common.
    pub division: u64,
    pub range: u32,
    /// The rank that began it, by which `{rank}` in a directory was replaced.
    pub rank: u32,
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
    /// How many spill files each directory has, and whether they can have holes.
    pub kinds: Vec<(usize, bool)>,
    /// Tells the files of this beginning from those of an earlier one.
    pub copy: u32,
    /// The number of the draft in its file system, which its last name will lead to.
    pub draft: u64,
    /// The temporary directories and the output that it was written for, to be compared.
    pub directories: Vec<String>,
    pub target: String,
}

/// Records, and the sum of their CRC-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub records: u64,
    pub crc: u128,
}

impl Sum {
    pub(crate) fn add(&mut self, other: Sum) {
        self.records += other.records;
        self.crc = self.crc.wrapping_add(other.crc);
    }
}

/// What came in an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Epoch {
    /// What was read of all parts.
    pub read: Sum,
    /// What of it is of this range.
    pub came: Sum,
    /// Of each partition the runs, and how many records they are.
    pub partitions: Vec<(Vec<u64>, u64)>,
}

/// Some more partitions that the output has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Up to which.
    pub partitions: usize,
    pub span: Option<Span>,
    pub left: Vec<Left>,
}

/// The entries of a range.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub site: Site,
    pub begun: Begun,
    pub epochs: Vec<Epoch>,
    pub written: Vec<Written>,
    /// Holds the lock.
    pub lock: Option<File>,
}

impl Checkpoint {
    /// Removes the files that an earlier job of that name left of a range: the first entry first,
    /// without which others are none. Files of other users, links and other names are left alone.
    ///
    /// # Errors
    /// When a sort that is running has one.
    pub(crate) async fn clear(node: &Node, directory: &Path, stem: &str) -> Result<(), Failure> {
        let all = node.list(directory).await?;
        let is_ours = |name: &&String| name.strip_prefix(stem).is_some_and(is_file_name);
        let mut ours: Vec<&String> = all.iter().filter(is_ours).collect();
        ours.sort_by_key(|name| !name.ends_with(BEGUN));
        for name in ours {
            let path = directory.join(name);
            match node.open(&path, Open::Own).await {
                Err(error) if NotBelieved::of(&error.cause).is_some() => {}
                Err(error) => return Err(error.into()),
                Ok(file) => {
                    // A sort whose entries lie elsewhere may be writing it.
                    hold(node, &file).await?;
                    node.remove(&path).await?;
                }
            }
        }
        Ok(())
    }

    /// Begins one where nothing is.
    pub(crate) async fn begin(
        node: &Node,
        site: Site,
        begun: Begun,
    ) -> Result<Checkpoint, Failure> {
        let file = text_file::put_entry(node, &site.entry(BEGUN), text(&begun)).await?;
        let (epochs, written) = (Vec::new(), Vec::new());
        Ok(Checkpoint {
            site,
            begun,
            epochs,
            written,
            lock: Some(file),
        })
    }

    /// Locks it for this run.
    pub(crate) async fn hold(&mut self, node: &Node) -> Result<(), Failure> {
        self.lock = Some(lock(node, &self.site.entry(BEGUN)).await?);
        Ok(())
    }

    /// The spill files, in their order.
    pub(crate) fn spill_paths(&self) -> Vec<PathBuf> {
        let stem = self.site.spill_stem(self.begun.copy);
        kept_paths(&self.site.directories, &self.begun.kinds, &stem)
    }

    /// The file that becomes the output.
    pub(crate) fn draft(&self) -> PathBuf {
        self.site.draft(self.begun.copy)
    }

    /// How much of each spill file is still needed. Partitions that the output has may be cut off
    /// already.
    pub(crate) fn spill_ends(&self) -> Vec<u64> {
        let mut ends = vec![0; self.spill_paths().len()];
        let needed = self.partitions().split_off(self.partitions_written());
        for run in needed.iter().flat_map(|partition| &partition.runs) {
            let extent = run.extent(self.begun.chunk_bytes);
            ends[extent.file] = ends[extent.file].max(extent.offset.saturating_add(extent.bytes));
        }
        ends
    }

    /// Whether the output has its name already: it was complete, its name leads to what was the
    /// draft, and that has the length of all records.
    pub(crate) async fn is_named(&self, node: &Node) -> bool {
        let is_written = self.has_come() && self.partitions_written() == self.partition_count();
        let is_gone = node.metadata(&self.draft()).await.is_err();
        let target = node.metadata(&self.site.target).await;
        let bytes = self.came().records * self.begun.statement.record_bytes as u64;
        let is_it = |there: Metadata| (there.identity, there.length) == (self.begun.draft, bytes);
        is_written && is_gone && target.is_ok_and(is_it)
    }

    /// All that has come.
    pub(crate) fn came(&self) -> Sum {
        let mut all = Sum::default();
        self.epochs.iter().for_each(|epoch| all.add(epoch.came));
        all
    }

    /// All that was read of all parts.
    pub(crate) fn read(&self) -> Sum {
        let mut all = Sum::default();
        self.epochs.iter().for_each(|epoch| all.add(epoch.read));
        all
    }

    fn partition_count(&self) -> usize {
        self.epochs
            .iter()
            .map(|epoch| epoch.partitions.len())
            .max()
            .unwrap_or(0)
    }

    /// Whether all records of the range have come.
    pub(crate) fn has_come(&self) -> bool {
        self.epochs.len() == self.begun.epochs as usize
    }

    /// How many partitions the output has.
    pub(crate) fn partitions_written(&self) -> usize {
        self.written.last().map_or(0, |written| written.partitions)
    }

    /// How many bytes the draft has: those of all records that are written but for a disk block
    /// that is not complete.
    pub(crate) fn bytes_written(&self) -> u64 {
        let written = self
            .written
            .iter()
            .filter_map(|written| written.span.as_ref());
        let bytes = |span: &Span| span.records * self.begun.statement.record_bytes as u64;
        let left = self
            .written
            .last()
            .map(|written| &written.left[..])
            .unwrap_or_default();
        let left: usize = left.iter().map(|left| left.bytes.len()).sum();
        written.map(bytes).sum::<u64>().saturating_sub(left as u64)
    }

    /// The partitions, as far as they have come.
    pub(crate) fn partitions(&self) -> Vec<Partition> {
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
    pub(crate) async fn add_epoch(&mut self, node: &Node, epoch: Epoch) -> Result<(), DiskError> {
        let path = self.site.entry(&epoch_name(self.epochs.len()));
        text_file::put_entry(node, &path, text(&epoch)).await?;
        self.epochs.push(epoch);
        Ok(())
    }

    /// Forgets the epochs from that one on, the last first: others do not have them.
    pub(crate) async fn cut(&mut self, node: &Node, epochs: usize) -> Result<(), DiskError> {
        while self.epochs.len() > epochs {
            self.epochs.pop();
            node.remove(&self.site.entry(&epoch_name(self.epochs.len())))
                .await?;
        }
        Ok(())
    }

    /// What is durable of the output.
    pub(crate) async fn add_written(
        &mut self,
        node: &Node,
        more: Written,
    ) -> Result<(), DiskError> {
        let path = self.site.entry(&written_name(self.written.len()));
        text_file::put_entry(node, &path, text(&more)).await?;
        self.written.push(more);
        Ok(())
    }

    /// Removes all of it, when it is needed no more. The first entry goes first, without which
    /// others are none.
    pub(crate) async fn remove(self, node: &Node) {
        let epochs = (0..self.epochs.len()).map(epoch_name);
        let written = (0..self.written.len()).map(written_name);
        let entries = [BEGUN.to_owned()].into_iter().chain(epochs).chain(written);
        let entries = entries.map(|name| self.site.entry(&name));
        for path in entries.chain(self.spill_paths()).chain([self.draft()]) {
            let _ = node.remove(&path).await;
        }
    }
}

pub(crate) fn epoch_name(number: usize) -> String {
    format!("epoch-{number}")
}

pub(crate) fn written_name(number: usize) -> String {
    format!("part-{number}")
}

fn text(entry: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(entry).expect("text and numbers")
}

/// A run that lives holds its checkpoint.
async fn lock(node: &Node, path: &Path) -> Result<File, Failure> {
    // Some file systems lock only what can be written.
    let file = node.open(path, Open::Again { direct: false }).await?;
    hold(node, &file).await?;
    Ok(file)
}
