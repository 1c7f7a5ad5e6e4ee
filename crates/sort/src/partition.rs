//! Partitions between the two phases: what of each is in memory, and what lies in spill files.

use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::block::Chunk;
use crate::input::BLOCK_BYTES;
use crate::spill::Extent;

/// Chunks of one partition that lie behind each other in a spill file. With little memory there are very
/// many, so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The file, and the disk block in it.
    place: u64,
    chunks: u32,
    records: u32,
}

/// Bits of a disk block's number in a place: files of 2^60 bytes, of which there may be 2^16.
const BLOCK_BITS: u32 = 48;

impl Run {
    pub(crate) fn new(extent: Extent, chunks: usize, records: u64) -> Run {
        let place = ((extent.file as u64) << BLOCK_BITS) | (extent.offset / BLOCK_BYTES);
        let records = u32::try_from(records).expect("a run is of a few megabytes");
        Run { place, chunks: chunks as u32, records }
    }

    /// Where it lies, in chunks of that length.
    pub(crate) fn extent(self, chunk_bytes: usize) -> Extent {
        let block = self.place & ((1 << BLOCK_BITS) - 1);
        let bytes = (self.chunks() * chunk_bytes) as u64;
        Extent { file: (self.place >> BLOCK_BITS) as usize, offset: block * BLOCK_BYTES, bytes }
    }

    pub(crate) fn chunks(self) -> usize {
        self.chunks as usize
    }

    pub(crate) fn records(self) -> u64 {
        self.records.into()
    }
}

/// All records of one partition.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    /// Those that stayed in memory.
    pub chunks: Vec<Chunk>,
    pub runs: Vec<Run>,
}

impl Partition {
    pub(crate) fn records(&self) -> u64 {
        let held = self.chunks.iter().map(|chunk| u64::from(chunk.records));
        held.sum::<u64>() + self.runs.iter().map(|run| run.records()).sum::<u64>()
    }

    /// How many of its chunks are on disk.
    pub(crate) fn spilled_chunks(&self) -> usize {
        self.runs.iter().map(|run| run.chunks()).sum()
    }
}

/// The partitions of a phase while they come together; clones share them.
#[derive(Clone)]
pub(crate) struct Ledger {
    shared: Arc<Guarded<State>>,
}

#[derive(Default)]
struct State {
    partitions: Vec<Partition>,
    /// Chains that spillers were given and that are not on disk.
    under_way: usize,
    closed: bool,
}

impl Ledger {
    pub(crate) fn new(node: &Node) -> Ledger {
        Ledger { shared: Arc::new(Guarded::new(node, "spilled chains", State::default())) }
    }

    /// A chain is given to the spillers.
    pub(crate) async fn begin(&self, node: &Node) {
        self.shared.change(node, |state| state.under_way += 1).await;
    }

    /// A chain is on disk.
    pub(crate) async fn add(&self, node: &Node, partition: usize, run: Run) {
        self.shared
            .change(node, |state| {
                state.under_way -= 1;
                state.partition(partition).runs.push(run);
            })
            .await;
    }

    /// These chunks stay in memory.
    pub(crate) async fn keep(&self, node: &Node, chains: Vec<Vec<Chunk>>) {
        self.shared
            .change(node, |state| {
                for (number, chunks) in chains.into_iter().enumerate() {
                    state.partition(number).chunks = chunks;
                }
            })
            .await;
    }

    /// Waits until all chains that were begun are on disk.
    pub(crate) async fn settled(&self, node: &Node) -> Result<(), Closed> {
        let step = |state: &mut State| match (state.closed, state.under_way) {
            (true, _) => Some(Err(Closed)),
            (false, 0) => Some(Ok(())),
            _ => None,
        };
        self.shared.wait_for(node, step).await
    }

    /// All partitions in key order, when the phase is over.
    pub(crate) async fn take(&self, node: &Node) -> Vec<Partition> {
        self.shared.change(node, |state| std::mem::take(&mut state.partitions)).await
    }
}

impl State {
    fn partition(&mut self, number: usize) -> &mut Partition {
        if self.partitions.len() <= number {
            self.partitions.resize_with(number + 1, Partition::default);
        }
        &mut self.partitions[number]
    }
}

impl Close for Ledger {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
