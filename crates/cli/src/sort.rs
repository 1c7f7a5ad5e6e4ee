//! `gristmill sort`: sorts files of records.

mod balance;
mod choices;
mod cluster;
mod json;
mod options;
mod part;
mod resume;
mod target;
mod tell;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::sort::{
    Bytes, IoChoice, Job, Manifest, Report, Resources, SortError, Source, Target, Tuning,
    Validated, ValidatedSet, WrittenFile, validate, validate_set,
};
use node::{Node, Rank};
use pipeline::{Control, Failure};
use record::{Comparison, Format, Summary, Ties};

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::usage::NO_TEXT;
use crate::files::{directory_of, is_same, is_standard_output};
use crate::machine;
use choices::PlanName;
use part::Together;
use target::Named;
use tell::tell;

pub(crate) use options::Arguments;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let with_json = |failure: CliFailure| failure.with_json(arguments.json);
    match cluster::RankJob::join(arguments.json)? {
        None => sort(arguments).map_err(with_json),
        Some(job) => job.leave(cluster::sort(&job, arguments).map_err(with_json)),
    }
}

fn sort(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let resume = resume::of(arguments)?;
    let shared = cluster::is_shared(arguments);
    let listing = cluster::listing(arguments);
    let arguments = &cluster::alone(arguments)?;
    let Prepared {
        job,
        named,
        comparison,
    } = prepare(arguments)?;
    let job = Job {
        shared,
        resume,
        listing,
        ..job
    };
    let verify = arguments.verify;
    let report = machine::run(&job.control.clone(), arguments.progress, move |node| {
        let (job, comparison) = (job.clone(), comparison.clone());
        async move { sort_and_verify(&node, &job, verify.then_some(comparison)).await }
    })?;
    named.keep();
    tell(arguments, &report, &Together::default())?;
    Ok(Exit::Done)
}

/// A sort that is ready to run.
struct Prepared {
    job: Job,
    named: Named,
    comparison: Comparison,
}

fn prepare(arguments: &Arguments) -> Result<Prepared, CliFailure> {
    check_standard_output(arguments)?;
    check_report_path(arguments)?;
    check_temporary(arguments)?;
    check_verify(arguments)?;
    let ties = if arguments.stable {
        Ties::Position
    } else {
        Ties::Record
    };
    check_format(&arguments.format)?;
    let format = Format::parse(&arguments.format, &arguments.keys, ties)
        .map_err(|error| CliFailure::usage(error.to_string()))?;
    let named = Named::new(&arguments.outputs)?;
    let job = job(arguments, &format, named.target.clone());
    Ok(Prepared {
        job,
        named,
        comparison: Comparison::Order(format.order),
    })
}

/// Sorts, and with a `comparison` reads the output again.
async fn sort_and_verify(
    node: &Node,
    job: &Job,
    comparison: Option<Comparison>,
) -> Result<Report, Failure> {
    let report = ::sort::run(node, job).await?;
    if let Some(comparison) = comparison {
        check_output(node, job, comparison, &report).await?;
    }
    Ok(report)
}

/// Formats of text, as people may call them.
const TEXT: [&str; 10] = [
    "lines", "line", "text", "txt", "csv", "tsv", "json", "jsonl", "ndjson", "string",
];

/// Refuses text before its keys are looked at.
fn check_format(format: &str) -> Result<(), CliFailure> {
    match TEXT.contains(&format) {
        true => Err(CliFailure::usage(format!("--format {format}: {NO_TEXT}"))),
        false => Ok(()),
    }
}

/// Refuses records and a report on one standard output.
fn check_standard_output(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_stdout = |path: &PathBuf| is_standard_output(path);
    let records = arguments.outputs.is_empty() || arguments.outputs.iter().any(is_stdout);
    let report = arguments.json || arguments.report.as_ref().is_some_and(is_stdout);
    if records && report {
        return Err(CliFailure::usage(
            "--json writes the report to standard output, where the records go; name an output file with -o",
        ));
    }
    Ok(())
}

/// Refuses a report that would overwrite an input or output.
fn check_report_path(arguments: &Arguments) -> Result<(), CliFailure> {
    let Some(report) = &arguments.report else {
        return Ok(());
    };
    if !directory_of(report).is_dir() {
        let message = format!(
            "--report {}: no such directory; make it first",
            report.display()
        );
        return Err(CliFailure {
            file: Some(report.clone()),
            ..CliFailure::usage(message)
        });
    }
    if report.is_dir() {
        let message = format!(
            "--report {}: a directory; name a file in it",
            report.display()
        );
        return Err(CliFailure {
            file: Some(report.clone()),
            ..CliFailure::usage(message)
        });
    }
    let manifests = arguments
        .outputs
        .iter()
        .map(|output| output.join(Manifest::NAME));
    let records = arguments.inputs.iter().chain(&arguments.outputs).cloned();
    let taken = records.chain(manifests).find(|path| is_same(path, report));
    taken.map_or(Ok(()), |path| {
        let message = format!(
            "--report would overwrite {}; name another file",
            path.display()
        );
        Err(CliFailure {
            file: Some(report.clone()),
            ..CliFailure::usage(message)
        })
    })
}

