//! Partitions between the two phases: chunks in memory, and runs in spill files.

use std::ops::Range;
use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::files::spill::{BLOCK_BITS, Extent, FILE_BITS, packed_unit};
use crate::records::block::{BLOCK_BYTES, Chunk, MOST_CHUNKS_OF_RUN};
use crate::records::size::Size;

/// Chunks of one partition that lie behind each other in a spill file: the file, the first disk
/// block, the length of a chunk if it is packed, and the number of chunks. With little memory there
/// are very many runs, so one is a single word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpilledRun(u64);

/// Bits of the number of chunks.
const CHUNKS_BITS: u32 = MOST_CHUNKS_OF_RUN.ilog2() + 1;

/// Bits of the length of a packed chunk, in units; 0 for chunks as they are.
const PACKED_BITS: u32 = 8;

const _: () = assert!(FILE_BITS + BLOCK_BITS + PACKED_BITS + CHUNKS_BITS == 64);

impl SpilledRun {
    /// A run of `chunks` chunks, each packed in `packed` units, or of chunks as they are.
    pub(crate) fn new(extent: Extent, chunks: usize, packed: u8) -> SpilledRun {
        assert!(chunks <= MOST_CHUNKS_OF_RUN, "a run has a few megabytes");
        let block = extent.offset / BLOCK_BYTES;
        assert!(block < 1 << BLOCK_BITS, "a spill file has 64 TiB at most");
        assert!(extent.file < 1 << FILE_BITS, "there are few spill files");
        let place = (extent.file as u64) << BLOCK_BITS | block;
        let form = u64::from(packed) << CHUNKS_BITS | chunks as u64;
        SpilledRun(place << (PACKED_BITS + CHUNKS_BITS) | form)
    }

    /// The run with a number of [`Partition::numbers`].
    pub(crate) fn of_number(number: u64) -> SpilledRun {
        SpilledRun(number)
    }

    /// Its place in the spill files, if chunks have `chunk_bytes` bytes.
    pub(crate) fn extent(self, chunk_bytes: usize) -> Extent {
        let place = self.0 >> (PACKED_BITS + CHUNKS_BITS);
        let offset = (place & ((1 << BLOCK_BITS) - 1)) * BLOCK_BYTES;
        let bytes = (self.chunks() * self.stored_bytes(chunk_bytes)) as u64;
        Extent {
            file: (place >> BLOCK_BITS) as usize,
            offset,
            bytes,
        }
    }

    /// Some of its chunks, if they have `chunk_bytes` bytes in memory.
    pub(crate) fn part(self, chunks: Range<usize>, chunk_bytes: usize) -> SpilledRun {
        let (extent, stored) = (self.extent(chunk_bytes), self.stored_bytes(chunk_bytes));
        let part = Extent {
            offset: extent.offset + (chunks.start * stored) as u64,
            bytes: (chunks.len() * stored) as u64,
            ..extent
        };
        SpilledRun::new(part, chunks.len(), self.packed())
    }

    /// Bytes of each chunk on disk, if it has `chunk_bytes` bytes in memory.
    pub(crate) fn stored_bytes(self, chunk_bytes: usize) -> usize {
        match self.packed() {
            0 => chunk_bytes,
            units => usize::from(units) * packed_unit(chunk_bytes),
        }
    }

    /// Units of each packed chunk; 0 if they are not packed.
    pub(crate) fn packed(self) -> u8 {
        (self.0 >> CHUNKS_BITS) as u8
    }

