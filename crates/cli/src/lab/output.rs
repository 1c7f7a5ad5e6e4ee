//! Files of results: the page and the table of an experiment.

use std::io::Write;
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
    /// `None` for standard output.
    draft: Option<Draft>,
}

impl OutputFile {
    /// Opens the file without changing its content. The caller watches for signals.
    pub(super) fn open(what: &'static str, path: &Path) -> Result<OutputFile, CliFailure> {
        let at = path.to_owned();
        if path == Path::new("-") {
            return Ok(OutputFile {
                what,
                path: at,
                draft: None,
            });
        }
        let why = if path.metadata().is_ok_and(|found| !found.is_file()) {
            "it exists and is not a regular file; name another, or - for standard output"
        } else if !directory_of(path).is_dir() {
            "no such directory; make it first"
        } else {
            let draft = Draft::new(path).map_err(|cause| unwritable(what, path, &cause))?;
            return Ok(OutputFile {
                what,
                path: at,
                draft: Some(draft),
            });
        };
        Err(unwritable(what, path, &why))
    }

    /// Writes the text and gives the file its name.
    pub(super) fn write(self, text: &str) -> Result<(), CliFailure> {
        let Some(draft) = self.draft else {
            return say::out(text.trim_end());
        };
        draft
            .file()
            .write_all(text.as_bytes())
            .and_then(|()| draft.finish())
            .map_err(|cause| unwritable(self.what, &self.path, &cause))
    }
}

fn unwritable(what: &str, path: &Path, why: &dyn std::fmt::Display) -> CliFailure {
    let message = format!("cannot write {what} {}: {why}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
