//! gensort, valsort and a check of the order as pipelines.

pub(crate) mod check;
pub(crate) mod generate;
pub(crate) mod validate;
pub(crate) mod validate_set;
