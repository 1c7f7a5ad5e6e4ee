//! A node's part of a file that all nodes write: its range of the keys, at its place in the whole.
//!
//! ```text
//! nodes     |..... 0 .....|........ 1 ........|..... 2 ...|
//! blocks    |     |     |     |     |     |     |     |     |
//!                       ^ 0 and 1         ^ 1 and 2
//! ```
//!
//! Node 0 makes the file beside its target, as any output, and renames it at the end; the others
//! open what it has made. When all know how many records they have, each knows where its own begin.
//! A disk block in which parts meet is written once, by node 0, to whom the others send what they
//! have of it: hosts that share a file system may cache whole blocks, and would write over each
//! other's half. The last block, if it is short, goes the same way: who writes it whole also cuts
//! the file.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use node::{FileKind, Guarded, Node, Port};
use pipeline::Failure;

use crate::agreement::{Agreement, ROOT};
use crate::error::SortError;
use crate::error::no_memory;
use crate::files::manifest::is_name;
use crate::files::output::Claim;
use crate::files::output::file::OutputFile;
use crate::files::output::layout::Layout;
use crate::job::Job;
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::records::span::Left;

/// Where nodes speak of their parts.
const PARTS: Port = Port(107);

/// A part under way; clones are of the same.
#[derive(Clone)]
pub(crate) struct OutputPart {
    pub(super) file: OutputFile,
    /// With whoever speaks, one at a time.
    agreement: Arc<Guarded<Option<Agreement>>>,
    /// Length of the whole.
    bytes: u64,
}

impl OutputPart {
    /// Opens a file that will have so many bytes; all nodes do.
    pub(super) async fn open(
        node: &Node,
        job: &Job,
        path: &Path,
        bytes: u64,
    ) -> Result<OutputPart, Failure> {
        let mut agreement = Agreement::over(node, &job.control, PARTS);
        let made = match node.rank() {
            ROOT => make(node, job, path).await.map(Some),
            _ => Ok(None),
        };
        let own = made.as_ref().ok().cloned().flatten();
        let told = made.map(|file| ((), file.and_then(|file| file.claim())));
        let opened = match (agreement.agree_and_tell(node, told).await, own) {
            (Ok(_), Some(file)) => Ok(file),
            (Ok(((), made)), None) => join(node, job, path, made[0].as_ref()).await,
            (Err(failure), own) => {
                if let Some(file) = own {
                    file.discard(node).await;
                }
                Err(failure)
            }
        };
        let agreement = Arc::new(Guarded::new(node, "words on an output", Some(agreement)));
        opened.map(|file| OutputPart {
            file,
            agreement,
            bytes,
        })
    }

    /// The bytes that this node answers for: node 0 for all.
    pub(super) fn due(&self, node: &Node) -> u64 {
        if node.rank() == ROOT { self.bytes } else { 0 }
    }

    /// Where this node's buckets go: behind those of the nodes before it.
    pub(super) async fn lay_out(
        &self,
        node: &Node,
        records: &[u64],
        record_bytes: usize,
    ) -> Result<Layout, Failure> {
        let own: u64 = records.iter().sum();
        let tell =
            async |agreement: &mut Agreement| agreement.agree_and_tell(node, Ok(((), own))).await;
        let ((), each) = self.speak(node, tell).await?;
        let (came, all) = (each.iter().sum::<u64>(), self.bytes / record_bytes as u64);
        if came != all {
            let what = format!("which has room for {all} records, and {came} have come");
            return Err(SortError::NotTogether {
                file: self.file.name(),
                what,
            }
            .into());
        }
        let before = each[..node.rank().0 as usize].iter().sum();
        // No node completes the last block by itself if it is short.
        let whole = self.bytes.next_multiple_of(BLOCK_BYTES);
        Ok(Layout::of_one_file(records, record_bytes).behind(before, whole))
    }

    /// Gives node 0 what this one has of blocks in which parts meet, when all else is durable;
    /// there they are written.
    pub(super) async fn complete(
        &self,
        node: &Node,
        contents: &dyn Contents,
        left: Vec<Left>,
    ) -> Result<(), Failure> {
        self.file.sync(node).await?;
        let said = serde_json::to_vec(&left).expect("numbers");
        let tell = async |agreement: &mut Agreement| agreement.tell_root(node, said).await;
        for (block, bytes) in self.blocks(&self.speak(node, tell).await?)? {
            let buffers = contents.buffers(node, 1, BLOCK_BYTES as usize);
            let what = |cause| no_memory(BLOCK_BYTES as usize, &cause);
            let mut buffer = buffers.map_err(what)?.pop().expect("one was asked for");
            let whole = 0..bytes.len();
            buffer.bytes_mut()[whole.clone()].copy_from_slice(&bytes);
            buffer.set_len(bytes.len());
            let written = self
                .file
                .file
                .write(node, block * BLOCK_BYTES, buffer, whole);
            written
                .wait(node)
                .await
                .1
                .map_err(|error| self.file.named(error))?;
        }
        Ok(())
    }

