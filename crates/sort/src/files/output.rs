//! Outputs: one file, a part of one, or an ordered set of files in one or several directories.
//!
//! Either way stages see numbered files ([`Output::file`]) and ask where buckets go when they know
//! how large each is ([`Output::lay_out`]). Nothing has its name before everything is complete and
//! durable.

mod file;
pub(crate) mod journal;
mod layout;
mod old_set;
mod part;
mod set;

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::ROOT;
use crate::files::manifest::ListedFile;
use crate::job::{IoChoice, Job, Target};
use crate::records::contents::Contents;
use crate::records::span::{Left, Span};
use crate::report::Warning;

use file::OutputFile;
use part::OutputPart;
use set::OutputSet;

pub(crate) use file::{NEW_MODE, hold, take_over};
pub(crate) use layout::Layout;

/// What an output under way has made in its directories: by its passing name, and the one that it
/// will have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub draft: String,
    pub becomes: String,
}

/// An output under way; clones are of the same.
#[derive(Clone)]
pub(crate) enum Output {
    File(OutputFile),
    Part(OutputPart),
    Set(OutputSet),
}

impl Output {
    /// Opens the target, or what will become it.
    pub(crate) async fn open(
        node: &Node,
        target: &Target,
        io: IoChoice,
    ) -> Result<Output, Failure> {
        Ok(match target {
            Target::Standard => Output::File(OutputFile::standard(node).await?),
            Target::Path(path) | Target::Together(path) => {
                Output::File(OutputFile::open(node, path, io).await?)
            }
            Target::Directories(all) => Output::Set(OutputSet::open(node, all, io).await?),
        })
    }

    /// Opens this node's part of a file of so many bytes that all nodes write.
    pub(crate) async fn together(
        node: &Node,
        job: &Job,
        path: &Path,
        bytes: u64,
    ) -> Result<Output, Failure> {
        Ok(Output::Part(
            OutputPart::open(node, job, path, bytes).await?,
        ))
    }

    /// A file that outlives the run until it becomes `target`, and its identity if an earlier run
    /// has begun it.
    pub(crate) async fn keep(
        node: &Node,
        target: &Path,
        draft: (PathBuf, Option<u64>),
        io: IoChoice,
    ) -> Result<Output, Failure> {
        Ok(Output::File(
            OutputFile::keep(node, target, draft, io).await?,
        ))
    }

    /// The bytes that this node answers for, if its records take so many.
    pub(crate) fn due(&self, node: &Node, own: u64) -> u64 {
        match self {
            Output::Part(part) => part.due(node),
            Output::File(_) | Output::Set(_) => own,
        }
    }

    /// The same of what is spilled beside it, if each node spills about as much.
    pub(crate) fn due_beside(&self, node: &Node, own: u64) -> u64 {
        match self {
            Output::Part(_) if node.rank() == ROOT => own.saturating_mul(u64::from(node.nodes())),
            Output::Part(_) | Output::File(_) | Output::Set(_) => own,
        }
    }

    /// Reserves room for the bytes that are due here, or refuses up front. A set's files reserve
    /// theirs when they are laid out.
    pub(crate) async fn reserve(&self, node: &Node, length: u64) -> Result<(), Failure> {
        match self {
            Output::File(file) => file.reserve(node, length).await,
            Output::Part(part) => part.file.reserve(node, length).await,
            Output::Set(set) => set.check_room(node, length).await,
        }
    }

    /// Learns how fast disks are, from the bytes that directories on them got in the same time.
    pub(crate) async fn learn(&self, node: &Node, measured: &[(PathBuf, u64)]) {
        if let Output::Set(set) = self {
            set.learn(node, measured).await;
        }
    }

    /// Decides where buckets of so many records go.
    pub(crate) async fn lay_out(
        &self,
        node: &Node,
        records: &[u64],
        record_bytes: usize,
    ) -> Result<Layout, Failure> {
        match self {
            Output::File(_) => Ok(Layout::of_one_file(records, record_bytes)),
            Output::Part(part) => part.lay_out(node, records, record_bytes).await,
            Output::Set(set) => set.lay_out(node, records, record_bytes).await,
        }
    }

    /// Sees to the disk blocks that were not completed here.
    pub(crate) async fn complete(
        &self,
        node: &Node,
        contents: &dyn Contents,
        left: Vec<Left>,
    ) -> Result<(), Failure> {
        match self {
            Output::Part(part) => part.complete(node, contents, left).await,
            Output::File(_) | Output::Set(_) => {
                debug_assert!(left.is_empty(), "all blocks are this node's alone");
                Ok(())
            }
        }
    }

