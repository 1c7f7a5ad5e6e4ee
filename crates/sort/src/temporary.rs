//! Files that do not outlive their run: outputs before they have their names, and what is spilled.
//!
//! Each has a name of its own and a lock. What a kill leaves behind has a dead lock, and the next run in
//! that directory sweeps it away; a run that is alive keeps its files.

use std::path::{Path, PathBuf};

use node::{DiskError, File, Node, Open};

const PREFIX: &str = ".gristmill-";
const SUFFIX: &str = ".tmp";

/// A file that somebody must rename or remove.
#[derive(Clone, Debug)]
pub(crate) struct Temporary {
    pub file: File,
    pub path: PathBuf,
}

impl Temporary {
    /// Makes and locks one, after what dead runs have left there was swept away.
    pub(crate) async fn create(
        node: &Node,
        directory: &Path,
        how: Open,
    ) -> Result<Temporary, DiskError> {
        sweep(node, directory).await;
        loop {
            let path = directory.join(format!("{PREFIX}{:016x}{SUFFIX}", node.random()));
            let file = match node.open(&path, how).await {
                Err(error) if error.cause.kind() == std::io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            let made = Temporary { file, path };
            // Between its creation and its lock, another run may have swept the file away.
            match made.file.lock(node).await {
                Ok(true) if made.is_there(node).await => return Ok(made),
                Ok(_) => {}
                // Some file systems have no locks; there, what a kill leaves is not swept either.
                Err(error) if error.cause.kind() == std::io::ErrorKind::Unsupported => {
                    return Ok(made);
                }
                Err(error) => {
                    made.remove(node).await;
                    return Err(error);
                }
            }
        }
    }

    /// Removes it.
    pub(crate) async fn remove(&self, node: &Node) {
        // The failure that led here is told; a second one would hide it.
        let _ = node.remove(&self.path).await;
    }

    async fn is_there(&self, node: &Node) -> bool {
        let mine = self.file.metadata();
        let there = node.metadata(&self.path).await;
        there.is_ok_and(|there| (there.device, there.identity) == (mine.device, mine.identity))
    }
}

/// Removes what killed runs have left in a directory: files of our name that nobody locks.
pub async fn sweep(node: &Node, directory: &Path) {
    // Sweeping is a courtesy: what cannot be looked at or removed is not ours, or not in our way.
    let Ok(names) = node.list(directory).await else {
        return;
    };
    for name in names.iter().filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
        let path = directory.join(name);
        let Ok(file) = node.open(&path, Open::Read { direct: false }).await else {
            continue;
        };
        if file.lock(node).await.unwrap_or(false) {
            let _ = node.remove(&path).await;
        }
    }
}
