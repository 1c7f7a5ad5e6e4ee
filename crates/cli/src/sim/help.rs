//! The help of `gristmill sim`: every program and machine, or all about one program.

use clap::{Arg, Command};
use lab::{Knob, Listing, machines, programs};

use crate::text;

/// Columns of what clap does not wrap.
const COLUMNS: usize = 60;

/// What a wrong command line is told: which programs there are, too.
pub fn usage() -> String {
    let names = programs().iter().map(|program| program.name);
    let lines = text::wrapped(
        &names.collect::<Vec<_>>().join(" "),
        COLUMNS - "Programs: ".len(),
    );
    let indent = format!("\n{:1$}", "", "Programs: ".len());
    format!(
        "gristmill sim [OPTIONS] <PROGRAM>\n\nPrograms: {}",
        lines.join(&indent)
    )
}

/// The programs, each with the options that it knows, and the machines.
///
/// What is said of each has lines of its own: clap keeps their indent where it wraps them.
pub fn programs_and_machines() -> String {
    let mut help = "Programs, each with its options and their defaults:\n".to_owned();
    for program in programs() {
        let options = program
            .knobs
            .iter()
            .map(|&(knob, default)| format!("{knob} {}", default_of(knob, default)));
        let options = options.collect::<Vec<_>>().join(" ");
        help += &format!(
            "  {}\n      {}\n      {options}\n",
            program.name, program.help
        );
    }
    help += "\nMachines, beside files like those in machines/:\n";
    for (name, description) in machines() {
        help += &format!("  {name}\n      {description}\n");
    }
    help
}

fn default_of(knob: Knob, default: Option<u64>) -> String {
    match default {
        Some(default) => default.to_string(),
        None => knob
            .words()
            .first()
            .map_or_else(|| "none".to_owned(), ToString::to_string),
    }
}

/// The program that a command line asks help for, as `sim kv --help` and `help sim kv` do.
pub fn asked_for(line: &[String]) -> Option<&'static Listing> {
    let words: Vec<_> = line.iter().skip(1).map(String::as_str).collect();
    let rest = match words.as_slice() {
        ["help", "sim", rest @ ..] => rest,
        ["sim", rest @ ..] if rest.iter().any(|word| ["-h", "--help"].contains(word)) => rest,
        _ => return None,
    };
    let named = |word: &&str| programs().iter().find(|program| program.name == *word);
    rest.iter().find_map(named)
}

/// `sim` with the help of one program: the options that it does not know are left out, and those
/// that it knows have its defaults.
pub fn of_program(mut sim: Command, program: &'static Listing) -> Command {
    let ids: Vec<_> = sim
        .get_arguments()
        .map(|option| option.get_id().clone())
        .collect();
    // Each of them, also those that stay as they are: the last that is touched is shown last.
    for id in ids {
        let knob = Knob::named(&id.as_str().replace('_', "-"));
        sim = sim.mut_arg(id, |option| match knob {
            Some(knob) => told(option, knob, program),
            None => option,
        });
    }
    let name = program.name;
    sim.mut_arg("program", |option| option.hide(true))
        .override_usage(format!("gristmill sim {name} [OPTIONS]"))
        .about(program.help)
        .after_help("`gristmill sim --help` lists the other programs, and the machines.")
}

fn told(option: Arg, knob: Knob, program: &Listing) -> Arg {
    match program.knobs.iter().find(|(known, _)| *known == knob) {
        None => option.hide(true),
        Some((_, None)) => option,
        Some((_, Some(default))) => {
            let help = option
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            option.help(format!("{help} [default: {default}]"))
        }
    }
}
