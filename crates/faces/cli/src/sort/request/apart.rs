//! The files that a sort writes beside its output: none of them is an input, an output, or another of
//! them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ::sort::Manifest;
use node_real::is_descriptor;

use super::target::is_directory;
use crate::sort::json;
use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;
use terminal::files::keep_apart;

use crate::listed::files_listed;

/// The front of a file by which it is known.
const FRONT_BYTES: u64 = 64 << 10;

/// Refuses to replace a file that is no report: a slip may have named it.
fn keep_others(arguments: &Arguments) -> Result<(), CliFailure> {
    // A pipe or an open descriptor is written on.
    let report = arguments.report_file();
    let report = report.filter(|path| path.is_file() && !is_descriptor(path));
    let Some((path, file)) = report.and_then(|path| Some((path, File::open(path).ok()?))) else {
        return Ok(());
    };
    let mut front = Vec::new();
    let read = file.take(FRONT_BYTES).read_to_end(&mut front);
    if read.is_ok() && (front.is_empty() || json::is_report(&front)) {
        return Ok(());
    }
    let shown = path.display();
    let message = format!(
        "--report {shown}: this file does not hold a report, so it is not replaced; name another file, or remove this one"
    );
    let file = Some(path.to_owned());
    let usage = CliFailure::usage(message);
    Err(CliFailure { file, ..usage })
}

/// Checks the files of these command lines together: of one process, or of all ranks. `list` is the
/// list of the outputs of all ranks.
pub(super) fn check(all: &[Arguments], list: Option<&Path>) -> Result<(), CliFailure> {
    let named = named_files(all, list);
    let homes = all.iter().filter_map(|arguments| arguments.outputs.first());
    let homes = homes.filter(|home| is_directory(home));
    let manifests: Vec<PathBuf> = homes.map(|home| home.join(Manifest::NAME)).collect();
    let manifests = manifests.iter().map(PathBuf::as_path);
    let written = manifests.map(|path| ("the manifest of the output", path));
    let written: Vec<(&str, &Path)> = written.chain(named.iter().copied()).collect();
    keep_apart(&written, &others(all))?;
    // A set may be sorted in place: then its manifest is replaced, as all its files are.
    let inputs = all.iter().flat_map(|arguments| &arguments.inputs);
    let sets = inputs.filter(|_| !named.is_empty());
    let sets = sets.flat_map(|path| files_listed(&path.join(Manifest::NAME)));
    keep_apart(&named, &sets.collect::<Vec<PathBuf>>())?;
    all.iter().try_for_each(keep_others)
}

/// The files beside the output that these command lines name.
fn named_files<'a>(all: &'a [Arguments], list: Option<&'a Path>) -> Vec<(&'static str, &'a Path)> {
    let list = list.map(|path| ("the list of all outputs", path));
    let mut named = Vec::from_iter(list);
    for arguments in all {
        let bad_rows = arguments.bad_records.as_deref();
        named.extend(bad_rows.map(|path| ("--bad-records", path)));
        // Ranks that name one report do not write it each.
        let report = arguments.report_file().map(|path| ("--report", path));
        named.extend(report.filter(|report| !named.contains(report)));
    }
    named
}

/// All other files that these command lines read or write.
fn others(all: &[Arguments]) -> Vec<&Path> {
    let inputs = all.iter().flat_map(|arguments| &arguments.inputs);
    let mut others: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    for arguments in all {
        others.extend(arguments.order.random_source.iter().map(PathBuf::as_path));
        others.extend(arguments.files0_from.as_deref());
        others.extend(arguments.outputs.iter().map(PathBuf::as_path));
    }
    if let [alone] = all {
        // Streams may be redirected files.
        let reads_stream = alone.inputs.iter().any(|path| path == Path::new("-"));
        let streams = [
            (alone.inputs.is_empty() || reads_stream, "/dev/stdin"),
            (alone.outputs.is_empty(), "/dev/stdout"),
        ];
        let used = streams.iter().filter(|(is_used, _)| *is_used);
        others.extend(used.map(|(_, name)| Path::new(*name)));
    }
    others
}
