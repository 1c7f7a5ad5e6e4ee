//! gensort and valsort as pipelines.

pub(crate) mod generate;
pub(crate) mod validate;
pub(crate) mod validate_set;
