//! Records and groups of records: the only module that touches their bytes.

pub(crate) mod block;
pub(crate) mod contents;
pub(crate) mod framing;
pub(crate) mod lead;
pub(crate) mod lengths;
pub(crate) mod lots;
pub(crate) mod open_bucket;
pub(crate) mod order;
pub(crate) mod part;
pub(crate) mod repeats;
pub(crate) mod sample;
pub(crate) mod size;
pub(crate) mod span;
pub(crate) mod splitters;
pub(crate) mod view;
