//! Output after a sort: warnings, the report, tables for people.

use std::path::PathBuf;

use ::sort::Report;
use serde_json::Value;

use super::balance::{self, ranks};
use super::part::{Noticed, Together};
use super::{Arguments, json};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::files::{is_standard_output, write};
use terminal::progress::{Mode, Terminal};

/// Prints the warnings of a sort, and its report in all forms that were asked for.
pub(super) fn tell(
    arguments: &Arguments,
    report: &Report,
    together: &Together,
) -> Result<(), CliFailure> {
    if !arguments.quiet {
        report.warnings.iter().for_each(say::warn);
        for (rank, Noticed { message, .. }) in together.warnings() {
            say::warn(format!("rank {rank}: {message}"));
        }
    }
    let value = write_report(arguments, report, together)?;
    if !arguments.quiet {
        tell_people(arguments, report, together);
    }
    if arguments.report_is_printed() {
        say::out(format!("{value:#}"))?;
    }
    Ok(())
}

/// Makes the report, and writes it to the file of `--report`.
pub(super) fn write_report(
    arguments: &Arguments,
    report: &Report,
    together: &Together,
) -> Result<Value, CliFailure> {
    let value = json::report(report, together, node_real::peak_rss_bytes());
    if let Some(path) = arguments.report_file() {
        let text = format!("{value:#}\n");
        write(path, text.as_bytes()).map_err(|cause| {
            let message = format!(
                "cannot write {}: {cause}; the sort itself is complete",
                path.display()
            );
            CliFailure {
                file: Some(path.to_owned()),
                ..CliFailure::new("io", message)
            }
        })?;
    }
    Ok(value)
}

/// Prints a summary on standard error, unless programs read that.
fn tell_people(arguments: &Arguments, report: &Report, together: &Together) {
    if arguments.progress == Mode::Json {
        return;
    }
    let is_job = !together.parts.is_empty();
    // The reason says whether saved progress was found; the table of one process contains it.
    if arguments.resume && !arguments.json && (is_job || arguments.report.is_none()) {
        say::err(&report.reason);
    }
    if arguments.report.is_some() {
        say::err(if is_job {
            ranks::table(report, together)
        } else {
            balance::table(report)
        });
    } else if is_followed(arguments) && Terminal::find(is_job).is_some() {
        let records = arguments.order.noun(report.records);
        say::err(if is_job {
            ranks::line(report, together, records)
        } else {
            balance::line(report, records)
        });
    }
}

/// Whether people may like to read how it went: the output is not what they read.
fn is_followed(arguments: &Arguments) -> bool {
    let to_file = |path: &PathBuf| !is_standard_output(path);
    let is_written = !arguments.outputs.is_empty() && arguments.outputs.iter().all(to_file);
    is_written && !arguments.json && arguments.progress == Mode::Auto
}
