//! `gristmill completions`: command-line completion for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::{CliFailure, Exit};
use crate::say;

/// Print a completion script for a shell.
#[derive(Args)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(arguments: &Arguments, mut command: Command) -> Result<Exit, CliFailure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "gristmill", &mut script);
    say::out(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
