//! The help of one command as a page of the site, in Markdown.
//!
//! Headings of options are sections, and options are definition lists, so each has a link of its own.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The page of a command that has been built.
pub(super) fn page(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut page = format!("# {name}\n\n");
    push_paragraphs(
        &mut page,
        command.get_long_about().or(command.get_about()),
        "",
    );
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    page += &block("Usage", usage);
    let before = command.get_before_long_help().or(command.get_before_help());
    page += &block("Examples", &examples(before));
    push_subcommands(&mut page, command, name);
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    for heading in headings(shown()) {
        write!(page, "## {heading}\n\n").expect("a text grows");
        for arg in shown().filter(|arg| heading_of(arg) == heading) {
            push_option(&mut page, arg);
        }
    }
    push_paragraphs(
        &mut page,
        command.get_after_long_help().or(command.get_after_help()),
        "",
    );
    page
}

fn block(heading: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("## {heading}\n\n```text\n{text}\n```\n\n")
    }
}

/// The examples that a help begins with, without their heading and indent.
fn examples(help: Option<&StyledStr>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter(|line| *line != "Examples:");
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    lines.join("\n")
}

fn push_subcommands(page: &mut String, command: &Command, name: &str) {
    let shown = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    for (i, sub) in command.get_subcommands().filter(shown).enumerate() {
        if i == 0 {
            let title = command.get_subcommand_help_heading().unwrap_or("Commands");
            write!(page, "## {title}\n\n").expect("a text grows");
        }
        let file = format!("{name} {}", sub.get_name()).replace(' ', "-");
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let about = escaped(&about);
        writeln!(page, "- [{}]({file}.md): {about}", sub.get_name()).expect("a text grows");
    }
    page.push('\n');
}

/// The headings of the options, each once, in the order of the help.
fn headings<'a>(shown: impl Iterator<Item = &'a Arg>) -> Vec<&'a str> {
    let mut headings = Vec::new();
    for arg in shown {
        if !headings.contains(&heading_of(arg)) {
            headings.push(heading_of(arg));
        }
    }
    headings
}

fn heading_of(arg: &Arg) -> &str {
    let default = if arg.is_positional() {
        "Arguments"
    } else {
        "Options"
    };
    arg.get_help_heading().unwrap_or(default)
}

/// An option with its help, values and default.
fn push_option(page: &mut String, arg: &Arg) {
    let short = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, "),
        _ => String::new(),
    };
    writeln!(page, "`{short}{arg}`").expect("a text grows");
    let mut help = String::new();
    push_paragraphs(&mut help, arg.get_long_help().or(arg.get_help()), "  ");
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let takes = arg.get_action().takes_values() && !arg.is_hide_possible_values_set();
    for value in values.filter(|_| takes) {
        let told = value.get_help().map(ToString::to_string);
        let told = told.map(|told| format!(": {}", escaped(&told)));
        writeln!(
            help,
            "  - `{}`{}",
            value.get_name(),
            told.unwrap_or_default()
        )
        .expect("a text grows");
    }
    push_notes(&mut help, arg);
    // A definition begins where its first paragraph does.
    writeln!(page, ": {}\n", help.trim()).expect("a text grows");
}

/// The default and the other names, in the words of the help.
fn push_notes(help: &mut String, arg: &Arg) {
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !arg.is_hide_default_value_set() && !defaults.is_empty() {
        write!(help, "\n  Default: `{}`\n", defaults.join(" ")).expect("a text grows");
    }
    let names = arg.get_visible_aliases().unwrap_or_default();
    if !names.is_empty() {
        write!(help, "\n  Also: `--{}`\n", names.join("`, `--")).expect("a text grows");
    }
}

/// Paragraphs that begin with `indent`, each followed by an empty line.
fn push_paragraphs(page: &mut String, text: Option<&StyledStr>, indent: &str) {
    let text = text.map(ToString::to_string).unwrap_or_default();
    for line in text.lines() {
        if line.trim().is_empty() {
            page.push('\n')
        } else {
            writeln!(page, "{indent}{}", escaped(line)).expect("a text grows")
        }
    }
    page.push('\n');
}

/// The text with the signs of Markdown escaped, except for what stands between backticks.
fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut escaped = String::new();
    for letter in text.chars() {
        is_code ^= letter == '`';
        if !is_code && r"\*_[]<>#|~".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
