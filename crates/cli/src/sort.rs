//! `gristmill sort`: sorts files of records.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::sort::{
    Bytes, Choice, IoChoice, Job, Report, Resources, SortError, Source, Target, Tuning, Validated,
    validate,
};
use clap::{Args, ValueEnum};
use node::Node;
use pipeline::{Control, Failure};
use record::{Comparison, Format, Ties};

use crate::failure::{CliFailure, Exit};
use crate::files::{directory_of, is_same, is_standard_output};
use crate::size::{Memory, grouped, memory, readable, threads};
use crate::{json, machine, progress, say};

/// Sort fixed-length records.
///
/// Inputs are opened read-only and may be named as the output. The output shows the old content or
/// the complete new one, never a part. No INPUT, or -, is standard input; no -o is standard output.
///
/// Sizes: K M G T are powers of 1024, KB MB GB TB of 1000.
#[derive(Args)]
pub struct Arguments {
    /// Files to sort, as one; - is standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Where the sorted records go: a file, a device or a named pipe
    #[arg(short, long, value_name = "OUTPUT")]
    output: Option<PathBuf>,
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
    /// A directory for what memory does not hold; several share the load [default: beside the output]
    #[arg(short = 'T', long = "tmp", value_name = "DIR")]
    temporary: Vec<PathBuf>,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = threads)]
    parallel: Option<u16>,
    /// How to sort
    #[arg(long, value_enum, default_value_t)]
    plan: PlanName,
    /// Whether to bypass the page cache; auto measures how much of the input lies in it
    #[arg(long, value_enum, default_value_t)]
    io: IoName,
    /// Read the output again and check its order and checksum
    #[arg(long)]
    verify: bool,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print a report as JSON on standard output
    #[arg(long)]
    json: bool,
    /// Write the report as JSON to a file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PlanName {
    /// One pass if memory holds everything, else two
    #[default]
    Auto,
    /// Everything in memory: read once, write once
    OnePass,
    /// What memory does not hold waits on disk in partitions
    TwoPass,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum IoName {
    #[default]
    Auto,
    Direct,
    Buffered,
}

/// Sorts.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    sort(arguments).map_err(|failure| failure.with_json(arguments.json))
}

fn sort(arguments: &Arguments) -> Result<Exit, CliFailure> {
    check_standard_output(arguments)?;
    check_report_path(arguments)?;
    check_temporary(arguments)?;
    check_verify(arguments)?;
    let ties = if arguments.stable { Ties::Position } else { Ties::Record };
    let format = Format::parse(&arguments.format, &arguments.keys, ties)
        .map_err(|error| CliFailure::usage(error.to_string()))?;
    let job = job(arguments, &format);
    let (verify, comparison) = (arguments.verify, Comparison::Order(format.order));
    let report = machine::run(&job.control.clone(), arguments.progress, move |node| {
        let (job, comparison) = (job.clone(), comparison.clone());
        async move {
            let report = ::sort::run(&node, &job).await?;
            if verify {
                check_output(&node, &job, comparison, &report).await?;
            }
            Ok(report)
        }
    })?;
    tell(arguments, &report)?;
    Ok(Exit::Done)
}

/// Records and a report must not meet on standard output.
fn check_standard_output(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_stdout = |path: &PathBuf| is_standard_output(path);
    let records = arguments.output.as_ref().is_none_or(is_stdout);
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
    let Some(report) = &arguments.report else { return Ok(()) };
    if !directory_of(report).is_dir() {
        let message = format!("--report {}: no such directory; make it first", report.display());
        return Err(CliFailure { file: Some(report.clone()), ..CliFailure::usage(message) });
    }
    let taken = arguments.inputs.iter().chain(&arguments.output).find(|path| is_same(path, report));
    taken.map_or(Ok(()), |path| {
        let message = format!("--report would overwrite {}; name another file", path.display());
        Err(CliFailure { file: Some(report.clone()), ..CliFailure::usage(message) })
    })
}

/// What is spilled goes to directories that are there.
fn check_temporary(arguments: &Arguments) -> Result<(), CliFailure> {
    let missing = arguments.temporary.iter().find(|directory| !directory.is_dir());
    missing.map_or(Ok(()), |directory| {
        let message = format!("--tmp {}: no such directory; make it first", directory.display());
        Err(CliFailure { file: Some(directory.clone()), ..CliFailure::usage(message) })
    })
}

/// Only a regular file can be read again.
fn check_verify(arguments: &Arguments) -> Result<(), CliFailure> {
    // What is not there yet becomes one; a directory is refused elsewhere.
    let can_be_read = |path: &PathBuf| {
        std::fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir())
    };
    if arguments.verify && !arguments.output.as_ref().is_some_and(can_be_read) {
        return Err(CliFailure::usage(
            "--verify reads the output again, which must be a regular file; name one with -o",
        ));
    }
    Ok(())
}

fn job(arguments: &Arguments, format: &Format) -> Job {
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
        target: arguments.output.clone().map_or(Target::Standard, Target::Path),
        contents: Arc::new(Bytes::new(format.order.clone())),
        resources: Resources {
            cores: arguments.parallel.map_or_else(machine::cores, usize::from),
            memory_bytes: machine::memory_limit(arguments.memory),
            io: match arguments.io {
                IoName::Auto => IoChoice::Auto,
                IoName::Direct => IoChoice::Direct,
                IoName::Buffered => IoChoice::Buffered,
            },
        },
        temporary: arguments.temporary.clone(),
        plan: match arguments.plan {
            PlanName::Auto => Choice::Auto,
            PlanName::OnePass => Choice::OnePass,
            PlanName::TwoPass => Choice::TwoPass,
        },
        tuning: Tuning::default(),
        control: Control::default(),
    }
}

/// Reads the output again: it must be in order and hold the records that came in.
async fn check_output(
    node: &Node,
    job: &Job,
    comparison: Comparison,
    report: &Report,
) -> Result<(), Failure> {
    let Target::Path(path) = &job.target else {
        return Ok(());
    };
    let again = Validated {
        sources: vec![Source::Path(path.clone())],
        comparison,
        io: IoChoice::Direct,
        cores: job.resources.cores,
        control: job.control.clone(),
    };
    let summary = validate(node, &again).await?;
    let found = (summary.records as u64, summary.checksum.0);
    let what = match summary.first_unordered {
        Some(record) => format!("record {record} is out of order"),
        None if found != (report.records, report.checksum) => {
            let (records, checksum) = found;
            format!("{records} records with checksum {checksum:x}, not {}", report.records)
        }
        None => return Ok(()),
    };
    Err(SortError::ReadBack { file: path.clone(), what }.into())
}

fn tell(arguments: &Arguments, report: &Report) -> Result<(), CliFailure> {
    let value = json::report(report, node_real::peak_rss_bytes());
    if let Some(path) = &arguments.report {
        let text = format!("{value:#}\n");
        std::fs::write(path, text).map_err(|cause| {
            let message =
                format!("cannot write {}: {cause}; the sort itself is done", path.display());
            CliFailure { file: Some(path.clone()), ..CliFailure::new("io", message) }
        })?;
    }
    if arguments.json {
        say::out(format!("{value:#}"))?;
    } else if std::io::stderr().is_terminal() && arguments.progress == progress::Mode::Auto {
        say::err(format!(
            "sorted {} records ({}) in {:.3} s, {}/s; the {} was busiest",
            grouped(report.records),
            readable(report.bytes),
            report.seconds,
            readable((report.bytes as f64 / report.seconds) as u64),
            report.bottleneck,
        ));
    }
    Ok(())
}
