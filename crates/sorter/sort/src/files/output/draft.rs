//! A file of an output under its temporary name, which it has until all files are complete and
//! durable. A pipe or a device counts as a draft that keeps its name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{Access, Compress, DiskError, File, Filled, Lots, Node, View};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::error::{SortError, no_memory};
use crate::files::output::in_place::InPlace;
use crate::files::text_file::{PRIVATE, spelled};
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::report::Warning;

/// Permission bits of a new output before the process's mask, as of every tool.
pub(crate) const NEW_MODE: u32 = 0o666;

/// A draft that other ranks would find if they wrote the same output, and the name that it or its
/// manifest gets, both without their directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub draft: String,
    pub becomes: String,
}

#[derive(Clone)]
pub(super) struct Draft {
    pub file: File,
    /// The name that the file gets, links followed; none while it is not known, and for a pipe.
    pub target: Option<PathBuf>,
    /// The name in messages.
    pub shown: PathBuf,
    /// The access that the file gets; if none, it keeps that of a new file.
    pub access: Option<Access>,
    /// The length in bytes, if it is known before the file is finished.
    pub length: Option<u64>,
    /// The target, if it is written over, because it cannot be replaced.
    pub in_place: Option<InPlace>,
}

impl Draft {
    /// A file without a name yet.
    pub(super) fn new(file: File) -> Draft {
        Draft {
            target: None,
            shown: file.path().to_owned(),
            access: None,
            length: None,
            in_place: None,
            file,
        }
    }

    pub(super) fn of(file: File, target: PathBuf, access: Option<Access>) -> Draft {
        Draft {
            shown: target.clone(),
            target: Some(target),
            access,
            ..Draft::new(file)
        }
    }

    /// The file, compressed on the way.
    ///
    /// # Errors
    /// When the node does not know compressed files, or there is no memory.
    pub(super) fn compressed(self, how: Compress) -> Result<Draft, Failure> {
        let file = self.file.clone().compressed(how);
        let file = file.map_err(|error| self.named(error))?;
        Ok(Draft { file, ..self })
    }

    /// The file, which is written behind a heading of so many bytes, without the lots of its records.
    ///
    /// # Errors
    /// When the system does not say what file it is.
    pub(super) fn collecting(self, lots: &Lots, heading_bytes: usize) -> Result<Draft, Failure> {
        let file = self.file.clone().collecting(lots, heading_bytes);
        let file = file.map_err(|error| self.named(error))?;
        Ok(Draft { file, ..self })
    }

    /// The file, which is written as `view` has it.
    pub(super) fn hiding(self, view: &Arc<dyn View>) -> Draft {
        let file = self.file.hiding(Arc::clone(view));
        Draft { file, ..self }
    }

    /// Whether it is a pipe or a device, and no draft.
    pub(super) fn is_pipe(&self) -> bool {
        let is_draft = self.file.is_coded() && self.target.is_some();
        self.file.is_sequential() && !is_draft
    }

    /// Looks for the free space that `length` bytes need, and reserves it.
    ///
    /// # Errors
    /// When too little is free, with both figures, or the disk refuses.
    pub(super) async fn reserve(&self, node: &Node, length: u64) -> Result<(), Failure> {
        if self.file.is_sequential() {
            return Ok(());
        }
        let free = node.space(self.file.path()).await?;
        if length > free {
            return Err(no_room(&self.shown, length, free));
        }
        if let Some(in_place) = &self.in_place {
            in_place.check_room(node, &self.file, length).await?;
        }
        self.preallocate(node, length).await
    }

    pub(super) async fn preallocate(&self, node: &Node, length: u64) -> Result<(), Failure> {
        let reserved = self.file.preallocate(node, 0..length).await;
        Ok(reserved.map_err(|error| self.named(error))?)
    }

    /// Cuts the file to its length, which is `length` unless it was known before, and makes it
    /// durable.
    pub(super) async fn finish(&self, node: &Node, length: u64) -> Result<(), Failure> {
        if !self.file.is_sequential() {
            let length = self.length.unwrap_or(length);
            let cut = self.file.truncate(node, length).await;
            cut.map_err(|error| self.named(error))?;
        }
        self.sync(node).await
    }

