//! Passes over the records: pipelines wired from stages.

pub(crate) mod choice;
pub(crate) mod distribution;
pub(crate) mod exchange;
pub(crate) mod indexing;
pub(crate) mod merge;
pub(crate) mod merge_inputs;
pub(crate) mod output_parts;
pub(crate) mod presorted;
pub(crate) mod report;
pub(crate) mod survey;
pub(crate) mod wiring;
