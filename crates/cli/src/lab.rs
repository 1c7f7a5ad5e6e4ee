//! `gristmill lab`: figures of papers, run again.

use ::lab::experiment::{Claim, Experiment};
use ::lab::{Changes, Observer, Place};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::failure::{CliFailure, Exit};
use crate::{progress, say, sim, text};

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
}

#[derive(Args)]
struct Run {
    /// Its name, or the file of one
    name: String,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print the claims as JSON
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    match &arguments.command {
        Command::List => list(),
        Command::Run(run) => act(run).map_err(|failure| failure.with_json(run.json)),
    }
}

fn list() -> Result<Exit, CliFailure> {
    for name in Experiment::names() {
        let experiment = Experiment::load(name)?;
        say::out(format!("{name:<24} {} ({})", experiment.title, experiment.source))?;
    }
    Ok(Exit::Done)
}

fn act(run: &Run) -> Result<Exit, CliFailure> {
    let experiment = Experiment::load(&run.name)?;
    let place = Place::named(&experiment.machine, &Changes::default())?;
    let observer = Observer::default();
    let caught = sim::stop_on_signal(&observer, &place)?;
    let claims = sim::watched(&observer, &caught, run.progress, || experiment.run(&observer))?;
    if run.json {
        let claims: Vec<_> = claims.iter().map(Claim::to_json).collect();
        let value = json!({
            "title": experiment.title,
            "source": experiment.source,
            "machine": experiment.machine,
            "note": experiment.note,
            "claims": claims,
        });
        say::out(format!("{value:#}"))?;
    } else {
        tell(&experiment, &claims)?;
    }
    for claim in &claims {
        if let Some(fault) = &claim.fault {
            say::err(format!("gristmill: the check of '{}' failed: {fault}", claim.id));
        }
    }
    let is_right = claims.iter().all(|claim| claim.fault.is_none());
    Ok(if is_right { Exit::Done } else { Exit::CheckFailed })
}

fn tell(experiment: &Experiment, claims: &[Claim]) -> Result<(), CliFailure> {
    let Experiment { title, source, note, machine, seed, .. } = experiment;
    say::out(format!("seed {seed}"))?;
    say::out(format!("{title}\n({source}, on {machine})"))?;
    if let Some(note) = note {
        say::out(note)?;
    }
    say::out(format!("\n {:<40} {:>13} {:>6} {:>6}", "", "paper", "ours", "ratio"))?;
    claims.iter().try_for_each(line)
}

/// A claim in one line. Of one that says at least so much, ours is so many times that; of another the
/// deviation counts.
fn line(shown: &Claim) -> Result<(), CliFailure> {
    let [paper, ours] = [shown.paper, shown.ours].map(figure);
    let (paper, held) = match shown.at_least {
        true => (format!("at least {paper}"), times(shown.ratio())),
        false => (paper, format!("{:+.1} %", shown.deviation() * 100.0)),
    };
    let Claim { claim, unit, .. } = shown;
    say::out(format!(" {claim:<40} {paper:>13} {ours:>6} {held:>6} {unit}"))?;
    match &shown.note {
        Some(note) => {
            let mut lines = text::wrapped(note, NOTE_COLUMNS).into_iter();
            lines.try_for_each(|line| say::out(format!("   {line}")))
        }
        None => Ok(()),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2} x") } else { format!("{ratio:.1} x") }
}

/// Columns of a note.
const NOTE_COLUMNS: usize = 76;

fn figure(value: f64) -> String {
    text::figure(value, if value.fract() == 0.0 { 0 } else { 2 })
}
