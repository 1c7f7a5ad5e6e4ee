//! `gristmill lab`: figures of papers, run again.

mod report;
mod show;

use ::lab::experiment::{Cost, Experiment};
use ::lab::figure::{Figure, Size};
use ::lab::{LabError, Observer};
use clap::{Args, Subcommand};

use crate::failure::{CliFailure, Exit};
use crate::size::{count, grouped, whole};
use crate::{machine, progress, say, sim, text};

/// Run figures of papers again and show them beside what the papers claim.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments
    List,
    /// Run an experiment
    Run(Run),
    /// Run all of them, and write a page for a browser
    Report(report::Arguments),
}

#[derive(Args)]
struct Run {
    /// Its name, or the file of one
    name: String,
    /// As large as the paper's, where the claims are judged; otherwise as small as shows that it
    /// runs
    #[arg(long)]
    full: bool,
    /// How many runs each figure is the mean of [default: the experiment's]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    runs: Option<u64>,
    /// Decides all that is drawn; run i has seed S + i [default: the experiment's]
    #[arg(long, value_name = "S", value_parser = whole, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print the figure as JSON: its points, its claims and ours
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    match &arguments.command {
        Command::List => list(),
        Command::Report(arguments) => report::run(arguments),
        Command::Run(run) => act(run).map_err(|failure| failure.with_json(run.json)),
    }
}

fn list() -> Result<Exit, CliFailure> {
    for name in Experiment::names() {
        let experiment = Experiment::load(name)?;
        say::out(format!(
            "{name:<20} {} ({})",
            experiment.title, experiment.source
        ))?;
        say::out(format!("{:20} {}", "", costs(&experiment)?))?;
    }
    Ok(Exit::Done)
}

/// What it takes at each size that it has.
fn costs(experiment: &Experiment) -> Result<String, LabError> {
    let told = |Cost { runs, most_cores }| {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let (of_runs, of_cores) = (plural(runs), plural(most_cores.into()));
        let [runs, cores] = [runs, most_cores.into()].map(grouped);
        format!("{runs} run{of_runs} of up to {cores} core{of_cores}")
    };
    let full = told(experiment.cost(Size::Full)?);
    match experiment.size(Size::Smoke) {
        Size::Full => Ok(full),
        Size::Smoke => {
            let smoke = told(experiment.cost(Size::Smoke)?);
            Ok(format!("{smoke}; --full: {full}"))
        }
    }
}

fn act(run: &Run) -> Result<Exit, CliFailure> {
    let experiment = Experiment::load(&run.name)?.with_seeds(run.seed, run.runs);
    let size = if run.full { Size::Full } else { Size::Smoke };
    let observer = Observer::default();
    let caught = sim::stop_on_signal(&observer, &experiment.place()?)?;
    let work = || experiment.run(&observer, size, machine::cores());
    let figure = sim::watched(&observer, &caught, run.progress, work)?;
    if run.json {
        let json = serde_json::to_string_pretty(&figure);
        say::out(json.map_err(|cause| CliFailure::new("bug", cause.to_string()))?)?;
    } else {
        show::figure(&figure)?;
    }
    Ok(if complain(&figure) {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

/// Says what failed; whether anything did.
fn complain(figure: &Figure) -> bool {
    let claims = figure.claims.iter();
    let claims = claims.filter_map(|claim| Some((claim.id.as_str(), claim.fault()?)));
    let failed: Vec<_> = claims.collect();
    for (id, fault) in &failed {
        say::err(format!("gristmill: the check of '{id}' failed: {fault}"));
    }
    for fault in &figure.faults {
        say::err(format!(
            "gristmill: a program found its result wrong: {fault}"
        ));
    }
    !failed.is_empty() || !figure.faults.is_empty()
}
