//! Command lines that cannot be understood.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::codes::FAILED;
use super::failure::CliFailure;
use super::say;
use crate::launcher;

/// Tells the mistake in a command line. The reference's gensort and valsort exit 1 then, and
/// so do ours.
pub fn tell(mut error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if launcher::leaves_usage_to_another() {
        return ExitCode::from(FAILED);
    }
    without_far_guess(&mut error);
    say::err(told(&error));
    if std::env::args_os().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        // Its first paragraph says what is wrong, in one line or in several.
        let lines = text
            .lines()
            .take_while(|line| !line.is_empty())
            .map(str::trim);
        let message = lines.collect::<Vec<_>>().join(" ");
        let message = message.trim_start_matches("error: ");
        let _ = say::out(CliFailure::usage(message).to_json());
    }
    ExitCode::from(if is_of_reference() { 1 } else { FAILED })
}

/// Whether the command is one of the reference's, which show how they are used on any mistake.
fn is_of_reference() -> bool {
    let command = std::env::args_os().nth(1).unwrap_or_default();
    command == "gensort" || command == "valsort"
}

/// The error in the form of every failure. A wrong value is told in one line, which names its
/// option; other mistakes are told with the usage.
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
