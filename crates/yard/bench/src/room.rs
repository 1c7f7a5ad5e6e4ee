//! Room on disks, before anything is made.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use terminal::ending::failure::CliFailure;
use units::amount;

/// Blocks that file systems need for their own data.
const SPARE_BYTES: u64 = 64 << 20;

/// A directory that `option` names, with its links followed.
///
/// # Errors
/// There is no such directory.
pub fn directory(path: &Path, option: &str) -> Result<PathBuf, CliFailure> {
    match path.canonicalize() {
        Ok(found) if found.is_dir() => Ok(found),
        _ => {
            let shown = path.display();
            let message = format!("{option} {shown}: no such directory; make it first");
            Err(CliFailure {
                file: Some(path.to_owned()),
                ..CliFailure::usage(message)
            })
        }
    }
}

/// Free bytes on the disk of a directory.
///
/// # Errors
/// The file system does not say.
pub fn free_bytes(directory: &Path) -> Result<u64, CliFailure> {
    let found =
        rustix::fs::statvfs(directory).map_err(|cause| unknown(directory, &cause.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Refuses what does not fit. Directories on one device share its room.
///
/// # Errors
/// A disk with too little room.
pub fn check_room(needs: &[(&Path, u64)]) -> Result<(), CliFailure> {
    let mut devices: BTreeMap<u64, (&Path, u64)> = BTreeMap::new();
    for (directory, bytes) in needs {
        let device = fs::metadata(directory)
            .map_err(|cause| unknown(directory, &cause))?
            .dev();
        let (_, sum) = devices.entry(device).or_insert((directory, SPARE_BYTES));
        *sum = sum.saturating_add(*bytes);
    }
    for (directory, needed) in devices.into_values() {
        let free = free_bytes(directory)?;
        if needed > free {
            let message = format!(
                "this needs {} in {} and {} are free there; free some space, name another place or \
                 give a smaller size",
                amount(needed),
                directory.display(),
                amount(free)
            );
            let file = Some(directory.to_owned());
            return Err(CliFailure {
                file,
                ..CliFailure::new("no_space", message)
            });
        }
    }
    Ok(())
}

fn unknown(directory: &Path, cause: &std::io::Error) -> CliFailure {
    let message = format!(
        "cannot read the free space of {}: {cause}",
        directory.display()
    );
    CliFailure {
        file: Some(directory.to_owned()),
        ..CliFailure::new("io", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_of_one_device_add_up() {
        let place = tempfile::tempdir().unwrap();
        let free = free_bytes(place.path()).unwrap();
        let (half, some) = (free / 2, free / 8);
        assert!(check_room(&[(place.path(), some)]).is_ok());
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        let refused = check_room(&[(place.path(), half), (&other, half)]).unwrap_err();
        assert_eq!(refused.kind, "no_space");
        assert_eq!(refused.file.as_deref(), Some(place.path()));
    }

    #[test]
    fn a_file_is_no_directory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = directory(file.path(), "--dir").unwrap_err();
        assert!(refused.message.starts_with("--dir "), "{}", refused.message);
    }
}
