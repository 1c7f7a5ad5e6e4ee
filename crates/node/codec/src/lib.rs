//! Compressed files: told by their first bytes, decompressed and compressed in streams.
//!
//! ```text
//! first bytes > front ---- header ----> format, memory
//! file > input > library's decoder > contents          one frame behind the other, to the end
//!              > workers           >                   or several at a time
//! contents > library's encoder > file                  one frame, or members on several cores
//! chunk > packer > fewer bytes > packer > chunk         each alone, in memory
//! ```
//!
//! The formats are read and written by libraries; this crate joins frames, bounds memory, and turns
//! each fault of the data into one kind of error, [`Damaged`]. It refuses nothing that the tools of
//! a format write, except what needs a dictionary.

// A build without some of the libraries does not reach all of the code around them.
#![cfg_attr(
    not(all(
        feature = "bzip2",
        feature = "gzip",
        feature = "lz4",
        feature = "xz",
        feature = "zstd"
    )),
    allow(dead_code, unreachable_code, unused_imports, unused_variables)
)]

mod damaged;
mod decode;
mod encode;
mod front;
mod header;
mod input;
mod packer;
mod workers;

pub use damaged::Damaged;
pub use decode::Decoder;
pub use encode::{Encoder, encoder_memory};
pub use front::{Front, read_past};
pub use header::{Header, LONGEST_HEADER, OF_PIPE};
pub use packer::{Packer, Packing, packer_memory};
