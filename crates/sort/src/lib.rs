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
//! generate          generator > writer
//! validate          reader > validator
//! ```
//!
//! Bucketing overlaps reading and sorting overlaps writing, so a sort in memory takes little more
//! than reading the input and then writing the output. What memory does not hold waits in spill files.
//!
//! Stages decide on descriptors (sizes, counts, offsets) and touch records only through
//! [`Contents`]: real bytes, or counts drawn from a distribution. This crate names no backend, no
//! wall clock, no thread and no file of the system.

mod block;
mod contents;
mod error;
mod generate;
mod input;
mod job;
mod one_pass;
mod output;
mod partition;
mod phase;
mod plan;
mod report;
mod run;
mod spill;
mod splitters;
pub mod stages;
mod temporary;
mod two_pass;
mod validate;

pub use block::{Block, Bucket, Chunk, Mark, Piece};
pub use contents::{Bytes, Contents, Counts, Workspace};
pub use error::SortError;
pub use generate::{Generate, generate};
pub use input::{Input, Source};
pub use job::{Choice, IoChoice, Job, Resources, Target, Tuning};
pub use plan::{Need, Plan, Shape, Spilling};
pub use report::{DirectIo, Report};
pub use run::run;
pub use splitters::Splitters;
pub use temporary::sweep;
pub use validate::{Validated, validate};
