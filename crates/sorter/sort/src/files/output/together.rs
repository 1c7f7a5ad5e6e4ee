//! One file that all ranks write, each its range of the keys at its place in the whole.
//!
//! ```text
//! ranks     |..... 0 .....|........ 1 ........|..... 2 ...|
//! blocks    |     |     |     |     |     |     |     |     |
//!                       ^ 0 and 1         ^ 1 and 2
//! ```
//!
//! Rank 0 creates the file beside its target, as for any output, and renames it at the end; the
//! other ranks open that file. Once all ranks know how many records they have, each knows where its
//! own begin.
//!
//! Rank 0 alone writes the disk blocks in which ranges meet, from the parts that the other ranks
//! send: hosts that share a file system may cache whole blocks, and would overwrite each other's
//! part. It also writes the last block if that is short, and cuts the file there.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use node::{FileKind, Guarded, Node, Rank};
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::manifest::is_name;
use crate::files::output::draft::{Claim, Draft};
use crate::files::output::in_place::refuse_fixed;
use crate::files::output::layout::Layout;
use crate::files::output::single;
use crate::job::Job;
use crate::protocol::TOGETHER;
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::records::span::Left;

/// The file as one rank has it.
pub(super) struct Together {
    pub(super) draft: Draft,
    /// None while a task agrees.
    agreement: Guarded<Option<Agreement>>,
    /// Length of the whole file.
    bytes: u64,
}

/// The parts of a disk block that have come.
#[derive(Default)]
struct Gathered {
    filled: usize,
    whole: Vec<u8>,
}

impl Together {
    /// Opens a file that will have `bytes` bytes, with all other ranks.
    ///
    /// # Errors
    /// On all ranks, when rank 0 cannot create the file. On one rank, when it does not see that
    /// file or its lock.
    pub(super) async fn open(
        node: &Node,
        job: &Job,
        path: &Path,
        bytes: u64,
    ) -> Result<Together, Failure> {
        let mut agreement = Agreement::over(node, &job.control, TOGETHER);
        let created = match node.rank() {
            Rank::ROOT => create(node, job, path).await.map(Some),
            _ => Ok(None),
        };
        let own = created.as_ref().ok().cloned().flatten();
        let told = created.map(|draft| ((), draft.and_then(|draft| draft.claim(None))));
        let mut draft = match (agreement.agree_and_tell(node, told).await, own) {
            (Ok(_), Some(own)) => own,
            (Ok(((), claims)), None) => join(node, job, path, claims[0].as_ref()).await?,
            (Err(failure), own) => {
                if let Some(own) = own {
                    own.discard(node).await;
                }
                return Err(failure);
            }
        };
        draft.length = Some(bytes);
        if let Some(view) = job.view() {
            draft = draft.hiding(&view);
        }
        let agreement = Guarded::new(node, "an agreement on an output", Some(agreement));
        Ok(Together {
            draft,
            agreement,
            bytes,
        })
    }

    /// Bytes of output and of spill files beside it that this rank looks for room for. Rank 0 looks
    /// for all ranks, each of which spills about as much.
    pub(super) fn due(&self, node: &Node, spilled: u64) -> (u64, u64) {
        match node.rank() {
            Rank::ROOT => (self.bytes, spilled.saturating_mul(u64::from(node.nodes()))),
            _ => (0, spilled),
        }
    }

    /// Places this rank's buckets behind those of the ranks before it.
    ///
    /// # Errors
    /// When a rank fails, or the buckets of all ranks do not fill the file.
    pub(super) async fn lay_out(
        &self,
        node: &Node,
        (sizes, header): (&[Size], u64),
    ) -> Result<Layout, Failure> {
        let own: Size = sizes.iter().sum();
        let tell =
            async |agreement: &mut Agreement| agreement.agree_and_tell(node, Ok(((), own))).await;
        let ((), each) = self.agree(node, tell).await?;
        let (came, all) = (each.iter().sum::<Size>().bytes + header, self.bytes);
        if came != all {
            let what = format!("which has room for {all} bytes, and {came} have come");
            return Err(refused(&self.draft.shown, &what));
        }
        let before = each[..node.rank().0 as usize].iter().sum();
        // A short last block is left to rank 0.
        let whole = self.bytes.next_multiple_of(BLOCK_BYTES);
        Ok(Layout::of_one_file(sizes).behind(before, whole))
    }

    /// Sends rank 0 this rank's parts of shared disk blocks, when everything else is durable; rank
    /// 0 writes the blocks.
    ///
    /// # Errors
    /// When rank 0 cannot be reached, the parts do not fill their blocks, or the disk refuses.
    pub(super) async fn complete(
        &self,
        node: &Node,
        contents: &dyn Contents,
        left: Vec<Left>,
    ) -> Result<(), Failure> {
        self.draft.sync(node).await?;
        let own = serde_json::to_vec(&left).expect("numbers");
        let tell = async |agreement: &mut Agreement| agreement.tell_root(node, own).await;
        for (block, bytes) in self.blocks(&self.agree(node, tell).await?)? {
            self.draft
                .write_block(node, contents, block, &bytes)
                .await?;
        }
        Ok(())
    }

