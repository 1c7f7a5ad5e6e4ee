//! Sorts from disk to disk, written once against a node.
//!
//! ```text
//! sort, one pass    sampler
//!                      | splitters
//!   reader > distributor > collector > sorter > writer       (NOW-Sort 6.1, TritonSort 3.3)
//!   \__ until the input has been read __/ \__ then __/
//!
//! sort, two passes  sampler
//!                      | splitters
//!   reader > distributor > partition buffers > spiller       (TritonSort 3.3)
//!   loader > sorter > writer
//!
//! sort, merge       reader > loads > sorter > run writer     (NOW-Sort 6, TritonSort 2.5)
//!                   run reader > merger > writer
//!
//! generate          generator > writer
//! validate          reader > validator
//! ```
//!
//! Bucketing overlaps reading and sorting overlaps writing, so a sort in memory takes little more
//! than reading the input and then writing the output. What memory does not hold waits in spill
//! files.
//!
//! Stages decide on descriptors (sizes, counts, offsets) and touch records only through
//! [`Contents`]: real bytes, or counts drawn from a distribution. This crate names no backend, no
//! wall clock, no thread and no file of the system.

mod agreement;
mod arrivals;
mod block;
mod cluster;
mod contents;
mod dials;
mod error;
mod exchange;
mod generate;
mod input;
mod job;
mod manifest;
mod merge;
mod one_pass;
mod output;
mod partition;
mod phase;
mod plan;
mod presorted;
pub mod protocol;
mod ranked;
mod report;
mod room;
mod run;
mod shelf;
mod sorted_run;
mod spill;
mod splitters;
pub mod stages;
mod temporary;
mod text_file;
mod two_pass;
mod validate;
mod validate_set;

pub use block::{Block, Bucket, Chunk, Destination, Mark, Piece};
pub use cluster::{parting, roll_call, run_and};
pub use contents::{Bytes, Contents, Counts, Workspace};
pub use error::SortError;
pub use exchange::{ExchangeAlone, Exchanged, Load};
pub use generate::{Generate, generate};
pub use input::{Input, Source};
pub use job::{
    Choice, ExchangeKind, IoChoice, Job, Listing, Resources, Resume, Start, Target, Tune, Tuning,
};
pub use manifest::{ListedFile, Manifest};
pub use plan::{Merging, Need, Plan, Shape, Spilling};
pub use ranked::{names_rank, of_rank};
pub use report::{DirectIo, RankReport, Report, SampleCost, Warning, Written};
pub use room::Demand;
pub use run::run;
pub use splitters::Splitters;
pub use temporary::sweep;
pub use text_file::spelled;
pub use validate::{Validated, validate};
pub use validate_set::{SetSummary, ValidatedSet, validate_set};
