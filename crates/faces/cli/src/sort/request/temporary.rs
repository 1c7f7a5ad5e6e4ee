//! Directories for temporary files.

use std::collections::BTreeSet;
use std::env;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ::sort::Job;
use rustix::fs::{Access, access};

use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;
use terminal::ending::say;

/// Where temporary files go that have no other place.
const LAST_RESORT: &str = "/tmp";

/// The directories of `-T`. Without them temporary files go beside the output; standard output has
/// no directory, so there TMPDIR decides, as with GNU, or the current directory if files can be made in it.
pub(super) fn directories(arguments: &Arguments) -> Vec<PathBuf> {
    let named = &arguments.temporary;
    if !named.is_empty() || !arguments.outputs.is_empty() {
        return named.clone();
    }
    let directory = env::var_os("TMPDIR").filter(|directory| !directory.is_empty());
    let is_usable = || access(".", Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let directory = directory.or_else(|| (!is_usable()).then(|| LAST_RESORT.into()));
    directory.map(PathBuf::from).into_iter().collect()
}

/// Refuses directories of `-T` that do not exist. One of TMPDIR must exist only if it is needed:
/// it is not given for this command.
pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    if arguments.tmp_limit.is_some() && arguments.resume {
        return Err(CliFailure::usage(
            "--resume keeps all records in temporary files; leave --tmp-limit or --resume out",
        ));
    }
    let mut named = arguments.temporary.iter();
    let wrong = named.find(|directory| !directory.is_dir());
    wrong.map_or(Ok(()), |directory| {
        let what = if directory.exists() {
            "not a directory"
        } else {
            "no such directory; make it first"
        };
        let message = format!("--tmp {}: {what}", directory.display());
        Err(CliFailure {
            file: Some(directory.clone()),
            ..CliFailure::usage(message)
        })
    })
}

/// Refuses stripes that do not fit the directories, and warns of directories that are lost together.
pub(super) fn check_stripes(job: &Job, is_quiet: bool) -> Result<(), CliFailure> {
    job.check_stripes()
        .map_err(|refused| CliFailure::usage(refused.to_string()))?;
    let directories = &job.temporary;
    let device = |directory: &PathBuf| Some(directory.metadata().ok()?.dev());
    let devices: BTreeSet<_> = directories.iter().filter_map(device).collect();
    if job.stripe.is_some() && devices.len() < directories.len() && !is_quiet {
        say::warn(format!(
            "--stripe protects from the loss of one disk, but {} directories of -T are on {}",
            directories.len(),
            devices.len()
        ));
    }
    Ok(())
}
