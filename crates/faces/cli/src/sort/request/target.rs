//! The outputs that `-o` names: a file, or the directories of a set of files.
//!
//! A name that ends in `/` and does not exist becomes a directory (one level), which is removed
//! again if the sort fails.

use std::path::{Path, PathBuf};

use ::sort::Target;

use terminal::ending::failure::CliFailure;
use terminal::files::is_same;

/// The target of the records.
pub(crate) struct Named {
    pub target: Target,
    /// Directories that were created for it, until the sort is done.
    made: Vec<PathBuf>,
}

impl Named {
    /// Reads the values of all `-o`, and creates missing directories.
    pub(super) fn new(outputs: &[PathBuf]) -> Result<Named, CliFailure> {
        let target = target(outputs)?;
        let mut named = Named {
            target,
            made: Vec::new(),
        };
        if let Target::Directories(all) = named.target.clone() {
            for directory in all.iter().filter(|directory| !directory.is_dir()) {
                named.make(directory)?;
            }
        }
        Ok(named)
    }

    fn make(&mut self, directory: &Path) -> Result<(), CliFailure> {
        std::fs::create_dir(directory).map_err(|cause| {
            let shown = directory.display();
            let message = format!(
                "-o {shown}: cannot make this directory: {cause}; make it first, or check the path"
            );
            CliFailure {
                file: Some(directory.to_owned()),
                ..CliFailure::new("io", message)
            }
        })?;
        self.made.push(directory.to_owned());
        Ok(())
    }

    /// Keeps the created directories: the sort is done.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        for directory in &self.made {
            // Only if it is empty.
            let _ = std::fs::remove_dir(directory);
        }
    }
}

fn target(outputs: &[PathBuf]) -> Result<Target, CliFailure> {
    match outputs {
        [] => return Ok(Target::Standard),
        // Scripts may name a file twice.
        [one, others @ ..] if !is_directory(one) && others.iter().all(|other| other == one) => {
            return Ok(Target::Path(one.clone()));
        }
        _ => {}
    }
    let refused = |path: &Path, what: &str| {
        let message = format!("-o {}: {what}", path.display());
        Err(CliFailure {
            file: Some(path.to_owned()),
            ..CliFailure::usage(message)
        })
    };
    if let Some(file) = outputs.iter().find(|path| !is_directory(path)) {
        let what = if file.exists() {
            "not a directory; with several -o each must be a directory: give one file, or only directories"
        } else {
            "no such directory; with several -o each must be a directory: end the name in / to create it"
        };
        return refused(file, what);
    }
    for (number, path) in outputs.iter().enumerate() {
        // A file whose name was given with a / at the end.
        if path.components().as_path().exists() && !path.is_dir() {
            return refused(
                path,
                "this is a file, not a directory; omit the / to replace it",
            );
        }
        if outputs[..number].iter().any(|other| is_same(other, path)) {
            return refused(path, "named twice; name each directory once");
        }
    }
    Ok(Target::Directories(outputs.to_vec()))
}

/// Whether `path` names a directory, which need not exist if it ends in `/`.
pub(super) fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}
