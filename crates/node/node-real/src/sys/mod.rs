//! The only `unsafe` code of the crate.

pub(crate) mod arena;
pub(crate) mod descriptor;
pub(crate) mod heap;
pub(crate) mod residency;
pub(crate) mod signals;
