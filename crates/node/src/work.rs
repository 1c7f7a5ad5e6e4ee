//! What work costs on a node.
//!
//! A program says what it did (`node.work(Work::Classify { records })`); the node's cost table says
//! how long that takes. A real node's table is free: there the work takes the time it takes.

/// Work a task has done, in the units its cost grows with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Finding the partition of each record.
    Classify {
        /// Records classified.
        records: u64,
    },
    /// Copying bytes in memory.
    Copy {
        /// Bytes copied.
        bytes: u64,
    },
    /// Sorting records by their prefixes.
    Sort {
        /// Records sorted together.
        records: u64,
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

/// A cost table: ticks for each unit of each kind of work.
///
/// Sorting is charged `sort * n * ceil(log2 n)`, all else linearly. Ticks are whole numbers, so that
/// a simulated run is the same everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Ticks to classify one record.
    pub classify: u64,
    /// Ticks to copy 64 bytes (one cache line).
    pub copy: u64,
    /// Ticks for one record and one level of sorting.
    pub sort: u64,
    /// Ticks to sum up 64 bytes.
    pub checksum: u64,
    /// Ticks to keep account of one unit.
    pub account: u64,
}

const LINE_BYTES: u64 = 64;

impl Costs {
    /// Ticks that `work` takes.
    pub fn ticks(&self, work: Work) -> u64 {
        match work {
            Work::Classify { records } => self.classify * records,
            Work::Copy { bytes } => self.copy * bytes.div_ceil(LINE_BYTES),
            Work::Sort { records } => self.sort * records * levels(records),
            Work::Checksum { bytes } => self.checksum * bytes.div_ceil(LINE_BYTES),
            Work::Account { units } => self.account * units,
        }
    }
}

fn levels(records: u64) -> u64 {
    u64::from(records.next_power_of_two().trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_costs_n_log_n_and_the_rest_is_linear() {
        let costs = Costs { classify: 3, copy: 5, sort: 2, checksum: 1, account: 7 };
        assert_eq!(costs.ticks(Work::Classify { records: 10 }), 30);
        assert_eq!(costs.ticks(Work::Copy { bytes: 65 }), 10);
        assert_eq!(costs.ticks(Work::Sort { records: 8 }), 2 * 8 * 3);
        assert_eq!(costs.ticks(Work::Sort { records: 1 }), 0);
        assert_eq!(costs.ticks(Work::Checksum { bytes: 128 }), 2);
        assert_eq!(costs.ticks(Work::Account { units: 2 }), 14);
        assert_eq!(Costs::default().ticks(Work::Sort { records: 1 << 20 }), 0);
    }
}
