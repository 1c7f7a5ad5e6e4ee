//! The file of a trace: opened before a long run, written after it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lab::{Job, Place, SimReport, trace};

use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Output;
use terminal::ending::signals::Caught;
use terminal::files::{is_standard_output, keep_apart};

/// The file of a trace. Its name shows the old content or the complete trace.
pub(super) struct TraceFile {
    path: PathBuf,
    target: Output,
}

impl TraceFile {
    /// Opens the file without changing its content. It must not be the file of the machine.
    pub(super) fn open(path: &Path, machine: &str) -> Result<TraceFile, CliFailure> {
        keep_apart(&[("--trace", path)], &[Path::new(machine)])?;
        if path == Path::new("-") || is_standard_output(path) {
            let why = "the report goes to standard output; name another file";
            let message = format!("--trace {}: {why}", path.display());
            return Err(CliFailure {
                file: Some(path.to_owned()),
                ..CliFailure::usage(message)
            });
        }
        let target = Output::open(path).map_err(|cause| unwritable(path, &cause))?;
        Ok(TraceFile {
            path: path.to_owned(),
            target,
        })
    }

    /// Writes the trace of the first run, unless a signal has come.
    pub(super) fn write(
        self,
        job: &Job,
        report: &SimReport,
        caught: &Caught,
    ) -> Result<(), CliFailure> {
        let unwritable = |cause| unwritable(&self.path, &cause);
        write_to(self.target.file(), job, report).map_err(unwritable)?;
        match caught.failure() {
            Some(stopped) => Err(stopped),
            None => self.target.finish().map_err(unwritable),
        }
    }
}

fn write_to(file: &File, job: &Job, report: &SimReport) -> io::Result<()> {
    let first = report.runs.first().and_then(|run| run.simulated.as_ref());
    let (Place::Machine(profile, ..), Some(first)) = (job.place(), first) else {
        return Ok(());
    };
    let mut out = BufWriter::new(file);
    trace::write(
        &mut out,
        profile,
        report.cores,
        &first.slices,
        first.path.as_ref(),
    )?;
    out.flush()
}

fn unwritable(path: &Path, cause: &io::Error) -> CliFailure {
    let message = format!("cannot write the trace {}: {cause}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
