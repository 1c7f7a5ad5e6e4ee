//! The crate's only `unsafe`.

pub(crate) mod arena;
pub(crate) mod residency;
