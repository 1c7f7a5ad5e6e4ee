//! Spill files that outlive their run: whoever goes on with it opens them again.

use std::path::PathBuf;

use node::{DiskError, Node, Open};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use super::log::Logs;
use super::{FILES_WITHOUT_HOLES, Spill, cannot_make, remove_all};
use crate::input::BLOCK_BYTES;
use crate::temporary::Temporary;

/// Spill files that outlive their run, as who goes on with them must know them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub directories: Vec<PathBuf>,
    pub paths: Vec<PathBuf>,
    /// How many files each directory has, and whether they can have holes.
    kinds: Vec<(usize, bool)>,
}

impl Spill {
    /// Makes the files at once, with names that begin so: they outlive the run.
    pub(crate) async fn keep(&self, node: &Node, stem: &str) -> Result<Kept, Failure> {
        let how = kept(self.how);
        let (mut files, mut kinds) = (Vec::new(), Vec::new());
        for directory in self.directories.iter() {
            let mut count = 1;
            let mut made = 0;
            let mut holes = true;
            while made < count {
                let path = directory.join(format!("{stem}spill-{}", files.len()));
                // What an earlier job left there is nobody's.
                let _ = node.remove(&path).await;
                let file = node.open(&path, how).await;
                let file = file.map_err(|error| cannot_make(directory, error))?;
                if made == 0 {
                    holes = file.release(node, 0..BLOCK_BYTES).await.is_ok();
                    count = if holes { 1 } else { FILES_WITHOUT_HOLES };
                }
                files.push(Temporary { file, path });
                made += 1;
            }
            kinds.push((count, holes));
        }
        let paths = files.iter().map(|file| file.path.clone()).collect();
        self.begin(node, files, kinds.clone()).await;
        Ok(Kept { directories: self.directories.to_vec(), paths, kinds })
    }

    /// Opens files that were kept; of each so many bytes are used.
    pub(crate) async fn open_kept(
        &self,
        node: &Node,
        kept_files: &Kept,
        ends: &[u64],
    ) -> Result<(), DiskError> {
        let mut files = Vec::new();
        for path in &kept_files.paths {
            node.metadata(path).await?;
            let file = node.open(path, kept(self.how)).await?;
            files.push(Temporary { file, path: path.clone() });
        }
        self.begin(node, files, kept_files.kinds.clone()).await;
        self.shared
            .change(node, |state| {
                for (file, &end) in ends.iter().enumerate() {
                    state.logs.begins_at(file, end);
                }
            })
            .await;
        Ok(())
    }

    async fn begin(&self, node: &Node, files: Vec<Temporary>, kinds: Vec<(usize, bool)>) {
        self.shared
            .change(node, |state| {
                state.logs = Logs::new(&kinds, self.expected);
                state.kept = files.len();
                (state.files, state.kinds) = (files, kinds);
            })
            .await;
    }

    /// Removes the files of later generations: what they hold is in the output, or is divided again.
    pub(crate) async fn drop_generations(&self, node: &Node) {
        let passing = self
            .shared
            .change(node, |state| {
                state.logs.keep(state.kept);
                state.files.split_off(state.kept.min(state.files.len()))
            })
            .await;
        remove_all(node, &passing).await;
    }

    /// Makes all that was written to files that are kept durable.
    pub(crate) async fn sync(&self, node: &Node) -> Result<(), DiskError> {
        let files = self.shared.look(|state| state.files[..state.kept].to_vec());
        for Temporary { file, .. } in files {
            file.sync(node).await?;
        }
        Ok(())
    }
}

/// How a file is opened that outlives the run.
fn kept(how: Open) -> Open {
    let Open::Create { direct, mode } = how else { return how };
    Open::Keep { direct, mode }
}
