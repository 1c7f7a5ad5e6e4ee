//! The cost of work on a node.
//!
//! A program reports its work (`node.work(Work::Sort { records })`), and the cost table of a
//! simulated node gives the time that it takes. A real node has no table: its clock measures.

/// Work that a task has done, in the units that its cost grows with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Merging sorted sources, with one level of comparisons per doubling of the sources.
    Merge {
        /// The number of records merged.
        records: u64,
        /// The number of sources.
        sources: u64,
    },
    /// Reading words in order, for example to find a minimum.
    Scan {
        /// The number of words read.
        words: u64,
    },
    /// Sorting records by their prefixes or keys.
    Sort {
        /// The number of records sorted together.
        records: u64,
    },
    /// Finding the k-th smallest key (quickselect).
    Select {
        /// The number of keys to select from.
        keys: u64,
    },
    /// Finding the partition of each record with a tree of splitters.
    Classify {
        /// The number of records classified.
        records: u64,
    },
    /// Finding places in sorted lists by binary search.
    Search {
        /// The number of keys that are read and compared: a level of a tree of splitters each.
        probes: u64,
    },
    /// Finding the bucket of each key by comparing it with one splitter after the other.
    Bucket {
        /// The number of keys that get a bucket.
        keys: u64,
        /// The number of splitters.
        splitters: u64,
    },
    /// Finding keys in a hash table, or inserting them.
    Hash {
        /// The number of lookups.
        keys: u64,
    },
    /// Copying bytes in memory.
    Copy {
        /// The number of bytes copied.
        bytes: u64,
    },
    /// Loading bytes into the nearest cache before they are used.
    Load {
        /// The number of bytes loaded.
        bytes: u64,
    },
    /// Computing a checksum of records.
    Checksum {
        /// The number of bytes summed.
        bytes: u64,
    },
    /// Counting units that pass through a stage.
    Account {
        /// The number of units.
        units: u64,
    },
    /// Computation of a given length, as measurements and modelled programs need it.
    Compute {
        /// Ticks that it takes.
        ticks: u64,
    },
    /// All work of a stage on one of its units. Machines that charge stages as a whole take no time for
    /// the parts above; the others take none for this.
    Unit {
        /// The name of the stage.
        stage: &'static str,
        /// The bytes of the unit.
        bytes: u64,
    },
}

/// A cost table in thousandths of a tick. Whole numbers make a simulated run the same on every
/// computer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Per word read that is in the nearest cache.
    pub scan: u64,
    /// Per record sorted or merged, for each level of `log2 n`.
    pub sort: u64,
    /// Per key that another one is selected from.
    pub select: u64,
    /// Per record classified.
    pub classify: u64,
    /// Per key that gets a bucket, before its comparisons.
    pub bucket: u64,
    /// Per comparison of a key with a splitter.
    pub splitter: u64,
    /// Per lookup in a hash table.
    pub hash: u64,
    /// Per cache line copied.
    pub copy: u64,
    /// Per cache line loaded into the nearest cache.
    pub load: u64,
    /// Per cache line summed.
    pub checksum: u64,
    /// Per unit counted.
    pub account: u64,
    /// The size of the nearest cache in bytes; a longer scan loads each of its lines.
    pub cache_bytes: u64,
}

const LINE_BYTES: u64 = 64;

const WORD_BYTES: u64 = 8;

/// Parts of a tick, the unit of costs.
const PARTS: u64 = 1000;

/// Levels of the tree of 16 buckets that a record is classified with.
const LEVELS: u128 = 4;

impl Costs {
    /// Ticks that `work` takes, at most `u64::MAX`.
    pub fn ticks(&self, work: Work) -> u64 {
        let parts = self.parts(work);
        // Nearly all work fits in 64 bits, which divide a few times as fast as 128.
        match u64::try_from(parts) {
            Ok(parts) => parts.div_ceil(PARTS),
            Err(_) => u64::try_from(parts.div_ceil(u128::from(PARTS))).unwrap_or(u64::MAX),
        }
    }

    /// Cache lines that `work` loads from beyond the nearest cache.
    pub fn lines(&self, work: Work) -> u64 {
        match work {
            Work::Load { bytes } => bytes.div_ceil(LINE_BYTES),
            Work::Scan { words } => self.lines_of_scan(words),
            _ => 0,
        }
    }

    #[inline]
    fn parts(&self, work: Work) -> u128 {
        match work {
            Work::Scan { words } => {
                let misses = product(self.load, self.lines_of_scan(words));
                product(self.scan, words).saturating_add(misses)
            }
            Work::Sort { records } => self.levels(records, records),
            Work::Merge { records, sources } => self.levels(records, sources),
            Work::Select { keys } => product(self.select, keys),
            Work::Classify { records } => product(self.classify, records),
            Work::Search { probes } => product(self.classify, probes).div_ceil(LEVELS),
            Work::Bucket { keys, splitters } => {
                let compared = product(self.splitter, keys.saturating_mul(splitters));
                product(self.bucket, keys).saturating_add(compared)
            }
            Work::Hash { keys } => product(self.hash, keys),
            Work::Copy { bytes } => product(self.copy, bytes.div_ceil(LINE_BYTES)),
            Work::Load { bytes } => product(self.load, bytes.div_ceil(LINE_BYTES)),
            Work::Checksum { bytes } => product(self.checksum, bytes.div_ceil(LINE_BYTES)),
            Work::Account { units } => product(self.account, units),
            Work::Compute { ticks } => product(PARTS, ticks),
            Work::Unit { .. } => 0,
        }
    }

