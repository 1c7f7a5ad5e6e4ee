//! Help of one screen: the options that most command lines need, and the first examples. All of it
//! is behind `--help=all`, and in the man pages.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, Id};

#[cfg(feature = "simulator")]
use sim::command;

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

/// Options of a simulation or of a search in its short help, beside the first options of the program.
const OF_SIM: [&str; 5] = ["machine", "seed", "trace", "json", "dials"];

/// The option that names a reading of the paper. A search has it as a dial, and no room for it.
const READING: &str = "reading";

/// The most options of a program in its short help.
const MOST_OF_PROGRAM: usize = 3;

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
    shortened(command, false)
}

/// The command with its short help. Of a simulation that has one heading.
fn shortened(command: Command, simulates: bool) -> Command {
    let name = command.get_name().to_owned();
    let shown = SHOWN.iter().find(|(command, _)| *command == name);
    // The options of a program are before those of all.
    let first = command.get_arguments().take(MOST_OF_PROGRAM);
    let first: Vec<Id> = first.map(|arg| arg.get_id().clone()).collect();
    let searches = command.get_arguments().any(|arg| arg.get_id() == "dials");
    let is_rare = |arg: &Arg| {
        let id = arg.get_id().as_str();
        !match shown {
            _ if simulates => {
                let is_reading = id == READING && !searches;
                first.contains(arg.get_id()) || OF_SIM.contains(&id) || is_reading
            }
            Some((_, all)) => arg.is_positional() || all.contains(&id),
            None => true,
        }
    };
    let mut place = 0;
    let mut command = command.mut_args(|arg| match arg.get_id() == HELP {
        true => arg.action(ArgAction::HelpShort),
        false if is_rare(&arg) => arg.hide(true),
        false if simulates => {
            // Their help names the values.
            let is_named = ["machine", READING].contains(&arg.get_id().as_str());
            place += 1;
            arg.help_heading(None)
                .display_order(place)
                .hide_possible_values(is_named)
        }
        false => arg,
    });
    if let Some(examples) = command.get_before_long_help().map(ToString::to_string) {
        let first: Vec<&str> = examples.lines().take(MOST_EXAMPLES + 1).collect();
        command = command.before_help(first.join("\n"));
    }
    if command.get_arguments().all(|arg| arg.get_id() != HELP) {
        let help = Arg::new(HELP)
            .short('h')
            .long("help")
            .help("Print help")
            .help_heading(None);
        command = command
            .disable_help_flag(true)
            .arg(help.action(ArgAction::HelpShort));
    }
    let has_others = command.get_subcommands().next().is_some();
    let more = if has_others {
        "`--help` behind a command shows its options."
    } else {
        "`--help=all` shows all options, and more about each."
    };
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let command = if name == "sim" && !simulates {
        command.after_help(format!("{}\n\n{more}", verdict()))
    } else {
        command.after_help(more)
    };
    let below = |sub| shortened(sub, simulates || name == "sim");
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, below))
}

const HELP: &str = "help";

/// How the paper of the programs stands.
#[cfg(feature = "simulator")]
fn verdict() -> String {
    command::verdict()
}

/// There is no `sim` in this build.
#[cfg(not(feature = "simulator"))]
fn verdict() -> String {
    String::new()
}