/// Refuses temporary directories that do not exist.
fn check_temporary(arguments: &Arguments) -> Result<(), CliFailure> {
    let wrong = arguments
        .temporary
        .iter()
        .find(|directory| !directory.is_dir());
    wrong.map_or(Ok(()), |directory| {
        let what = match directory.exists() {
            true => "not a directory",
            false => "no such directory; make it first",
        };
        let message = format!("--tmp {}: {what}", directory.display());
        Err(CliFailure {
            file: Some(directory.clone()),
            ..CliFailure::usage(message)
        })
    })
}

/// Refuses to verify anything but regular files, which alone can be read again.
fn check_verify(arguments: &Arguments) -> Result<(), CliFailure> {
    // A missing output will be a regular file, or a directory of them.
    let can_be_read = |path: &PathBuf| {
        std::fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir())
    };
    let can_be_read = !arguments.outputs.is_empty() && arguments.outputs.iter().all(can_be_read);
    if arguments.verify && !can_be_read {
        return Err(CliFailure::usage(
            "--verify reads the output again, which must be a regular file; name one with -o",
        ));
    }
    Ok(())
}

fn job(arguments: &Arguments, format: &Format, target: Target) -> Job {
    let source = |path: &PathBuf| match path.as_path() {
        path if path == Path::new("-") => Source::Standard,
        path => Source::Path(path.to_owned()),
    };
    let sources = match arguments.inputs.is_empty() {
        true => vec![Source::Standard],
        false => arguments.inputs.iter().map(source).collect(),
    };
    Job {
        sources,
        target,
        contents: Arc::new(Bytes::new(format.order.clone())),
        resources: Resources {
            cores: arguments.parallel.map_or_else(machine::cores, usize::from),
            memory_bytes: machine::memory_limit(arguments.memory),
            io: arguments.io.into(),
        },
        shared: false,
        temporary: arguments.temporary.clone(),
        plan: arguments.plan.into(),
        exchange: arguments.exchange.into(),
        tuning: Tuning {
            tune: arguments.tune.into(),
            start: arguments.start.into(),
            ..Tuning::default()
        },
        control: Control::default(),
        resume: None,
        listing: None,
    }
}

/// Reads the output again: it must be in order and hold the records that came in.
async fn check_output(
    node: &Node,
    job: &Job,
    comparison: Comparison,
    report: &Report,
) -> Result<(), Failure> {
    let written = match &job.target {
        _ if job.resume.is_some() => report.written.clone(),
        Target::Path(path) => vec![all_in(path, report)],
        // Rank 0 reads it for all.
        Target::Together(path) if node.rank() == Rank::ROOT => {
            vec![all_in(path, &report.clone().of_all())]
        }
        Target::Together(_) | Target::Standard => return Ok(()),
        Target::Directories(all) => return check_set(node, job, &all[0], report).await,
    };
    for written in written {
        let again = Validated {
            sources: vec![Source::Path(written.path.clone())],
            comparison: comparison.clone(),
            io: IoChoice::Direct,
            cores: job.resources.cores,
            control: job.control.clone(),
        };
        is_what_came_in(&validate(node, &again).await?, written)?;
    }
    Ok(())
}

/// All records of the output, in one path.
fn all_in(path: &Path, report: &Report) -> WrittenFile {
    WrittenFile {
        path: path.to_owned(),
        records: report.records,
        checksum: report.checksum,
    }
}

/// Reads a set again: each file must also match its entry in the manifest.
async fn check_set(
    node: &Node,
    job: &Job,
    directory: &Path,
    report: &Report,
) -> Result<(), Failure> {
    let again = ValidatedSet {
        manifest: directory.join(Manifest::NAME),
        io: IoChoice::Direct,
        cores: job.resources.cores,
        control: job.control.clone(),
    };
    let found = validate_set(node, &again).await?;
    match found.wrong.into_iter().next() {
        Some((file, what)) => Err(SortError::ReadBack { file, what }.into()),
        None => is_what_came_in(&found.summary, all_in(directory, report)),
    }
}

fn is_what_came_in(summary: &Summary, written: WrittenFile) -> Result<(), Failure> {
    let found = (summary.records as u64, summary.checksum.0);
    let what = match summary.first_unordered {
        Some(record) => format!("record {record} is out of order"),
        None if found != (written.records, written.checksum) => {
            let (records, checksum) = found;
            format!(
                "{records} records with checksum {checksum:x}, not {}",
                written.records
            )
        }
        None => return Ok(()),
    };
    Err(SortError::ReadBack {
        file: written.path,
        what,
    }
    .into())
}
