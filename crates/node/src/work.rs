//! The cost of work on a node.
//!
//! A program says what it did (`node.work(Work::Sort { records })`); the node's cost table says how
//! long that takes. A real node has no table: there the work takes the time it takes.

/// Work a task has done, in the units its cost grows with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Merging sorted sources, a level of their tree after the other: as sorting has levels.
    Merge {
        /// Records merged.
        records: u64,
        /// Sources that they come from.
        sources: u64,
    },
    /// Reading words one after the other, as a minimum does.
    Scan {
        /// Words looked at.
        words: u64,
    },
    /// Sorting records by their prefixes, or keys.
    Sort {
        /// Records sorted together.
        records: u64,
    },
    /// Finding the k-th of some keys (quickselect).
    Select {
        /// Keys to select among.
        keys: u64,
    },
    /// Finding the partition of each record by a tree of splitters.
    Classify {
        /// Records classified.
        records: u64,
    },
    /// Finding the bucket of each key by comparing it with one splitter after the other.
    Bucket {
        /// Keys that are sent to buckets.
        keys: u64,
        /// Splitters between the buckets.
        splitters: u64,
    },
    /// Finding keys in a hash table, or putting them there.
    Hash {
        /// Keys looked up.
        keys: u64,
    },
    /// Copying bytes in memory.
    Copy {
        /// Bytes copied.
        bytes: u64,
    },
    /// Bringing bytes into the nearest cache before they are worked on.
    Load {
        /// Bytes brought in.
        bytes: u64,
    },
    /// Summing up what records hold, to find lost or changed ones.
    Checksum {
        /// Bytes summed.
        bytes: u64,
    },
    /// Keeping account of one unit that passes by.
    Account {
        /// Units.
        units: u64,
    },
}

/// A cost table in thousandths of a tick, whole numbers, so that a simulated run is the same
/// everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// To look at one word that is in the nearest cache.
    pub scan: u64,
    /// To sort one record, for each level of `log2 n`.
    pub sort: u64,
    /// To select among keys, for each of them.
    pub select: u64,
    /// To classify one record.
    pub classify: u64,
    /// To begin with one key that looks for its bucket.
    pub bucket: u64,
    /// To compare a key with one splitter.
    pub splitter: u64,
    /// To find one key in a hash table.
    pub hash: u64,
    /// To copy one line.
    pub copy: u64,
    /// To bring one line into the nearest cache.
    pub load: u64,
    /// To sum up one line.
    pub checksum: u64,
    /// To keep account of one unit.
    pub account: u64,
    /// How many bytes the nearest cache holds; a scan of more loads each of its lines.
    pub cache_bytes: u64,
}

/// A cache line.
const LINE_BYTES: u64 = 64;

const WORD_BYTES: u64 = 8;

/// Costs are given in thousandths.
const PARTS: u64 = 1000;

impl Costs {
    /// Ticks that `work` takes; so much that 64 bits do not hold it is told as the most they do.
    pub fn ticks(&self, work: Work) -> u64 {
        let parts = match work {
            Work::Scan { words } => {
                let misses = self.misses(words.saturating_mul(WORD_BYTES));
                product(self.scan, words).saturating_add(misses)
            }
            Work::Sort { records } => {
                let levels = u128::from(log2_parts(records));
                product(self.sort, records).saturating_mul(levels) / u128::from(PARTS)
            }
            Work::Merge { records, sources } => {
                let levels = u128::from(log2_parts(sources));
                product(self.sort, records).saturating_mul(levels) / u128::from(PARTS)
            }
            Work::Select { keys } => product(self.select, keys),
            Work::Classify { records } => product(self.classify, records),
            Work::Bucket { keys, splitters } => {
                let compared = product(self.splitter, keys.saturating_mul(splitters));
                product(self.bucket, keys).saturating_add(compared)
            }
            Work::Hash { keys } => product(self.hash, keys),
            Work::Copy { bytes } => product(self.copy, bytes.div_ceil(LINE_BYTES)),
            Work::Load { bytes } => product(self.load, bytes.div_ceil(LINE_BYTES)),
            Work::Checksum { bytes } => product(self.checksum, bytes.div_ceil(LINE_BYTES)),
            Work::Account { units } => product(self.account, units),
        };
        // Nearly all work fits, and dividing 64 bits is a few times as fast.
        match u64::try_from(parts) {
            Ok(parts) => parts.div_ceil(PARTS),
            Err(_) => u64::try_from(parts.div_ceil(u128::from(PARTS))).unwrap_or(u64::MAX),
        }
    }

    /// A scan of what the cache cannot hold misses on every line (no prefetch).
    fn misses(&self, bytes: u64) -> u128 {
        if bytes > self.cache_bytes {
            product(self.load, bytes.div_ceil(LINE_BYTES))
        } else {
            0
        }
    }
}

/// Thousandths of ticks for `units` units: 64 bits hold them only as long as both are small.
fn product(cost: u64, units: u64) -> u128 {
    u128::from(cost) * u128::from(units)
}

/// `1000 log2 n`, by a straight line between powers of two: at most 1.6 % too small from n = 16 on.
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
    }

    #[test]
    fn keys_look_for_their_bucket_splitter_by_splitter() {
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

    /// The costliest core that a profile may have, a million ticks a unit, and 2^32 keys: a third
    /// of the time that 64 bits hold. Beyond, time stands at its end and does not begin anew.
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
