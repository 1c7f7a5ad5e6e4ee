//! The sweep of a directory: what killed runs of the same user have left there goes.
//!
//! The journal of a set of files is such a file, and the files that it lists go with it (`journal`).
//! Files of other users, links, pipes and devices are never touched, whatever their names.

use std::path::{Path, PathBuf};

use node::temporary::{JOURNAL_SUFFIX, is_swept};
use node::{Node, Open};

use crate::files::journal;

/// Removes files that killed runs of the same user have left in a directory: files with our prefix
/// that no run locks. Files of a set in other directories are removed only if those are in
/// `beside`, with links followed.
pub async fn sweep(node: &Node, directory: &Path, beside: &[PathBuf]) {
    // Sweeping is a courtesy: a file that cannot be opened or removed is not ours, or not in our
    // way.
    let Ok(names) = node.list(directory).await else {
        return;
    };
    for name in names.iter().filter(|name| is_swept(name)) {
        let is_journal = name.ends_with(JOURNAL_SUFFIX);
        let path = directory.join(name);
        let Ok(file) = node.open(&path, Open::Own).await else {
            continue;
        };
        if !file.lock(node).await.unwrap_or(false) {
            continue;
        }
        if !is_journal || journal::settle(node, &path, beside).await {
            let _ = node.remove(&path).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::run_here;
    use crate::files::temporary::Temporary;
    use std::fs;

    async fn create(node: &Node, directory: &Path) -> Temporary {
        let how = Open::Create {
            direct: false,
            mode: 0o600,
        };
        sweep(node, directory, &[]).await;
        Temporary::create(node, directory, how).await.unwrap()
    }

    /// Files that a running sort has locked stay, and files that no sort has made.
    #[test]
    fn only_files_of_dead_runs_are_swept() {
        let place = tempfile::TempDir::new().unwrap();
        let directory = place.path().to_owned();
        let dead = [".gristmill-1.tmp", ".gristmill-2.tmp"];
        let others = [".gristmill-1.begun", "notes.tmp", "notes"];
        for name in dead.iter().chain(&others) {
            fs::write(directory.join(name), "").unwrap();
        }
        run_here(move |node| {
            let directory = directory.clone();
            async move {
                let first = create(&node, &directory).await;
                let second = create(&node, &directory).await;
                assert!(first.path.exists() && second.path.exists());
                second.remove(&node).await;
                assert!(first.path.exists() && !second.path.exists());
            }
        });
        assert!(dead.iter().all(|name| !place.path().join(name).exists()));
        assert!(others.iter().all(|name| place.path().join(name).exists()));
    }
}
