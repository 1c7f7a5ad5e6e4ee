//! Files of which a program sees other bytes than they hold: as many, at the same offsets.
//!
//! ```text
//! file      a 1 \n x 2 \n b 3 \n            bytes of the disk
//! program   a 1 \n x 2 \0 b 3 \0            what is read, and what is given to be written
//! ```

use std::fmt;
use std::io;

/// Bytes behind a read that may decide how its last ones look: a disk block, as direct reads need.
pub const AHEAD_BYTES: usize = 4096;

/// How bytes of a file look to a program.
pub trait View: fmt::Debug + Send + Sync {
    /// Whether a stretch looks the same whatever came before it. If not, a file is read from front to back.
    fn is_local(&self) -> bool;

    /// Shows bytes that were read in the way in which a program sees them.
    ///
    /// # Errors
    /// When the file cannot be seen so: `InvalidInput`, whose text is for users and says where and what to do.
    fn show(&self, stretch: Stretch<'_>) -> io::Result<()>;

    /// Turns bytes as a program sees them into those of the file.
    fn hide(&self, bytes: &mut [u8]);
}

/// Bytes of a file that were read together.
#[derive(Debug)]
pub struct Stretch<'s> {
    /// The bytes of the file before them.
    pub offset: u64,
    /// The bytes, which [`View::show`] changes.
    pub bytes: &'s mut [u8],
    /// The next [`AHEAD_BYTES`], fewer only at the end of the file.
    pub ahead: &'s [u8],
    /// A number that a view which is not local keeps from one stretch to the next; 0 at the front.
    pub kept: &'s mut u64,
}
