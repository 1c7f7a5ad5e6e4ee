//! What is told of a sort that is done, where, and to whom.

use ::sort::Report;
use serde_json::Value;

use super::balance::{self, ranks};
use super::part::{Noticed, Together};
use super::{Arguments, json};
use crate::ending::say;
use crate::failure::CliFailure;
use crate::progress::{Mode, Terminal};

/// Tells how a sort went: what it noticed, its report, what people want to know.
pub(super) fn tell(
    arguments: &Arguments,
    report: &Report,
    together: &Together,
) -> Result<(), CliFailure> {
    for warning in &report.warnings {
        say::err(format!("WARNING {warning}"));
    }
    for (rank, Noticed { message, .. }) in together.warnings() {
        say::err(format!("WARNING rank {rank}: {message}"));
    }
    let value = write_report(arguments, report, together)?;
    tell_people(arguments, report, together);
    if arguments.json {
        say::out(format!("{value:#}"))?;
    }
    Ok(())
}

/// The report, in its file if it has one.
pub(super) fn write_report(
    arguments: &Arguments,
    report: &Report,
    together: &Together,
) -> Result<Value, CliFailure> {
    let value = json::report(report, together, node_real::peak_rss_bytes());
    if let Some(path) = &arguments.report {
        let text = format!("{value:#}\n");
        std::fs::write(path, text).map_err(|cause| {
            let message = format!(
                "cannot write {}: {cause}; the sort itself is done",
                path.display()
            );
            CliFailure {
                file: Some(path.clone()),
                ..CliFailure::new("io", message)
            }
        })?;
    }
    Ok(value)
}

/// What people want to know on standard error, unless programs read it.
fn tell_people(arguments: &Arguments, report: &Report, together: &Together) {
    if arguments.progress == Mode::Json {
        return;
    }
    let is_job = !together.parts.is_empty();
    // It matters whether what was begun was found; the table of one process says so.
    if arguments.resume && !arguments.json && (is_job || arguments.report.is_none()) {
        say::err(&report.reason);
    }
    if arguments.report.is_some() {
        say::err(if is_job {
            ranks::table(report, together)
        } else {
            balance::table(report)
        });
    } else if !arguments.json
        && arguments.progress == Mode::Auto
        && Terminal::find(is_job).is_some()
    {
        say::err(if is_job {
            ranks::line(report, together)
        } else {
            balance::line(report)
        });
    }
}
