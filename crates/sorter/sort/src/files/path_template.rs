//! `{rank}` in a path stands for the number of a rank, so that all ranks can have one command line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const RANK: &[u8] = b"{rank}";

/// The path with a rank's number in place of `{rank}`; its bytes need not be UTF-8.
pub fn of_rank(path: &Path, rank: u32) -> PathBuf {
    let (mut rest, mut named) = (path.as_os_str().as_bytes(), Vec::new());
    while let Some(at) = place(rest) {
        named.extend_from_slice(&rest[..at]);
        named.extend_from_slice(rank.to_string().as_bytes());
        rest = &rest[at + RANK.len()..];
    }
    named.extend_from_slice(rest);
    OsStr::from_bytes(&named).into()
}

/// Whether a path has `{rank}` in it.
pub fn names_rank(path: &Path) -> bool {
    place(path.as_os_str().as_bytes()).is_some()
}

fn place(bytes: &[u8]) -> Option<usize> {
    bytes.windows(RANK.len()).position(|window| window == RANK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_gets_the_number() {
        let path = Path::new(OsStr::from_bytes(b"/d{rank}/\xff-{rank}.out"));
        assert!(names_rank(path));
        assert_eq!(
            of_rank(path, 12).as_os_str().as_bytes(),
            b"/d12/\xff-12.out"
        );
        assert!(!names_rank(Path::new("out/rank")));
        assert_eq!(of_rank(Path::new("out/rank"), 12), Path::new("out/rank"));
    }
}
