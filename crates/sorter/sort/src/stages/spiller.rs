//! Writes chains to spill files: all chunks of a chain in one request, several requests in flight
//! (TritonSort's coalescer and writer, 3.3).
//!
//! Chunks are written from where they lie, without a copy. The end of each tells its size and has a
//! checksum, so a later read can be checked.

use std::sync::Arc;

use node::{Pool, Queue, Tokens, Work};
use pipeline::{Failure, Step, Window, Worker};

use crate::files::spill::Spill;
use crate::records::contents::Contents;
use crate::runs::partition::Ledger;
use crate::stages::Chain;
use crate::stages::spill_write::SpillWrite;

#[derive(Clone)]
pub(crate) struct Spiller {
    pub contents: Arc<dyn Contents>,
    pub chains: Queue<Chain>,
    /// A finished write gives its write token back here.
    pub tokens: Tokens,
    pub spill: Spill,
    /// Requests in flight of each worker.
    pub depth: usize,
    /// Memory of written chunks goes back here.
    pub pool: Pool,
    pub ledger: Ledger,
}

struct Writing {
    write: SpillWrite,
    partition: usize,
}

pub(crate) async fn spill(worker: &Worker, spiller: &Spiller) -> Result<(), Failure> {
    let mut writes = Window::new(spiller.depth);
    while let Some(step) = writes.pop(worker, &spiller.chains).await? {
        match step {
            Step::Begin(chain) => writes.push(begin(worker, spiller, chain).await?),
            Step::Finish(write) => finish(worker, spiller, write).await?,
        }
    }
    Ok(())
}

async fn begin(worker: &Worker, spiller: &Spiller, chain: Chain) -> Result<Writing, Failure> {
    let Chain {
        partition,
        to,
        mut chunks,
    } = chain;
    chunks
        .iter_mut()
        .for_each(|chunk| spiller.contents.seal(chunk));
    let sealed = (&*spiller.contents, chunks);
    let write = SpillWrite::begin(&worker.node, &spiller.spill, to, sealed).await?;
    worker.node.work(Work::Checksum {
        bytes: write.bytes() as u64,
    });
    Ok(Writing { write, partition })
}

async fn finish(worker: &Worker, spiller: &Spiller, writing: Writing) -> Result<(), Failure> {
    let Writing { write, partition } = writing;
    let (bytes, directory) = (write.bytes(), write.to.directory as u32);
    let (spilled, buffers) = write
        .end(&worker.node, &spiller.spill, &*spiller.contents)
        .await?;
    worker.did(bytes);
    for buffer in buffers {
        spiller.pool.give(&worker.node, buffer).await;
    }
    spiller.tokens.give(&worker.node, directory).await;
    spiller.ledger.add(&worker.node, partition, spilled).await;
    Ok(())
}
