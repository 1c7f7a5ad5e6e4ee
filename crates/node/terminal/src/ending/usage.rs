//! Command lines that cannot be understood.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use clap::Command;
use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::codes::FAILED;
use super::failure::CliFailure;
use super::say;
use crate::launcher;
use crate::text::printable;

/// The commands with the options of sort.
pub const OF_SORT: [&str; 3] = ["sort", "check", "explain"];

/// Reports the mistake in a command line of `program`. The exit code is that of the reference: 1 for
/// gensort and valsort, else 2.
pub fn tell(mut error: clap::Error, program: &Command) -> ExitCode {
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        if let Err(cause) = printed {
            return say::unwritten(&cause).tell();
        }
        // Ranks with other command lines would wait for this one; its failure ends them.
        return ExitCode::from(if launcher::is_one_of_several_commands() {
            FAILED
        } else {
            0
        });
    }
    if launcher::leaves_usage_to_another() {
        return ExitCode::from(FAILED);
    }
    without_far_guess(&mut error);
    // Suggesting `--` is rarely helpful.
    error.remove(ContextKind::Suggested);
    if is_of_reference() {
        say::err(as_reference(&error));
        return ExitCode::from(1);
    }
    let message = ambiguous(&error, program)
        .or_else(|| not_utf8(&error, program))
        .unwrap_or_else(|| in_one_line(&error, program));
    let told = match error.kind() {
        // Asked for nothing, a command shows what it has.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.render().to_string(),
        _ => format!("gristmill: {}", printable(&message)),
    };
    say::err(told.trim_end());
    if std::env::args_os().any(|argument| argument == "--json") {
        let _ = say::out(CliFailure::usage(message).to_json());
    }
    ExitCode::from(FAILED)
}

/// The subcommand of this process.
fn command() -> OsString {
    std::env::args_os().nth(1).unwrap_or_default()
}

/// Whether the command is one of the reference's, which show their usage after any mistake.
fn is_of_reference() -> bool {
    command() == "gensort" || command() == "valsort"
}

/// Whether a command has the options of sort.
fn is_of_sort(command: &&str) -> bool {
    OF_SORT.contains(command)
}

/// The option that is not known, without a value.
fn unknown_option(error: &clap::Error) -> Option<&str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(given) => given.split('=').next(),
        _ => None,
    }
}

/// The message about the beginning of several options.
fn ambiguous(error: &clap::Error, program: &Command) -> Option<String> {
    let given = unknown_option(error)?.strip_prefix("--")?;
    let found = program.find_subcommand(command().to_str().filter(is_of_sort)?)?;
    let begins = |name: &&str| name.starts_with(given);
    // Names of one option are one possibility.
    let names = found.get_arguments().filter(|arg| !arg.is_hide_set());
    let names = names.filter_map(|arg| {
        let others = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(others).find(begins)
    });
    let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
    (names.len() > 1).then(|| {
        format!(
            "--{given} is the beginning of several options: {}; write more of it",
            names.join(", ")
        )
    })
}

/// The message about a value that is not UTF-8. Names of files and single bytes may be anything.
fn not_utf8(error: &clap::Error, program: &Command) -> Option<String> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let others = [ValueParser::path_buf(), ValueParser::os_string()].map(|any| any.type_id());
    let words: Vec<OsString> = std::env::args_os().collect();
    words
        .windows(2)
        .filter(|pair| pair[1].to_str().is_none())
        .find_map(|pair| {
            let [before, word] = [&pair[0], &pair[1]].map(|word| word.to_string_lossy());
            let option = match word.split_once('=') {
                Some((option, _)) if word.starts_with("--") => option,
                _ if word.starts_with('-') => word.get(..2)?,
                _ => &before,
            };
            let mut known = called(program).1.get_arguments();
            let arg = known.find(|arg| match option.strip_prefix("--") {
                Some(name) => arg.get_long().is_some_and(|long| long.starts_with(name)),
                None => option.starts_with('-') && arg.get_short() == option.chars().last(),
            })?;
            let instead = match arg.get_id().as_str() {
                _ if others.contains(&arg.get_value_parser().type_id()) => return None,
                "keys" => "a column may be named by its number, as in --key '#1'",
                _ => "write it in UTF-8",
            };
            let given = pair[1].as_bytes().escape_ascii();
            Some(format!("{option}: \"{given}\" is not UTF-8; {instead}"))
        })
}

/// An error in one line: what is wrong, and what to do.
fn in_one_line(error: &clap::Error, program: &Command) -> String {
    use ContextKind::{
        InvalidArg, InvalidValue, SuggestedArg, SuggestedSubcommand, SuggestedValue,
    };
    let told = |kind| match error.get(kind)? {
        ContextValue::String(one) => Some(one.as_str()),
        ContextValue::Strings(all) => all.first().map(String::as_str),
        _ => None,
    };
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut wrong = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::trim);
    if error.kind() == ErrorKind::ValueValidation {
        // The reason of a parser of values says what to do.
        return wrong.next().unwrap_or_default().to_owned();
    }
    if let (ErrorKind::InvalidValue, Some("")) = (error.kind(), told(InvalidValue)) {
        let option = told(InvalidArg).unwrap_or_default();
        return format!("{option} has an empty value, or none; write a value behind it");
    }
    if let Some(given @ ("--delimiter" | "--separator")) = unknown_option(error) {
        return format!("{given}: the byte between fields is given with -t, as in -t ';'");
    }
    let said = wrong.collect::<Vec<_>>().join(" ");
    let mut meant = [SuggestedArg, SuggestedSubcommand, SuggestedValue].into_iter();
    match meant.find_map(told) {
        Some(meant) => format!("{said}; did you mean {meant}?"),
        None => format!("{said}; {} --help shows what there is", called(program).0),
    }
}

/// The command that this process was called for, as far as there is one, and its name.
fn called(program: &Command) -> (String, &Command) {
    let mut called = program.get_name().to_owned();
    let mut found = program;
    for word in std::env::args_os().skip(1) {
        let Some(command) = found.find_subcommand(&word) else {
            break;
        };
        called = format!("{called} {}", command.get_name());
        found = command;
    }
    (called, found)
}

/// The error as the reference's tools show it, with their usage.
fn as_reference(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.trim_end();
    let Some(told) = text.strip_prefix("error: ") else {
        return text.to_owned();
    };
    let told: Vec<String> = told.lines().map(printable).collect();
    format!("gristmill: {}", told.join("\n"))
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
