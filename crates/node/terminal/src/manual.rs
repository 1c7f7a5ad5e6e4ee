//! `gristmill manual`: a page for each subcommand, for `man` (`make install`) or in Markdown (`make docs`).

mod markdown;

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use crate::ending::failure::{CliFailure, Exit};

/// Write man pages of the command and of its subcommands
#[derive(Args)]
#[command(hide = true)]
pub struct Arguments {
    /// Existing directory for the pages
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write Markdown instead
    #[arg(long)]
    markdown: bool,
}

impl Arguments {
    /// Writes the pages of `command`.
    ///
    /// # Errors
    /// When a page cannot be written.
    pub fn run(&self, command: Command) -> Result<Exit, CliFailure> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        let written = self.write(&command);
        written.map(|()| Exit::Done).map_err(|cause| {
            let shown = self.directory.display();
            let message = format!("cannot write pages in {shown}: {cause}; make it first");
            CliFailure {
                file: Some(self.directory.clone()),
                ..CliFailure::new("io", message)
            }
        })
    }

    fn write(&self, command: &Command) -> io::Result<()> {
        let below = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        for command in below {
            self.write(command)?;
        }
        let name = Man::new(command.clone()).get_filename();
        if !self.markdown {
            return fs::write(self.directory.join(name), man_page(command)?);
        }
        let path = self.directory.join(name).with_extension("md");
        fs::write(path, markdown::page(command))
    }
}

fn man_page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    page.extend(synopsis(command).into_bytes());
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let examples = command
        .get_before_long_help()
        .or(command.get_before_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    page.extend(section(&examples).into_bytes());
    Ok(page)
}

/// How the command is called, without a list of its options.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('-', "\\-");
    format!(".SH SYNOPSIS\n.nf\n{usage}\n.fi\n")
}

/// The section of the examples, as they are in the help.
fn section(examples: &str) -> String {
    let lines = examples.lines().filter(|line| *line != "Examples:");
    let lines: String = lines
        .map(|line| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-")))
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!(".SH EXAMPLES\n.nf\n{lines}.fi\n")
    }
}
