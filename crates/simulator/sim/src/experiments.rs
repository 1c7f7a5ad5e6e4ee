//! `gristmill lab`: runs experiments, of papers and of one's own.
//!
//! A command of another crate has it too, for experiments with programs of its own:
//!
//! ```
//! use gristmill_sim::clap::Parser;
//! use gristmill_sim::experiments;
//! use gristmill_sim::prelude::*;
//!
//! #[derive(Args, Clone, Debug, Serialize)]
//! #[serde(crate = "gristmill_sim::serde")]
//! struct Scan {
//!     #[arg(long, default_value_t = 100, value_parser = count)]
//!     words: u32,
//!     #[arg(skip)]
//!     #[serde(skip)]
//!     seed: u64,
//! }
//!
//! described! { Scan is "scan" on 4 cores; }
//!
//! impl Program for Scan {
//!     type Answer = ();
//!
//!     async fn run(self, node: Node) {
//!         node.work(Work::Scan { words: self.words.into() });
//!     }
//!
//!     fn check(&self, answers: &[()]) -> Verdict {
//!         let figure = Some(answers.len() as f64 * f64::from(self.words));
//!         Verdict { figure, ..Verdict::new("scanned".to_owned(), None) }
//!     }
//! }
//!
//! #[derive(Parser)]
//! struct Command {
//!     #[command(flatten)]
//!     lab: experiments::Arguments,
//! }
//!
//! # let file = std::env::temp_dir().join(format!("scan-{}.toml", std::process::id()));
//! # let series = "[[series]]\nprogram = 'scan'\nvary = 'words'\nover = [100, 200]\nid = 'words'";
//! # let line = "[[line]]\nclaim = 'twice'\nseries = 'words'\nat = 200\nunit = '1'\ntolerance = 0.01";
//! experiments::add::<Scan>();
//! # for (paper, ends) in [(2, 0), (3, 1)] {
//! #     let text = format!("{series}\nmeasure = 'figure'\nrelative_to = 100\n{line}\npaper = {paper}");
//! #     std::fs::write(&file, text)?;
//! #     let words = ["scan", "run", file.to_str().unwrap()];
//! let asked = Command::parse_from(words); // of the command line: `scan run mine.toml`
//! let code = experiments::main(&asked.lab);
//! #     assert_eq!(code, std::process::ExitCode::from(ends));
//! # }
//! # std::fs::remove_file(&file)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod output;
mod report;
mod show;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use grain::{Described, Program};
use lab::experiment::{Cost, Experiment, Results};
use lab::{LabError, Listing, Observer, versioned};
use output::OutputFile;
use plot::{Figure, Size, page};

use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::{self, say};
use terminal::files::keep_apart;
use terminal::{launcher, progress, text};
use units::{count, counted, whole};

use crate::command;

const EXAMPLES: &str = "\
Examples:
  gristmill lab list
  gristmill lab run nanosort/figure-1         # at a small size, in seconds
  gristmill lab run nanosort/figure-1 --json
  gristmill lab run mine.toml -o page.html --csv mine.csv    # one of your own
  gristmill lab report -o report.html         # all experiments, as one page";

/// Run experiments: those of papers, compared with their claims, and your own.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
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
    /// Print how the paper stands: the verdict, and each published figure by reading
    Verdict,
    /// Run several experiments, or all of the paper, and write a page for a browser
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
    /// Run even if the estimate says that the memory is too small
    #[arg(long)]
    anyway: bool,
    /// Print the figure as JSON: points, claims and measurements
    #[arg(long)]
    json: bool,
    /// Write a page with charts for a browser; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the value of every run as CSV, a row per run, or of a grid a row per reading; - is standard
    /// output
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Adds a program of another crate, which experiments then find by its name. No experiment may have been read before.
pub fn add<P: Program + Described>() {
    ::lab::add(Listing::of::<P>());
}

/// Runs `lab` as a part of the command of another crate, and returns its exit code: 0, 1 if a line or the check of a
/// program failed, 2 if it could not run.
pub fn main(arguments: &Arguments) -> ExitCode {
    ending::end(run(arguments))
}

/// Runs `gristmill lab`.
///
/// # Errors
/// When an experiment, its file or an output is wrong.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    match &arguments.command {
        Command::List => list(),
        Command::Verdict => verdict(),
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

/// Prints the verdict and its tables, from the figures that the files of experiments have.
fn verdict() -> Result<Exit, CliFailure> {
    say::out(lab::verdict()?)?;
    let [on_nano_sort, on_others, not_in_paper] = ::lab::statements()?;
    say::out(format!("\nNanoSort, by reading:\n\n{on_nano_sort}"))?;
    say::out(format!("The machine and other programs:\n\n{on_others}"))?;
    say::out(format!(
        "Not in the paper: public RTL, and what-ifs of ours:\n\n{not_in_paper}"
    ))?;
    Ok(Exit::Done)
}

