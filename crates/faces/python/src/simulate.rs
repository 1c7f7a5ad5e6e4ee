//! Runs of programs on simulated machines, and experiments, as JSON for the module's Python part.

use lab::experiment::Experiment;
use lab::{Changes, Job, LabError, Observer, Parameters, Place, Seeds, programs};
use plot::Size;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors::of_lab;
use crate::options::number;
use crate::wait::until;

/// Runs a program. `options` is a JSON object of the program's options and changes of the machine;
/// `seeds` are the first seed and the number of runs.
#[pyfunction]
pub(crate) fn simulation(
    py: Python<'_>,
    program: &str,
    machine: Option<&str>,
    options: &str,
    seeds: (Bound<'_, PyAny>, Bound<'_, PyAny>),
) -> PyResult<String> {
    let first = number("seed", 0, Some(seeds.0))?.unwrap_or_default();
    let runs = number("runs", 1, Some(seeds.1))?.unwrap_or_default();
    let job = job(program, machine, options, Seeds { first, runs }).map_err(|why| of_lab(&why))?;
    let observer = Observer::default();
    let report = until(py, || job.run(&observer), stopping(py, &observer))?;
    let report = report.map_err(|why| of_lab(&why))?;
    Ok(report.to_json().to_string())
}

/// Runs an experiment, by name or file.
#[pyfunction]
#[pyo3(signature = (name, full, seed=None, runs=None))]
pub(crate) fn experiment(
    py: Python<'_>,
    name: &str,
    full: bool,
    seed: Option<Bound<'_, PyAny>>,
    runs: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (seed, runs) = (number("seed", 0, seed)?, number("runs", 1, runs)?);
    let experiment = Experiment::load(name).map_err(|why| of_lab(&why))?;
    let experiment = experiment.with_seeds(seed, runs);
    let size = if full { Size::Full } else { Size::Smoke };
    let observer = Observer::default();
    let workers = std::thread::available_parallelism().map_or(1, Into::into);
    let run = || experiment.run(&observer, size, workers);
    let figure = until(py, run, stopping(py, &observer))?;
    let figure = figure.map_err(|why| of_lab(&why))?;
    Ok(serde_json::to_string(&figure).expect("maps have words as keys"))
}

/// Names of the built-in experiments.
#[pyfunction]
pub(crate) fn experiments() -> Vec<&'static str> {
    Experiment::names().collect()
}

/// Stops the runs at Ctrl-C.
fn stopping(py: Python<'_>, observer: &Observer) -> impl FnMut() -> PyResult<()> {
    move || py.check_signals().inspect_err(|_| observer.stop())
}

fn job(program: &str, machine: Option<&str>, options: &str, seeds: Seeds) -> Result<Job, LabError> {
    let usage = |error: serde_json::Error| LabError::usage(format!("an option: {error}"));
    let given: Map<String, Value> = serde_json::from_str(options).map_err(usage)?;
    let mut changes = Map::new();
    let mut told = Vec::new();
    for (name, value) in given {
        if Changes::knows(&name) {
            changes.insert(name, value);
        } else {
            let text = value.as_str().map(str::to_owned);
            told.push((name, text.unwrap_or_else(|| value.to_string())));
        }
    }
    let changes: Changes = serde_json::from_value(changes.into()).map_err(usage)?;
    let parameters = Parameters::of(program, told)?;
    let usual = programs().iter().find(|known| known.name == program);
    let usual = usual.map_or("nanopu", |known| known.machine);
    let place = Place::named(machine.unwrap_or(usual), &changes)?;
    Job::new(parameters, place, seeds)
}
