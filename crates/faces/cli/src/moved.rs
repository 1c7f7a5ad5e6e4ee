//! `gristmill bench`, which has become a program.

use clap::Args;

use terminal::ending::failure::{CliFailure, Exit};

/// Moved to gristmill-bench
#[derive(Args)]
#[command(hide = true, disable_help_flag = true)]
pub(crate) struct Bench {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Bench {
    /// Names the command line that replaces this one.
    ///
    /// # Errors
    /// Always: a usage error.
    pub(crate) fn run(&self) -> Result<Exit, CliFailure> {
        let line: Vec<&str> = ["gristmill-bench"]
            .into_iter()
            .chain(self.words.iter().map(String::as_str))
            .collect();
        let message = format!("bench is a separate program now: use `{}`", line.join(" "));
        let json = self.words.iter().any(|word| word == "--json");
        Err(CliFailure::usage(message).with_json(json))
    }
}
