//! A sort whose progress is saved and found again (`--resume`).

mod bounds;
mod checkpoint;
mod lookup;
mod parts;
mod paths;
mod phase_one;
mod phase_two;
mod range;
mod range_owners;
mod recovery;
pub(crate) mod resume;
