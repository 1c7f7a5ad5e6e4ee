//! How far the manifest of an earlier run is believed, whose files a run may remove.
//!
//! A manifest is a public text, which anybody may have put there. It is believed if only the caller
//! can have written it. It is also believed about its directory alone if the owner of that
//! directory wrote it and no other user may write there: they may remove any file there anyhow, and
//! so root can replace a user's set. Even then only files go that have names of this program, in
//! directories that the command line names.

use std::path::Path;

use node::{DiskError, Node};

use crate::files::manifest::Manifest;
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE};

/// How far a manifest is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
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
    pub(crate) async fn of(node: &Node, home: &Path) -> Result<Belief, DiskError> {
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
