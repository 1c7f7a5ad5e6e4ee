//! Numbers for people: with units, as options take them, and as messages show them.
//!
//! There is one way to write each: amounts of files in decimal units (5.9 GB), memory in the units of its
//! option (1.5 GiB), counts with commas (1,234,567).

mod read;
mod show;

pub use read::{count, number, positive, size, threads, whole};
pub use show::{amount, binary, counted, grouped};
