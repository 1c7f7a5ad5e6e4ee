//! The output of a sort: files under temporary names, a layout of the buckets over them, and a
//! commit, by which they appear.
//!
//! ```text
//! open      one draft; one that all ranks write; or one in each directory of a set
//! lay out   the sizes of all buckets are known, and with them the file and the place of each
//! finish    all files have their lengths and are durable
//! name      one rename; or a journal, all names, then the manifest
//! ```
//!
//! Stages see numbered files ([`Output::file`]). No file has its name before all files are complete
//! and durable. A pipe is written front to back, and has its name from the start.

mod coded;
mod draft;
mod in_place;
mod layout;
mod old_set;
mod one;
mod set;
mod single;
mod together;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use node::{CodingMemory, DiskError, File, Guarded, Node, Rank};
use pipeline::Failure;

use crate::files::manifest::{ListedFile, Manifest};
use crate::job::{IoChoice, Job, Target};
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::records::span::{Left, Span};
use crate::report::Warning;

use draft::Draft;
use set::Set;
use together::Together;

pub(crate) use draft::{Claim, NEW_MODE, take_over};
pub(crate) use in_place::refuse_fixed;
pub(crate) use layout::{Begun, Layout};
pub(crate) use single::{hold, replaced_kind};

/// An output under way; clones share it.
#[derive(Clone)]
pub(crate) struct Output {
    /// In key order.
    drafts: Arc<Guarded<Vec<Draft>>>,
    commit: Commit,
    /// Whether a stage has asked for a file, to write to it.
    is_touched: Arc<AtomicBool>,
}

/// How the files get their names.
#[derive(Clone)]
enum Commit {
    /// One rename, or none of a pipe.
    One,
    /// Rank 0 renames the file that all ranks write.
    Together(Arc<Together>),
    /// A journal, all names, then the manifest.
    Set(Arc<Set>),
}

impl Output {
    /// Opens an output of this node alone. If it cannot be replaced, its draft goes to the first of
    /// `places` that takes it, or of the usual ones if there are none.
    ///
    /// # Errors
    /// When the target's directory is missing, the target is of the wrong kind, or the disk refuses.
    pub(crate) async fn open(
        node: &Node,
        target: &Target,
        io: IoChoice,
        places: &[PathBuf],
    ) -> Result<Output, Failure> {
        let draft = match target {
            Target::Standard => single::standard(node).await?,
            Target::Path(path) | Target::Together(path) => {
                single::open(node, path, (io, places)).await?
            }
            Target::Directories(all) => {
                let set = Set::open(node, all, io).await?;
                let drafts = Arc::clone(&set.drafts);
                let commit = Commit::Set(Arc::new(set));
                return Ok(Output::new(drafts, commit));
            }
        };
        Ok(Output::of(node, draft, Commit::One))
    }

    /// Opens a file of `bytes` bytes that all ranks write.
    ///
    /// # Errors
    /// When rank 0 cannot create the file, or this rank does not see that file.
    pub(crate) async fn together(
        node: &Node,
        job: &Job,
        path: &Path,
        bytes: u64,
    ) -> Result<Output, Failure> {
        let together = Together::open(node, job, path, bytes).await?;
        let draft = together.draft.clone();
        Ok(Output::of(
            node,
            draft,
            Commit::Together(Arc::new(together)),
        ))
    }

    fn of(node: &Node, draft: Draft, commit: Commit) -> Output {
        let drafts = Guarded::new(node, "a file of the output", vec![draft]);
        Output::new(Arc::new(drafts), commit)
    }

    fn new(drafts: Arc<Guarded<Vec<Draft>>>, commit: Commit) -> Output {
        Output {
            drafts,
            commit,
            is_touched: Arc::default(),
        }
    }

    /// Memory that compression takes.
    pub(crate) fn coding_memory(&self) -> CodingMemory {
        let memory = |draft: &Draft| draft.file.coding_memory();
        let first = self.drafts.look(|all| all.first().map(memory));
        first.unwrap_or_default()
    }

