//! The set that a new one replaces: the access that the new one takes over, and the files that go.
//!
//! A manifest is a public text, which anybody may have put there. It is believed if only the caller
//! can have written it. It is also believed about its directory alone if the owner of that
//! directory wrote it and no other user may write there: they may remove any file there anyhow, and
//! so root can replace a user's set. Even then only files go that have names of this program, in
//! directories that the command line names.

use std::path::{Path, PathBuf};

use node::{Access, DiskError, FileKind, Node, PERMISSION_BITS, of_another_group};
use pipeline::Failure;

use crate::files::manifest::{Manifest, Placed, is_name, is_part};
use crate::files::output::draft::draft_mode;
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE, PRIVATE};
use crate::report::Warning;

/// The access of a set.
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

/// How far a manifest is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// Not at all: another user may have written it.
    None,
    /// About its own directory, whose owner wrote it.
    Directory,
    /// About all directories: the caller wrote it.
    Whole,
}

impl Belief {
    /// How far the manifest in a directory is believed.
    ///
    /// # Errors
    /// When it cannot be read or looked at.
    pub(super) async fn of(node: &Node, home: &Path) -> Result<Belief, DiskError> {
        let own = text_file::read_own(node, &home.join(Manifest::NAME)).await?;
        if matches!(own, Entry::Text(_)) {
            return Ok(Belief::Whole);
        }
        let (mut owners, mut modes) = (Vec::new(), 0);
        for path in [home.to_owned(), home.join(Manifest::NAME)] {
            owners.push(node.access(&path).await?.owner);
            // These bits, unlike those of an access, show all that an access control list gives.
            modes |= node.metadata(&path).await?.mode;
        }
        Ok(if owners[0] == owners[1] && modes & OTHERS_WRITE == 0 {
            Belief::Directory
        } else {
            Belief::None
        })
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
