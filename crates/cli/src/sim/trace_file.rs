//! The file of a trace: found to be writable before a long run, written after it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lab::{Job, Place, SimReport, trace};

use crate::failure::CliFailure;

/// A file that a trace goes to. A run that fails leaves what was there before, if anything.
pub struct TraceFile {
    path: PathBuf,
    file: File,
    is_left_behind: bool,
}

impl TraceFile {
    /// Opens it, without losing what it holds.
    pub fn open(path: &Path) -> Result<TraceFile, CliFailure> {
        let is_new = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|cause| unwritable(path, &cause))?;
        Ok(TraceFile { path: path.to_owned(), file, is_left_behind: is_new })
    }

    /// Writes the first run.
    pub fn write(mut self, job: &Job, report: &SimReport) -> Result<(), CliFailure> {
        self.is_left_behind = false;
        self.try_write(job, report).map_err(|cause| unwritable(&self.path, &cause))
    }

    fn try_write(&self, job: &Job, report: &SimReport) -> io::Result<()> {
        let first = report.runs.first().and_then(|run| run.simulated.as_ref());
        let (Place::Machine(profile, ..), Some(first)) = (job.place(), first) else {
            return Ok(());
        };
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        let mut out = BufWriter::new(&self.file);
        trace::write(&mut out, profile, report.cores, &first.slices)?;
        out.flush()
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        if self.is_left_behind {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn unwritable(path: &Path, cause: &io::Error) -> CliFailure {
    let message = format!("cannot write the trace {}: {cause}", path.display());
    CliFailure { file: Some(path.to_owned()), ..CliFailure::new("io", message) }
}
