//! Numbers that a user, a test or the plan of a paper sets.

/// Numbers of the plan that the user sets; the others are derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Workers that read.
    pub readers: Option<usize>,
    /// Workers that distribute to partitions.
    pub distributors: Option<usize>,
    /// Workers that distribute to ranks; as many as distribute to partitions, if that alone is given.
    pub node_distributors: Option<usize>,
    /// Workers that sort.
    pub sorters: Option<usize>,
    /// Workers that write.
    pub writers: Option<usize>,
    /// Requests in flight of each reader and writer.
    pub depth: Option<usize>,
    /// Workers of each temporary directory that spill; as many as write, if that alone is given.
    pub spillers: Option<usize>,
    /// Writes in flight of each of them; as many as `depth`, if that alone is given.
    pub spiller_depth: Option<usize>,
    /// Write tokens of each temporary directory: writes that wait or are in flight.
    pub write_tokens: Option<usize>,
    /// Bytes of a chain at which it is written though memory is not full.
    pub least_write_bytes: Option<usize>,
    /// Bytes of one write of a chain at most.
    pub most_write_bytes: Option<usize>,
    /// Records in a read unit, if all have the greatest length.
    pub unit_records: Option<usize>,
    /// Bytes of a read unit.
    pub unit_bytes: Option<usize>,
    /// Maximum number of buckets.
    pub buckets: Option<usize>,
    /// Bytes of a chunk, rounded up to whole disk blocks.
    pub chunk_bytes: Option<usize>,
    /// Marks of a chunk that may be spilled, if records have positions.
    pub chunk_marks: Option<u32>,
    /// Chunks of memory in a sort that may spill.
    pub chunks: Option<usize>,
    /// Bytes of a chunk to another rank, at most.
    pub sent_bytes: Option<usize>,
    /// Bytes that are reserved for each partition, with [`SpillLayout::Preallocated`].
    pub area_bytes: Option<u64>,
    /// Whether all records are spilled, if there are more passes than one; otherwise some stay in memory.
    pub spills_all: bool,
    /// Chunks in a load of a merge sort.
    pub load_chunks: Option<usize>,
    /// Runs that are merged at once, at most.
    pub fan_in: Option<usize>,
    /// Workers that merge runs into the output.
    pub mergers: Option<usize>,
    /// Steps of each phase of a resumable sort: epochs of the first, groups of the second.
    pub steps: Option<u32>,
}