    /// Bytes that this rank finds room for: of the output, and of spill files beside it. `own` and
    /// `spilled` are those that this rank writes.
    pub(crate) fn due(&self, node: &Node, own: u64, spilled: u64) -> (u64, u64) {
        match &self.commit {
            Commit::Together(together) => together.due(node, spilled),
            Commit::One | Commit::Set(_) => (own, spilled),
        }
    }

    /// Reserves space for `length` bytes. A set only looks for it, and reserves in
    /// [`Output::lay_out`].
    ///
    /// # Errors
    /// When too little is free, with both figures, or the disk refuses.
    pub(crate) async fn reserve(&self, node: &Node, length: u64) -> Result<(), Failure> {
        match &self.commit {
            Commit::Set(set) => set.room(node, length).await.map(drop),
            _ => self.first().reserve(node, length).await,
        }
    }

    /// Places buckets of these sizes, in files that begin with `header` bytes. `measured` are the bytes that directories got in the same
    /// time: a set gives fast disks more.
    ///
    /// # Errors
    /// When a set has too little room, or the ranks' buckets do not fill their file.
    pub(crate) async fn lay_out(
        &self,
        node: &Node,
        (sizes, header): (&[Size], u64),
        measured: &[(PathBuf, u64)],
    ) -> Result<Layout, Failure> {
        let layout = match &self.commit {
            Commit::One => Layout::of_one_file(sizes),
            Commit::Together(together) => together.lay_out(node, (sizes, header)).await?,
            Commit::Set(set) => set.lay_out(node, (sizes, header), measured).await?,
        };
        Ok(layout.under(header))
    }

    /// Writes the disk blocks that several ranks share, from the parts that each has left; or the
    /// last one of an output whose length was not known.
    ///
    /// # Errors
    /// When the parts do not fill the blocks, a rank fails, or the disk refuses.
    pub(crate) async fn complete(
        &self,
        node: &Node,
        contents: &dyn Contents,
        left: Vec<Left>,
    ) -> Result<(), Failure> {
        if let Commit::Together(together) = &self.commit {
            return together.complete(node, contents, left).await;
        }
        // The end of a file whose length was not known; of a set, the last one.
        for Left { block, bytes, .. } in left {
            let last = self.drafts().pop().expect("a file that has records");
            last.write_block(node, contents, block, &bytes).await?;
        }
        Ok(())
    }

    /// Gives the files of a set the lengths of the records that were not dropped, and removes files
    /// without records. The spans get the numbers of the files that stay.
    pub(crate) async fn end_files(&self, node: &Node, header: u64, spans: &mut [Span]) {
        if let Commit::Set(set) = &self.commit {
            set.end_files(node, header, spans).await;
        }
    }

    /// Sets the length of file `number`, where it was not known when the output was laid out.
    pub(crate) async fn set_length(&self, node: &Node, number: usize, bytes: u64) {
        let set = |all: &mut Vec<Draft>| all[number].length = all[number].length.map(|_| bytes);
        self.drafts.change(node, set).await;
    }

    /// File `number` of the layout, to write to it.
    pub(crate) fn file(&self, number: usize) -> File {
        self.is_touched.store(true, Ordering::Relaxed);
        self.drafts.look(|all| all[number].file.clone())
    }

