//! Passes over the records: pipelines wired from stages.

pub(crate) mod dials;
pub(crate) mod exchange;
pub(crate) mod merge;
pub(crate) mod one_pass;
pub(crate) mod presorted;
pub(crate) mod two_pass;
pub(crate) mod wiring;
