//! valsort of a set of files: checks each file against the manifest, and the order of all together.

use std::path::{Path, PathBuf};

use node::{Decompress, Node};
use pipeline::{Control, Failure};
use record::{Comparison, Summary};

use crate::error::SortError;
use crate::files::manifest::{ListedFile, Manifest, listed_key};
use crate::job::IoChoice;
use crate::job::Source;
use crate::tools::validate::{Validated, validate};

/// Options of valsort for a set of files.
#[derive(Clone)]
pub struct ValidatedSet {
    /// Its manifest.
    pub manifest: PathBuf,
    /// Whether to read past the page cache.
    pub io: IoChoice,
    /// Cores to use.
    pub cores: usize,
    /// To watch and stop it.
    pub control: Control,
}

/// The result for a set of files.
#[derive(Clone, Debug, Default)]
pub struct SetSummary {
    /// The summary of all records.
    pub summary: Summary,
    /// The files that are wrong, and why.
    pub wrong: Vec<(PathBuf, String)>,
}

/// Validates a set of files, in the order of its manifest.
///
/// # Errors
/// When there is no manifest, or a file cannot be read. A file that differs from the manifest is a
/// result, not an error.
pub async fn validate_set(node: &Node, job: &ValidatedSet) -> Result<SetSummary, Failure> {
    let Some(manifest) = Manifest::read_from(node, &job.manifest).await? else {
        let what = "does not exist, so the directory is not a set of files; name a file".to_owned();
        return Err(SortError::Manifest {
            file: job.manifest.clone(),
            what,
        }
        .into());
    };
    let directory = job.manifest.parent().unwrap_or(Path::new(""));
    let comparison = manifest.order(directory)?;
    let mut found = SetSummary::default();
    for (path, listed) in manifest.paths(directory).into_iter().zip(&manifest.files) {
        let file = Validated {
            decompress: Decompress::Never,
            sources: vec![Source::Listed(path.clone()).behind(manifest.header_bytes)],
            comparison: comparison.clone(),
            io: job.io,
            cores: job.cores,
            control: job.control.clone(),
        };
        let summary = match validate(node, &file).await {
            Err(failure) if is_truncated(&failure) => {
                found.wrong.push((path, failure.to_string()));
                continue;
            }
            validated => validated?,
        };
        let wrong = differences(&summary, listed, &comparison);
        found
            .wrong
            .extend(wrong.into_iter().map(|what| (path.clone(), what)));
        let before = found.summary.unordered + summary.unordered;
        found.summary = found.summary.merge(summary, &comparison);
        if found.summary.unordered > before {
            let what = "its first record is less than the last one of the file before".to_owned();
            found.wrong.push((path, what));
        }
    }
    if found.wrong.is_empty() {
        let all = (found.summary.records, found.summary.checksum);
        let wrong = manifest.wrong_totals(all);
        found
            .wrong
            .extend(wrong.map(|what| (job.manifest.clone(), what)));
    }
    Ok(found)
}

/// Differences of a file from its entry in the manifest, and disorder.
fn differences(summary: &Summary, listed: &ListedFile, order: &Comparison) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(record) = summary.first_unordered {
        wrong.push(format!("its record {record} is out of order"));
    }
    let key = |record: &Vec<u8>| {
        if record.is_empty() {
            String::new()
        } else {
            listed_key(order, record)
        }
    };
    let found = [
        (
            "records",
            summary.records.to_string(),
            &listed.records.to_string(),
        ),
        ("checksum", summary.checksum.to_string(), &listed.checksum),
        ("first key", key(&summary.first), &listed.first_key),
        ("last key", key(&summary.last), &listed.last_key),
    ];
    for (name, found, listed) in found {
        if found != *listed {
            wrong.push(format!("{name} {found}, the manifest lists {listed}"));
        }
    }
    wrong
}

fn is_truncated(failure: &Failure) -> bool {
    let Failure::Program(error) = failure else {
        return false;
    };
    matches!(
        error.downcast_ref(),
        Some(SortError::TruncatedRecord { .. })
    )
}

impl SetSummary {
    /// Whether all files agree with the manifest and all records are in order.
    pub fn is_right(&self) -> bool {
        self.wrong.is_empty() && self.summary.is_ordered()
    }
}
