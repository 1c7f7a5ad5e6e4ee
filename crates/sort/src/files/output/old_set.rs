//! The set that a new one replaces: the access that the new one takes over, and the files that go.
//!
//! A manifest is a public text, which anybody may have put there. It is believed if the caller
//! alone can have written it. The owner of a directory which no other user may write is believed as
//! well, about that directory alone: they may remove any file there anyhow, and so root can replace
//! a user's set. Even then only files go that have names of this program, in directories that the
//! command line names.

use std::path::{Path, PathBuf};

use node::{Access, DiskError, FileKind, Node, PERMISSION_BITS, of_another_group};
use pipeline::Failure;

use crate::files::manifest::{Manifest, Placed, is_name, is_part};
use crate::files::output::file::draft_mode;
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE, PRIVATE};
use crate::report::Warning;

/// The access of a set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SetAccess {
    pub manifest: Option<Access>,
    pub files: Option<Access>,
    /// The bits that a manifest allows which is not believed: it may take rights of a new set away,
    /// and give none.
    narrowed: Option<u32>,
}

impl SetAccess {
    /// The access of the set whose manifest lies in a directory, if it is believed.
    ///
    /// # Errors
    /// When it cannot be read, or another text has its name.
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
        // Others who could write a manifest would decide which files are removed.
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

    /// The mode of a draft that will have that access in the end, if it is given.
    pub(super) fn draft_mode(&self, access: Option<Access>) -> u32 {
        draft_mode(access) & (self.narrowed.unwrap_or(PERMISSION_BITS) | PRIVATE)
    }
}

/// The access of a regular file.
async fn access_of_file(node: &Node, path: &Path) -> Option<Access> {
    let there = node.metadata(path).await.ok()?;
    let is_file = there.kind == FileKind::Regular;
    if is_file {
        node.access(path).await.ok()
    } else {
        None
    }
}

/// How far a manifest is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// Another user may have written it.
    None,
    /// The owner of its directory wrote it.
    Directory,
    /// The caller wrote it.
    Whole,
}

impl Belief {
    pub(super) async fn of(node: &Node, home: &Path) -> Result<Belief, DiskError> {
        let own = text_file::read_own(node, &home.join(Manifest::NAME)).await?;
        if matches!(own, Entry::Text(_)) {
            return Ok(Belief::Whole);
        }
        let (mut owners, mut modes) = (Vec::new(), 0);
        for path in [home.to_owned(), home.join(Manifest::NAME)] {
            owners.push(node.access(&path).await?.owner);
            // These bits show what an access control list gives.
            modes |= node.metadata(&path).await?.mode;
        }
        Ok(match owners[0] == owners[1] && modes & OTHERS_WRITE == 0 {
            true => Belief::Directory,
            false => Belief::None,
        })
    }
}

/// The files of the old set.
pub(super) struct OldSet {
    /// Those that go.
    pub placed: Vec<Placed>,
    /// A warning of those that stay.
    pub stays: Option<Warning>,
}

impl OldSet {
    /// The set that these directories have, links followed.
    ///
    /// # Errors
    /// When its manifest cannot be read, or another text has its name.
    pub(super) async fn of(node: &Node, directories: &[PathBuf]) -> Result<OldSet, Failure> {
        let home = &directories[0];
        let Some(manifest) = Manifest::read(node, home).await? else {
            return Ok(OldSet {
                placed: Vec::new(),
                stays: None,
            });
        };
        let (placed, elsewhere) = match Belief::of(node, home).await? {
            Belief::Whole => manifest.placed(directories),
            Belief::Directory => manifest.placed(&directories[..1]),
            Belief::None => (Vec::new(), manifest.files.len()),
        };
        let stays = Warning::OldSet {
            manifest: home.join(Manifest::NAME),
            count: elsewhere,
        };
        Ok(OldSet {
            placed,
            stays: (elsewhere > 0).then_some(stays),
        })
    }
}

#[cfg(test)]
mod tests;
