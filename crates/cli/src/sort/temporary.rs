//! Directories for temporary files.

use std::env;
use std::path::PathBuf;

use super::Arguments;
use crate::ending::failure::CliFailure;

/// The directories of `-T`. Without them temporary files go beside the output; standard output has
/// no directory, so there TMPDIR decides, as with GNU.
pub(super) fn directories(arguments: &Arguments) -> Vec<PathBuf> {
    let named = &arguments.temporary;
    if !named.is_empty() || !arguments.outputs.is_empty() {
        return named.clone();
    }
    let directory = env::var_os("TMPDIR").filter(|directory| !directory.is_empty());
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
        let what = match directory.exists() {
            true => "not a directory",
            false => "no such directory; make it first",
        };
        let message = format!("--tmp {}: {what}", directory.display());
        Err(CliFailure {
            file: Some(directory.clone()),
            ..CliFailure::usage(message)
        })
    })
}