    /// Writes a disk block that begins with these bytes; zeros follow them.
    pub(super) async fn write_block(
        &self,
        node: &Node,
        contents: &dyn Contents,
        block: u64,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        let whole = BLOCK_BYTES as usize;
        let buffers = contents.buffers(node, 1, whole, Filled::Once);
        let buffers = buffers.map_err(|cause| no_memory(whole, &cause))?;
        let mut buffer = buffers.into_iter().next().expect("one was asked for");
        buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        buffer.bytes_mut()[bytes.len()..].fill(0);
        buffer.set_len(whole);
        let ticket = self.file.write(node, block * BLOCK_BYTES, buffer, 0..whole);
        let (_, written) = ticket.wait(node).await;
        Ok(written.map_err(|error| self.named(error))?)
    }

    /// Writes bytes at the front of the file, before any others.
    pub(super) async fn write_front(&self, node: &Node, bytes: &[u8]) -> Result<(), Failure> {
        let whole = if self.file.is_sequential() {
            bytes.len()
        } else {
            // The file is cut to its length later.
            bytes.len().next_multiple_of(BLOCK_BYTES as usize)
        };
        let buffers = node.buffers(1, whole, Filled::Once);
        let buffers = buffers.map_err(|cause| no_memory(whole, &cause))?;
        let mut buffer = buffers.into_iter().next().expect("one was asked for");
        buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        buffer.bytes_mut()[bytes.len()..whole].fill(0);
        buffer.set_len(whole);
        let (_, written) = self.file.write(node, 0, buffer, 0..whole).wait(node).await;
        Ok(written.map_err(|error| self.named(error))?)
    }

    pub(super) async fn sync(&self, node: &Node) -> Result<(), Failure> {
        let synced = self.file.sync(node).await;
        Ok(synced.map_err(|error| self.named(error))?)
    }

    /// Gives a finished file its access and its name, or writes it over its target and warns of
    /// that.
    ///
    /// # Errors
    /// When the disk refuses; the file may have its name all the same, without being durable.
    pub(super) async fn name(&self, node: &Node) -> Result<Option<Warning>, DiskError> {
        if let Some(in_place) = &self.in_place {
            return in_place.write(node, self.file.path()).await.map(Some);
        }
        let Some(target) = &self.target else {
            return Ok(None);
        };
        let taken = take_over(node, &self.file, self.access).await;
        taken.map_err(|error| self.named(error))?;
        node.rename(self.file.path(), target).await.map(|()| None)
    }

    /// Removes the file of an output that failed.
    pub(super) async fn discard(&self, node: &Node) {
        if !self.is_pipe() {
            // A second error would hide the first.
            let _ = node.remove(self.file.path()).await;
        }
    }

    /// None of a pipe.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let parent = self.target.as_ref().and(self.file.path().parent())?;
        Some(if parent == Path::new("") {
            PathBuf::from(".")
        } else {
            parent.to_owned()
        })
    }

    /// The error with the name that users know instead of the temporary one.
    pub(super) fn named(&self, error: DiskError) -> DiskError {
        if error.path == self.file.path() {
            shown_as(&self.shown)(error)
        } else {
            error
        }
    }

    /// The file's own name and that of the target, or of `becomes`; none where the target's lock
    /// keeps others away.
    pub(super) fn claim(&self, becomes: Option<&str>) -> Option<Claim> {
        if self.in_place.is_some() {
            return None;
        }
        let target = becomes.map(Path::new).or(self.target.as_deref())?;
        let name = |path: &Path| Some(spelled(Path::new(path.file_name()?)));
        Some(Claim {
            draft: name(self.file.path())?,
            becomes: name(target)?,
        })
    }
}

/// The refusal of an output that needs more bytes than are free.
pub(super) fn no_room(file: &Path, needed: u64, free: u64) -> Failure {
    let file = file.to_owned();
    SortError::NoRoom { file, needed, free }.into()
}

/// Gives an error another path.
pub(super) fn shown_as(path: &Path) -> impl FnOnce(DiskError) -> DiskError {
    let path = path.to_owned();
    |error| DiskError { path, ..error }
}

/// The mode of a draft that gets this access in the end. Until the draft also has the group, only
/// its owner may read it.
pub(super) fn draft_mode(access: Option<Access>) -> u32 {
    access.map_or(NEW_MODE, |_| PRIVATE)
}

/// Gives a finished draft the access of the file that it replaces.
///
/// # Errors
/// When the system refuses.
pub(crate) async fn take_over(
    node: &Node,
    draft: &File,
    access: Option<Access>,
) -> Result<(), DiskError> {
    match access {
        Some(access) => draft.set_access(node, access).await,
        None => Ok(()),
    }
}
