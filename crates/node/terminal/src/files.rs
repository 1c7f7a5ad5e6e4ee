//! Names of files: where they lead, and whether two of them lead to one file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use node::temporary::check_name;
use rustix::fs::{FileType, Stat};

use crate::ending::failure::CliFailure;

/// Links that are followed to a file that does not exist yet; the system follows as many.
const MOST_LINKS: usize = 40;

/// The file that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileId {
    /// Its device and number.
    Known(u64, u64),
    /// Its place, if it does not exist yet.
    Missing(PathBuf),
}

impl FileId {
    /// `None` if the path leads to no place for a file.
    fn of(path: &Path) -> Option<FileId> {
        if let Ok(found) = rustix::fs::stat(path) {
            return Some(FileId::Known(found.st_dev, found.st_ino));
        }
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            match path.read_link() {
                Ok(next) => path = directory_of(&path).join(next),
                Err(_) => break,
            }
        }
        // Directories may be missing, too.
        let path = std::path::absolute(path).ok()?;
        let mut above = path.ancestors();
        let (above, mut place) =
            above.find_map(|above| Some((above, above.canonicalize().ok()?)))?;
        for part in path.strip_prefix(above).ok()?.components() {
            match part {
                Component::ParentDir => drop(place.pop()),
                part => place.push(part),
            }
        }
        Some(FileId::Missing(place))
    }
}

/// Whether two paths lead to one file, which need not exist yet.
pub fn is_same(a: &Path, b: &Path) -> bool {
    FileId::of(a).is_some_and(|a| Some(a) == FileId::of(b))
}

/// Refuses to write a file over another that the command reads or writes. `written` are the files
/// that it writes beside its output, each with the word for it; `others` are all files that it reads,
/// and its output. A pipe or a device loses nothing.
///
/// # Errors
/// When one of the files that are written is another of them all, or has the name of a temporary file.
pub fn keep_apart(
    written: &[(&str, &Path)],
    others: &[impl AsRef<Path>],
) -> Result<(), CliFailure> {
    let mut all: HashMap<FileId, &str> = HashMap::new();
    let refused = |what: &str, path: &Path| {
        let shown = path.display();
        Err(CliFailure {
            file: Some(path.to_owned()),
            ..CliFailure::usage(format!("{what} would overwrite {shown}; name another file"))
        })
    };
    for &(what, path) in written {
        let is_file = rustix::fs::stat(path).map_or(true, |found| {
            FileType::from_raw_mode(found.st_mode).is_file()
        });
        let id = FileId::of(path).filter(|_| is_file);
        if id.is_some_and(|id| all.insert(id, what).is_some()) {
            return refused(what, path);
        }
        check_name(path).map_err(|error| CliFailure::usage(format!("{what}: {error}")))?;
    }
    for path in others.iter().filter(|_| !all.is_empty()) {
        let path = path.as_ref();
        if let Some(what) = FileId::of(path).and_then(|id| all.get(&id)) {
            return refused(what, path);
        }
    }
    Ok(())
}

/// Whether output to `path` would mix with standard output. /dev/null takes both.
pub fn is_standard_output(path: &Path) -> bool {
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
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match node_real::open_descriptor(path)? {
        Some(open) => File::from(open).write_all(bytes),
        None => std::fs::write(path, bytes),
    }
}

/// The directory of a file.
pub fn directory_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// How failures name standard input.
pub const STANDARD_INPUT: &str = "standard input";
