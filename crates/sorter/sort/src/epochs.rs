//! The ranges of a sort, one on each rank, from their first record to their last: phase one in
//! epochs, phase two in groups, and saved progress (`--resume`).

mod bounds;
pub(crate) mod checkpoint;
mod commit;
mod lookup;
pub(crate) mod parts;
mod paths;
mod phase_one;
pub(crate) mod phase_two;
pub(crate) mod range;
mod range_owners;
pub(crate) mod recovery;
pub(crate) mod settle;
pub(crate) mod sorting;
