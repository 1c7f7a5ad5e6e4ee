//! The file of a trace: opened before a long run, written after it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lab::{Job, Place, SimReport, trace};

use crate::ending::failure::CliFailure;
use crate::ending::scratch::Draft;
use crate::ending::signals::Caught;
use crate::files::{directory_of, is_standard_output, keep_apart};

/// The file of a trace. Its name shows the old content or the complete trace.
pub(super) struct TraceFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A regular file, with a temporary name until it is complete.
    Draft(Draft),
    /// A device, a pipe or an open descriptor.
    Open(File),
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
        let target = Target::open(path).map_err(|cause| unwritable(path, &cause))?;
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
        match (caught.failure(), self.target) {
            (Some(stopped), _) => Err(stopped),
            (None, Target::Draft(draft)) => draft.finish().map_err(unwritable),
            (None, Target::Open(_)) => Ok(()),
        }
    }
}

impl Target {
    fn open(path: &Path) -> io::Result<Target> {
        if let Some(open) = node_real::open_descriptor(path)? {
            return Ok(Target::Open(File::from(open)));
        }
        let is_special = path.metadata().is_ok_and(|found| !found.is_file());
        if is_special {
            return OpenOptions::new().write(true).open(path).map(Target::Open);
        }
        if !directory_of(path).is_dir() {
            let why = "no such directory; make it first";
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        Draft::new(path).map(Target::Draft)
    }

    fn file(&self) -> &File {
        match self {
            Target::Draft(draft) => draft.file(),
            Target::Open(file) => file,
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
