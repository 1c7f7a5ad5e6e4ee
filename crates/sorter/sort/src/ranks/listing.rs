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
use crate::files::sweep::sweep;
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE, PRIVATE};
use crate::records::contents::Contents;
use crate::report::Warning;

/// The files of a rank's ranges, each with its range.
pub(crate) type Listed = Vec<(u32, Vec<ListedFile>)>;

pub(crate) struct Lister<'a> {
    pub node: &'a Node,
    pub contents: &'a dyn Contents,
    pub listing: Option<&'a Path>,
    /// The name of this rank's host.
    pub host: &'a str,
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
        let host = self.listing.map(|_| self.host.to_owned());
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
        let old = Manifest::read_from(node, listing).await.ok().flatten();
        // A copy of a list leads to the outputs of the original.
        let home = self.home(listing).await?;
        let old = old.filter(|old| old.is_at_home(&home));
        let access = match text_file::read_own(node, listing).await {
            Ok(Entry::Text(_)) => node.access(listing).await.ok(),
            _ => None,
        };
        match node.remove(listing).await {
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
        let stale = stale(node, &lists, self.host).await;
        // The old list is gone, so a link that has its name by now is not ours.
        let directory = self.home(listing).await?;
        // A run that died here has left a draft of the list.
        sweep(node, &directory, &[]).await;
        let path = directory.join(listing.file_name().unwrap_or_default());
        let mut manifest = Manifest::new(self.contents, &directory);
        lists.new.into_iter().for_each(|file| manifest.add(file));
        let mode = lists.access.map_or(NEW_MODE & !OTHERS_WRITE, |_| PRIVATE);
        let file = text_file::put(node, &path, manifest.text(), mode).await?;
        take_over(node, &file, lists.access).await?;
        Ok(stale)
    }

    /// The directory of the list, links followed.
    async fn home(&self, listing: &Path) -> Result<PathBuf, Failure> {
        let parent = listing.parent().filter(|parent| *parent != Path::new(""));
        Ok(self.node.resolve(parent.unwrap_or(Path::new("."))).await?)
    }

    /// The list, on rank 0, which writes it.
    fn written_here(&self) -> Option<&Path> {
        self.listing.filter(|_| self.node.rank() == Rank::ROOT)
    }
}

/// Outputs of an earlier sort, of more ranks or other names, that still exist.
async fn stale(node: &Node, lists: &Lists, here: &str) -> Option<Warning> {
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
        let is_elsewhere = old.host.as_deref() != Some(here);
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
