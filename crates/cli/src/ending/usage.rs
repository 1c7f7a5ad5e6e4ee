//! Command lines that cannot be understood.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::codes::FAILED;
use super::failure::CliFailure;
use super::say;
use crate::launcher;

/// The answer to options and formats of text.
pub const NO_TEXT: &str = "text is not supported yet, except lines of equal length: fixed:LEN, where LEN counts the newline";

/// Options of GNU sort that `gristmill sort` does not have, and what to do instead.
const GNU: [(&[&str], &str); 12] = [
    (
        &["-r", "--reverse"],
        "for the largest first add :desc to a key, as in --key 0+10:desc",
    ),
    (
        &["-k"],
        "a key is --key OFFSET+LENGTH[:TYPE][:desc], in bytes, as in --key 8+8:u64le",
    ),
    (
        &["-t", "--field-separator"],
        "records have no fields; a key is --key OFFSET+LENGTH, in bytes",
    ),
    (
        &["-n", "--numeric-sort"],
        "binary numbers are keys with a type, as in --key 8+8:u64le; numbers in text are not supported yet",
    ),
    (
        &["-u", "--unique"],
        "it cannot drop duplicates yet; equal records are adjacent in the output",
    ),
    (
        &["-c", "-C", "--check"],
        "--verify checks the output of a sort, and `gristmill valsort` checks gensort records",
    ),
    (
        &["-m", "--merge"],
        "give the sorted files as inputs: --plan merge makes use of their order",
    ),
    (
        &["-s"],
        "write --stable to keep the input order of records with equal keys",
    ),
    (
        &["-z", "--zero-terminated"],
        "records have no end marker; every record has the length that --format gives",
    ),
    (
        &[
            "-b",
            "-d",
            "-f",
            "-g",
            "-i",
            "-M",
            "-R",
            "-V",
            "--ignore-leading-blanks",
            "--dictionary-order",
            "--ignore-case",
            "--general-numeric-sort",
            "--ignore-nonprinting",
            "--human-numeric-sort",
            "--month-sort",
            "--random-sort",
            "--version-sort",
            "--sort",
        ],
        "it compares the bytes of a key, or a number of a type, as in --key 8+8:u64le",
    ),
    (
        &["--buffer-size"],
        "the limit of the memory is -S, as in -S 512M",
    ),
    (
        &[
            "--compress-program",
            "--batch-size",
            "--files0-from",
            "--debug",
        ],
        "`gristmill sort --help` lists its options",
    ),
];

/// Reports the mistake in a command line. The exit code is that of the reference: 1 for gensort and
/// valsort, else 2.
pub fn tell(mut error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if launcher::leaves_usage_to_another() {
        return ExitCode::from(FAILED);
    }
    without_far_guess(&mut error);
    let hint = hint(&error);
    match &hint {
        Some(hint) => say::err(format!("gristmill: {hint}")),
        None => say::err(told(&error)),
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let message = hint.unwrap_or_else(|| first_paragraph(&error));
        let _ = say::out(CliFailure::usage(message).to_json());
    }
    ExitCode::from(if is_of_reference() { 1 } else { FAILED })
}

/// The subcommand of this process.
fn command() -> OsString {
    std::env::args_os().nth(1).unwrap_or_default()
}

/// Whether the command is one of the reference's, which show their usage after any mistake.
fn is_of_reference() -> bool {
    command() == "gensort" || command() == "valsort"
}

/// The hint for an option of GNU sort or a missing format.
fn hint(error: &clap::Error) -> Option<String> {
    if command() != "sort" {
        return None;
    }
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::UnknownArgument, ContextValue::String(given)) => {
            let given = given.split('=').next()?;
            let (_, instead) = GNU.iter().find(|(names, _)| names.contains(&given))?;
            Some(format!("sort has no {given}; {instead}"))
        }
        (ErrorKind::MissingRequiredArgument, ContextValue::Strings(missing)) => missing
            .iter()
            .any(|name| name.starts_with("--format"))
            .then(|| format!("the record format is missing: give --format gensort (100-byte records) or fixed:LEN; {NO_TEXT}")),
        _ => None,
    }
}

/// The first paragraph of an error, which says what is wrong, in one line.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    message.trim_start_matches("error: ").to_owned()
}

/// The error as all failures begin. A wrong value takes one line, which names its option; other
/// mistakes come with the usage.
fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.trim_end();
    let Some(told) = text.strip_prefix("error: ") else {
        return text.to_owned();
    };
    let told = match error.kind() {
        ErrorKind::ValueValidation if !is_of_reference() => told.lines().next().unwrap_or(told),
        _ => told,
    };
    format!("gristmill: {told}")
}

/// Drops a suggestion whose first letter differs: `--incast` for `--list` is no help.
fn without_far_guess(error: &mut clap::Error) {
    let first_letter = |kind| match error.get(kind) {
        Some(ContextValue::String(option)) => option.trim_start_matches('-').chars().next(),
        _ => None,
    };
    let given = first_letter(ContextKind::InvalidArg);
    let guessed = first_letter(ContextKind::SuggestedArg);
    if guessed.is_some() && guessed != given {
        error.remove(ContextKind::SuggestedArg);
    }
}
