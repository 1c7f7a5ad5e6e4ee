//! Names of files: where they lead, and whether two of them lead to one file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::Stat;

/// Whether two paths lead to one file, which need not exist yet.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        Some(
            directory_of(path)
                .canonicalize()
                .ok()?
                .join(path.file_name()?),
        )
    };
    match (rustix::fs::stat(a), rustix::fs::stat(b)) {
        (Ok(a), Ok(b)) => is_same_file(&a, &b),
        _ => place(a).is_some_and(|a| Some(a) == place(b)),
    }
}

/// Whether output to `path` would mix with standard output. /dev/null takes both.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    let [found, null] = [path, Path::new("/dev/null")].map(|path| rustix::fs::stat(path).ok());
    let Some(found) = found else { return false };
    let is_nowhere = null.is_some_and(|null| is_same_file(&found, &null));
    let stdout = rustix::fs::fstat(std::io::stdout());
    !is_nowhere && stdout.is_ok_and(|stdout| is_same_file(&found, &stdout))
}

fn is_same_file(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

/// Writes a file. An open descriptor (`/dev/fd/3`) is written on where it stands.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match node_real::open_descriptor(path)? {
        Some(open) => File::from(open).write_all(bytes),
        None => std::fs::write(path, bytes),
    }
}

/// The directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// How failures name standard input.
pub(crate) const STANDARD_INPUT: &str = "standard input";
