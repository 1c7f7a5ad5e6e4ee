//! `gristmill sim`: runs a program of tiny tasks on a simulated machine, or on threads.

pub mod help;
mod names;
mod notes;
mod options;
mod show;
mod trace_file;
mod watch;

use ::lab::{Job, Observer, Place};

use crate::failure::{CliFailure, Exit};
use crate::say;
use trace_file::TraceFile;

pub use options::Arguments;
pub use watch::{stop_on_signal, watched};

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    simulate(arguments).map_err(|failure| failure.with_json(arguments.json))
}

fn simulate(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let (program, machine) = (&arguments.program, arguments.machine());
    names::check_program(program)?;
    let place = Place::named(machine, &arguments.changes())
        .map_err(|error| names::machine_failure(machine, error))?;
    let mut job = Job::new(program, &arguments.parameters(), place, arguments.seeds())?;
    if arguments.trace.is_some() {
        job = job.traced()?;
    }
    let observer = Observer::default();
    // Before there is a file to be removed.
    let caught = stop_on_signal(&observer, job.place())?;
    let trace = arguments
        .trace
        .as_deref()
        .map(TraceFile::open)
        .transpose()?;
    if !arguments.json {
        show::head(&job, &notes::machine(&job, machine))?;
    }
    let mut report = watched(&observer, &caught, arguments.progress, || {
        job.run(&observer)
    })?;
    report.note = notes::all(&job, machine, report.note);
    if let Some(trace) = trace {
        trace.write(&job, &report, &caught)?;
    }
    if arguments.json {
        let mut value = report.to_json();
        value["machine_file"] = notes::machine_file(machine).into();
        say::out(format!("{value:#}"))?;
    } else {
        show::report(&report)?;
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
