//! The list of all ranks' outputs, in key order: a manifest, which appears when all have their
//! names.
//!
//! Before the first output gets its name the old list goes: a list that is there is true.

use std::path::{Path, PathBuf};

use node::{Access, Node};
use pipeline::Failure;

use crate::agreement::{Agreement, ROOT};
use crate::files::manifest::{ListedFile, Manifest, is_part};
use crate::files::output::{NEW_MODE, Output, take_over};
use crate::files::text_file;
use crate::files::text_file::{Entry, OTHERS_WRITE, PRIVATE};
use crate::job::Job;
use crate::report::Warning;

/// What a rank lists: by range, since a rank may have several.
pub(crate) type Listed = Vec<(u32, Vec<ListedFile>)>;

/// The same with the host's name.
pub(crate) fn here(job: &Job, files: Vec<ListedFile>) -> Vec<ListedFile> {
    let host = job.listing.as_ref().map(|listing| listing.host.clone());
    files
        .into_iter()
        .map(|file| ListedFile {
            host: host.clone(),
            ..file
        })
        .collect()
}

/// What is listed instead of what was.
pub(crate) struct Lists {
    new: Vec<ListedFile>,
    old: Vec<ListedFile>,
    /// The access of the old list.
    access: Option<Access>,
}

/// Gives an output its name, with those of all others, when these have nothing left to fail but
/// that; and lists it.
pub(crate) async fn commit(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    output: &mut Output,
    (bytes, files): (u64, Vec<ListedFile>),
) -> Result<Vec<Warning>, Failure> {
    let finished = output.finish(node, bytes).await;
    let finished = finished.map(|()| vec![(node.rank().0, here(job, files))]);
    let listed = gather(node, job, agreement, finished).await?;
    let named = output.name(node).await;
    let stays = agreement.agree(node, named).await?;
    let stale = show(node, job, agreement, listed).await?;
    Ok(stays.into_iter().chain(stale).collect())
}

/// Agrees with all others that outputs may have their names now; what all of them list.
pub(crate) async fn gather(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    finished: Result<Listed, Failure>,
) -> Result<Lists, Failure> {
    let finished = match finished {
        Ok(listed) => withdraw(node, job).await.map(|old| (old, listed)),
        Err(failure) => Err(failure),
    };
    let ((old, access), all) = agreement.agree_and_tell(node, finished).await?;
    let mut all = all.concat();
    all.sort_by_key(|&(range, _)| range);
    Ok(Lists {
        new: all.into_iter().flat_map(|(_, files)| files).collect(),
        old,
        access,
    })
}

/// Removes the old list; the files that it had, and its access if the caller wrote it.
async fn withdraw(node: &Node, job: &Job) -> Result<(Vec<ListedFile>, Option<Access>), Failure> {
    let Some(listing) = job.listing.as_ref().filter(|_| node.rank() == ROOT) else {
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

/// Outputs of more ranks, or of other names, that an earlier sort has left.
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
        // On another host it cannot be looked for.
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

/// Shows the new one, when all outputs have their names; what of the old ones is still there.
pub(crate) async fn show(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    lists: Lists,
) -> Result<Option<Warning>, Failure> {
    let shown = put(node, job, lists).await;
    agreement.agree(node, shown).await
}

async fn put(node: &Node, job: &Job, lists: Lists) -> Result<Option<Warning>, Failure> {
    let Some(listing) = job.listing.as_ref().filter(|_| node.rank() == ROOT) else {
        return Ok(None);
    };
    let stale = stale(node, &lists, Some(&listing.host)).await;
    // The old list is gone: a link that has its name by now is not ours.
    let parent = listing
        .path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = node.resolve(parent.unwrap_or(Path::new("."))).await?;
    let path = directory.join(listing.path.file_name().unwrap_or_default());
    let mut manifest = Manifest::new(&*job.contents, &directory);
    lists.new.into_iter().for_each(|file| manifest.add(file));
    let mode = lists.access.map_or(NEW_MODE & !OTHERS_WRITE, |_| PRIVATE);
    let file = text_file::put(node, &path, manifest.text(), mode).await?;
    take_over(node, &file, lists.access).await?;
    Ok(stale)
}
