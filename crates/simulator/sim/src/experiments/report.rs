//! `gristmill lab report`: figures as one page for a browser.

use std::hash::{DefaultHasher, Hasher};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use lab::experiment::Experiment;
use lab::{LabError, Observer, results};
use plot::{About, Figure, Size, page};
use serde_json::json;

use super::output::OutputFile;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::ending::signals::{Caught, GRACE};
use terminal::files::keep_apart;
use terminal::{launcher, progress};

use crate::command;

#[derive(Args)]
pub(super) struct Arguments {
    /// Names of experiments, or their files [default: all of the paper]
    #[arg(value_name = "NAME|FILE")]
    names: Vec<String>,
    /// Output file; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Run at the paper's size and judge its claims: one to two hours on two cores, and 3 GB of memory
    #[arg(long)]
    full: bool,
    /// Save results as JSON in DIR, and reuse results that this build saved there
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let apart = |read: &[&str]| keep_apart(&[("--output", &arguments.output)], read);
    let names: Vec<&str> = match arguments.names.as_slice() {
        [] => Experiment::names().collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    apart(&names)?;
    // Reading all experiments and estimating them takes a while, too.
    let observer = Observer::default();
    let caught = command::stop_within(GRACE, &observer)?;
    let loaded = names.iter().map(|name| Experiment::load(name));
    let experiments = loaded.collect::<Result<Vec<_>, _>>()?;
    let machines = experiments.iter().map(Experiment::machine);
    apart(&machines.collect::<Vec<&str>>())?;
    let source = FigureSource {
        arguments,
        results: arguments.results.as_deref().map(Results::of).transpose()?,
        observer,
        caught,
    };
    if let Some(stopped) = source.caught.failure() {
        return Err(stopped);
    }
    // Opened before the long run, so that a bad name fails early; a signal removes it from now on.
    let file = OutputFile::open("the page", &arguments.output)?;
    let figures = experiments.iter().map(|of| source.figure(of));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    let about = about(command(arguments), &figures, !arguments.names.is_empty())?;
    file.write(&page(&figures, &about))?;
    if arguments.progress != progress::Mode::Json {
        let (count, path) = (figures.len(), arguments.output.display());
        say::err(format!("gristmill: {count} figures are in {path}"));
    }
    Ok(super::checked(&figures))
}

fn command(arguments: &Arguments) -> String {
    let full = arguments.full.then_some("--full");
    let words = ["gristmill", "lab", "report"].into_iter().chain(full);
    let given = arguments.names.iter().map(String::as_str);
    words.chain(given).collect::<Vec<_>>().join(" ")
}

/// Saved results, and runs where there are none.
struct FigureSource<'a> {
    arguments: &'a Arguments,
    results: Option<Results<'a>>,
    observer: Observer,
    caught: Caught,
}

impl FigureSource<'_> {
    fn figure(&self, of: &Experiment) -> Result<Figure, CliFailure> {
        let (progress, full) = (self.arguments.progress, self.arguments.full);
        let size = if full { Size::Full } else { Size::Smoke };
        let (name, size) = (of.name(), of.size(size));
        // The program's own hash is that of the built-in files alone.
        let results = self.results.as_ref().filter(|_| of.is_built_in());
        if let Some(figure) = results.and_then(|results| results.load(name, size)) {
            return Ok(figure);
        }
        match progress {
            progress::Mode::Auto if std::io::stderr().is_terminal() => say::err(name),
            progress::Mode::Json => say::err(json!({ "experiment": name })),
            _ => {}
        }
        let estimate = of.estimate(size, launcher::cores())?;
        command::ahead::look(estimate, progress, false)?;
        let work = || of.run(&self.observer, size, launcher::cores());
        let figure = command::watched(&self.observer, &self.caught, progress, work)?;
        if let Some(results) = results {
            results.keep(name, &figure)?;
        }
        Ok(figure)
    }
}

/// The origin of a page; of one's own experiments, with a heading.
pub(super) fn about(command: String, figures: &[Figure], is_own: bool) -> Result<About, LabError> {
    let title = match figures {
        [only] => only.title.clone(),
        _ => "Experiments, simulated by Gristmill".to_owned(),
    };
    let verdict = (!is_own).then(lab::verdict).transpose()?;
    Ok(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        title: is_own.then_some(title),
        verdict,
    })
}

/// Figures that this build saved.
struct Results<'a> {
    directory: &'a Path,
    /// Hash of the program's file, which contains its experiments and machines.
    fingerprint: u64,
}

impl Results<'_> {
    fn of(directory: &Path) -> Result<Results<'_>, CliFailure> {
        let program = std::env::current_exe().and_then(std::fs::read);
        let program = program.map_err(|cause| {
            CliFailure::new(
                "io",
                format!("cannot read this program's own file: {cause}"),
            )
        })?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&program);
        Ok(Results {
            directory,
            fingerprint: hasher.finish(),
        })
    }

    /// A saved figure; one that cannot be used is reported and run again.
    fn load(&self, name: &str, size: Size) -> Option<Figure> {
        results::load(self.directory, name, size, self.fingerprint).unwrap_or_else(|error| {
            say::err(format!("gristmill: {error}"));
            None
        })
    }

    fn keep(&self, name: &str, figure: &Figure) -> Result<(), LabError> {
        results::keep(self.directory, name, self.fingerprint, figure)
    }
}
