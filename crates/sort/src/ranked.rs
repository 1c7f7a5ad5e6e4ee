//! `{rank}` in a path: what stands for the number of a rank, so that all ranks have one command line.

use std::path::{Path, PathBuf};

/// What stands for the number.
const RANK: &str = "{rank}";

/// The path with a rank's number in it.
pub fn of_rank(path: &Path, rank: u32) -> PathBuf {
    path.to_str()
        .map_or_else(|| path.to_owned(), |text| text.replace(RANK, &rank.to_string()).into())
}

/// Whether a path has a place for the rank.
pub fn names_rank(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(RANK))
}
