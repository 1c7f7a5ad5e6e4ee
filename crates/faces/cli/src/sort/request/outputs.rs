//! Outputs and reports: two of them do not go to one place, and each can be written, or read again.

use std::fs::File;
use std::path::PathBuf;

use node_real::is_descriptor;
use terminal::ending::failure::CliFailure;
use terminal::files::{directory_of, is_standard_output};

use crate::sort::options::Arguments;

pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    check_standard_output(arguments)?;
    check_report_path(arguments)?;
    check_verify(arguments)
}

/// Refuses records and a report on one standard output.
fn check_standard_output(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_stdout = |path: &PathBuf| is_standard_output(path);
    let records = arguments.outputs.is_empty() || arguments.outputs.iter().any(is_stdout);
    let report = arguments.report_is_printed() || arguments.report.as_ref().is_some_and(is_stdout);
    let option = match (arguments.json, report) {
        (true, _) => "--json",
        (false, true) => "--report",
        (false, false) => return Ok(()),
    };
    if records {
        Err(CliFailure::usage(format!(
            "{option} writes the report to standard output, where the records go; name an output file with -o"
        )))
    } else {
        Ok(())
    }
}

/// Refuses a report without a place, or in a file that cannot be written.
fn check_report_path(arguments: &Arguments) -> Result<(), CliFailure> {
    let Some(report) = arguments.report_file() else {
        return Ok(());
    };
    let is_file = report.is_file() && !is_descriptor(report);
    let opened = is_file.then(|| File::options().write(true).open(report));
    let what = match opened {
        _ if !directory_of(report).is_dir() => "no such directory; make it first".to_owned(),
        _ if report.is_dir() => "a directory; name a file in it".to_owned(),
        Some(Err(cause)) => format!("{cause}; change its permissions, or name another file"),
        _ => return Ok(()),
    };
    let message = format!("--report {}: {what}", report.display());
    Err(CliFailure {
        file: Some(report.to_owned()),
        ..CliFailure::usage(message)
    })
}

/// Refuses to verify anything but regular files, which alone can be read again.
fn check_verify(arguments: &Arguments) -> Result<(), CliFailure> {
    // A missing output will be a regular file, or a directory of them.
    let can_be_read = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.map_or(true, |found| found.is_file() || found.is_dir()) && !is_descriptor(path)
    };
    let can_be_read = !arguments.outputs.is_empty() && arguments.outputs.iter().all(can_be_read);
    if arguments.verify && !can_be_read {
        return Err(CliFailure::usage(
            "--verify reads the output again, which must be a regular file; name one with -o",
        ));
    }
    Ok(())
}