    pub(crate) fn chunks(self) -> usize {
        (self.0 & ((1 << CHUNKS_BITS) - 1)) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spilled {
    pub run: SpilledRun,
    pub size: Size,
}

#[derive(Debug, Default)]
pub(crate) struct Partition {
    /// Chunks that stayed in memory.
    pub chunks: Vec<Chunk>,
    /// Runs in spill files.
    pub runs: Vec<SpilledRun>,
    /// Size of the runs.
    pub spilled: Size,
}

impl Partition {
    /// Adds runs with `size` records, by their numbers.
    pub(crate) fn add(&mut self, runs: &[u64], size: Size) {
        self.runs.extend(runs.iter().map(|&run| SpilledRun(run)));
        self.spilled += size;
    }

    /// The numbers of its runs, for a checkpoint.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.0).collect()
    }

    pub(crate) fn size(&self) -> Size {
        let held: Size = self.chunks.iter().map(|chunk| chunk.size).sum();
        held + self.spilled
    }

    pub(crate) fn spilled_chunks(&self) -> usize {
        self.runs.iter().map(|run| run.chunks()).sum()
    }
}

/// The partitions of a phase while their records come; clones share them.
#[derive(Clone)]
pub(crate) struct Ledger {
    shared: Arc<Guarded<State>>,
}

#[derive(Default)]
struct State {
    partitions: Vec<Partition>,
    /// Chains that spillers have and that are not on disk yet.
    under_way: usize,
    closed: bool,
}

impl Ledger {
    pub(crate) fn new(node: &Node) -> Ledger {
        Ledger {
            shared: Arc::new(Guarded::new(node, "spilled chains", State::default())),
        }
    }

    /// Notes that a chain goes to the spillers.
    pub(crate) async fn begin(&self, node: &Node) {
        self.shared.change(node, |state| state.under_way += 1).await;
    }

    /// Adds a chain that is on disk now.
    pub(crate) async fn add(&self, node: &Node, partition: usize, Spilled { run, size }: Spilled) {
        self.shared
            .change(node, |state| {
                state.under_way -= 1;
                let partition = state.partition(partition);
                partition.runs.push(run);
                partition.spilled += size;
            })
            .await;
    }

    /// Adds the chunks that stay in memory, by partition.
    pub(crate) async fn keep(&self, node: &Node, chains: Vec<Vec<Chunk>>) {
        self.shared
            .change(node, |state| {
                for (number, chunks) in chains.into_iter().enumerate() {
                    state.partition(number).chunks = chunks;
                }
            })
            .await;
    }

    pub(crate) async fn settled(&self, node: &Node) -> Result<(), Closed> {
        let step = |state: &mut State| match (state.closed, state.under_way) {
            (true, _) => Some(Err(Closed)),
            (false, 0) => Some(Ok(())),
            _ => None,
        };
        self.shared.wait_for(node, step).await
    }

    /// All partitions, in key order, at the end of the phase.
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
    use crate::records::framing::Framing;
    use node::Buffer;

    #[test]
    fn a_run_is_one_word() {
        let last_block = (1 << BLOCK_BITS) - 1;
        for (file, block, packed, chunks) in [
            (0, 0, 0, 1),
            (3, 5, 1, 7),
            (2047, last_block, 255, 2047),
            (1, 0, 0, 0),
        ] {
            let offset = block * BLOCK_BYTES;
            let place = Extent {
                file,
                offset,
                bytes: 0,
            };
            let run = SpilledRun::new(place, chunks, packed);
            assert_eq!((run.chunks(), run.packed()), (chunks, packed));
            let stored = if packed == 0 {
                8192
            } else {
                u64::from(packed) * BLOCK_BYTES
            };
            let bytes = chunks as u64 * stored;
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
    #[should_panic(expected = "a run has a few megabytes")]
    fn a_run_with_too_many_chunks_is_a_bug() {
        SpilledRun::new(
            Extent {
                file: 0,
                offset: 0,
                bytes: 0,
            },
            1 << CHUNKS_BITS,
            0,
        );
    }

    #[test]
    fn a_partition_has_kept_and_spilled_records() {
        let run = |chunks| {
            SpilledRun::new(
                Extent {
                    file: 1,
                    offset: 4096,
                    bytes: 0,
                },
                chunks,
                0,
            )
        };
        let size = |records| Framing::fixed(10).of(records);
        let mut partition = Partition::default();
        partition.add(&[run(2).0, run(3).0], size(50));
        partition.add(&[run(4).0], size(7));
        let marks = Vec::new();
        partition.chunks.push(Chunk {
            bucket: 0,
            size: size(100),
            marks,
            buffer: Buffer::counted(0),
        });
        assert_eq!(partition.size(), size(157));
        assert_eq!(partition.spilled_chunks(), 9);
        assert_eq!(partition.numbers(), [run(2).0, run(3).0, run(4).0]);
    }
}
