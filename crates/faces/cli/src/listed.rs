//! The files of a set.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use sort::Manifest;
use terminal::files::directory_of;

/// The manifest of a set of files, and the files that it lists; nothing if there is none.
pub fn files_listed(manifest: &Path) -> Vec<PathBuf> {
    // To open a pipe would wait.
    let open = manifest.is_file().then(|| File::open(manifest).ok());
    let Some(file) = open.flatten() else {
        return Vec::new();
    };
    // The sort refuses a longer one.
    let text = BufReader::new(file.take(sort::LONGEST_TEXT));
    let listed = serde_json::from_reader::<_, Manifest>(text).ok();
    let mut all = listed.map_or_else(Vec::new, |listed| listed.paths(directory_of(manifest)));
    all.push(manifest.to_owned());
    all
}
