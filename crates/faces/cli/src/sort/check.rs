//! `-c`, `-C` and `gristmill check`: whether the input is in order. Nothing is sorted.

pub(crate) mod command;

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ::sort::{CheckResult, Checked, Source, check, contents_of};
use pipeline::Control;
use record::Framing;

use super::choices::CheckName;
use super::{Arguments, conflicts, format, resources, screen, sources};
use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::files::STANDARD_INPUT;
use terminal::text::printable;
use units::grouped;

/// Checks the input, and prints the first record that is out of order unless `how` says otherwise.
pub(super) fn run(arguments: &Arguments, how: CheckName) -> Result<Exit, CliFailure> {
    conflicts::check(arguments)?;
    let spec = format::of(arguments)?;
    let contents = contents_of(&spec);
    let source = sources(arguments).swap_remove(0);
    let resources = resources(arguments)?;
    let control = Control::default();
    let job = Checked {
        decompress: arguments.decompress,
        source: source.clone(),
        contents: contents.clone(),
        rows: spec.rows().cloned(),
        longest_line: arguments.max_line.map(|bytes| bytes as usize),
        io: resources.io,
        cores: resources.cores,
        memory_bytes: resources.memory_bytes,
        control: control.clone(),
    };
    screen::say_terminal(!arguments.inputs.is_empty());
    let found = machine::run(&control, arguments.progress, move |node| {
        let job = job.clone();
        async move { check(&node, &job).await }
    })?;
    let (line, record) = match found {
        CheckResult::Broken { line, record, .. } => (line, record),
        CheckResult::Kept { records, .. } => {
            if how == CheckName::Verdict {
                say_kept(&source, records, arguments.order.noun(records));
            }
            return Ok(Exit::Done);
        }
    };
    if how != CheckName::Quiet {
        let text = match contents.framing().records() {
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
