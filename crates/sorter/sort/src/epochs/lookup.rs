//! Checkpoints of earlier runs: found, compared with the command line, and checked before they are
//! used.

use std::io::ErrorKind;
use std::path::Path;

use node::{Metadata, Node};
use pipeline::Failure;
use serde::de::DeserializeOwned;

use crate::epochs::bounds::{check_begun, check_entries};
use crate::epochs::checkpoint::{BEGUN, Begun, Checkpoint, epoch_name, written_name};
use crate::epochs::paths::{Site, job_stem};
use crate::error::SortError;
use crate::files::text_file;
use crate::files::text_file::Entry;
use crate::job::Resume;

/// Why an entry is refused that another user may have written, or that was altered.
const NOT_TRUSTED: &str = "cannot be trusted";

impl Checkpoint {
    /// The checkpoints of a job, of any range, whose entries lie in a directory.
    pub(crate) async fn find(
        node: &Node,
        resume: &Resume,
        place: &Path,
    ) -> Result<Vec<Checkpoint>, Failure> {
        let job = job_stem(&resume.name);
        let Ok(names) = node.list(place).await else {
            return Ok(Vec::new());
        };
        let range = |name: &String| -> Option<u32> {
            name.strip_prefix(&job)?
                .strip_suffix(BEGUN)?
                .strip_suffix('.')?
                .parse()
                .ok()
        };
        let mut ranges: Vec<u32> = names.iter().filter_map(range).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let mut found = Vec::new();
        for range in ranges {
            found.extend(Checkpoint::open(node, resume, (place, range)).await?);
        }
        Ok(found)
    }

    /// The checkpoint of a range whose entries lie in a directory, as far as they go; `None` if any
    /// of its files is missing.
    async fn open(
        node: &Node,
        resume: &Resume,
        (place, range): (&Path, u32),
    ) -> Result<Option<Checkpoint>, Failure> {
        let path = place.join(format!("{}{range}.{BEGUN}", job_stem(&resume.name)));
        let refused = |what| {
            Failure::from(SortError::Checkpoint {
                file: path.clone(),
                what,
            })
        };
        let Some(begun) = entry::<Begun>(node, &path).await? else {
            return Ok(None);
        };
        // Another name with the same checksum.
        if begun.name != resume.name {
            return Err(refused(format!("is of a sort into {}", begun.name)));
        }
        let site = match Site::of(node, resume, begun.rank, range).await {
            // The directories of that range are on another host.
            Err(error) if error.cause.kind() == ErrorKind::NotFound => return Ok(None),
            site => site?,
        };
        if let Some(what) = mismatch(&begun, &site, range) {
            return Err(refused(what));
        }
        check_begun(&begun).map_err(|what| refused(format!("{NOT_TRUSTED}: {what}")))?;
        let (mut epochs, mut written) = (Vec::new(), Vec::new());
        while epochs.len() < begun.epochs as usize
            && let Some(epoch) = entry(node, &site.entry(&epoch_name(epochs.len()))).await?
        {
            epochs.push(epoch);
        }
        while let Some(more) = entry(node, &site.entry(&written_name(written.len()))).await? {
            written.push(more);
        }
        let found = Checkpoint {
            site,
            begun,
            epochs,
            written,
            lock: None,
        };
        check_entries(&found).map_err(|what| refused(format!("{NOT_TRUSTED}: {what}")))?;
        Ok(found.has_its_files(node).await?.then_some(found))
    }

    /// Whether all files that the entries name exist.
    ///
    /// # Errors
    /// When a spill file is shorter than the entries say.
    async fn has_its_files(&self, node: &Node) -> Result<bool, SortError> {
        for (path, end) in self.spill_paths().iter().zip(self.spill_ends()) {
            match node.metadata(path).await {
                Err(_) => return Ok(false),
                Ok(there) if there.length < end => {
                    let what = format!(
                        "has {} bytes, but its records end at byte {end}",
                        there.length
                    );
                    return Err(SortError::Checkpoint {
                        file: path.clone(),
                        what,
                    });
                }
                Ok(_) => {}
            }
        }
        // A draft that was cut, or restored from a copy, lacks the records already written.
        let least = self.bytes_written();
        let is_it = |draft: Metadata| draft.identity == self.begun.draft && draft.length >= least;
        let draft = node.metadata(&self.draft()).await;
        Ok(draft.is_ok_and(is_it) || self.is_named(node).await)
    }
}

/// How the paths of a checkpoint differ from those of the command line.
fn mismatch(begun: &Begun, site: &Site, range: u32) -> Option<String> {
    let (directories, target) = site.spelled();
    if begun.range != range {
        return Some(format!(
            "belongs to range {}, but its name says {range}",
            begun.range
        ));
    }
    if begun.target != target {
        return Some(format!(
            "was begun for the output {}, but -o leads to {target}",
            begun.target
        ));
    }
    let list = |all: &[String]| all.join(", ");
    (begun.directories != directories).then(|| {
        let (then, now) = (list(&begun.directories), list(&directories));
        format!("was begun with temporary files in {then}, but this sort has them in {now}")
    })
}

async fn entry<T: DeserializeOwned>(node: &Node, path: &Path) -> Result<Option<T>, Failure> {
    let refused = |what| {
        Failure::from(SortError::Checkpoint {
            file: path.to_owned(),
            what,
        })
    };
    match text_file::read_entry(node, path).await? {
        Entry::Missing => Ok(None),
        Entry::Doubtful(why) => Err(refused(format!("{NOT_TRUSTED}: {why}"))),
        Entry::Text(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| refused(format!("is not as this version writes it ({error})"))),
    }
}

#[cfg(test)]
mod tests;
