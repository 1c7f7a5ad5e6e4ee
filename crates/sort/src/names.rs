//! The phases and stages of a sort, with their names in reports, progress and heartbeats.

/// The part of a run that progress shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Draws splitters.
    Sample,
    /// Reads, distributes and spills the input, or forms sorted runs.
    Sort,
    /// Divides a partition that is too large for memory.
    PartitionAgain,
    /// Sorts partitions into the output.
    SortPartitions,
    /// Merges runs into longer runs.
    MergeRuns,
    /// Merges runs into the output.
    Merge,
    /// Makes records.
    Generate,
    /// Checks records.
    Validate,
}

impl Phase {
    /// All of them.
    pub const ALL: [Phase; 8] = [
        Phase::Sample,
        Phase::Sort,
        Phase::PartitionAgain,
        Phase::SortPartitions,
        Phase::MergeRuns,
        Phase::Merge,
        Phase::Generate,
        Phase::Validate,
    ];

    /// Its name in progress.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Sample => "sample",
            Phase::Sort => "sort",
            Phase::PartitionAgain => "partition again",
            Phase::SortPartitions => "sort partitions",
            Phase::MergeRuns => "merge runs",
            Phase::Merge => "merge",
            Phase::Generate => "generating",
            Phase::Validate => "validating",
        }
    }

    /// The phase of that name.
    pub fn of(name: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// The stages that reports and progress count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageName {
    /// Reads the input.
    Reader,
    /// Reads the sample.
    Sampler,
    /// Reads partitions back.
    Loader,
    /// Reads a partition that is divided again.
    Reloader,
    /// Reads sorted runs.
    RunReader,
    /// Sorts buckets, its units.
    Sorter,
    /// Writes the output.
    Writer,
    /// Writes partitions.
    Spiller,
    /// Writes sorted runs.
    RunWriter,
    /// Writes longer runs.
    RunMerger,
}

impl StageName {
    /// All of them.
    pub const ALL: [StageName; 10] = [
        StageName::Reader,
        StageName::Sampler,
        StageName::Loader,
        StageName::Reloader,
        StageName::RunReader,
        StageName::Sorter,
        StageName::Writer,
        StageName::Spiller,
        StageName::RunWriter,
        StageName::RunMerger,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            StageName::Reader => "reader",
            StageName::Sampler => "sampler",
            StageName::Loader => "loader",
            StageName::Reloader => "reloader",
            StageName::RunReader => "run reader",
            StageName::Sorter => "sorter",
            StageName::Writer => "writer",
            StageName::Spiller => "spiller",
            StageName::RunWriter => "run writer",
            StageName::RunMerger => "run merger",
        }
    }

    /// The stage of that name.
    pub fn of(name: &str) -> Option<StageName> {
        StageName::ALL
            .into_iter()
            .find(|stage| stage.name() == name)
    }

    /// Whether its bytes come from a disk.
    pub const fn reads(self) -> bool {
        use StageName::{Loader, Reader, Reloader, RunReader, Sampler};
        matches!(self, Reader | Sampler | Loader | Reloader | RunReader)
    }

    /// Whether its bytes go to a disk.
    pub const fn writes(self) -> bool {
        use StageName::{RunMerger, RunWriter, Spiller, Writer};
        matches!(self, Writer | Spiller | RunWriter | RunMerger)
    }
}
