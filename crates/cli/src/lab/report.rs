//! `gristmill lab report`: all figures as one page for a browser.

use std::hash::{DefaultHasher, Hasher};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use ::lab::experiment::Experiment;
use ::lab::{LabError, Observer, results};
use clap::Args;
use plot::{About, Figure, Size, page};
use serde_json::json;

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::say;
use crate::ending::scratch::Draft;
use crate::files::directory_of;
use crate::{machine, progress, sim};

#[derive(Args)]
pub(super) struct Arguments {
    /// Output file; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Run at the paper's size and judge its claims: half an hour on two cores, and 3 GB of memory
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
    let experiments = Experiment::names()
        .map(Experiment::load)
        .collect::<Result<Vec<_>, _>>()?;
    let size = if arguments.full {
        Size::Full
    } else {
        Size::Smoke
    };
    let results = arguments.results.as_deref().map(Results::of).transpose()?;
    let observer = Observer::default();
    let caught = sim::stop_on_signal(&observer, &experiments[0].place()?)?;
    // Opened before the long run, so that a bad name fails early; a signal removes it from now on.
    let file = PageFile::open(&arguments.output)?;
    let mut figures = Vec::new();
    for (name, experiment) in Experiment::names().zip(&experiments) {
        let size = experiment.size(size);
        if let Some(figure) = results
            .as_ref()
            .and_then(|results| results.load(name, size))
        {
            figures.push(figure);
            continue;
        }
        match arguments.progress {
            progress::Mode::Auto if std::io::stderr().is_terminal() => say::err(name),
            progress::Mode::Json => say::err(json!({ "experiment": name })),
            _ => {}
        }
        let work = || experiment.run(&observer, size, machine::cores());
        let figure = sim::watched(&observer, &caught, arguments.progress, work)?;
        if let Some(results) = &results {
            results.keep(name, &figure)?;
        }
        figures.push(figure);
    }
    let command = if arguments.full {
        "gristmill lab report --full"
    } else {
        "gristmill lab report"
    };
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
    };
    file.write(&page(&figures, &about))?;
    let failed: Vec<_> = figures
        .iter()
        .filter(|figure| super::complain(figure))
        .collect();
    Ok(if failed.is_empty() {
        Exit::Done
    } else {
        Exit::CheckFailed
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

/// The file of a page. Its name shows the old content or the complete page.
pub(super) struct PageFile {
    path: PathBuf,
    /// `None` for standard output.
    draft: Option<Draft>,
}

impl PageFile {
    /// Opens the file without changing its content. The caller watches for signals.
    pub(super) fn open(path: &Path) -> Result<PageFile, CliFailure> {
        let at = path.to_owned();
        if path == Path::new("-") {
            return Ok(PageFile {
                path: at,
                draft: None,
            });
        }
        let why = if path.metadata().is_ok_and(|found| !found.is_file()) {
            "it exists and is not a regular file; name another, or - for standard output"
        } else if !directory_of(path).is_dir() {
            "no such directory; make it first"
        } else {
            let draft = Draft::new(path).map_err(|cause| unwritable(path, &cause))?;
            return Ok(PageFile {
                path: at,
                draft: Some(draft),
            });
        };
        Err(unwritable(path, &why))
    }

    /// Writes the page and gives the file its name.
    pub(super) fn write(self, page: &str) -> Result<(), CliFailure> {
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
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
