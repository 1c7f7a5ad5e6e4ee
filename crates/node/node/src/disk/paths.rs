//! Verbs of a node on paths.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{DiskError, File, KEEP_THE_NAME};
use crate::Node;
use crate::backend::{Disks, RenameError};
use crate::opening::{Access, Metadata, Open, Standard};

/// The state after the directory of a file under way was renamed.
const MOVED: &str = "its directory was renamed or replaced while the file was written; the whole file has \
    that name in the renamed directory";

impl Node {
    /// Opens or creates a file.
    ///
    /// # Errors
    /// When the system or `how` refuses the file.
    pub async fn open(&self, path: &Path, how: Open) -> Result<File, DiskError> {
        self.reach().await;
        let verb = if how.is_create() { "create" } else { "open" };
        let handle = self
            .disks()
            .open(path, how)
            .map_err(|cause| DiskError::new(verb, path, cause))?;
        File::new(handle, path).map_err(|cause| {
            if how.is_create() {
                // Nobody else knows of it.
                let _ = self.disks().remove(path);
            }
            DiskError::new(verb, path, cause)
        })
    }

    /// Standard input or output.
    ///
    /// # Errors
    /// When there is no such stream.
    pub async fn standard(&self, which: Standard) -> Result<File, DiskError> {
        self.reach().await;
        let path = Path::new(which.name());
        let failed = |cause| DiskError::new("open", path, cause);
        let handle = self.disks().standard(which).map_err(failed)?;
        File::new(handle, path).map_err(failed)
    }

    /// The owner, group and permissions of the file at a path, links followed.
    ///
    /// # Errors
    /// When the path leads to nothing, or the system refuses to say.
    pub async fn access(&self, path: &Path) -> Result<Access, DiskError> {
        self.on_path("look at", path, |disks| disks.access(path))
            .await
    }

    /// The metadata of a path, links followed.
    ///
    /// # Errors
    /// When the path leads to nothing, or the system refuses to say.
    pub async fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.on_path("look at", path, |disks| disks.metadata(path))
            .await
    }

    /// The metadata of a path that will be written. An open descriptor of the process counts as
    /// sequential, whatever it leads to.
    ///
    /// # Errors
    /// As [`Node::metadata`].
    pub async fn sink(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.on_path("look at", path, |disks| disks.sink(path))
            .await
    }

    /// The path with all links followed; its last part need not exist.
    ///
    /// # Errors
    /// When a directory of the path does not exist or cannot be read.
    pub async fn resolve(&self, path: &Path) -> Result<PathBuf, DiskError> {
        self.on_path("find", path, |disks| disks.resolve(path))
            .await
    }

    /// Replaces `to` by `from` in one step; durable when it returns.
    ///
    /// # Errors
    /// When the system refuses. `to` may still name the new file, but not durably or in another
    /// directory: check which file has the name.
    pub async fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.reach().await;
        self.disks().rename(from, to).map_err(|error| match error {
            RenameError::NotRenamed(cause) => DiskError::new("rename to", to, cause),
            RenameError::NotDurable(cause) => DiskError::new(KEEP_THE_NAME, to, cause),
            RenameError::Moved => DiskError::new("keep in its place", to, io::Error::other(MOVED)),
        })
    }

    /// Why no file can be renamed over the regular file at `path`, which is no link; none if one
    /// can, and for anything else.
    pub async fn obstacle(&self, path: &Path) -> Option<String> {
        self.reach().await;
        self.disks().obstacle(path)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// When the file does not exist, or the directory refuses.
    pub async fn remove(&self, path: &Path) -> Result<(), DiskError> {
        self.on_path("remove", path, |disks| disks.remove(path))
            .await
    }

    /// Names in a directory, sorted.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be read.
    pub async fn list(&self, directory: &Path) -> Result<Vec<String>, DiskError> {
        let mut names = self
            .on_path("list", directory, |disks| disks.list(directory))
            .await?;
        names.sort();
        Ok(names)
    }

    /// Free bytes of the file system that holds `path`.
    ///
    /// # Errors
    /// When the path leads to nothing.
    pub async fn space(&self, path: &Path) -> Result<u64, DiskError> {
        self.on_path("find the free space of", path, |disks| disks.space(path))
            .await
    }

    /// The directory for temporary files if the program has no other.
    pub fn temporary(&self) -> PathBuf {
        self.disks().temporary()
    }

    /// Files that may be opened beside those that are open now, by the limits of the system.
    pub fn spare_files(&self) -> usize {
        self.disks().spare()
    }

    /// Whether files below `path` survive a power failure: those in memory do not.
    ///
    /// # Errors
    /// When the path leads to nothing.
    pub async fn is_lasting(&self, path: &Path) -> Result<bool, DiskError> {
        self.on_path("look at", path, |disks| disks.is_lasting(path))
            .await
    }

    /// Tells people something before the next step, in which the process may die. A real node writes
    /// a line on standard error.
    pub async fn tell(&self, text: &str) {
        self.reach().await;
        self.disks().tell(text);
    }

    async fn on_path<T>(
        &self,
        verb: &'static str,
        path: &Path,
        call: impl FnOnce(&dyn Disks) -> io::Result<T>,
    ) -> Result<T, DiskError> {
        self.reach().await;
        call(&*self.disks()).map_err(|cause| DiskError::new(verb, path, cause))
    }

    fn disks(&self) -> Arc<dyn Disks> {
        self.backend().disks()
    }
}
