//! The fault of a compressed file, in one line.

use std::fmt;
use std::io::{self, ErrorKind};

use node::Compression;

/// Why the contents of a compressed file cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    format: Compression,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    CutShort { after: u64 },
    Wrong { near: u64, why: String },
    TooLarge { memory_bytes: u64 },
    NotBuilt,
}

/// Words of zstd's error for a frame whose window is larger than allowed. Its code is lost on the
/// way through the library.
const ZSTD_TOO_LARGE: &str = "too much memory";

impl Damaged {
    /// The refusal of data that takes more than this memory.
    pub(crate) fn too_large(format: Compression, memory_bytes: u64) -> Damaged {
        let what = What::TooLarge { memory_bytes };
        Damaged { format, what }
    }

    /// The refusal of a file that ends after so many bytes.
    pub(crate) fn cut_short(format: Compression, after: u64) -> io::Error {
        let what = What::CutShort { after };
        Damaged { format, what }.into()
    }

    /// The refusal of data in no frame.
    pub(crate) fn other_data(format: Compression, near: u64) -> io::Error {
        let why = "no frame follows the skippable ones".to_owned();
        let what = What::Wrong { near, why };
        Damaged { format, what }.into()
    }

    /// The refusal of a format whose library is no part of this build.
    pub(crate) fn not_built(format: Compression) -> io::Error {
        let what = What::NotBuilt;
        Damaged { format, what }.into()
    }

    /// The error of a library, which has consumed `position` bytes, as this error. Errors of the
    /// system pass through.
    pub(crate) fn error(
        format: Compression,
        position: u64,
        memory_bytes: u64,
        cause: io::Error,
    ) -> io::Error {
        if cause.raw_os_error().is_some() {
            return cause;
        }
        let why = cause.to_string();
        let what = match cause.kind() {
            ErrorKind::UnexpectedEof => What::CutShort { after: position },
            ErrorKind::OutOfMemory => What::TooLarge { memory_bytes },
            _ if why.contains(ZSTD_TOO_LARGE) => What::TooLarge { memory_bytes },
            _ => What::Wrong {
                near: position,
                why,
            },
        };
        Damaged { format, what }.into()
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.format.name();
        match &self.what {
            What::CutShort { after } => write!(
                out,
                "its {name} data is cut short after {after} bytes; copy the file again"
            )?,
            What::Wrong { near, why } => write!(
                out,
                "its {name} data is damaged near byte {near} ({why}); copy the file again"
            )?,
            What::TooLarge { memory_bytes } => {
                return write!(
                    out,
                    "a part of its {name} data takes more than {} MiB of memory, as much as -S and \
                     the first part allow; give a larger -S, or decompress it first, into a pipe",
                    memory_bytes >> 20
                );
            }
            What::NotBuilt => write!(
                out,
                "this program is built without {name}; build it with the feature {name}"
            )?,
        }
        out.write_str(", or sort its bytes as they are with --decompress none")
    }
}

impl std::error::Error for Damaged {}

impl From<Damaged> for io::Error {
    fn from(damaged: Damaged) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, damaged)
    }
}
