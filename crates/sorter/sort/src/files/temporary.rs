//! Files that do not outlive their run: outputs before they have their names, and spill files.
//!
//! Each has a random name and a lock. The lock of a killed run is dead, and the next run of the
//! same user in that directory sweeps its files away (`sweep`); those of a running sort stay.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use node::temporary::{PREFIX, SUFFIX};
use node::{DiskError, File, Node, Open};

/// Names that are drawn for a file before its directory is given up. Another run sweeps a new file away
/// at most once in its life, and two random names are hardly ever equal.
const MOST_ATTEMPTS: u32 = 16;

/// A file that its owner must rename or remove.
#[derive(Clone, Debug)]
pub(crate) struct Temporary {
    pub file: File,
    pub path: PathBuf,
}

impl Temporary {
    /// Makes and locks a file.
    pub(crate) async fn create(
        node: &Node,
        directory: &Path,
        how: Open,
    ) -> Result<Temporary, DiskError> {
        let mut refused = None;
        for _ in 0..MOST_ATTEMPTS {
            let path = directory.join(format!("{PREFIX}{:016x}{SUFFIX}", node.random()));
            let file = match node.open(&path, how).await {
                Err(error) if error.cause.kind() == ErrorKind::AlreadyExists => {
                    refused = Some(error);
                    continue;
                }
                opened => opened?,
            };
            let made = Temporary { file, path };
            // Between its creation and its lock, another run may have swept the file away.
            let cause = match made.file.lock(node).await {
                Ok(true) if made.is_at(node, &made.path).await => return Ok(made),
                Ok(true) => "it is not there after it was made",
                Ok(false) => "another program locks it",
                // Some file systems have no locks; there, files of killed runs are not swept
                // either.
                Err(error) if error.cause.kind() == ErrorKind::Unsupported => return Ok(made),
                Err(error) => {
                    made.remove(node).await;
                    return Err(error);
                }
            };
            made.remove(node).await;
            let cause = format!("{cause}, as others before; name a place on another file system");
            refused = Some(DiskError::new("keep", &made.path, io::Error::other(cause)));
        }
        Err(refused.expect("there was an attempt"))
    }

    pub(crate) async fn remove(&self, node: &Node) {
        // The failure that led here is reported; a second one would hide it.
        let _ = node.remove(&self.path).await;
    }

    /// Whether `path` leads to this file.
    pub(crate) async fn is_at(&self, node: &Node, path: &Path) -> bool {
        let mine = self.file.metadata();
        let there = node.metadata(path).await;
        there.is_ok_and(|there| (there.device, there.identity) == (mine.device, mine.identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::run_here;

    const HOW: Open = Open::Create {
        direct: false,
        mode: 0o600,
    };

    /// Both runs draw the same names.
    #[test]
    fn a_name_that_is_taken_is_not_given_again() {
        let place = tempfile::TempDir::new().unwrap();
        let directory = place.path().to_owned();
        let another = move |node: Node| {
            let directory = directory.clone();
            async move {
                let made = Temporary::create(&node, &directory, HOW).await.unwrap();
                assert!(made.is_at(&node, &made.path).await);
                made
            }
        };
        let (first, second) = (run_here(another.clone()), run_here(another));
        assert_ne!(first.path, second.path);
        assert!(first.path.exists() && second.path.exists());
        let is_at = run_here(move |node| {
            let (first, second) = (first.clone(), second.clone());
            async move { first.is_at(&node, &second.path).await }
        });
        assert!(!is_at);
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let place = tempfile::TempDir::new().unwrap();
        let directory = place.path().join("missing");
        let told = run_here(move |node| {
            let directory = directory.clone();
            async move {
                let made = Temporary::create(&node, &directory, HOW).await;
                made.map(drop).map_err(|error| error.cause.kind())
            }
        });
        assert_eq!(told, Err(ErrorKind::NotFound));
    }

    #[test]
    fn a_file_that_cannot_be_locked_is_removed() {
        let driver = rehearsal::Driver::new(1, 1);
        driver.disks(0).fail(2, rehearsal::Fault::Device);
        let made = driver.run(|node| async move {
            let made = Temporary::create(&node, Path::new("/"), HOW).await;
            made.map(drop).map_err(|error| error.verb)
        });
        assert_eq!(made.unwrap(), [Err("lock")]);
        assert!(driver.disks(0).paths().is_empty());
    }
}
