//! `gristmill sim`: runs a program of tiny tasks on a simulated machine or on threads.
//!
//! [`main`] is the same for a program of another crate.

pub(crate) mod ahead;
mod alone;
mod machines;
mod map;
mod notes;
mod options;
mod path;
mod show;
mod trace_file;
mod tune;
mod watch;

use lab::{Job, Observer, Parameters, Place, Ranks, Seeds, joined};

use options::{Chosen, RunOptions};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::progress::Mode;
use trace_file::TraceFile;

pub use alone::main;
pub use options::{Arguments, make_for};
pub use watch::{stop_on_signal, stop_within, watched};

/// The verdict on the paper, as a line of help.
pub fn verdict() -> String {
    let verdict = lab::verdict().expect("the built-in experiments are right");
    format!("NanoSort on 65,536 cores: {verdict}")
}

/// Runs `gristmill sim`.
///
/// # Errors
/// When the program cannot run; its report has the verdict on its answers.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let runs = &arguments.runs;
    let ended = match &arguments.chosen {
        Chosen::Machine(_) if !is_first() => return Ok(Exit::Done),
        Chosen::Machine(name) => return machines::show(name.as_deref()).map(|()| Exit::Done),
        Chosen::Map(options) => {
            let asked = arguments.machine.or(map::MACHINE);
            let place = arguments.machine.place(asked).map_err(CliFailure::from);
            place.and_then(|place| map::run(options, asked, &place, runs))
        }
        Chosen::Program(parameters) => {
            asked(arguments, parameters).and_then(|asked| simulate(asked, runs))
        }
        Chosen::Tune(parameters, tune) => {
            asked(arguments, parameters).and_then(|asked| tune::run(asked, tune, runs))
        }
    };
    ended.map_err(|failure| failure.with_json(runs.json))
}

/// Whether this process tells the results.
fn is_first() -> bool {
    joined().is_none_or(Ranks::is_first)
}

fn asked<'a>(arguments: &'a Arguments, parameters: &Parameters) -> Result<Asked<'a>, CliFailure> {
    let machine = arguments.machine.name(parameters);
    Ok(Asked {
        machine,
        place: arguments.machine.place(machine)?,
        parameters: parameters.clone(),
        seeds: arguments.runs.seeds(),
    })
}

/// A program on its place, with its seeds.
struct Asked<'a> {
    /// The machine as it was named.
    machine: &'a str,
    place: Place,
    parameters: Parameters,
    seeds: Seeds,
}

fn simulate(asked: Asked<'_>, runs: &RunOptions) -> Result<Exit, CliFailure> {
    let machine = asked.machine;
    let job = Job::planned(asked.parameters, asked.place, asked.seeds)?;
    let mut job = job.anyway(runs.anyway);
    job.check_room()?;
    if runs.trace.is_some() {
        job = job.traced()?;
    }
    if runs.critical_path {
        job = job.with_path()?;
    }
    let observer = Observer::default();
    // First, so that a signal removes the trace's file.
    let caught = stop_on_signal(&observer, job.place())?;
    let open = |path| TraceFile::open(path, machine);
    let trace = runs.trace.as_deref().map(open).transpose()?;
    if !is_first() {
        return watched(&observer, &caught, Mode::Never, || job.run(&observer)).map(|_| Exit::Done);
    }
    if !runs.json {
        show::head(&job, &notes::machine(&job, machine))?;
    }
    ahead::look(job.estimate(), runs.progress, runs.anyway)?;
    let mut report = watched(&observer, &caught, runs.progress, || job.run(&observer))?;
    report.note = notes::all(&job, machine, report.note);
    if let Some(trace) = trace {
        trace.write(&job, &report, &caught)?;
    }
    if runs.json {
        let mut value = report.to_json();
        value["machine_file"] = notes::machine_file(machine).into();
        say::out(format!("{value:#}"))?;
    } else {
        show::report(&report)?;
        path::show(&report)?;
    }
    for run in &report.runs {
        if let Some(fault) = &run.verdict.fault {
            say::err(format!(
                "gristmill: the check of seed {} failed: {fault}",
                run.seed
            ));
        }
    }
    Ok(if report.is_right() {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}
