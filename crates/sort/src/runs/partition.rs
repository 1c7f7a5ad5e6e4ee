//! Partitions between the two phases: what of each is in memory, and what lies in spill files.

use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::files::spill::Extent;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Chunk;

/// Chunks of one partition that lie behind each other in a spill file: its file, its first disk
/// block, and how many chunks. With little memory there are very many, so it is one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run(u64);

/// Runs of less than 4,096 chunks: a run is of a few megabytes, a chunk of at least a disk block.
const CHUNKS_BITS: u32 = 12;

/// Files of up to 2^52 bytes, of which there may be 4,096.
const BLOCK_BITS: u32 = 40;

impl Run {
    pub(crate) fn new(extent: Extent, chunks: usize) -> Run {
        assert!(chunks < 1 << CHUNKS_BITS, "a run is of a few megabytes");
        let block = extent.offset / BLOCK_BYTES;
        Run((((extent.file as u64) << BLOCK_BITS | block) << CHUNKS_BITS) | chunks as u64)
    }

    /// The run that was noted by its number.
    pub(crate) fn of_number(number: u64) -> Run {
        Run(number)
    }

    /// Where it lies, in chunks of that length.
    pub(crate) fn extent(self, chunk_bytes: usize) -> Extent {
        let place = self.0 >> CHUNKS_BITS;
        let offset = (place & ((1 << BLOCK_BITS) - 1)) * BLOCK_BYTES;
        let bytes = (self.chunks() * chunk_bytes) as u64;
        Extent {
            file: (place >> BLOCK_BITS) as usize,
            offset,
            bytes,
        }
    }

    pub(crate) fn chunks(self) -> usize {
        (self.0 & ((1 << CHUNKS_BITS) - 1)) as usize
    }
}

/// A run, and how many records it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spilled {
    pub run: Run,
    pub records: u64,
}

/// All records of one partition.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    /// Those that stayed in memory.
    pub chunks: Vec<Chunk>,
    /// Where the others lie.
    pub runs: Vec<Run>,
    /// How many records those are.
    pub spilled_records: u64,
}

impl Partition {
    /// Adds runs of so many records.
    pub(crate) fn add(&mut self, runs: &[u64], records: u64) {
        self.runs.extend(runs.iter().map(|&run| Run(run)));
        self.spilled_records += records;
    }

    /// Its runs as numbers, for who goes on with them.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.0).collect()
    }

    pub(crate) fn records(&self) -> u64 {
        let held = self.chunks.iter().map(|chunk| u64::from(chunk.records));
        held.sum::<u64>() + self.spilled_records
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
        Ledger {
            shared: Arc::new(Guarded::new(node, "spilled chains", State::default())),
        }
    }

    /// A chain is given to the spillers.
    pub(crate) async fn begin(&self, node: &Node) {
        self.shared.change(node, |state| state.under_way += 1).await;
    }

    /// A chain is on disk.
    pub(crate) async fn add(
        &self,
        node: &Node,
        partition: usize,
        Spilled { run, records }: Spilled,
    ) {
        self.shared
            .change(node, |state| {
                state.under_way -= 1;
                let partition = state.partition(partition);
                partition.runs.push(run);
                partition.spilled_records += records;
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
        self.shared
            .change(node, |state| std::mem::take(&mut state.partitions))
            .await
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

#[cfg(test)]
mod tests {
    use super::*;
    use node::Buffer;

    #[test]
    fn a_run_is_one_word_that_holds_all_of_it() {
        let last_block = (1 << BLOCK_BITS) - 1;
        for (file, block, chunks) in [(0, 0, 1), (3, 5, 7), (4095, last_block, 4095), (1, 0, 0)] {
            let offset = block * BLOCK_BYTES;
            let run = Run::new(
                Extent {
                    file,
                    offset,
                    bytes: 0,
                },
                chunks,
            );
            assert_eq!(run.chunks(), chunks);
            let bytes = chunks as u64 * 8192;
            assert_eq!(
                run.extent(8192),
                Extent {
                    file,
                    offset,
                    bytes
                }
            );
        }
    }

    #[test]
    #[should_panic(expected = "a run is of a few megabytes")]
    fn a_run_of_more_chunks_than_the_word_holds_is_a_bug() {
        Run::new(
            Extent {
                file: 0,
                offset: 0,
                bytes: 0,
            },
            1 << CHUNKS_BITS,
        );
    }

    #[test]
    fn a_partition_is_what_stayed_and_what_was_spilled() {
        let run = |chunks| {
            Run::new(
                Extent {
                    file: 1,
                    offset: 4096,
                    bytes: 0,
                },
                chunks,
            )
        };
        let mut partition = Partition::default();
        partition.add(&[run(2).0, run(3).0], 50);
        partition.add(&[run(4).0], 7);
        let marks = Vec::new();
        partition.chunks.push(Chunk {
            bucket: 0,
            records: 100,
            marks,
            buffer: Buffer::counted(0),
        });
        assert_eq!((partition.records(), partition.spilled_chunks()), (157, 9));
        assert_eq!(partition.numbers(), [run(2).0, run(3).0, run(4).0]);
    }
}
