//! The journal of a set that gets its names: whoever finds one of a dead run can finish or undo it.
//!
//! A set appears in one step, when its manifest gets its name. Before that its files need theirs,
//! and after that those of the old set must go; a kill may come between any two of these steps:
//!
//! ```text
//! journal: new and old files        the old manifest lists the old files
//!    new files get their names
//!    manifest.json                  the new one lists the new files
//!    old files are removed
//! no journal
//! ```
//!
//! So whenever it comes, this is right: of the files that the journal names, those go that the
//! manifest does not list. The journal of a run that lives is locked. Files that no journal names
//! belong to no set here: they are never looked for by their names.
//!
//! A journal is an entry (`text_file`), and paths never come from it. It says in which directories
//! the set was made, to compare them: its own directory is the one that it was found in, and others
//! are those that the command line names. Files in a directory that is not named now wait for a run
//! that names it.

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node};
use serde::{Deserialize, Serialize};

use crate::files::manifest::{Manifest, Placed, is_name, is_part};
use crate::files::output::old_set::Belief;
use crate::files::temporary::PREFIX;
use crate::files::text_file;
use crate::files::text_file::{Entry, spelled};

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
    /// Where the set is made, links followed, to be compared. The journal lies in the first.
    directories: Vec<String>,
    /// Files that the run adds or takes away.
    files: Vec<Placed>,
}

impl Journal {
    /// Names the files that a set in these directories adds or takes away; durable when it returns.
    pub(crate) async fn begin(
        node: &Node,
        directories: &[PathBuf],
        files: Vec<Placed>,
    ) -> Result<Journal, DiskError> {
        let home = &directories[0];
        let spelt = directories.iter().map(|path| spelled(path)).collect();
        let text = serde_json::to_vec(&Entries {
            directories: spelt,
            files,
        })
        .expect("text alone");
        let path = home.join(format!("{PREFIX}{:016x}{SUFFIX}", node.random()));
        match text_file::put_entry(node, &path, text).await {
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

/// Finishes or undoes what a dead run began, by its journal, in the directory where the journal
/// lies and in those `beside` it. False where something of it is left, or it is not believed.
pub(crate) async fn settle(node: &Node, journal: &Path, beside: &[PathBuf]) -> bool {
    let Ok(home) = node
        .resolve(journal.parent().unwrap_or(Path::new(".")))
        .await
    else {
        return false;
    };
    let Ok(Entry::Text(text)) = text_file::read_entry(node, journal).await else {
        return false;
    };
    let Ok(entries) = serde_json::from_slice::<Entries>(&text) else {
        return false;
    };
    let is_placed = |(number, name): &Placed| {
        *number < entries.directories.len() && is_name(name) && is_part(name)
    };
    if entries.directories.is_empty() || !entries.files.iter().all(is_placed) {
        return false;
    }
    // The owner of a directory is believed about that directory alone.
    let (manifest, is_whole) = match Manifest::read_own(node, &home).await {
        Ok(manifest) => (manifest, true),
        Err(_) => match (
            Belief::of(node, &home).await,
            Manifest::read(node, &home).await,
        ) {
            (Ok(Belief::Directory), Ok(manifest)) => (manifest, false),
            _ => return false,
        },
    };
    let listed = manifest
        .map(|manifest| manifest.paths(&home))
        .unwrap_or_default();
    // Of a copy of a directory, only what was copied with it.
    let is_at_home = entries.directories[0] == spelled(&home);
    let mut is_settled = true;
    for (number, name) in &entries.files {
        let is_it = |path: &&PathBuf| is_at_home && spelled(path) == entries.directories[*number];
        let directory = match number {
            0 => Some(&home),
            _ => beside.iter().find(is_it).filter(|_| is_whole),
        };
        let Some(directory) = directory else {
            is_settled &= !is_at_home;
            continue;
        };
        let path = directory.join(name);
        if !listed.contains(&path) {
            let _ = node.remove(&path).await;
        }
    }
    is_settled
}

#[cfg(test)]
mod tests;
