//! Files of results: the page and the table of an experiment.

use std::io::Write;
use std::path::{Path, PathBuf};

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::ending::scratch::Output;

/// A file of results. Its name shows the old content or the complete new one.
pub(super) struct OutputFile {
    /// The content, as in "the page".
    what: &'static str,
    path: PathBuf,
    /// None is standard output.
    target: Option<Output>,
}

impl OutputFile {
    /// Opens the file without changing its content. The caller watches for signals.
    pub(super) fn open(what: &'static str, path: &Path) -> Result<OutputFile, CliFailure> {
        let named = (path != Path::new("-")).then(|| Output::open(path));
        let target = named.transpose();
        let target = target.map_err(|why| unwritable(what, path, &why))?;
        Ok(OutputFile {
            what,
            path: path.to_owned(),
            target,
        })
    }

    /// Writes the text and gives the file its name.
    pub(super) fn write(self, text: &str) -> Result<(), CliFailure> {
        let Some(target) = self.target else {
            return say::out(text.trim_end());
        };
        let written = target.file().write_all(text.as_bytes());
        let written = written.and_then(|()| target.finish());
        written.map_err(|cause| unwritable(self.what, &self.path, &cause))
    }
}

fn unwritable(what: &str, path: &Path, why: &dyn std::fmt::Display) -> CliFailure {
    let message = format!("cannot write {what} {}: {why}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
