//! Sorts from disk to disk, written once against a node.
//!
//! ```text
//! sort              sampler
//!                      | splitters
//!   reader > distributor > partition buffers > spiller       phase one (TritonSort 3.3)
//!   loader > sorter > writer                                 phase two (NOW-Sort 6.1 without spillers)
//!
//! sort, merge       reader > loads > sorter > run writer     (NOW-Sort 6, TritonSort 2.5)
//!                   run reader > merger > writer
//!
//! generate          generator > writer
//! store             reader > writer
//! validate, check   reader > validator
//! ```
//!
//! Distribution overlaps reading and sorting overlaps writing, so a sort in memory takes little
//! longer than reading the input and then writing the output. Records that memory does not hold
//! wait in spill files.
//!
//! Stages decide on descriptors (sizes, counts, offsets) and touch records only through
//! [`Contents`]: real bytes, or counts drawn from a distribution. This crate names no backend, wall
//! clock, thread or file of the system.

mod agreement;
pub mod alone;
mod epochs;
mod error;
mod files;
mod job;
mod names;
mod passes;
mod plan;
pub mod protocol;
mod ranks;
mod records;
mod report;
mod run;
mod runs;
mod stages;
mod tools;

pub use codec::Packing;
pub use error::SortError;
pub use files::disk_space::Demand;
pub use files::input::Input;
pub use files::manifest::{ListedFile, Manifest};
pub use files::path_template::{names_rank, of_rank};
pub use files::sweep::sweep;
pub use files::text_file::{LONGEST_TEXT, spelled};
pub use job::{
    Behind, Choice, ExchangeKind, IoChoice, Job, LongestLine, Pack, ReadOptions, Resources, Resume,
    Shares, Source, SpillLayout, SplitterChoice, Target, Tuning, contents_of,
};
pub use names::{Phase, StageName};
pub use passes::survey::longest_of_pipe;
pub use plan::{Merging, Need, Plan, Shape, Spilling};
pub use ranks::barriers::{parting, roll_call};
pub use records::block::{Block, Bucket, Chunk, Destination, Mark, Piece};
pub use records::contents::{Bytes, Contents, Counts, Lines, Workspace};
pub use records::framing::Framing;
pub use records::sample::Sample;
pub use records::size::Size;
pub use records::splitters::Splitters;
pub use records::view::view_of;
pub use report::{
    DirectIo, RankReport, Rebuilt, Report, SampleCost, StripeReport, Warning, WrittenFile,
};
pub use run::{Resolved, resolve, run, run_and};
pub use tools::check::{CheckResult, Checked, check};
pub use tools::generate::{Generate, generate};
pub use tools::store::store;
pub use tools::validate::{Validated, validate};
pub use tools::validate_set::{SetSummary, ValidatedSet, validate_set};
// x
