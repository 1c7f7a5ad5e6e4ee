//! `--resume`: its conditions, and the name of the saved progress.

use std::path::{Path, PathBuf};

use ::sort::{Choice, Resume, Source};

use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;

/// The resumable job of `--resume`. Its paths are those of the command line, with `{rank}`.
pub(super) fn of(arguments: &Arguments) -> Result<Option<Resume>, CliFailure> {
    if !arguments.resume {
        return Ok(None);
    }
    let [target] = arguments.outputs.as_slice() else {
        return refused("one output file, named with -o");
    };
    if target.is_dir() || target.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return refused("an output that is one file (of each rank), not a set of files");
    }
    if arguments.inputs.is_empty() || arguments.inputs.iter().any(|path| path == Path::new("-")) {
        return refused("inputs that can be read again, not standard input");
    }
    if !matches!(arguments.plan, Choice::Auto | Choice::TwoPass) {
        return refused("two passes: leave --plan out");
    }
    let whole = |path: &PathBuf| {
        std::path::absolute(path)
            .map_err(|cause| CliFailure::usage(format!("{}: {cause}", path.display())))
    };
    let sources = arguments
        .inputs
        .iter()
        .map(|path| Source::Path(path.clone()))
        .collect();
    Ok(Some(Resume {
        name: ::sort::spelled(&whole(target)?),
        sources,
        target: target.clone(),
        temporary: arguments.temporary.clone(),
    }))
}

fn refused<T>(what: &str) -> Result<T, CliFailure> {
    Err(CliFailure::usage(format!("--resume needs {what}")))
}
