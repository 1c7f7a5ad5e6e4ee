//! Records between two passes: partitions and sorted runs, in memory and in spill files.

pub(crate) mod arrivals;
pub(crate) mod partition;
pub(crate) mod shelf;
pub(crate) mod sorted_run;
