//! gensort, valsort, a check of the order, and a plain copy into an output, as pipelines.

mod block_readers;
pub(crate) mod check;
pub(crate) mod generate;
pub(crate) mod store;
pub(crate) mod validate;
pub(crate) mod validate_set;
