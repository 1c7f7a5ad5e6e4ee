//! `gristmill completions`: command-line completion for a shell.

use ::lab::experiment::Experiment;
use ::lab::machines;
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::say;

const EXAMPLES: &str = "\
Examples:
  gristmill completions bash > gristmill.bash   # then: . ./gristmill.bash
  gristmill completions zsh > _gristmill        # in a directory of $fpath
  gristmill completions fish > gristmill.fish   # in ~/.config/fish/completions";

/// Print a completion script for a shell.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    /// Shell to complete for
    shell: Shell,
}

/// Formats, as far as they have no numbers of one's own.
const FORMATS: [&str; 13] = [
    "lines",
    "csv",
    "tsv",
    "jsonl",
    "gensort",
    "fixed:",
    "rdw",
    "varlen:u8",
    "varlen:u16le",
    "varlen:u16be",
    "varlen:u32le",
    "varlen:u32be",
    "kv:u32le",
];

/// Languages with an order of their own.
const LOCALES: [&str; 20] = [
    "cs",
    "da",
    "de",
    "de-u-co-phonebk",
    "en",
    "es",
    "et",
    "fi",
    "fr",
    "hu",
    "is",
    "ja",
    "ko",
    "nb",
    "pl",
    "sk",
    "sv",
    "tr",
    "vi",
    "zh",
];

/// The command without what is hidden, and with values where any word is taken.
fn with_values(command: &Command) -> Command {
    let names = |arg: &Arg| -> Vec<&'static str> {
        match (command.get_name(), arg.get_id().as_str()) {
            ("sort" | "check" | "explain", "format") => FORMATS.to_vec(),
            ("sort" | "check" | "explain", "locale") => LOCALES.to_vec(),
            (_, "machine" | "NAME|FILE") => machines().into_iter().map(|(name, _)| name).collect(),
            ("run", "name") | ("report", "names") => Experiment::names().collect(),
            _ => Vec::new(),
        }
    };
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let args = args.cloned().map(|arg| match names(&arg) {
        none if none.is_empty() => arg,
        values => arg.value_parser(values),
    });
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let about = command.get_about().cloned().unwrap_or_default();
    let with = Command::new(command.get_name().to_owned())
        .about(about)
        .version(crate::VERSION)
        .disable_version_flag(command.is_disable_version_flag_set())
        .disable_help_flag(command.is_disable_help_flag_set())
        .args(args);
    shown.fold(with, |with, sub| with.subcommand(with_values(sub)))
}

/// Prints the script of `command`.
///
/// # Errors
/// When it cannot be written.
pub fn run(arguments: &Arguments, command: Command) -> Result<Exit, CliFailure> {
    let name = command.get_name().to_owned();
    let mut command = with_values(&command);
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    say::out(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
