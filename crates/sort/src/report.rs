//! What a run did, in figures.

use pipeline::StageReport;

/// How a run did its I/O, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectIo {
    /// Whether the input was read past the page cache.
    pub read: bool,
    /// Whether the output was written past the page cache.
    pub write: bool,
    /// Why.
    pub reason: String,
}

/// A finished sort. Bytes count input, temp and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Records sorted.
    pub records: u64,
    /// Bytes sorted.
    pub bytes: u64,
    /// Most writes of any record.
    pub passes: u32,
    /// How it was done.
    pub plan: &'static str,
    /// Why so.
    pub reason: String,
    /// Buckets with at least one record.
    pub partitions: u64,
    /// From the start of the run to the durable output.
    pub seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Most temporary bytes at any time.
    pub temp_peak_bytes: u64,
    /// How I/O was done.
    pub direct_io: DirectIo,
    /// Sum of the CRC-32 of every record, as valsort prints it.
    pub checksum: u128,
    /// The stage that held the others up.
    pub bottleneck: &'static str,
    /// What each stage did.
    pub stages: Vec<StageReport>,
}

impl Report {
    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}