/// Runs and cores of an experiment at each of its sizes.
fn costs(experiment: &Experiment) -> Result<String, LabError> {
    let told = |Cost { runs, most_cores }| {
        let (runs, cores) = (counted(runs, "run"), counted(most_cores.into(), "core"));
        format!("{runs} of up to {cores}")
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

impl Run {
    /// Whether a file goes to standard output, so that nothing else may.
    fn fills_standard_output(&self) -> bool {
        let mut files = [&self.output, &self.csv].into_iter().flatten();
        files.any(|path| path == Path::new("-"))
    }

    /// Refuses to write two texts to one file, to standard output, or over `read`.
    fn check_outputs(&self, read: &str) -> Result<(), CliFailure> {
        let files = [("--output", &self.output), ("--csv", &self.csv)];
        let named = files.map(|(name, path)| Some((name, path.as_deref()?)));
        let mut named: Vec<(&str, &Path)> = named.into_iter().flatten().collect();
        named.retain(|(_, path)| *path != Path::new("-"));
        keep_apart(&named, &[read])?;
        let files = files
            .into_iter()
            .filter(|(_, path)| path.as_deref() == Some(Path::new("-")));
        let names: Vec<_> = files
            .map(|(name, _)| name)
            .chain(self.json.then_some("--json"))
            .collect();
        match names[..] {
            [one, other, ..] => Err(CliFailure::usage(format!(
                "{one} and {other} both go to standard output; give one of them a file"
            ))),
            _ => Ok(()),
        }
    }
}

fn act(run: &Run) -> Result<Exit, CliFailure> {
    run.check_outputs(&run.name)?;
    let experiment = Experiment::load(&run.name)?
        .with_seeds(run.seed, run.runs)
        .anyway(run.anyway);
    run.check_outputs(experiment.machine())?;
    let size = if run.full { Size::Full } else { Size::Smoke };
    let observer = Observer::default();
    let caught = command::stop_on_signal(&observer, &experiment.place()?)?;
    // Opened before the run, so that a bad name fails early; a signal removes them from now on.
    let files = Files::open(run)?;
    if run.full && !experiment.is_built_in() && experiment.size(Size::Smoke) == Size::Full {
        say::err("gristmill: --full changes nothing: the file has one size");
    }
    let estimate = experiment.estimate(size, launcher::cores())?;
    command::ahead::look(estimate, run.progress, run.anyway)?;
    let work = || experiment.results(&observer, size, launcher::cores());
    let results = command::watched(&observer, &caught, run.progress, work)?;
    let figure = &results.figure;
    if run.json {
        let json = versioned(figure).map_err(|cause| CliFailure::new("bug", cause.to_string()))?;
        say::out(format!("{json:#}"))?;
    } else if !run.fills_standard_output() {
        show::figure(figure)?;
    }
    files.write(&results)?;
    Ok(checked(std::slice::from_ref(figure)))
}

struct Files {
    page: Option<OutputFile>,
    table: Option<OutputFile>,
}

impl Files {
    fn open(run: &Run) -> Result<Files, CliFailure> {
        let open =
            |what, path: Option<&Path>| path.map(|path| OutputFile::open(what, path)).transpose();
        Ok(Files {
            page: open("the page", run.output.as_deref())?,
            table: open("the table", run.csv.as_deref())?,
        })
    }

    fn write(self, results: &Results) -> Result<(), CliFailure> {
        let figure = &results.figure;
        if let Some(file) = self.page {
            let figures = std::slice::from_ref(figure);
            let about = report::about(figure.command.clone(), figures, true)?;
            file.write(&page(figures, &about))?;
        }
        let table = || match &figure.grid {
            Some(grid) => table::readings(grid),
            None => table::csv(&results.samples),
        };
        self.table.map_or(Ok(()), |file| file.write(&table()))
    }
}

/// Reports failed checks. The status tells whether there was one.
fn checked(figures: &[Figure]) -> Exit {
    let mut status = Exit::Done;
    let mut complain = |fault: String| {
        say::err(format!("gristmill: {fault}"));
        status = Exit::CheckFailed;
    };
    for figure in figures {
        for claim in &figure.claims {
            if let Some(fault) = claim.fault() {
                complain(format!("the check of '{}' failed: {fault}", claim.id));
            }
        }
        let faults = figure.faults.iter();
        faults.for_each(|fault| complain(format!("a program found its result wrong: {fault}")));
    }
    status
}
