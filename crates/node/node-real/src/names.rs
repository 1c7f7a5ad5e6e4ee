//! Whether a name can be taken away from its file, as a rename to it does.
//!
//! A mount point keeps its name. So does a file in a directory that the caller may not write, or that
//! only takes new names (`chattr +a`), and in one with the sticky bit a file of another user.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxAttributes, StatxFlags, statx, unlinkat};
use rustix::io::Errno;

use crate::retry::retried;

/// Why no file can be renamed over the regular file at `path`, which is no link; none if one can, and
/// for anything else.
pub fn obstacle(path: &Path) -> Option<String> {
    let (flags, mask) = (AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    // A kernel that does not tell is asked by the rename itself.
    let found = retried(|| statx(CWD, path, flags, mask)).ok()?;
    if !FileType::from_raw_mode(found.stx_mode.into()).is_file() {
        return None;
    }
    if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Some("it is a mount point".to_owned());
    }
    // Only the kernel knows all rights to a name: those of capabilities, attributes and user
    // namespaces, too. It checks them before it finds that the file is no directory to remove.
    match retried(|| unlinkat(CWD, path, AtFlags::REMOVEDIR)) {
        Ok(()) | Err(Errno::NOTDIR | Errno::NOENT) => None,
        Err(cause) => {
            let cause = io::Error::from(cause);
            Some(format!(
                "its directory or an attribute keeps its name: {cause}"
            ))
        }
    }
}
