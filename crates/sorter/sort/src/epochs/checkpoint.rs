//! The checkpoint of a range of keys: its durable progress, from which a sort resumes (`--resume`).
//!
//! ```text
//! T/.gristmill-JOB-2.begun             range 2: the job, its splitters, the files of the range
//!   .gristmill-JOB-2.epoch-0 -1 ..     phase one: records that have come, and where they lie
//!   .gristmill-JOB-2.part-0 -1 ..      phase two: partitions that the output holds
//! ```
//!
//! An entry is a small file that gets its name by a rename, once the data it describes is durable.
//! So every entry is true, whenever the run was killed, and work beyond the entries is done again.
//! A running sort locks the first entry.
//!
//! Paths never come from an entry: `paths` says where the files of a range are. An entry holds the
//! paths that it was written for, and is refused if they differ. It is also refused if another user
//! may have written it (`text_file`), or if one of its numbers is impossible (`bounds`).

use std::path::{Path, PathBuf};

use node::{DiskError, File, Metadata, Node, NotBelieved, Open};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::epochs::paths::{Site, is_file_name};
use crate::files::output::hold;
use crate::files::spill::kept_paths;
use crate::files::text_file;
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::records::size::{Size, Sum, portion};
use crate::records::span::{Left, Span};
use crate::runs::partition::Partition;
use crate::stages::{Place, PlacedBefore};

pub(crate) const BEGUN: &str = "begun";

/// The first entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The job's name: its output.
    pub name: String,
    pub fingerprint: Fingerprint,
    /// The header of rows: the ranks that continue may have inputs without a byte.
    pub header: Vec<u8>,
    /// A random number that the ranges of one division share.
    pub division: u64,
    pub range: u32,
    /// The rank that began it: `{rank}` in a directory stands for it.
    pub rank: u32,
    /// The inputs, as the command line names them.
    pub sources: Vec<String>,
    /// The memory limit of the run that began it: less may be too little.
    pub memory_bytes: u64,
    /// The parts of the input; there are as many ranges.
    pub parts: Vec<Part>,
    /// Number of epochs in which each part is read.
    pub epochs: u32,
    /// Splitters of the ranges, and of this range's partitions
    /// ([`Sample::to_bytes`](crate::records::sample::Sample::to_bytes)).
    pub ranges: Vec<u8>,
    pub partitions: Vec<u8>,
    /// Bytes of its records, estimated.
    pub expected: u64,
    pub chunk_bytes: usize,
    /// Number of spill files in each directory, and whether they can have holes.
    pub kinds: Vec<(usize, bool)>,
    /// Tells the files of this start from those of an earlier one.
    pub copy: u32,
    /// The inode number of the draft, which the output keeps when it gets its name.
    pub draft: u64,
    /// The temporary directories and the output, to be compared with the command line.
    pub directories: Vec<String>,
    pub target: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Epoch {
    /// Records read from all parts.
    pub read: Sum,
    /// Blank lines in all parts.
    pub skipped: Size,
    /// Records that came to this range.
    pub came: Sum,
    /// By partition: numbers of its runs, and their size.
    pub partitions: Vec<(Vec<u64>, Size)>,
}

/// Amounts of an epoch, as ranks tell them each other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Moved {
    pub read: Sum,
    pub skipped: Size,
    pub came: Sum,
}

impl Epoch {
    pub(crate) fn moved(&self) -> Moved {
        Moved {
            read: self.read,
            skipped: self.skipped,
            came: self.came,
        }
    }
}

/// A group of partitions that was written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WrittenGroup {
    /// Number of partitions that the output holds then.
    pub partitions: usize,
    pub span: Option<Span>,
    /// Records that were dropped, because they had the keys of another.
    #[serde(default)]
    pub dropped: Sum,
    pub left: Vec<Left>,
}

#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub site: Site,
    pub begun: Begun,
    pub epochs: Vec<Epoch>,
    pub written: Vec<WrittenGroup>,
    /// The first entry, locked.
    pub lock: Option<File>,
}

impl Checkpoint {
    /// Removes the files that an earlier job of that name left of a range, the first entry first:
    /// without it the others count for nothing. Files of other users, links and other names stay.
    ///
    /// # Errors
    /// When a running sort holds one.
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

    /// Writes and locks the first entry.
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

    pub(crate) async fn hold(&mut self, node: &Node) -> Result<(), Failure> {
        self.lock = Some(lock(node, &self.site.entry(BEGUN)).await?);
        Ok(())
    }

    pub(crate) fn spill_paths(&self) -> Vec<PathBuf> {
        let stem = self.site.spill_stem(self.begun.copy);
        kept_paths(&self.site.directories, &self.begun.kinds, &stem)
    }

    pub(crate) fn draft(&self) -> PathBuf {
        self.site.draft(self.begun.copy)
    }

    /// The length up to which each spill file is still needed. Partitions that the output holds may
    /// be cut off already.
    pub(crate) fn spill_ends(&self) -> Vec<u64> {
        let mut ends = vec![0; self.spill_paths().len()];
        let needed = self.partitions().split_off(self.partitions_written());
        for run in needed.iter().flat_map(|partition| &partition.runs) {
            let extent = run.extent(self.begun.chunk_bytes);
            ends[extent.file] = ends[extent.file].max(extent.offset.saturating_add(extent.bytes));
        }
        ends
    }

