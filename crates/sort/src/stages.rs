//! The stages of the sorts, one file each: what a worker does with a unit, and its bench siblings.

mod alone;
mod collector;
mod distributor;
mod loader;
mod partition_buffers;
mod reader;
mod reloader;
mod sampler;
mod seams;
mod sorter;
mod spiller;
mod tally;
mod turn;
mod writer;

pub use alone::{Alone, Stage, alone};
pub use distributor::OpenBucket;

pub(crate) use collector::{Collector, collect};
pub(crate) use distributor::{ChunkShape, Distributor, distribute};
pub(crate) use loader::{Loader, load, open_run};
pub(crate) use partition_buffers::{Chain, PartitionBuffers, hold};
pub(crate) use reader::{Divide, Reader, read};
pub(crate) use reloader::{Reloader, reload};
pub(crate) use sampler::{SAMPLES_IN_FLIGHT, Sampler, sample};
pub(crate) use seams::Seams;
pub(crate) use sorter::{Sorter, sort};
pub(crate) use spiller::{Spiller, spill};
pub(crate) use tally::{Edge, Tally};
pub(crate) use turn::Turn;
pub(crate) use writer::{Writer, write};
