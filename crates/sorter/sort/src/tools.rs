//! gensort, valsort, a check of the order, and a plain copy into an output, as pipelines.

pub(crate) mod check;
pub(crate) mod generate;
mod read_buffers;
pub(crate) mod store;
pub(crate) mod validate;
pub(crate) mod validate_set;
