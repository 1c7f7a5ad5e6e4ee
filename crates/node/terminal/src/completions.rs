//! A command-line completion for a shell.

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

/// The values of an argument that takes any word, by the names of its command and of itself.
pub type Values = fn(&str, &str) -> Vec<&'static str>;

/// The command without what is hidden, and with values where any word is taken.
fn with_values(command: &Command, version: &str, values: Values) -> Command {
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let named = |arg: &Arg| values(command.get_name(), arg.get_id().as_str());
    let args = args.cloned().map(|arg| match named(&arg) {
        none if none.is_empty() => arg,
        values => arg.value_parser(values),
    });
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let about = command.get_about().cloned().unwrap_or_default();
    let with = Command::new(command.get_name().to_owned())
        .about(about)
        .version(version.to_owned())
        .disable_version_flag(command.is_disable_version_flag_set())
        .disable_help_flag(command.is_disable_help_flag_set())
        .args(args);
    shown.fold(with, |with, sub| {
        with.subcommand(with_values(sub, version, values))
    })
}

/// Prints the script of `command`.
///
/// # Errors
/// When it cannot be written.
pub fn run(arguments: &Arguments, command: &Command, values: Values) -> Result<Exit, CliFailure> {
    let name = command.get_name().to_owned();
    let version = command.get_version().unwrap_or_default();
    let mut command = with_values(command, version, values);
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    say::out(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
