//! `gristmill lab`: repeats the experiments of papers.

mod report;
mod show;

use ::lab::experiment::{Cost, Experiment};
use ::lab::{LabError, Observer};
use clap::{Args, Subcommand};
use plot::{Figure, Size};

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::say;
use crate::size::{count, grouped, whole};
use crate::{machine, progress, sim, text};

const EXAMPLES: &str = "\
Examples:
  gristmill lab list
  gristmill lab run figure-1                  # at a small size, in seconds
  gristmill lab run figure-1 --json
  gristmill lab report -o report.html         # all experiments, as one page";

/// Repeat the experiments of papers, and compare the results with their claims.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments
    List,
    /// Run an experiment
    Run(Run),
    /// Run all experiments, and write a page for a browser
    Report(report::Arguments),
}

#[derive(Args)]
struct Run {
    /// Name of an experiment, or its file
    name: String,
    /// Run at the paper's size and judge its claims; otherwise at a small size that only shows that
    /// it runs
    #[arg(long)]
    full: bool,
    /// Runs of each point [default: the experiment's]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    runs: Option<u64>,
    /// Random seed; run i uses S + i [default: the experiment's]
    #[arg(long, value_name = "S", value_parser = whole, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print the figure as JSON: points, claims and measurements
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
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

/// Runs and cores of an experiment at each of its sizes.
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

/// Reports failed checks; returns whether there was one.
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
