//! The stages of the sorts, one file each: what a worker does with a unit, and its bench siblings.

mod alone;
mod collector;
mod cursor;
mod distributor;
mod load_sorter;
mod loader;
mod loads;
mod merger;
mod partition_buffers;
mod reader;
mod reloader;
mod run_reader;
mod run_writer;
mod sampler;
mod seams;
mod sorter;
mod spill_reader;
mod spill_write;
mod spiller;
mod tally;
mod turn;
mod write_size;
mod writer;

pub use alone::{Alone, Stage, alone};
pub use distributor::OpenBucket;

pub(crate) use collector::{Collector, collect};
pub(crate) use cursor::Cursor;
pub(crate) use distributor::{ChunkShape, Distributor, distribute};
pub(crate) use load_sorter::{LoadSorter, sort_loads};
pub(crate) use loader::{Loader, load};
pub(crate) use loads::{Load, Loads, gather_loads};
pub(crate) use merger::{Merger, OutputPart, RunMerger, Sources, merge, merge_run};
pub(crate) use partition_buffers::{Chain, Limits, PartitionBuffers, hold};
pub(crate) use reader::{Divide, InFlight, Reader, read};
pub(crate) use reloader::{Reloader, reload};
pub(crate) use run_reader::{RunReader, Runs, Wants, read_runs};
pub(crate) use run_writer::{Chains, RunWriter, write_runs};
pub(crate) use sampler::{SAMPLES_IN_FLIGHT, Sampler, sample};
pub(crate) use seams::Seams;
pub(crate) use sorter::{Sorter, sort};
pub(crate) use spill_reader::SpillReader;
pub(crate) use spiller::{Spiller, spill};
pub(crate) use tally::{Span, Tally};
pub(crate) use turn::Turn;
pub(crate) use writer::{Writer, write};