    /// The directories that the output takes space in; none of a pipe.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        match &self.commit {
            Commit::Set(set) => set.paths(),
            _ => self.first().directory().into_iter().collect(),
        }
    }

    /// The directories for spill files: those of the job, or else those of the output, or else the
    /// current one.
    pub(crate) fn spill_directories(&self, job: &Job) -> Vec<PathBuf> {
        let beside = if job.temporary.is_empty() {
            self.directories()
        } else {
            job.temporary.clone()
        };
        if beside.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            beside
        }
    }

    /// For a set only before it is laid out. None for a pipe or a file that all ranks write.
    pub(crate) fn claim(&self) -> Option<Claim> {
        match &self.commit {
            Commit::One => self.first().claim(None),
            Commit::Together(_) => None,
            Commit::Set(_) => self.first().claim(Some(Manifest::NAME)),
        }
    }

    /// The files, with their whole paths, and their contents by all `spans` of the output. Must be
    /// called before the files get their names: a set makes its manifest of them.
    pub(crate) async fn list(
        &self,
        node: &Node,
        contents: &dyn Contents,
        spans: &[Span],
    ) -> Vec<ListedFile> {
        let list = |(number, draft): (usize, &Draft)| {
            let begin = spans.partition_point(|span| span.file < number);
            let end = spans.partition_point(|span| span.file <= number);
            let path = draft.target.as_deref().unwrap_or(Path::new(""));
            let path = path.to_string_lossy().into_owned();
            ListedFile::of(path, contents, &spans[begin..end])
        };
        let files: Vec<ListedFile> = self.drafts().iter().enumerate().map(list).collect();
        if let Commit::Set(set) = &self.commit {
            set.list(node, contents, &files).await;
        }
        files
    }

    /// Writes a header to an output that has no records to write it with.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) async fn write_header(&self, node: &Node, header: &[u8]) -> Result<(), Failure> {
        for number in 0..self.drafts.look(Vec::len) {
            self.set_length(node, number, header.len() as u64).await;
        }
        for draft in self.own_drafts(node) {
            draft.write_front(node, header).await?;
        }
        Ok(())
    }

    /// Cuts all files to their lengths, and makes them durable; one file is `length` bytes long.
    ///
    /// # Errors
    /// When a disk refuses.
    pub(crate) async fn finish(&self, node: &Node, length: u64) -> Result<(), Failure> {
        for draft in self.own_drafts(node) {
            draft.finish(node, length).await?;
        }
        Ok(())
    }

    /// Gives the finished files their names, or writes them in place. Warns of that, and of files
    /// of an old set that stay.
    ///
    /// # Errors
    /// When a disk refuses; a set is then not there, or not durable.
    pub(crate) async fn name(&self, node: &Node) -> Result<Option<Warning>, Failure> {
        if let Commit::Set(set) = &self.commit {
            return set.commit(node).await;
        }
        let mut warning = None;
        for draft in self.own_drafts(node) {
            warning = draft.name(node).await?;
        }
        Ok(warning)
    }

    /// Removes the drafts of an output that failed.
    pub(crate) async fn discard(&self, node: &Node) {
        for draft in self.drafts() {
            draft.discard(node).await;
        }
    }

    /// The error with the name that users know instead of the temporary one.
    pub(crate) fn named(&self, error: DiskError) -> DiskError {
        let named = |error, draft: &Draft| draft.named(error);
        self.drafts.look(|all| all.iter().fold(error, named))
    }

    /// Whether other ranks write the same file.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.commit, Commit::Together(_))
    }

    /// Whether the output is one file, or a pipe, of this node alone.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self.commit, Commit::One)
    }

    /// Whether it keeps its name, as a pipe or a device does.
    pub(crate) fn is_pipe(&self) -> bool {
        self.drafts().first().is_some_and(Draft::is_pipe)
    }

    /// Whether nothing of it has reached its target.
    pub(crate) fn may_be_given_up(&self) -> bool {
        !self.is_pipe() || !self.is_touched.load(Ordering::Relaxed)
    }

    /// Whether the output is written front to back only.
    pub(crate) fn is_sequential(&self) -> bool {
        let is_sequential = |draft: &Draft| draft.file.is_sequential();
        self.drafts
            .look(|all| all.first().is_some_and(is_sequential))
    }

    /// Whether the output is written past the page cache; not if it has no file.
    pub(crate) fn is_direct(&self) -> bool {
        let is_direct = |draft: &Draft| draft.file.is_direct();
        self.drafts
            .look(|all| !all.is_empty() && all.iter().all(is_direct))
    }

    fn first(&self) -> Draft {
        self.drafts.look(|all| all[0].clone())
    }

    fn drafts(&self) -> Vec<Draft> {
        self.drafts.look(Vec::clone)
    }

    /// The drafts that this rank finishes and names.
    fn own_drafts(&self, node: &Node) -> Vec<Draft> {
        let is_own = !self.is_shared() || node.rank() == Rank::ROOT;
        if is_own { self.drafts() } else { Vec::new() }
    }
}
