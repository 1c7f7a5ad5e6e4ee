//! The only rooms that touch records: their contents, and what a group of them is called.

pub(crate) mod block;
pub(crate) mod contents;
pub(crate) mod open_bucket;
pub(crate) mod span;
pub(crate) mod splitters;
