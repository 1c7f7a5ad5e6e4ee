//! Formats of compressed files, and how a file is read or written in one.
//!
//! A node that knows these formats shows a compressed file as its contents, in order: a sequential
//! [`File`](crate::File), like a pipe. Programs need no format of their own.

use std::path::Path;
use std::sync::Arc;

use crate::lots::Lots;
use crate::view::View;

/// Formats of compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Members of DEFLATE data (RFC 1952).
    Gzip,
    /// Frames of Zstandard (RFC 8878).
    Zstd,
    /// Frames of LZ4.
    Lz4,
    /// Streams of bzip2.
    Bzip2,
    /// Streams of xz.
    Xz,
}

impl Compression {
    /// All formats.
    pub const ALL: [Compression; 5] = [
        Compression::Gzip,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Bzip2,
        Compression::Xz,
    ];

    /// Its name on the command line and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        }
    }

    /// The format that the end of a file's name tells.
    pub fn of_name(path: &Path) -> Option<Compression> {
        let end = path.extension()?;
        Compression::ALL
            .into_iter()
            .find(|format| end == format.extension())
    }

    /// The end of the names of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::Gzip => "gz",
            Compression::Zstd => "zst",
            Compression::Lz4 => "lz4",
            Compression::Bzip2 => "bz2",
            Compression::Xz => "xz",
        }
    }
}

/// The files to decompress when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decompress {
    /// Those that begin as a compressed file does.
    #[default]
    Auto,
    /// None: their bytes are read as they are.
    Never,
    /// All, from this format.
    From(Compression),
}

/// How files are decompressed when they are read, and how their contents look.
#[derive(Clone, Debug)]
pub struct Decompression {
    /// The files to decompress.
    pub decompress: Decompress,
    /// Cores that a format of several frames may keep busy.
    pub cores: usize,
    /// The memory limit of the program: a decompressor takes a part of it.
    pub memory_bytes: u64,
    /// The view of the contents, if they are not seen as they are.
    pub view: Option<Arc<dyn View>>,
    /// The lots in front of their records, if they are to be shuffled.
    pub lots: Option<Lots>,
}

/// Memory that decompression or compression takes beside the buffers of requests. It may grow with
/// the memory limit of the program, within bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodingMemory {
    /// Bytes under any limit.
    pub fixed: u64,
    /// The limit, less `from`, is divided by this for the part that grows; 0 if none does.
    pub share: u64,
    /// A limit below which that part does not grow.
    pub from: u64,
    /// The least bytes of that part.
    pub least: u64,
    /// The most bytes of that part.
    pub most: u64,
}

impl CodingMemory {
    /// Bytes under this memory limit.
    pub fn bytes(self, limit: u64) -> u64 {
        let above = limit.saturating_sub(self.from);
        let share = above.checked_div(self.share).unwrap_or(0);
        self.fixed
            .saturating_add(share.min(self.most).max(self.least))
    }

    /// Enough for either, under any limit.
    #[must_use]
    pub fn or(self, other: CodingMemory) -> CodingMemory {
        // Of 0 and a share, the share.
        let share = match self.share.min(other.share) {
            0 => self.share.max(other.share),
            least => least,
        };
        CodingMemory {
            fixed: self.fixed.max(other.fixed),
            share,
            from: self.from.min(other.from),
            least: self.least.max(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// How a file is compressed when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compress {
    /// The format.
    pub format: Compression,
    /// Cores that a format which can use several may keep busy.
    pub cores: usize,
    /// The memory limit of the program: a compressor takes a part of it.
    pub memory_bytes: u64,
}