    /// Whether the output already has its name: it was complete, and its name leads to the former
    /// draft, with the length of all records.
    pub(crate) async fn is_named(&self, node: &Node) -> bool {
        let is_written = self.has_come() && self.partitions_written() == self.partition_count();
        let is_gone = node.metadata(&self.draft()).await.is_err();
        let target = node.metadata(&self.site.target).await;
        let bytes = self.begun.fingerprint.header.0 + self.kept_bytes();
        let is_it = |there: Metadata| (there.identity, there.length) == (self.begun.draft, bytes);
        is_written && is_gone && target.is_ok_and(is_it)
    }

    /// Records that have come to this range.
    pub(crate) fn came(&self) -> Sum {
        self.epochs.iter().map(|epoch| epoch.came).sum()
    }

    /// Records read from all parts.
    pub(crate) fn read(&self) -> Sum {
        self.epochs.iter().map(|epoch| epoch.read).sum()
    }

    /// Blank lines in the parts of all epochs so far.
    pub(crate) fn skipped(&self) -> Size {
        self.epochs.iter().map(|epoch| epoch.skipped).sum()
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

    pub(crate) fn partitions_written(&self) -> usize {
        self.written.last().map_or(0, |written| written.partitions)
    }

    /// Percentage of the range's bytes that the output holds.
    pub(crate) fn percent_written(&self) -> u32 {
        let dropped = self.written.iter().map(|more| more.dropped.size.bytes);
        let bytes = self.kept_bytes() + dropped.sum::<u64>();
        match (self.has_come(), self.came().size.bytes) {
            (false, _) => 0,
            (true, 0) => 100,
            (true, all) => portion(100, bytes, all) as u32,
        }
    }

    /// Length of the draft: the bytes of all records written, without an incomplete disk block.
    pub(crate) fn bytes_written(&self) -> u64 {
        let left = self
            .written
            .last()
            .map(|written| &written.left[..])
            .unwrap_or_default();
        let left: usize = left.iter().map(|left| left.bytes.len()).sum();
        let records = self.kept_bytes();
        // A header comes with the first record.
        let header = match records {
            0 => 0,
            _ => self.begun.fingerprint.header.0,
        };
        (header + records).saturating_sub(left as u64)
    }

    fn spans(&self) -> impl DoubleEndedIterator<Item = &Span> {
        self.written.iter().filter_map(|more| more.span.as_ref())
    }

    /// Bytes of the records that the output holds.
    fn kept_bytes(&self) -> u64 {
        self.spans().map(|span| span.size.bytes).sum()
    }

    /// Where the next partition that has records belongs, if records are dropped.
    /// `came` bytes came before it.
    pub(crate) fn placed_before(&self, came: u64) -> PlacedBefore {
        let place = self.spans().next_back().map(|span| Place {
            before: span.end(),
            file: 0,
            file_bytes: span.end().bytes,
            last: span.last.clone(),
        });
        PlacedBefore {
            came,
            place: place.unwrap_or_default(),
        }
    }

    /// The partitions of all epochs so far.
    pub(crate) fn partitions(&self) -> Vec<Partition> {
        let mut all: Vec<Partition> = Vec::new();
        all.resize_with(self.partition_count(), Partition::default);
        for epoch in &self.epochs {
            for (partition, (runs, size)) in all.iter_mut().zip(&epoch.partitions) {
                partition.add(runs, *size);
            }
        }
        all
    }

    /// Notes an epoch whose records are durable.
    pub(crate) async fn add_epoch(&mut self, node: &Node, epoch: Epoch) -> Result<(), DiskError> {
        let path = self.site.entry(&epoch_name(self.epochs.len()));
        text_file::put_entry(node, &path, text(&epoch)).await?;
        self.epochs.push(epoch);
        Ok(())
    }

    /// Forgets the epochs from number `epochs` on, the last one first: other ranges do not have
    /// them.
    pub(crate) async fn cut(&mut self, node: &Node, epochs: usize) -> Result<(), DiskError> {
        while self.epochs.len() > epochs {
            self.epochs.pop();
            node.remove(&self.site.entry(&epoch_name(self.epochs.len())))
                .await?;
        }
        Ok(())
    }

    /// Notes partitions that are durable in the output.
    pub(crate) async fn add_written(
        &mut self,
        node: &Node,
        more: WrittenGroup,
    ) -> Result<(), DiskError> {
        let path = self.site.entry(&written_name(self.written.len()));
        text_file::put_entry(node, &path, text(&more)).await?;
        self.written.push(more);
        Ok(())
    }

    /// Removes the checkpoint and its files. The first entry goes first: without it the others
    /// count for nothing.
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

async fn lock(node: &Node, path: &Path) -> Result<File, Failure> {
    // Some file systems lock only files that are open for writing.
    let file = node.open(path, Open::Again { direct: false }).await?;
    hold(node, &file).await?;
    Ok(file)
}
