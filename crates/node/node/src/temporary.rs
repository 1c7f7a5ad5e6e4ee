//! Names of files that do not outlive their run. What a killed run leaves under such a name, a later one removes.

use std::io;
use std::path::Path;

use crate::disk::DiskError;

/// How each of these names begins.
pub const PREFIX: &str = ".gristmill-";

/// How the name of a file ends that has no other one yet.
pub const SUFFIX: &str = ".tmp";

/// How the name of a list of such files ends.
pub const JOURNAL_SUFFIX: &str = ".journal";

/// Whether a later run may remove a file of this name.
pub fn is_swept(name: &str) -> bool {
    name.starts_with(PREFIX) && (name.ends_with(SUFFIX) || name.ends_with(JOURNAL_SUFFIX))
}

/// Refuses a file of a user that a sort would take for what a killed one has left.
///
/// # Errors
/// When it has such a name.
pub fn check_name(path: &Path) -> Result<(), DiskError> {
    let name = path.file_name().unwrap_or_default();
    if is_swept(&name.to_string_lossy()) {
        let what = "it has the name of a temporary file, which sorts remove; rename it first";
        return Err(DiskError::new("use", path, io::Error::other(what)));
    }
    Ok(())
}
