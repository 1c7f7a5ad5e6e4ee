//! The files that a sort writes beside its output: none of them is an input, an output, or another of
//! them.

use std::path::{Path, PathBuf};

use ::sort::Manifest;

use super::Arguments;
use super::target::is_directory;
use crate::ending::failure::CliFailure;
use crate::files::{files_listed, is_temporary, keep_apart};

/// Checks the files of these command lines together: of one process, or of all ranks. `list` is the
/// list of the outputs of all ranks.
pub(super) fn check(all: &[Arguments], list: Option<&Path>) -> Result<(), CliFailure> {
    let homes = all.iter().filter_map(|arguments| arguments.outputs.first());
    let homes = homes.filter(|home| is_directory(home));
    let manifests: Vec<PathBuf> = homes.map(|home| home.join(Manifest::NAME)).collect();
    let manifests = manifests.iter().map(PathBuf::as_path);
    let mut written: Vec<(&str, &Path)> = manifests
        .map(|path| ("the manifest of the output", path))
        .collect();
    let first = written.len();
    written.extend(list.map(|path| ("the list of all outputs", path)));
    for arguments in all {
        let bad_rows = arguments.bad_records.as_deref();
        written.extend(bad_rows.map(|path| ("--bad-records", path)));
        // Ranks that name one report do not write it each.
        let report = arguments.report_file().map(|path| ("--report", path));
        written.extend(report.filter(|report| !written.contains(report)));
    }
    let inputs = || all.iter().flat_map(|arguments| &arguments.inputs);
    if let Some(path) = inputs().find(|path| is_temporary(path)) {
        return Err(CliFailure::usage(format!(
            "{}: an input with the name of a temporary file, which a sort removes; rename it first",
            path.display()
        )));
    }
    let mut others: Vec<&PathBuf> = inputs().collect();
    for arguments in all {
        others.extend(&arguments.order.random_source);
        others.extend(&arguments.files0_from);
        others.extend(&arguments.outputs);
    }
    keep_apart(&written, &others)?;
    // A set may be sorted in place: then its manifest is replaced, as all its files are.
    let named = &written[first..];
    let sets = inputs().filter(|_| !named.is_empty());
    let sets = sets.flat_map(|path| files_listed(&path.join(Manifest::NAME)));
    keep_apart(named, &sets.collect::<Vec<PathBuf>>())
}
