//! `gristmill sim`: runs a program of tiny tasks on a simulated machine or on threads.

pub(crate) mod ahead;
mod notes;
mod options;
mod show;
mod trace_file;
mod watch;

use ::lab::{Job, Observer};

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::say;
use trace_file::TraceFile;

pub(crate) use options::Arguments;
pub(crate) use watch::{stop_on_signal, watched};

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    simulate(arguments).map_err(|failure| failure.with_json(arguments.runs.json))
}

fn simulate(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let (machine, runs) = (arguments.machine(), &arguments.runs);
    let mut job = Job::planned(
        arguments.parameters(),
        arguments.place()?,
        arguments.seeds(),
    )?
    .anyway(runs.anyway);
    job.check_room()?;
    if runs.trace.is_some() {
        job = job.traced()?;
    }
    let observer = Observer::default();
    // First, so that a signal removes the trace's file.
    let caught = stop_on_signal(&observer, job.place())?;
    let trace = runs.trace.as_deref().map(TraceFile::open).transpose()?;
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
