//! The list of all ranks' outputs, in key order: a manifest, which appears when all have their names.
//!
//! Before the first output gets its name the old list goes: a list that is there is true.

use node::Node;
use pipeline::Failure;

use crate::agreement::{Agreement, ROOT};
use crate::job::Job;
use crate::manifest::{ListedFile, Manifest};
use crate::output::NEW_MODE;
use crate::text_file;

/// What a rank lists: by range, since a rank may have several.
pub(super) type Listed = Vec<(u32, Vec<ListedFile>)>;

/// The same with the host's name.
pub(super) fn here(job: &Job, files: Vec<ListedFile>) -> Vec<ListedFile> {
    let host = job.listing.as_ref().map(|listing| listing.host.clone());
    files.into_iter().map(|file| ListedFile { host: host.clone(), ..file }).collect()
}

/// Agrees with all others that outputs may have their names now; what all of them list.
pub(super) async fn gather(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    finished: Result<Listed, Failure>,
) -> Result<Listed, Failure> {
    let finished = match finished {
        Ok(listed) => withdraw(node, job).await.map(|()| listed),
        failed => failed,
    };
    let (_, all) = agreement.with(node, finished.map(|listed| ((), listed))).await?;
    let mut all = all.concat();
    all.sort_by_key(|&(range, _)| range);
    Ok(all)
}

/// The old list goes.
async fn withdraw(node: &Node, job: &Job) -> Result<(), Failure> {
    let Some(listing) = job.listing.as_ref().filter(|_| node.rank() == ROOT) else { return Ok(()) };
    match node.remove(&listing.path).await {
        Err(error) if error.cause.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Shows the new one, when all outputs have their names.
pub(super) async fn show(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    all: Listed,
) -> Result<(), Failure> {
    let shown = async {
        let Some(listing) = job.listing.as_ref().filter(|_| node.rank() == ROOT) else {
            return Ok(((), ()));
        };
        let path = node.resolve(&listing.path).await?;
        let directory = path.parent().unwrap_or(&path);
        let mut manifest = Manifest::new(&*job.contents, directory);
        all.into_iter().flat_map(|(_, files)| files).for_each(|file| manifest.add(file));
        text_file::put(node, &path, manifest.text(), NEW_MODE).await?;
        Ok(((), ()))
    };
    agreement.with(node, shown.await).await.map(drop)
}
