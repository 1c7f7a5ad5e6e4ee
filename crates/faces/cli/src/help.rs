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
    "header",
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

/// The options that a short help shows.
enum Shown {
    All,
    These(&'static [&'static str]),
    /// The first of the program, and those of every simulation.
    Simulation {
        first: Vec<Id>,
        has_reading: bool,
    },
}

impl Shown {
    fn of(command: &Command, simulates: bool) -> Shown {
        if simulates {
            // The options of a program are before those of all.
            let first = command.get_arguments().take(MOST_OF_PROGRAM);
            let mut ids = command.get_arguments().map(Arg::get_id);
            return Shown::Simulation {
                first: first.map(|arg| arg.get_id().clone()).collect(),
                has_reading: ids.all(|id| id != "dials"),
            };
        }
        let listed = SHOWN.iter().find(|(name, _)| *name == command.get_name());
        listed.map_or(Shown::All, |(_, options)| Shown::These(options))
    }

    fn has(&self, arg: &Arg) -> bool {
        let id = arg.get_id().as_str();
        match self {
            Shown::All => true,
            Shown::These(options) => arg.is_positional() || options.contains(&id),
            Shown::Simulation { first, has_reading } => {
                let is_reading = id == READING && *has_reading;
                first.contains(arg.get_id()) || OF_SIM.contains(&id) || is_reading
            }
        }
    }
}

/// The command with its short help. Of a simulation that has one heading.
fn shortened(command: Command, simulates: bool) -> Command {
    let shown = Shown::of(&command, simulates);
    let mut place = 0;
    let mut command = command.mut_args(|arg| {
        if arg.get_id() == HELP {
            arg.action(ArgAction::HelpShort)
        } else if !shown.has(&arg) {
            arg.hide(true)
        } else if simulates {
            // Their help names the values.
            let is_named = ["machine", READING].contains(&arg.get_id().as_str());
            place += 1;
            let arg = arg.help_heading(None).display_order(place);
            arg.hide_possible_values(is_named)
        } else {
            arg
        }
    });
    if let Some(examples) = command.get_before_long_help().map(ToString::to_string) {
        let first: Vec<&str> = examples.lines().take(MOST_EXAMPLES + 1).collect();
        command = command.before_help(first.join("\n"));
    }
    if command.get_arguments().all(|arg| arg.get_id() != HELP) {
        let help = Arg::new(HELP).short('h').long("help").help("Print help");
        let help = help.help_heading(None).action(ArgAction::HelpShort);
        command = command.disable_help_flag(true).arg(help);
    }
    let is_sim = command.get_name() == "sim";
    let names = command.get_subcommands().map(Command::get_name);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let more = if names.is_empty() {
        "`--help=all` shows all options, and more about each."
    } else {
        "`--help` behind a command shows its options."
    };
    let command = if is_sim && !simulates {
        command.after_help(format!("{}\n\n{more}", verdict()))
    } else {
        command.after_help(more)
    };
    let below = |sub| shortened(sub, simulates || is_sim);
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
