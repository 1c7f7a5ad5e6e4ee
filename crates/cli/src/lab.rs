//! `gristmill lab`: figures of papers, run again.

mod report;

use ::lab::Observer;
use ::lab::experiment::{Claim, Experiment, Outcome};
use clap::{Args, Subcommand};

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
    /// Run all experiments and write them as one page of HTML
    Report(report::Arguments),
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
        Command::Report(arguments) => report::run(arguments),
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
    let place = experiment.place()?;
    let observer = Observer::default();
    let caught = sim::stop_on_signal(&observer, &place)?;
    let claims = sim::watched(&observer, &caught, run.progress, || experiment.run(&observer))?;
    if run.json {
        say::out(format!("{:#}", experiment.to_json(&claims)?))?;
    } else {
        tell(&experiment, &claims)?;
    }
    for claim in &claims {
        if let Some(fault) = claim.fault() {
            say::err(format!("gristmill: the check of '{}' failed: {fault}", claim.id));
        }
    }
    let is_right = claims.iter().all(|claim| claim.fault().is_none());
    Ok(if is_right { Exit::Done } else { Exit::CheckFailed })
}

fn tell(experiment: &Experiment, claims: &[Claim]) -> Result<(), CliFailure> {
    let Experiment { title, source, note, machine, changes, .. } = experiment;
    let seeds = experiment.seeds();
    match seeds.runs {
        1 => say::out(format!("seed {}", seeds.first))?,
        _ => say::out(format!("seeds {} to {}", seeds.first, seeds.last()))?,
    }
    say::out(format!("{title}\n({source}, on {machine})"))?;
    let changed = changes.told();
    if !changed.is_empty() {
        say::out(format!("changed: {}", changed.join(", ")))?;
    }
    if let Some(note) = note {
        text::wrapped(note, NOTE_COLUMNS).into_iter().try_for_each(say::out)?;
    }
    say::out("")?;
    claims.iter().try_for_each(show)?;
    let count = |word| claims.iter().filter(|claim| claim.outcome.word() == word).count();
    let [met, missed, failed] = ["met", "missed", "failed"].map(count);
    say::out(format!("\n{met} claims met, {missed} missed for a known reason, {failed} failed"))
}

/// A claim, what became of it, and both figures. Of one that says at least so much, ours is so many
/// times that; of another the deviation counts.
fn show(shown: &Claim) -> Result<(), CliFailure> {
    let Claim { claim, unit, .. } = shown;
    let [paper, ours] = [shown.paper, shown.ours].map(|value| format!("{} {unit}", figure(value)));
    let (paper, held) = match shown.at_least {
        true => (format!("at least {paper}"), times(shown.ratio())),
        false => (paper, format!("{:+.1} %", shown.deviation() * 100.0)),
    };
    say::out(format!(" {claim:<60} {:>8}", shown.outcome.word()))?;
    say::out(format!("   paper {paper:<26} ours {ours:<18} {held:>8}"))?;
    let reason = match &shown.outcome {
        Outcome::Missed(reason) => Some(format!("Missed: {reason}")),
        Outcome::Failed(fault) => Some(format!("Failed: {fault}")),
        Outcome::Met | Outcome::Shown => None,
    };
    for words in reason.iter().chain(&shown.note) {
        text::wrapped(words, NOTE_COLUMNS)
            .into_iter()
            .try_for_each(|line| say::out(format!("   {line}")))?;
    }
    Ok(())
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2} x") } else { format!("{ratio:.1} x") }
}

/// Columns of a note.
const NOTE_COLUMNS: usize = 76;

fn figure(value: f64) -> String {
    text::figure(value, if value.fract() == 0.0 { 0 } else { 2 })
}
