//! Output after a sort: warnings, the report, tables for people.

use ::sort::Report;
use serde_json::Value;

use super::balance::{self, ranks};
use super::json;
use super::part::{Noticed, Together};
use super::request::Telling;
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::files::write;
use terminal::progress::{Mode, Terminal};

/// Prints the warnings of a sort, and its report in all forms that were asked for.
pub(super) fn tell(
    telling: &Telling,
    report: &Report,
    together: &Together,
) -> Result<(), CliFailure> {
    if !telling.quiet {
        report.warnings.iter().for_each(say::warn);
        for (rank, Noticed { message, .. }) in together.warnings() {
            say::warn(format!("rank {rank}: {message}"));
        }
    }
    let value = write_report(telling, report, together)?;
    if !telling.quiet {
        tell_people(telling, report, together);
    }
    if telling.is_printed {
        say::out(format!("{value:#}"))?;
    }
    Ok(())
}

/// Makes the report, and writes it to the file of `--report`.
pub(super) fn write_report(
    telling: &Telling,
    report: &Report,
    together: &Together,
) -> Result<Value, CliFailure> {
    let value = json::report(report, together, node_real::peak_rss_bytes());
    if let Some(path) = &telling.file {
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
fn tell_people(telling: &Telling, report: &Report, together: &Together) {
    if telling.progress == Mode::Json {
        return;
    }
    let is_job = !together.parts.is_empty();
    // The reason says whether saved progress was found; the table of one process contains it.
    if telling.resumes && !telling.json && (is_job || !telling.is_tabled) {
        say::err(&report.reason);
    }
    if telling.is_tabled {
        say::err(if is_job {
            ranks::table(report, together)
        } else {
            balance::table(report, &together.busy)
        });
    } else if telling.is_followed && Terminal::find(is_job).is_some() {
        let records = telling.noun(report.records);
        say::err(if is_job {
            ranks::line(report, together, records)
        } else {
            balance::line(report, records)
        });
    }
}
