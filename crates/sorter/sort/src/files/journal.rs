//! The journal of a set while its files get their names: it lets the next run finish or undo the
//! commit of a run that died.
//!
//! A set appears in one step, when its manifest gets its name. Before that, its files need theirs;
//! after that, those of the old set must go. A kill may come between any two of these steps:
//!
//! ```text
//! journal: new and old files        the old manifest lists the old files
//!    new files get their names
//!    manifest.json                  the new one lists the new files
//!    old files are removed
//! no journal
//! ```
//!
//! At any of these moments it is right to remove the files that the journal names and the manifest
//! does not list. The journal of a live run is locked. Files that no journal names are never
//! searched by name, and belong to no set here.
//!
//! A journal is an entry (`text_file`), and paths never come from it. It says in which directories
//! the set was made, only to compare them: the first is the directory that the journal lies in, and
//! the others must be named on the command line. Files in a directory that is not named wait for a
//! run that names it.

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node};
use serde::{Deserialize, Serialize};

use crate::files::belief::Belief;
use crate::files::manifest::{Manifest, Placed, is_name, is_part};
use crate::files::text_file;
use crate::files::text_file::{Entry, spelled};
use node::temporary::{JOURNAL_SUFFIX, PREFIX};

pub(crate) struct Journal {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

#[derive(Serialize, Deserialize)]
struct Entries {
    /// The directories of the set, links followed; the journal lies in the first.
    directories: Vec<String>,
    /// Files that the run adds or removes.
    files: Vec<Placed>,
}

impl Journal {
    /// Writes a journal, durably, of the files that a set in these directories adds or removes.
    ///
    /// # Errors
    /// When the disk refuses; then no journal is left.
    pub(crate) async fn begin(
        node: &Node,
        directories: &[PathBuf],
        files: Vec<Placed>,
    ) -> Result<Journal, DiskError> {
        let path = directories[0].join(format!("{PREFIX}{:016x}{JOURNAL_SUFFIX}", node.random()));
        let directories = directories.iter().map(|path| spelled(path)).collect();
        let text = serde_json::to_vec(&Entries { directories, files }).expect("text alone");
        match text_file::put_entry(node, &path, text).await {
            Ok(file) => Ok(Journal { path, _file: file }),
            Err(error) => {
                // It may have its name without being durable.
                let _ = node.remove(&path).await;
                Err(error)
            }
        }
    }

    /// Removes the journal of a commit that is done or undone.
    pub(crate) async fn end(self, node: &Node) {
        // A journal that stays is still right.
        let _ = node.remove(&self.path).await;
    }
}

impl Entries {
    /// The entries of a journal that is believed, if they are possible.
    async fn read(node: &Node, journal: &Path) -> Option<Entries> {
        let Ok(Entry::Text(text)) = text_file::read_entry(node, journal).await else {
            return None;
        };
        let entries: Entries = serde_json::from_slice(&text).ok()?;
        let directories = entries.directories.len();
        let is_possible =
            |(directory, name): &Placed| *directory < directories && is_name(name) && is_part(name);
        let are_possible = directories > 0 && entries.files.iter().all(is_possible);
        are_possible.then_some(entries)
    }
}

/// Finishes or undoes the commit of a dead run by its journal. Whether nothing of it is left: true
/// only if the journal is believed, and `beside` has the other directories of the set.
pub(crate) async fn settle(node: &Node, journal: &Path, beside: &[PathBuf]) -> bool {
    settled(node, journal, beside).await.unwrap_or(false)
}

/// None if the journal or the manifest is not believed.
async fn settled(node: &Node, journal: &Path, beside: &[PathBuf]) -> Option<bool> {
    let home = journal.parent().unwrap_or(Path::new("."));
    let home = node.resolve(home).await.ok()?;
    let entries = Entries::read(node, journal).await?;
    let (listed, is_whole) = listed(node, &home).await?;
    // In a copy of the first directory, only the files there belong to the copy.
    let is_copy = entries.directories[0] != spelled(&home);
    let mut is_settled = true;
    for (number, name) in &entries.files {
        let is_it = |path: &&PathBuf| !is_copy && spelled(path) == entries.directories[*number];
        let directory = match number {
            0 => Some(&home),
            _ => beside.iter().find(is_it).filter(|_| is_whole),
        };
        let Some(directory) = directory else {
            is_settled &= is_copy;
            continue;
        };
        let path = directory.join(name);
        if !listed.contains(&path) {
            let _ = node.remove(&path).await;
        }
    }
    Some(is_settled)
}

/// The files that the manifest in a directory lists, and whether it is believed about other
/// directories, too.
async fn listed(node: &Node, home: &Path) -> Option<(Vec<PathBuf>, bool)> {
    let own = Manifest::read_own(node, home).await;
    let is_whole = own.is_ok();
    let manifest = match own {
        Ok(own) => own,
        Err(_) => match Belief::of(node, home).await.ok()? {
            Belief::Directory => Manifest::read(node, home).await.ok()?,
            Belief::None | Belief::Whole => return None,
        },
    };
    let paths = manifest.map(|manifest| manifest.paths(home));
    Some((paths.unwrap_or_default(), is_whole))
}

#[cfg(test)]
mod tests;