    /// The shared disk blocks, put together from the parts of all ranks; zeros follow the end of
    /// the file.
    fn blocks(&self, said: &[Vec<u8>]) -> Result<BTreeMap<u64, Vec<u8>>, Failure> {
        let mut blocks: BTreeMap<u64, Gathered> = BTreeMap::new();
        for (rank, text) in (0..).zip(said) {
            let foreign = |what: String| SortError::Foreign { rank, what };
            let parts: Vec<Left> =
                serde_json::from_slice(text).map_err(|cause| foreign(cause.to_string()))?;
            for part in parts {
                let block = blocks.entry(part.block).or_default();
                self.gather(block, &part).map_err(foreign)?;
            }
        }
        let whole = |(block, Gathered { filled, whole })| {
            let what = format!("but only {filled} bytes of disk block {block} arrived");
            if filled == self.length(block) {
                Ok((block, whole))
            } else {
                Err(refused(&self.draft.shown, &what))
            }
        };
        blocks.into_iter().map(whole).collect()
    }

    /// Adds a part to its block; the place of the part, if that is not in the file.
    fn gather(&self, block: &mut Gathered, part: &Left) -> Result<(), String> {
        let (number, begin) = (part.block, part.begin);
        let end = begin.saturating_add(part.bytes.len());
        if number >= self.bytes.div_ceil(BLOCK_BYTES) || end > self.length(number) {
            return Err(format!("bytes {begin} to {end} of disk block {number}"));
        }
        block.whole.resize(BLOCK_BYTES as usize, 0);
        block.whole[begin..end].copy_from_slice(&part.bytes);
        block.filled += part.bytes.len();
        Ok(())
    }

    /// Bytes of a block; the last one may be short.
    fn length(&self, block: u64) -> usize {
        BLOCK_BYTES.min(self.bytes - block * BLOCK_BYTES) as usize
    }

    async fn agree<T>(&self, node: &Node, step: impl AsyncFnOnce(&mut Agreement) -> T) -> T {
        let agreement = self.agreement.change(node, Option::take).await;
        let mut agreement = agreement.expect("one task at a time agrees");
        let agreed = step(&mut agreement).await;
        let back = |place: &mut Option<Agreement>| *place = Some(agreement);
        self.agreement.change(node, back).await;
        agreed
    }
}

async fn create(node: &Node, job: &Job, path: &Path) -> Result<Draft, Failure> {
    // Opening a pipe would wait for its reader.
    let there = node.sink(path).await.ok();
    if there.is_some_and(|there| there.kind == FileKind::Sequential) {
        return Err(refused(path, "which must be a regular file"));
    }
    let what = "several ranks rename it: name another file, or put {rank} in -o";
    refuse_fixed(node, path, what).await?;
    single::open(node, path, (job.resources.io, &[])).await
}

/// Opens the file that rank 0 has created.
async fn join(
    node: &Node,
    job: &Job,
    path: &Path,
    created: Option<&Claim>,
) -> Result<Draft, Failure> {
    let Some(Claim { draft, becomes }) = created.filter(|created| is_name(&created.draft)) else {
        let what = "it made no file".to_owned();
        return Err(SortError::Foreign {
            rank: Rank::ROOT.0,
            what,
        }
        .into());
    };
    let joined = match single::join(node, path, draft, job.resources.io).await {
        Err(Failure::Disk(error)) if error.cause.kind() == ErrorKind::NotFound => {
            return Err(refused(path, UNSEEN));
        }
        joined => joined?,
    };
    if joined
        .claim(None)
        .is_some_and(|own| own.becomes != *becomes)
    {
        let what = format!("but rank 0 writes {becomes}; give all ranks the same -o");
        return Err(refused(path, &what));
    }
    // Rank 0 holds the lock.
    if joined.file.lock(node).await.unwrap_or(false) {
        Err(refused(path, UNLOCKED))
    } else {
        Ok(joined)
    }
}

/// The file system is not shared.
const UNSEEN: &str =
    "but this rank does not see the file that rank 0 created; give a path that all hosts share";

/// A sweep tells the files of dead sorts from those of running ones by their locks.
const UNLOCKED: &str = "but file locks there do not work across hosts, so one host could remove \
    the files of another; mount the file system with locks";

fn refused(path: &Path, what: &str) -> Failure {
    let (file, what) = (path.to_owned(), what.to_owned());
    SortError::NotTogether { file, what }.into()
}
