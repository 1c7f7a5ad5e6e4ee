//! The set that a new one replaces: the access that the new one takes over, and the files that go.
//!
//! A manifest is a public text, which anybody may have put there. It is believed only if the caller alone can have written it,
//! and even then only files go that have names of this program, in directories that the command line names.

use std::path::{Path, PathBuf};

use node::{Access, Node};
use pipeline::Failure;

use crate::manifest::{Manifest, Placed, is_name, is_part};
use crate::report::Warning;
use crate::text_file::OTHERS_WRITE;

/// The access of a set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SetAccess {
    pub manifest: Option<Access>,
    pub files: Option<Access>,
}

impl SetAccess {
    /// The access of the set whose manifest lies in a directory.
    ///
    /// # Errors
    /// When it cannot be read, or another text has its name.
    pub(super) async fn of(node: &Node, home: &Path) -> Result<SetAccess, Failure> {
        let Some(manifest) = Manifest::read(node, home).await? else {
            return Ok(SetAccess::default());
        };
        let own = node.access(&home.join(Manifest::NAME)).await.ok();
        // Others who could write a manifest would decide which files are removed.
        let own = own.map(|own| Access { mode: own.mode & !OTHERS_WRITE, ..own });
        let beside = |path: &&String| is_name(path) && is_part(path);
        let files = match manifest.files.iter().map(|file| &file.path).find(beside) {
            Some(name) => node.access(&home.join(name)).await.ok(),
            None => None,
        };
        Ok(SetAccess { manifest: own, files: files.or(own) })
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
            return Ok(OldSet { placed: Vec::new(), stays: None });
        };
        let (placed, elsewhere) = match Manifest::read_own(node, home).await {
            Ok(Some(own)) => own.placed(directories),
            Ok(None) | Err(_) => (Vec::new(), manifest.files.len()),
        };
        let stays = Warning::OldSet { manifest: home.join(Manifest::NAME), count: elsewhere };
        Ok(OldSet { placed, stays: (elsewhere > 0).then_some(stays) })
    }
}
