//! `gristmill completions`: command-line completion for a shell.

use clap::{Args, Command};
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
pub(crate) struct Arguments {
    /// Shell to complete for
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command) -> Result<Exit, CliFailure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "gristmill", &mut script);
    say::out(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
