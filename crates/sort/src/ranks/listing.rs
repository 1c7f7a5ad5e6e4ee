//! The list of all ranks' outputs, in key order: a manifest, which appears once all outputs have
//! their names.
//!
//! The old list is removed before the first output gets its name: a list that exists is correct.

use std::path::{Path, PathBuf};

use node::{Access, Node, Rank};
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::files::manifest::{ListedFile, Manifest, is_part};
use crate::files::output::{NEW_MODE, take_over};
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE, PRIVATE};
use crate::job::Listing;
use crate::records::contents::Contents;
use crate::report::Warning;

/// The files of a rank's ranges, each with its range.
pub(crate) type Listed = Vec<(u32, Vec<ListedFile>)>;

pub(crate) struct Lister<'a> {
    pub node: &'a Node,
    pub contents: &'a dyn Contents,
    pub listing: Option<&'a Listing>,
}

/// The new list, and the old one that it replaces.
pub(crate) struct Lists {
    new: Vec<ListedFile>,
    old: Vec<ListedFile>,
    /// Owner and mode of the old list.
    access: Option<Access>,
}

impl Lister<'_> {
    pub(crate) fn here(&self, files: Vec<ListedFile>) -> Vec<ListedFile> {
        let host = self.listing.map(|listing| listing.host.clone());
        let here = |file| ListedFile {
            host: host.clone(),
            ..file
        };
        files.into_iter().map(here).collect()
    }

    /// Agrees with all ranks that outputs may get their names. Returns the files of all ranks.
    pub(crate) async fn gather(
        &self,
        agreement: &mut Agreement,
        finished: Result<Listed, Failure>,
    ) -> Result<Lists, Failure> {
        let finished = match finished {
            Ok(listed) => self.withdraw().await.map(|old| (old, listed)),
            Err(failure) => Err(failure),
        };
        let ((old, access), all) = agreement.agree_and_tell(self.node, finished).await?;
        let mut all = all.concat();
        all.sort_by_key(|&(range, _)| range);
        Ok(Lists {
            new: all.into_iter().flat_map(|(_, files)| files).collect(),
            old,
            access,
        })
    }

    /// Removes the old list. Returns its files, and its access if the caller wrote it.
    async fn withdraw(&self) -> Result<(Vec<ListedFile>, Option<Access>), Failure> {
        let (node, Some(listing)) = (self.node, self.written_here()) else {
            return Ok((Vec::new(), None));
        };
        let old = Manifest::read_from(node, &listing.path)
            .await
            .ok()
            .flatten();
        let access = match text_file::read_own(node, &listing.path).await {
            Ok(Entry::Text(_)) => node.access(&listing.path).await.ok(),
            _ => None,
        };
        match node.remove(&listing.path).await {
            Err(error) if error.cause.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok((old.map(|old| old.files).unwrap_or_default(), access)),
        }
    }

    /// Writes the new list, once all outputs have their names. Warns of old outputs that still
    /// exist.
    pub(crate) async fn show(
        &self,
        agreement: &mut Agreement,
        lists: Lists,
    ) -> Result<Option<Warning>, Failure> {
        let shown = self.put(lists).await;
        agreement.agree(self.node, shown).await
    }

    async fn put(&self, lists: Lists) -> Result<Option<Warning>, Failure> {
        let (node, Some(listing)) = (self.node, self.written_here()) else {
            return Ok(None);
        };
        let stale = stale(node, &lists, Some(&listing.host)).await;
        // The old list is gone, so a link that has its name by now is not ours.
        let parent = listing
            .path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = node.resolve(parent.unwrap_or(Path::new("."))).await?;
        let path = directory.join(listing.path.file_name().unwrap_or_default());
        let mut manifest = Manifest::new(self.contents, &directory);
        lists.new.into_iter().for_each(|file| manifest.add(file));
        let mode = lists.access.map_or(NEW_MODE & !OTHERS_WRITE, |_| PRIVATE);
        let file = text_file::put(node, &path, manifest.text(), mode).await?;
        take_over(node, &file, lists.access).await?;
        Ok(stale)
    }

    /// The list, on rank 0, which writes it.
    fn written_here(&self) -> Option<&Listing> {
        self.listing.filter(|_| self.node.rank() == Rank::ROOT)
    }
}

/// Outputs of an earlier sort, of more ranks or other names, that still exist.
async fn stale(node: &Node, lists: &Lists, here: Option<&String>) -> Option<Warning> {
    let is_new = |old: &ListedFile| lists.new.iter().any(|new| new.path == old.path);
    let mut stale = Vec::new();
    // Files of sets go with their set.
    for old in lists
        .old
        .iter()
        .filter(|old| !is_new(old) && !is_part(&old.path))
    {
        let path = PathBuf::from(&old.path);
        // A file on another host cannot be looked for.
        let is_elsewhere = old.host.as_ref() != here;
        if is_elsewhere || node.metadata(&path).await.is_ok() {
            stale.push(path);
        }
    }
    let count = stale.len();
    stale
        .into_iter()
        .next()
        .map(|file| Warning::Stale { file, count })
}
