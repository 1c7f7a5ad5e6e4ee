//! `gristmill lab report`: all figures as one page for a browser.

use std::io::Write;
use std::path::{Path, PathBuf};

use ::lab::experiment::Experiment;
use ::lab::figure::{Figure, Size};
use ::lab::page::{About, page};
use ::lab::{LabError, Observer};
use clap::Args;

use crate::failure::{CliFailure, Exit};
use crate::files::directory_of;
use crate::scratch::Draft;
use crate::{progress, say, sim};

/// The arguments of `gristmill lab report`.
#[derive(Args)]
pub struct Arguments {
    /// The page; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
}

/// Runs all experiments and writes the page.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let load = |name| Ok((name, Experiment::load(name)?));
    let experiments = Experiment::names().map(load).collect::<Result<Vec<_>, LabError>>()?;
    let observer = Observer::default();
    let (_, first) = experiments.first().expect("some come with the program");
    let caught = sim::stop_on_signal(&observer, &first.place()?)?;
    // Before a long run, and after there is somebody who would remove it.
    let file = PageFile::open(&arguments.output)?;
    let run = || experiments.iter().map(|(name, all)| figure(name, all, &observer)).collect();
    let figures: Vec<_> = sim::watched(&observer, &caught, arguments.progress, run)?;
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "gristmill lab report".to_owned(),
    };
    file.write(&page(&figures, &about))?;
    let is_right = figures.iter().flat_map(|figure| &figure.claims).all(|it| it.fault().is_none());
    Ok(if is_right { Exit::Done } else { Exit::CheckFailed })
}

/// An experiment whose lines are claims, as a figure.
fn figure(name: &str, experiment: &Experiment, observer: &Observer) -> Result<Figure, LabError> {
    let place = experiment.place()?;
    Ok(Figure {
        name: name.to_owned(),
        title: experiment.title.clone(),
        source: experiment.source.clone(),
        says: None,
        note: experiment.note.clone(),
        size: Size::Full,
        machine: place.name().to_owned(),
        machine_hash: place.hash().map(|hash| format!("{hash:016x}")),
        changes: experiment.changes.told(),
        seed: experiment.seed,
        runs: experiment.runs,
        command: format!("gristmill lab run {name}"),
        charts: Vec::new(),
        claims: experiment.run(observer)?,
        breakdown: None,
    })
}

/// A file that a page goes to. Its name shows what it showed before, or the complete page.
pub struct PageFile {
    path: PathBuf,
    /// None is standard output.
    draft: Option<Draft>,
}

impl PageFile {
    /// Opens it, without losing what it holds. Whoever does watches for signals.
    pub fn open(path: &Path) -> Result<PageFile, CliFailure> {
        let at = path.to_owned();
        if path == Path::new("-") {
            return Ok(PageFile { path: at, draft: None });
        }
        let why = if path.metadata().is_ok_and(|found| !found.is_file()) {
            "there is something that is no file; name another, or - for standard output"
        } else if !directory_of(path).is_dir() {
            "no such directory; make it first"
        } else {
            let draft = Draft::new(path).map_err(|cause| unwritable(path, &cause))?;
            return Ok(PageFile { path: at, draft: Some(draft) });
        };
        Err(unwritable(path, &why))
    }

    /// Writes the page, and shows it under its name.
    pub fn write(self, page: &str) -> Result<(), CliFailure> {
        let Some(draft) = self.draft else {
            return say::out(page.trim_end());
        };
        draft
            .file()
            .write_all(page.as_bytes())
            .and_then(|()| draft.finish())
            .map_err(|cause| unwritable(&self.path, &cause))
    }
}

fn unwritable(path: &Path, why: &dyn std::fmt::Display) -> CliFailure {
    let message = format!("cannot write the page {}: {why}", path.display());
    CliFailure { file: Some(path.to_owned()), ..CliFailure::new("io", message) }
}