    /// Whole blocks, with zeros behind the end of the file, of what each node has of them.
    fn blocks(&self, said: &[Vec<u8>]) -> Result<BTreeMap<u64, Vec<u8>>, SortError> {
        let mut gathered: BTreeMap<u64, Gathered> = BTreeMap::new();
        for (rank, text) in (0..).zip(said) {
            let foreign = |what: String| SortError::Foreign { rank, what };
            let parts: Vec<Left> =
                serde_json::from_slice(text).map_err(|cause| foreign(cause.to_string()))?;
            for Left {
                block,
                begin,
                bytes,
            } in parts
            {
                let end = begin.saturating_add(bytes.len());
                if block >= self.bytes.div_ceil(BLOCK_BYTES) || end > self.length(block) {
                    return Err(foreign(format!(
                        "bytes {begin} to {end} of disk block {block}"
                    )));
                }
                let Gathered { filled, whole } = gathered.entry(block).or_default();
                whole.resize(BLOCK_BYTES as usize, 0);
                whole[begin..end].copy_from_slice(&bytes);
                *filled += bytes.len();
            }
        }
        let mut blocks = BTreeMap::new();
        for (block, Gathered { filled, whole }) in gathered {
            if filled != self.length(block) {
                let what = format!("of which {filled} bytes of disk block {block} have come");
                return Err(SortError::NotTogether {
                    file: self.file.name(),
                    what,
                });
            }
            blocks.insert(block, whole);
        }
        Ok(blocks)
    }

    /// How long a block is, of which the last one may be short.
    fn length(&self, block: u64) -> usize {
        BLOCK_BYTES.min(self.bytes - block * BLOCK_BYTES) as usize
    }

    /// Makes the file as long as it is to be, and what node 0 wrote last durable; what others have
    /// written is.
    pub(super) async fn finish(&self, node: &Node) -> Result<(), Failure> {
        if node.rank() == ROOT {
            self.file.finish(node, self.bytes).await
        } else {
            Ok(())
        }
    }

    /// Gives the file its name.
    pub(super) async fn commit(&mut self, node: &Node) -> Result<(), Failure> {
        if node.rank() == ROOT {
            self.file.commit(node).await
        } else {
            Ok(())
        }
    }

    /// Says something to the other nodes, one thing at a time.
    async fn speak<T>(&self, node: &Node, say: impl AsyncFnOnce(&mut Agreement) -> T) -> T {
        let agreement = self.agreement.change(node, Option::take).await;
        let mut agreement = agreement.expect("a node speaks of its part in one place");
        let said = say(&mut agreement).await;
        self.agreement
            .change(node, |place| *place = Some(agreement))
            .await;
        said
    }
}

/// What has come of a disk block.
#[derive(Default)]
struct Gathered {
    filled: usize,
    whole: Vec<u8>,
}

/// Makes the file.
async fn make(node: &Node, job: &Job, path: &Path) -> Result<OutputFile, Failure> {
    // Who opens a pipe to write waits for its reader.
    let there = node.metadata(path).await.ok();
    if there.is_some_and(|there| there.kind == FileKind::Sequential) {
        return Err(refused(path, "which must be a regular file"));
    }
    OutputFile::open(node, path, job.resources.io).await
}

/// Opens what node 0 has made.
async fn join(
    node: &Node,
    job: &Job,
    path: &Path,
    made: Option<&Claim>,
) -> Result<OutputFile, Failure> {
    let Some(Claim { draft, becomes }) = made.filter(|made| is_name(&made.draft)) else {
        let what = "it made no file".to_owned();
        return Err(SortError::Foreign { rank: ROOT.0, what }.into());
    };
    let unseen =
        "but this one does not see what rank 0 has made there: name a place that all hosts share";
    let file = match OutputFile::join(node, path, draft, job.resources.io).await {
        Err(Failure::Disk(error)) if error.cause.kind() == ErrorKind::NotFound => {
            return Err(refused(path, unseen));
        }
        joined => joined?,
    };
    if file.claim().is_some_and(|own| own.becomes != *becomes) {
        return Err(refused(
            path,
            &format!("but rank 0 was told to write {becomes}"),
        ));
    }
    // Node 0 has locked it.
    if file.file.lock(node).await.unwrap_or(false) {
        return Err(refused(path, APART));
    }
    Ok(file)
}

/// What is swept is told from what is under way by its lock.
const APART: &str = "but locks there do not reach from host to host, so that one could take the other's files for \
    those of a dead sort: mount it with locks";

fn refused(path: &Path, what: &str) -> Failure {
    SortError::NotTogether {
        file: path.to_owned(),
        what: what.to_owned(),
    }
    .into()
}
