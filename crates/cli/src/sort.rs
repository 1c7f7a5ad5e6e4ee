//! `gristmill sort`: sorts files of records.

mod balance;
mod choices;
mod cluster;
mod json;
mod part;
mod resume;
mod target;
mod tell;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::sort::{
    Bytes, IoChoice, Job, Manifest, Report, Resources, SortError, Source, Target, Tuning,
    Validated, ValidatedSet, Written, validate, validate_set,
};
use clap::Args;
use node::{Node, Rank};
use pipeline::{Control, Failure};
use record::{Comparison, Format, Summary, Ties};

use crate::failure::{CliFailure, Exit};
use crate::files::{directory_of, is_same, is_standard_output};
use crate::size::{Memory, memory, threads};
use crate::{machine, progress};
use choices::{ExchangeName, IoName, PlanName, StartName, TuneName};
use target::Named;
use tell::tell;

use part::Together;

/// Sort fixed-length records.
///
/// Inputs are opened read-only and may be named as the output. The output shows the old content or
/// the complete new one, never a part. No INPUT, or -, is standard input; no -o is standard output.
///
/// An output that is a directory, or whose name ends in / (it is made if it is not there), gets an
/// ordered set of files, which its manifest.json lists; several share the records, and the manifest
/// is in the first. An INPUT that is such a directory is its files.
///
/// Under mpirun or srun all ranks sort together: each reads its own inputs ({rank} in a path stands
/// for its number), or its part of those that all name, and writes one range of the keys to its own
/// output, or to its part of a file that all name, which must lie where all hosts see it. Memory is
/// each rank's.
///
/// Sizes: K M G T are powers of 1024, KB MB GB TB of 1000.
#[derive(Args, Clone)]
pub struct Arguments {
    /// Files to sort, as one; - is standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Where the sorted records go: a file, a device, a named pipe, or directories (several -o)
    #[arg(short, long = "output", value_name = "OUTPUT")]
    outputs: Vec<PathBuf>,
    /// What a record is: gensort (100 bytes, key 0+10) or fixed:LEN
    #[arg(long, value_name = "FORMAT")]
    format: String,
    /// A key: OFFSET+LENGTH[:TYPE][:desc], the first counts most; TYPE is bytes, u8, i8, u16le,
    /// u16be ... u128be, i16le ... i128be, f32le, f32be, f64le or f64be
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Keep the input order of records with equal keys (otherwise the whole record decides)
    #[arg(long)]
    stable: bool,
    /// Memory to use at most, like 2G or 50% [default: 75% of what is available]
    #[arg(short = 'S', long, value_name = "SIZE|PCT", value_parser = memory)]
    memory: Option<Memory>,
    /// A directory for what memory does not hold; several share the load [default: beside the
    /// output]
    #[arg(short = 'T', long = "tmp", value_name = "DIR")]
    temporary: Vec<PathBuf>,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = threads)]
    parallel: Option<u16>,
    /// How to sort
    #[arg(long, value_enum, default_value_t)]
    plan: PlanName,
    /// How ranks of a job exchange records
    #[arg(long, value_enum, default_value_t)]
    exchange: ExchangeName,
    /// Whether to bypass the page cache; auto measures how much of the input lies in it
    #[arg(long, value_enum, default_value_t)]
    io: IoName,
    /// Whether to move workers and requests to the bottleneck while the sort runs
    #[arg(long, value_enum, default_value_t)]
    tune: TuneName,
    /// Where tuning begins: `worst` has one worker a stage, one request in flight, small units
    #[arg(long, value_enum, default_value_t, hide = true)]
    start: StartName,
    /// Keep what is done until all is: the same command again goes on there, whatever ended it,
    /// with the same ranks or fewer
    #[arg(long)]
    resume: bool,
    /// Read the output again and check its order and checksum
    #[arg(long)]
    verify: bool,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print a report as JSON on standard output
    #[arg(long)]
    json: bool,
    /// Write the report as JSON to a file, and show the balance of the stages on standard error
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Sorts.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let with_json = |failure: CliFailure| failure.with_json(arguments.json);
    match cluster::Job::join(arguments.json)? {
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

/// A sort that can be begun.
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

/// Sorts, and reads the output again if it is said what to compare.
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

/// Records and a report must not meet on standard output.
fn check_standard_output(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_stdout = |path: &PathBuf| is_standard_output(path);
    let records = arguments.outputs.is_empty() || arguments.outputs.iter().any(is_stdout);
    let report = arguments.json || arguments.report.as_ref().is_some_and(is_stdout);
    if records && report {
        return Err(CliFailure::usage(
            "the report would go to standard output, where the records go; name an output with -o",
        ));
    }
    Ok(())
}

/// A report must not be written over records.
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

/// What is spilled goes to directories that are there.
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

/// Only regular files can be read again.
fn check_verify(arguments: &Arguments) -> Result<(), CliFailure> {
    // What is not there yet becomes one, or a directory of them.
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
        Target::Together(path) if node.rank() == Rank(0) => {
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

/// One place has all that was written.
fn all_in(path: &Path, report: &Report) -> Written {
    Written {
        path: path.to_owned(),
        records: report.records,
        checksum: report.checksum,
    }
}

/// The same of a set of files, each of which must be as it is listed, too.
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

fn is_what_came_in(summary: &Summary, written: Written) -> Result<(), Failure> {
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
