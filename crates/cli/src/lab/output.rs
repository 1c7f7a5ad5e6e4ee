//! Files of results: the page and the table of an experiment.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::ending::failure::CliFailure;
use crate::ending::say;
use crate::ending::scratch::Draft;
use crate::files::directory_of;

/// A file of results. Its name shows the old content or the complete new one.
pub(super) struct OutputFile {
    /// The content, as in "the page".
    what: &'static str,
    path: PathBuf,
    target: Target,
}

enum Target {
    Standard,
    /// An open descriptor of the process.
    Open(File),
    Draft(Draft),
}

impl OutputFile {
    /// Opens the file without changing its content. The caller watches for signals.
    pub(super) fn open(what: &'static str, path: &Path) -> Result<OutputFile, CliFailure> {
        let target = Target::open(path).map_err(|why| unwritable(what, path, &why))?;
        Ok(OutputFile {
            what,
            path: path.to_owned(),
            target,
        })
    }

    /// Writes the text and gives the file its name.
    pub(super) fn write(self, text: &str) -> Result<(), CliFailure> {
        let written = match self.target {
            Target::Standard => return say::out(text.trim_end()),
            Target::Open(mut file) => file.write_all(text.as_bytes()),
            Target::Draft(draft) => {
                let written = draft.file().write_all(text.as_bytes());
                written.and_then(|()| draft.finish())
            }
        };
        written.map_err(|cause| unwritable(self.what, &self.path, &cause))
    }
}

impl Target {
    fn open(path: &Path) -> io::Result<Target> {
        if path == Path::new("-") {
            return Ok(Target::Standard);
        }
        if let Some(open) = node_real::open_descriptor(path)? {
            return Ok(Target::Open(File::from(open)));
        }
        let why = if path.metadata().is_ok_and(|found| !found.is_file()) {
            "it exists and is not a regular file; name another, or - for standard output"
        } else if !directory_of(path).is_dir() {
            "no such directory; make it first"
        } else {
            return Draft::new(path).map(Target::Draft);
        };
        Err(io::Error::other(why))
    }
}

fn unwritable(what: &str, path: &Path, why: &dyn std::fmt::Display) -> CliFailure {
    let message = format!("cannot write {what} {}: {why}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
