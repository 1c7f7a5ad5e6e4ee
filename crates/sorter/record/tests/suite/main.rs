//! Tests of records: formats and keys, orders, the generator, the validator.

mod format;
mod gensort;
mod mainframe;
mod order;
mod rows;
mod steps;
mod text;
mod validate;
