//! Help of one screen: the options that most command lines need, and the first examples. All of it
//! is behind `--help=all`, and in the man pages.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Asks for the long help.
const ALL: &str = "--help=all";

/// The most lines of examples in a short help.
const MOST_EXAMPLES: usize = 4;

/// The options that the short help of a command shows, where it does not show all.
const SHOWN: [(&str, &[&str]); 3] = [
    ("sort", &OF_SORT),
    ("check", &OF_SORT),
    ("explain", &OF_SORT),
];

const OF_SORT: [&str; 18] = [
    "format",
    "keys",
    "separators",
    "no_header",
    "reverse",
    "numeric",
    "unique",
    "top",
    "outputs",
    "merge",
    "bad_records",
    "memory",
    "temporary",
    "check",
    "verify",
    "resume",
    "lines",
    "quiet",
];

/// Options of machines that few simulations change.
const OF_FEW: [&str; 9] = [
    "multicast",
    "link_ns",
    "queue_bytes",
    "miss_ns",
    "l2_line_ns",
    "cores_per_nic",
    "tail_ns",
    "tail_fraction",
    "loss",
];

/// The words of a command line, and whether they ask for all of a help. `help sort` is `sort
/// --help`.
pub(crate) fn asked(words: Vec<OsString>) -> (Vec<OsString>, bool) {
    let is_all = |word: &OsString| word == ALL;
    let ends = words.iter().position(|word| word == "--");
    let options = ends.unwrap_or(words.len());
    let all = words[..options].iter().any(is_all);
    let plain = |word: OsString| if word == ALL { "--help".into() } else { word };
    let mut words: Vec<OsString> = words.into_iter().map(plain).collect();
    if words.get(1).is_some_and(|word| word == "help") && words.len() > 2 {
        words.remove(1);
        words.push("--help".into());
    }
    (words, all)
}

/// The command with the short help of each of its commands.
pub(crate) fn short(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let shown = SHOWN.iter().find(|(command, _)| *command == name);
    let is_rare = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let is_positional = arg.is_positional();
        let is_shown = |(_, all): &(&str, &[&str])| is_positional || all.contains(&id);
        id != HELP && (!shown.is_none_or(is_shown) || OF_FEW.contains(&id))
    };
    let mut command = command.mut_args(|arg| match arg.get_id() == HELP {
        true => arg.action(ArgAction::HelpShort),
        false if is_rare(&arg) => arg.hide(true),
        false => arg,
    });
    if let Some(examples) = command.get_before_long_help().map(ToString::to_string) {
        let first: Vec<&str> = examples.lines().take(MOST_EXAMPLES + 1).collect();
        command = command.before_help(first.join("\n"));
    }
    if command.get_arguments().all(|arg| arg.get_id() != HELP) {
        let help = Arg::new(HELP).short('h').long("help").help("Print help");
        command = command
            .disable_help_flag(true)
            .arg(help.action(ArgAction::HelpShort));
    }
    let has_others = command.get_subcommands().next().is_some();
    let more = match has_others {
        true => "`--help` behind a command shows its options.",
        false => "`--help=all` shows all options, and more about each.",
    };
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let command = command.after_help(more);
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, short))
}

const HELP: &str = "help";
