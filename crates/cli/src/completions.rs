//! `gristmill completions`: command-line completion for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::{CliFailure, Exit};

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
    std::io::Write::write_all(&mut std::io::stdout(), &script)
        .map_err(|cause| CliFailure::new("io", format!("cannot write the script: {cause}")))?;
    Ok(Exit::Done)
}