    /// `log2 sources` levels of comparisons of all records.
    fn levels(&self, records: u64, sources: u64) -> u128 {
        let levels = u128::from(log2_parts(sources));
        product(self.sort, records).saturating_mul(levels) / u128::from(PARTS)
    }

    /// A scan of more than the cache holds misses on every line (no prefetch).
    fn lines_of_scan(&self, words: u64) -> u64 {
        let bytes = words.saturating_mul(WORD_BYTES);
        if bytes > self.cache_bytes {
            bytes.div_ceil(LINE_BYTES)
        } else {
            0
        }
    }
}

/// The parts of `units` units, which may need more than 64 bits.
fn product(cost: u64, units: u64) -> u128 {
    u128::from(cost) * u128::from(units)
}

/// `1000 log2 n`, linear between powers of two: at most 1.6 % too small from n = 16 on.
fn log2_parts(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else {
        return 0;
    };
    let power = 1_u64 << whole;
    let rest = u128::from(n - power) * u128::from(PARTS) / u128::from(power);
    PARTS * u64::from(whole) + rest as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_costs_n_log_n_and_the_rest_is_linear() {
        let costs = Costs {
            classify: 3000,
            copy: 5000,
            sort: 2000,
            account: 1500,
            ..default()
        };
        assert_eq!(costs.ticks(Work::Classify { records: 10 }), 30);
        assert_eq!(costs.ticks(Work::Search { probes: 10 }), 8);
        assert_eq!(costs.ticks(Work::Copy { bytes: 65 }), 10);
        assert_eq!(costs.ticks(Work::Sort { records: 8 }), 2 * 8 * 3);
        assert_eq!(costs.ticks(Work::Sort { records: 12 }), 2 * 12 * 35 / 10);
        assert_eq!(costs.ticks(Work::Sort { records: 1 }), 0);
        assert_eq!(costs.ticks(Work::Sort { records: 0 }), 0);
        assert_eq!(
            costs.ticks(Work::Merge {
                records: 7,
                sources: 8
            }),
            2 * 7 * 3
        );
        assert_eq!(
            costs.ticks(Work::Merge {
                records: 7,
                sources: 1
            }),
            0
        );
        assert_eq!(costs.ticks(Work::Account { units: 3 }), 5);
        assert_eq!(default().ticks(Work::Sort { records: 1 << 20 }), 0);
        assert_eq!(default().ticks(Work::Compute { ticks: 7 }), 7);
    }

    #[test]
    fn a_scan_beyond_the_cache_loads_its_lines() {
        let costs = Costs {
            scan: 4000,
            load: 24_000,
            cache_bytes: 16 << 10,
            ..default()
        };
        assert_eq!(costs.ticks(Work::Scan { words: 2048 }), 2048 * 4);
        assert_eq!(
            costs.ticks(Work::Scan { words: 8192 }),
            8192 * 4 + 1024 * 24
        );
        assert_eq!(costs.ticks(Work::Load { bytes: 65 }), 48);
        assert_eq!(costs.lines(Work::Load { bytes: 65 }), 2);
        assert_eq!(costs.lines(Work::Scan { words: 2048 }), 0);
        assert_eq!(costs.lines(Work::Scan { words: 2049 }), 257);
        assert_eq!(costs.lines(Work::Copy { bytes: 65 }), 0);
    }

    #[test]
    fn a_bucket_costs_a_comparison_per_splitter() {
        let costs = Costs {
            bucket: 2000,
            splitter: 1000,
            hash: 9000,
            select: 500,
            ..default()
        };
        assert_eq!(
            costs.ticks(Work::Bucket {
                keys: 4,
                splitters: 7
            }),
            4 * (2 + 7)
        );
        assert_eq!(costs.ticks(Work::Hash { keys: 2 }), 18);
        assert_eq!(costs.ticks(Work::Select { keys: 3 }), 2);
    }

    /// The costliest core that a profile may have takes a million ticks per unit: 2^32 keys take a
    /// third of the largest time. Beyond that, time saturates.
    #[test]
    fn the_costliest_work_does_not_overflow() {
        let most = 1_000_000_000;
        let costs = Costs {
            sort: most,
            scan: most,
            load: most,
            splitter: most,
            ..default()
        };
        let keys = 1 << 32;
        assert_eq!(
            costs.ticks(Work::Sort { records: keys }),
            (32 << 32) * 1_000_000
        );
        assert_eq!(
            costs.ticks(Work::Scan { words: keys }),
            (keys + keys / 8) * 1_000_000
        );
        assert_eq!(
            costs.ticks(Work::Bucket {
                keys,
                splitters: 255
            }),
            (255 << 32) * 1_000_000
        );
        assert_eq!(costs.ticks(Work::Sort { records: u64::MAX }), u64::MAX);
        assert_eq!(costs.ticks(Work::Scan { words: u64::MAX }), u64::MAX);
        let endless = Costs {
            scan: u64::MAX,
            load: u64::MAX,
            sort: u64::MAX,
            ..default()
        };
        assert_eq!(endless.ticks(Work::Scan { words: u64::MAX }), u64::MAX);
        assert_eq!(endless.ticks(Work::Sort { records: u64::MAX }), u64::MAX);
    }

    fn default() -> Costs {
        Costs::default()
    }
}
