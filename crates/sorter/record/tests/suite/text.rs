//! Tests of the order of lines: beside GNU sort, of its words, of its messages.

mod debug;
pub mod draw;
mod encodings;
mod floats;
mod gnu;
mod locales;
mod messages;
pub mod words;
