//! The set that a new one replaces: the access that the new one takes over, and the files that go:
//! those that its manifest is believed about (`belief`).

use std::path::{Path, PathBuf};

use node::{Access, FileKind, Node, PERMISSION_BITS, of_another_group};
use pipeline::Failure;

use crate::files::belief::Belief;
use crate::files::manifest::{Manifest, Placed, is_name, is_part};
use crate::files::output::draft::draft_mode;
use crate::files::text_file::{OTHERS_WRITE, PRIVATE};
use crate::report::Warning;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SetAccess {
    pub manifest: Option<Access>,
    pub files: Option<Access>,
    /// The mode bits that a doubtful manifest leaves to the new set: it may take rights away, but
    /// give none.
    narrowed: Option<u32>,
}

impl SetAccess {
    /// The access of the set in a directory.
    ///
    /// # Errors
    /// When the manifest cannot be read, or another text has its name.
    pub(super) async fn of(node: &Node, home: &Path) -> Result<SetAccess, Failure> {
        let Some(manifest) = Manifest::read(node, home).await? else {
            return Ok(SetAccess::default());
        };
        if Belief::of(node, home).await? == Belief::None {
            let mode = node.metadata(&home.join(Manifest::NAME)).await?.mode;
            return Ok(SetAccess {
                narrowed: Some(of_another_group(mode)),
                ..SetAccess::default()
            });
        }
        let own = node.access(&home.join(Manifest::NAME)).await.ok();
        let beside = |path: &&String| is_name(path) && is_part(path);
        let files = match manifest.files.iter().map(|file| &file.path).find(beside) {
            Some(name) => access_of_file(node, &home.join(name)).await,
            None => None,
        };
        // If others could write a manifest, they would decide which files are removed.
        let safe = own.map(|own| Access {
            mode: own.mode & !OTHERS_WRITE,
            ..own
        });
        Ok(SetAccess {
            manifest: safe,
            files: files.or(own),
            narrowed: None,
        })
    }

    /// The mode of a draft of the new set, which gets this access in the end.
    pub(super) fn draft_mode(&self, access: Option<Access>) -> u32 {
        draft_mode(access) & (self.narrowed.unwrap_or(PERMISSION_BITS) | PRIVATE)
    }
}

/// None if the path leads to no regular file.
async fn access_of_file(node: &Node, path: &Path) -> Option<Access> {
    let there = node.metadata(path).await.ok()?;
    match there.kind {
        FileKind::Regular => node.access(path).await.ok(),
        FileKind::Directory | FileKind::Sequential => None,
    }
}

/// The files of the set that is replaced.
pub(super) struct OldSet {
    /// The files that go.
    pub placed: Vec<Placed>,
    /// A warning of files that stay.
    pub stays: Option<Warning>,
}

impl OldSet {
    /// The set in these directories, links followed; its manifest lies in the first.
    ///
    /// # Errors
    /// When the manifest cannot be read, or another text has its name.
    pub(super) async fn of(node: &Node, directories: &[PathBuf]) -> Result<OldSet, Failure> {
        let home = &directories[0];
        let Some(manifest) = Manifest::read(node, home).await? else {
            let (placed, stays) = (Vec::new(), None);
            return Ok(OldSet { placed, stays });
        };
        let (placed, elsewhere) = match Belief::of(node, home).await? {
            Belief::Whole => manifest.placed(directories),
            Belief::Directory => manifest.placed(&directories[..1]),
            Belief::None => (Vec::new(), manifest.files.len()),
        };
        let stays = (elsewhere > 0).then(|| Warning::OldSet {
            manifest: home.join(Manifest::NAME),
            count: elsewhere,
        });
        Ok(OldSet { placed, stays })
    }
}

#[cfg(test)]
mod tests;
