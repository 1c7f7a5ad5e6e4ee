//! The journal of a set that gets its names: whoever finds one of a dead run can finish or undo it.
//!
//! A set appears in one step, when its manifest gets its name. Before that its files need theirs, and
//! after that those of the old set must go; a kill may come between any two of these steps:
//!
//! ```text
//! journal: new and old files        the old manifest lists the old files
//!    new files get their names
//!    manifest.json                  the new one lists the new files
//!    old files are removed
//! no journal
//! ```
//!
//! So whenever it comes, this is right: of the files that the journal names, those go that the manifest
//! does not list. The journal of a run that lives is locked. Files that no journal names are nobody's
//! here: they are never looked for by their names.

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node};
use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, is_name, is_part};
use crate::temporary::PREFIX;
use crate::text_file;

/// How its name ends.
pub(crate) const SUFFIX: &str = ".journal";

/// A journal, while its run lives.
pub(crate) struct Journal {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

#[derive(Serialize, Deserialize)]
struct Entries {
    /// Where the set is made.
    directory: String,
    /// Files that the run adds or takes away, as manifests name them.
    files: Vec<String>,
}

impl Journal {
    /// Names the files that a set in this directory adds or takes away; durable when it returns.
    pub(crate) async fn begin(
        node: &Node,
        directory: &Path,
        files: Vec<String>,
    ) -> Result<Journal, DiskError> {
        let entries = Entries { directory: directory.to_string_lossy().into_owned(), files };
        let text = serde_json::to_vec(&entries).expect("text alone");
        let path = directory.join(format!("{PREFIX}{:016x}{SUFFIX}", node.random()));
        match text_file::put(node, &path, text, text_file::OURS).await {
            Ok(file) => Ok(Journal { path, _file: file }),
            Err(error) => {
                // It may be there and not be durable.
                let _ = node.remove(&path).await;
                Err(error)
            }
        }
    }

    /// All is done, or undone.
    pub(crate) async fn end(self, node: &Node) {
        // Where it stays, it is right all the same.
        let _ = node.remove(&self.path).await;
    }
}

/// Finishes or undoes what a dead run began in a directory, by its journal there; false if that cannot
/// be told.
pub(crate) async fn settle(node: &Node, directory: &Path, journal: &Path) -> bool {
    let Ok(directory) = node.resolve(directory).await else { return false };
    let directory = directory.as_path();
    let Ok(Some(text)) = text_file::read(node, journal).await else { return false };
    let Ok(entries) = serde_json::from_slice::<Entries>(&text) else { return false };
    let Ok(manifest) = Manifest::read(node, directory).await else { return false };
    let listed = manifest.map(|manifest| manifest.files).unwrap_or_default();
    let is_listed = |path: &String| listed.iter().any(|file| file.path == *path);
    // Of a copy of a directory, only what was copied with it.
    let is_at_home = entries.directory == directory.to_string_lossy();
    let is_ours = |path: &String| is_part(path) && (is_at_home || is_name(path));
    for path in entries.files.iter().filter(|path| is_ours(path) && !is_listed(path)) {
        let _ = node.remove(&directory.join(path)).await;
    }
    true
}