    /// File `number` of those that were laid out.
    pub(crate) fn file(&self, number: usize) -> File {
        match self {
            Output::File(one) | Output::Part(OutputPart { file: one, .. }) => one.file.clone(),
            Output::Set(set) => set.file(number),
        }
    }

    /// The directories that it takes space in.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        match self {
            Output::File(one) | Output::Part(OutputPart { file: one, .. }) => {
                one.directory().into_iter().collect()
            }
            Output::Set(set) => set.paths(),
        }
    }

    /// The directories for spill files: those of the job, or those of the output; for an output
    /// that is no file, the current directory.
    pub(crate) fn spill_directories(&self, job: &Job) -> Vec<PathBuf> {
        let beside = match job.temporary.is_empty() {
            true => self.directories(),
            false => job.temporary.clone(),
        };
        match beside.is_empty() {
            true => vec![PathBuf::from(".")],
            false => beside,
        }
    }

    /// What others would find who write the same.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        match self {
            Output::File(file) => file.claim().into_iter().collect(),
            // Which all write.
            Output::Part(_) => Vec::new(),
            Output::Set(set) => set.claims(),
        }
    }

    /// How many files are written side by side.
    pub(crate) fn at_once(&self) -> usize {
        match self {
            Output::File(_) | Output::Part(_) => 1,
            Output::Set(set) => set.directories(),
        }
    }

    /// Says what was written, for those who list it: the buckets in key order.
    pub(crate) async fn list(&self, node: &Node, contents: &dyn Contents, buckets: &[Span]) {
        if let Output::Set(set) = self {
            set.list(node, contents, buckets).await;
        }
    }

    /// What its files hold, by their whole paths, once it was listed.
    pub(crate) fn listed(&self, contents: &dyn Contents, buckets: &[Span]) -> Vec<ListedFile> {
        match self {
            Output::File(file) | Output::Part(OutputPart { file, .. }) => {
                let path = file
                    .target()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                vec![ListedFile::of(path, contents, buckets)]
            }
            Output::Set(set) => set.listed_files(),
        }
    }

    /// Makes the output durable and gives it its name; one file is `length` long.
    pub(crate) async fn commit(
        &mut self,
        node: &Node,
        length: u64,
    ) -> Result<Option<Warning>, Failure> {
        self.finish(node, length).await?;
        self.name(node).await
    }

    /// The first half of that: nothing is left to fail but the names.
    pub(crate) async fn finish(&self, node: &Node, length: u64) -> Result<(), Failure> {
        match self {
            Output::File(file) => file.finish(node, length).await,
            Output::Part(part) => part.finish(node).await,
            Output::Set(set) => set.finish(node).await,
        }
    }

    /// The second half; a warning of files that it should have replaced and has not.
    pub(crate) async fn name(&mut self, node: &Node) -> Result<Option<Warning>, Failure> {
        match self {
            Output::File(file) => file.commit(node).await.map(|()| None),
            Output::Part(part) => part.commit(node).await.map(|()| None),
            Output::Set(set) => set.commit(node).await,
        }
    }

    /// Removes what was made of an output that failed.
    pub(crate) async fn discard(self, node: &Node) {
        match self {
            Output::File(file) | Output::Part(OutputPart { file, .. }) => file.discard(node).await,
            Output::Set(set) => set.discard(node).await,
        }
    }

    /// The error with the name that people know instead of the passing one.
    pub(crate) fn named(&self, error: DiskError) -> DiskError {
        match self {
            Output::File(file) | Output::Part(OutputPart { file, .. }) => file.named(error),
            Output::Set(set) => set.named(error),
        }
    }

    /// Whether all of it goes to one file.
    pub(crate) fn is_one_file(&self) -> bool {
        !matches!(self, Output::Set(_))
    }

    /// Whether other nodes write the same file.
    pub(crate) fn is_part(&self) -> bool {
        matches!(self, Output::Part(_))
    }

    /// Whether it is written front to back only.
    pub(crate) fn is_sequential(&self) -> bool {
        matches!(self, Output::File(file) if file.is_sequential())
    }

    /// Whether it is written past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        match self {
            Output::File(file) | Output::Part(OutputPart { file, .. }) => file.file.is_direct(),
            Output::Set(set) => set.is_direct(),
        }
    }
}
