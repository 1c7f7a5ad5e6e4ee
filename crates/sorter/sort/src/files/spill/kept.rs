//! Spill files that outlive their run: a resumed sort opens them again.

use std::path::PathBuf;
use std::{io, iter};

use node::{DiskError, Node, Open};
use pipeline::Failure;

use crate::files::spill::log::Logs;
use crate::files::spill::{FILES_WITHOUT_HOLES, Spill, cannot_make, remove_all};
use crate::files::temporary::Temporary;
use crate::files::text_file::others_write;
use crate::records::block::BLOCK_BYTES;

impl Spill {
    /// Makes files that outlive the run, with names that begin with `stem`.
    pub(crate) async fn keep(&self, node: &Node, stem: &str) -> Result<Kinds, Failure> {
        let how = kept(self.how);
        let (mut files, mut kinds) = (Vec::new(), Vec::new());
        for directory in self.directories.iter() {
            let mut count = 1;
            let mut made = 0;
            let mut holes = true;
            while made < count {
                let path = directory.join(file_name(stem, files.len()));
                // An earlier job may have left one there.
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
        self.begin(node, files, kinds.clone()).await;
        Ok(kinds)
    }

    /// Opens files that were kept; `ends` are the bytes used of each.
    pub(crate) async fn open_kept(
        &self,
        node: &Node,
        kinds: &Kinds,
        (paths, ends): (Vec<PathBuf>, &[u64]),
    ) -> Result<(), DiskError> {
        let mut files = Vec::new();
        for path in paths {
            node.metadata(&path).await?;
            let file = node.open(&path, kept(self.how)).await?;
            if others_write(&file) {
                let cause = io::Error::other("users other than its owner may write it");
                return Err(DiskError::new("resume with", &path, cause));
            }
            files.push(Temporary { file, path });
        }
        self.begin(node, files, kinds.clone()).await;
        self.shared
            .change(node, |state| {
                for (file, &end) in ends.iter().enumerate() {
                    state.logs.begins_at(file, end);
                }
            })
            .await;
        Ok(())
    }

    async fn begin(&self, node: &Node, files: Vec<Temporary>, kinds: Kinds) {
        self.shared
            .change(node, |state| {
                state.logs = Logs::new(&kinds, self.expected);
                state.kept = files.len();
                (state.files, state.kinds) = (files, kinds);
            })
            .await;
    }

    /// Removes the files of later generations: their records are in the output, or will be divided
    /// again.
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

    pub(crate) async fn sync(&self, node: &Node) -> Result<(), DiskError> {
        let files = self.shared.look(|state| state.files[..state.kept].to_vec());
        for Temporary { file, .. } in files {
            file.sync(node).await?;
        }
        Ok(())
    }
}

/// By directory: number of files, and whether they can have holes.
pub(crate) type Kinds = Vec<(usize, bool)>;

/// Whether the number of files agrees with whether they can have holes.
pub(crate) fn is_kind(&(count, holes): &(usize, bool)) -> bool {
    count == if holes { 1 } else { FILES_WITHOUT_HOLES }
}

/// The paths of files made by [`Spill::keep`].
pub(crate) fn kept_paths(directories: &[PathBuf], kinds: &Kinds, stem: &str) -> Vec<PathBuf> {
    let each = directories.iter().zip(kinds);
    let directories = each.flat_map(|(directory, &(count, _))| iter::repeat_n(directory, count));
    directories
        .enumerate()
        .map(|(at, directory)| directory.join(file_name(stem, at)))
        .collect()
}

fn file_name(stem: &str, number: usize) -> String {
    format!("{stem}spill-{number}")
}

fn kept(how: Open) -> Open {
    let Open::Create { direct, mode } = how else {
        return how;
    };
    Open::Keep { direct, mode }
}
