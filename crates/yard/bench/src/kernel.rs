//! `gristmill-bench kernel`: the in-memory kernels, the sorts of papers, of std and of rayon,
//! and copies of the same bytes.
//!
//! ```text
//! pairs      copy | our sort, the papers' variants, std, rayon     one thread, then all
//! records    copy | build + sort + gather, and the parts           one thread, then all
//! patterns   uniform | skewed, equal, sorted, reversed             what bad inputs cost
//! ```

mod pairs;
mod patterns;
mod records;
mod variants;

use clap::Args;
use host::memory::memory_limit;
use serde_json::json;
use terminal::ending::failure::CliFailure;
use terminal::launcher::cores;

use crate::Common;
use crate::host::{check_memory, thread_counts};
use crate::table::Report;

/// Measure the in-memory kernels and their peers, with copies of the same bytes as floors.
///
/// Peers are the papers' sorts, std's, and rayon's.
#[derive(Args)]
pub struct Arguments {
    /// How many pairs of a 10-byte key and a row [default: 10000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pairs: Option<u64>,
    /// How many records of 100 bytes [default: as many, 10000000 at most, and what memory allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const PAIRS: u64 = 10_000_000;
const SMOKE_PAIRS: u64 = 5_000;
const MOST_RECORDS: u64 = 10_000_000;

/// A chunk of records is addressed with 32 bits.
const MOST_CHUNK_BYTES: u64 = u32::MAX as u64;

/// Returns the rows that `gristmill-bench kernel` prints.
///
/// # Errors
/// Too little memory; a sort that does not sort.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let (common, cores) = (arguments.common, cores());
    let pairs = common.size(arguments.pairs, PAIRS, SMOKE_PAIRS).max(1);
    let fitting = memory_limit(None) / records::BYTES_EACH;
    let records = arguments
        .records
        .unwrap_or(pairs.min(MOST_RECORDS).min(fitting))
        .max(1);
    check_length(pairs, pairs::KEY_BYTES as u64, "--pairs")?;
    check_length(records, record::RECORD_BYTES as u64, "--records")?;
    let pair_bytes = pairs::BYTES_EACH.max(patterns::BYTES_EACH);
    check_memory(pairs.saturating_mul(pair_bytes), "--pairs")?;
    check_memory(records.saturating_mul(records::BYTES_EACH), "--records")?;
    let mut sections = Vec::new();
    for threads in thread_counts() {
        sections.push(pairs::measure_on(common.runs, pairs as usize, threads)?);
    }
    for threads in thread_counts() {
        sections.push(records::measure_on(common.runs, records as usize, threads)?);
    }
    sections.push(patterns::measure_on(common.runs, pairs as usize, cores)?);
    Ok(Report {
        bench: "kernel",
        facts: json!({ "pairs": pairs, "records": records, "cores": cores }),
        sections,
    })
}

fn check_length(count: u64, bytes: u64, option: &str) -> Result<(), CliFailure> {
    let most = MOST_CHUNK_BYTES / bytes;
    if count <= most {
        return Ok(());
    }
    Err(CliFailure::usage(format!(
        "{option} {count} is more than a kernel takes at once ({most})"
    )))
}
