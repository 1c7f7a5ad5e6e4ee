//! The command of a program of another crate, with the options of `gristmill sim`.

use std::process::ExitCode;

use clap::{Args, FromArgMatches};
use grain::{Described, Program};
use lab::Listing;

use super::options::{self, MachineOptions, RunOptions};
use super::{Asked, simulate};
use terminal::ending::failure::CliFailure;
use terminal::ending::{self, usage};

/// The options that every program has.
#[derive(Args)]
struct Shared {
    #[command(flatten, next_help_heading = "Machine")]
    machine: MachineOptions,
    #[command(flatten, next_help_heading = "Runs and reports")]
    runs: RunOptions,
}

/// Runs the program `P` as the command line of this process says, and returns its exit code: 0, 1 if
/// its check failed, 2 if it could not run.
///
/// # Panics
/// If two options of the program have one name: a bug of the program.
pub fn main<P: Program + Described>() -> ExitCode {
    let listing = &Listing::of::<P>();
    let shared = Shared::augment_args(clap::Command::new(listing.name));
    let shared: Vec<_> = shared.get_arguments().cloned().collect();
    let command = options::command(listing, listing.name, &shared);
    let parsed = command.clone().try_get_matches().and_then(|matches| {
        let shared = Shared::from_arg_matches(&matches)?;
        Ok((shared, options::parameters(listing, &matches)?))
    });
    let (shared, parameters) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage::tell(error, &command),
    };
    let machine = shared.machine.name(&parameters);
    let place = shared.machine.place(machine).map_err(CliFailure::from);
    let ended = place.and_then(|place| {
        let asked = Asked {
            machine,
            place,
            parameters: parameters.clone(),
            seeds: shared.runs.seeds(),
        };
        simulate(asked, &shared.runs)
    });
    ending::end(ended.map_err(|failure| failure.with_json(shared.runs.json)))
}
