//! Names of files: where they lead, whether two of them lead to one file, and compressed files.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
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

/// The directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// First bytes of compressed files, the name of the compression, and the command that undoes it.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"BZh", "bzip2", "bzcat"),
];

/// The compression of a file and the command that undoes it, as far as its first bytes tell.
/// Standard input is looked at if it is a file.
pub(crate) fn compression(path: &Path) -> Option<(&'static str, &'static str)> {
    let file = if path == Path::new(STANDARD_INPUT) {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    let mut begin = [0; 6];
    let length = file.ok()?.read_at(&mut begin, 0).ok()?;
    let begin = &begin[..length];
    let found = COMPRESSED
        .iter()
        .find(|(magic, ..)| begin.starts_with(magic));
    found.map(|&(_, name, command)| (name, command))
}

/// How failures name standard input.
pub(crate) const STANDARD_INPUT: &str = "standard input";
