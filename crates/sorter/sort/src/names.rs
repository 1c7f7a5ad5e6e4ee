//! The phases and stages of a sort, with their names in reports, progress and heartbeats.

/// Defines an enum whose values have names that people read.
macro_rules! named {
    (
        $(#[$doc:meta])*
        $type:ident { $($(#[$about:meta])* $value:ident = $name:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type { $($(#[$about])* $value,)* }

        impl $type {
            /// All values, in the order of their definition.
            pub const ALL: &[$type] = &[$($type::$value,)*];

            /// The name in reports and progress.
            pub const fn name(self) -> &'static str {
                match self { $($type::$value => $name,)* }
            }

            /// The value of that name.
            pub fn of(name: &str) -> Option<$type> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl From<$type> for &'static str {
            fn from(value: $type) -> &'static str {
                value.name()
            }
        }
    };
}

named! {
    /// The part of a run that progress shows.
    Phase {
        /// Looks for places where the input may be cut.
        Index = "index",
        /// Draws splitters.
        Sample = "sample",
        /// Reads, distributes and spills the input, or forms sorted runs.
        Sort = "sort",
        /// Divides a partition that is too large for memory.
        PartitionAgain = "partition again",
        /// Sorts partitions into the output.
        SortPartitions = "sort partitions",
        /// Merges runs into longer runs.
        MergeRuns = "merge runs",
        /// Merges runs into the output.
        Merge = "merge",
        /// Merges sorted inputs into the output.
        MergeInputs = "merge inputs",
        /// Makes records.
        Generate = "generating",
        /// Checks records.
        Validate = "validating",
    }
}

named! {
    /// A stage of a pipeline.
    StageName {
        /// Reads the input.
        Reader = "reader",
        /// Reads the input to find where it may be cut.
        Indexer = "indexer",
        /// Reads the sample.
        Sampler = "sampler",
        /// Copies records to chunks of their ranks.
        NodeDistributor = "node distributor",
        /// Sends chunks to their ranks.
        Sender = "sender",
        /// Waits until chunks have arrived.
        Confirmer = "confirmer",
        /// Takes the chunks of other ranks.
        Receiver = "receiver",
        /// Checks the chunks of other ranks.
        Opener = "opener",
        /// Copies records to chunks of their buckets.
        Distributor = "distributor",
        /// Keeps partitions in memory, or hands them on to be spilled.
        PartitionBuffers = "partition buffers",
        /// Writes partitions.
        Spiller = "spiller",
        /// Reads partitions back.
        Loader = "loader",
        /// Reads a partition that is divided again.
        Reloader = "reloader",
        /// Keeps the first records of those that were read.
        Selector = "selector",
        /// Fills memory with the input, a load at a time.
        Loads = "loads",
        /// Sorts buckets, its units; or loads.
        Sorter = "sorter",
        /// Counts lines with equal keys.
        Counter = "counter",
        /// Writes the output.
        Writer = "writer",
        /// Writes sorted runs.
        RunWriter = "run writer",
        /// Reads sorted runs.
        RunReader = "run reader",
        /// Writes longer runs.
        RunMerger = "run merger",
        /// Cuts runs into slices for several mergers.
        Slicer = "slicer",
        /// Merges runs.
        Merger = "merger",
        /// Makes records.
        Generator = "generator",
        /// Checks records.
        Validator = "validator",
    }
}

impl StageName {
    /// Whether its bytes come from a disk.
    pub const fn reads(self) -> bool {
        use StageName::{Indexer, Loader, Reader, Reloader, RunReader, Sampler};
        matches!(
            self,
            Reader | Indexer | Sampler | Loader | Reloader | RunReader
        )
    }

    /// Whether it has the more workers the more cores there are, where a sort can use them.
    pub const fn follows_cores(self) -> bool {
        use StageName::{
            Distributor, Merger, NodeDistributor, RunReader, RunWriter, Sorter, Spiller,
        };
        matches!(
            self,
            Distributor | Merger | NodeDistributor | RunReader | RunWriter | Sorter | Spiller
        )
    }

    /// Whether its bytes go to a disk.
    pub const fn writes(self) -> bool {
        use StageName::{RunMerger, RunWriter, Spiller, Writer};
        matches!(self, Writer | Spiller | RunWriter | RunMerger)
    }
}
