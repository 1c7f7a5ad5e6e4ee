//! `-c`, `-C` and `gristmill check`: whether the input is in order. Nothing is sorted.

pub(crate) mod command;

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ::sort::{CheckResult, Source, check};
use record::{Framing, Multiline};

use super::choices::CheckName;
use super::cures::Cures;
use super::request::Check;
use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::files::STANDARD_INPUT;
use terminal::text::printable;
use units::grouped;

/// Checks the input, and prints the first record that is out of order unless it is to be silent.
pub(super) fn run(asked: Check) -> Result<Exit, CliFailure> {
    let Check { job, how, telling } = asked;
    let (source, framing) = (job.source.clone(), job.contents.framing());
    let several = job.contents.multiline().is_some();
    let found = machine::run(&job.control.clone(), telling.progress, move |node| {
        let job = job.clone();
        async move {
            let checked = check(&node, &job).await;
            checked.map_err(|failure| Cures::of_check(&job).told(failure))
        }
    })?;
    let (line, record) = match found {
        CheckResult::Broken { line, record, .. } => (line, record),
        CheckResult::Kept { records, .. } => {
            if how == CheckName::Verdict {
                say_kept(&source, records, telling.noun(records));
            }
            return Ok(Exit::Done);
        }
    };
    if how != CheckName::Quiet {
        let text = match framing.records() {
            _ if several => in_lines(record),
            Framing::Delimited(_) | Framing::Quoted(_) => record,
            Framing::Fixed(_) | Framing::Prefixed(_) => hexadecimal(&record),
        };
        tell(&source, line, &text);
    }
    Ok(Exit::CheckFailed)
}

/// Says that all records are in order.
fn say_kept(source: &Source, records: u64, noun: &str) {
    let file = source.path().unwrap_or(Path::new(STANDARD_INPUT)).display();
    let text = format!("{file}: {} {noun}, in order", grouped(records));
    say::err(printable(&text));
}

/// A record of several lines as its file has it.
fn in_lines(mut record: Vec<u8>) -> Vec<u8> {
    Multiline::end_lines(&mut record);
    record
}

/// A binary record, as a line.
fn hexadecimal(record: &[u8]) -> Vec<u8> {
    let digits: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
    (digits + "\n").into_bytes()
}

/// Prints where the order is broken, as sort does. Programs read that line, so the text has its
/// bytes, whatever they are.
fn tell(source: &Source, number: u64, text: &[u8]) {
    let file = source
        .path()
        .map_or(&b"-"[..], |path| path.as_os_str().as_bytes());
    let number = format!(":{number}: disorder: ");
    let line = [b"gristmill: ", file, number.as_bytes(), text].concat();
    // As with all messages, there is nothing to do if nobody can read it.
    let _ = std::io::stderr().write_all(&line);
}
