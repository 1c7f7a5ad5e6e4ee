//! `gristmill sort`: sorts files of records.

mod advice;
mod apart;
mod balance;
mod check;
mod choices;
mod cluster;
mod conflicts;
mod debug;
mod explain;
mod files0;
mod format;
mod json;
mod memory;
mod options;
mod part;
mod resume;
mod screen;
mod shown;
mod target;
mod tell;
mod temporary;
mod verify;
mod words;

use std::fs::File;
use std::path::{Path, PathBuf};

use ::sort::{
    Choice, Job, LongestLine, Pack, Report, Resources, SortError, Source, Target, Tuning,
};
use node::{Compression, Decompress, Node};
use node_real::is_descriptor;
use pipeline::Failure;
use record::{Comparison, Framing, RecordSpec};

use choices::pack_of;
use host::glance::{BLOCKED, Glance};
use host::machine;
use part::Together;
use target::Named;
use tell::tell;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::files::{STANDARD_INPUT, directory_of, is_standard_output};
use verify::check_output;

pub(crate) use check::command as checking;
pub(crate) use explain::{Arguments as ExplainArguments, run as explain};
pub(crate) use options::Arguments;
pub(crate) use words::of_getopt;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let arguments = &arguments.hushed();
    let with_json = |failure: CliFailure| failure.with_json(arguments.json);
    match cluster::RankJob::join(arguments.json)? {
        None => sort(arguments).map_err(with_json),
        Some(job) => job.leave(cluster::sort(&job, arguments).map_err(with_json)),
    }
}

fn sort(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let arguments = &files0::expanded(arguments)?;
    if let Some(how) = arguments.checks() {
        return check::run(arguments, how);
    }
    let resume = resume::of(arguments)?;
    let shared = cluster::is_shared(arguments);
    let listing = cluster::listing(arguments);
    let arguments = &cluster::alone(arguments)?;
    let Prepared { job, named, spec } = prepare(arguments, listing.as_deref())?;
    let plan = if arguments.merge && resume.is_none() {
        Choice::MergeInputs
    } else {
        job.plan
    };
    let job = Job {
        plan,
        shared,
        resume,
        listing,
        ..job
    };
    warn_of_other_records(arguments, &spec);
    let view = debug::View::of(arguments, &spec)?;
    let job = match &view {
        Some(view) => view.takes(job),
        None => job,
    };
    let verify = arguments.verify;
    screen::say_terminal(!arguments.inputs.is_empty());
    let ended = machine::run(&job.control.clone(), arguments.progress, move |node| {
        let (job, comparison) = (job.clone(), verify.then(|| spec.order().clone()));
        async move { sort_and_verify(&node, &job, comparison).await }
    });
    // If the reader has gone away, the sort has failed to write the lines.
    view.map_or(Ok(()), debug::View::finish)?;
    let report = ended?;
    named.keep();
    tell(arguments, &report, &Together::default())?;
    Ok(Exit::Done)
}

/// A sort that is ready to run.
struct Prepared {
    job: Job,
    named: Named,
    spec: RecordSpec,
}

/// `list` is the list of the outputs of all ranks, if there is one.
fn prepare(arguments: &Arguments, list: Option<&Path>) -> Result<Prepared, CliFailure> {
    conflicts::check(arguments)?;
    check_standard_output(arguments)?;
    check_report_path(arguments)?;
    apart::check(std::slice::from_ref(arguments), list)?;
    temporary::check(arguments)?;
    check_verify(arguments)?;
    let named = Named::new(&arguments.outputs)?;
    let spec = format::of(arguments)?;
    screen::check(arguments)?;
    let job = job(arguments, &spec, named.target.clone())?;
    Ok(Prepared { job, named, spec })
}

/// Sorts, and with a `comparison` reads the output again.
async fn sort_and_verify(
    node: &Node,
    job: &Job,
    comparison: Option<Comparison>,
) -> Result<Report, Failure> {
    let sorted = ::sort::run(node, job).await;
    let report = sorted.map_err(|failure| with_cure(failure, job))?;
    if let Some(comparison) = comparison {
        check_output(node, job, comparison, &report).await?;
    }
    Ok(report)
}

/// Says of a bad row how to sort the others.
fn with_cure(failure: Failure, job: &Job) -> Failure {
    let may_set_aside = job.rows.is_some() && job.bad_rows.is_none() && job.resume.is_none();
    let Failure::Program(mut error) = failure else {
        return failure;
    };
    if let Some(SortError::BadRow { cure, .. }) = error.downcast_mut()
        && may_set_aside
    {
        *cure = "; set such rows aside with --bad-records FILE";
    }
    Failure::Program(error)
}

/// Refuses records and a report on one standard output.
fn check_standard_output(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_stdout = |path: &PathBuf| is_standard_output(path);
    let records = arguments.outputs.is_empty() || arguments.outputs.iter().any(is_stdout);
    let report = arguments.report_is_printed() || arguments.report.as_ref().is_some_and(is_stdout);
    let option = match (arguments.json, report) {
        (true, _) => "--json",
        (false, true) => "--report",
        (false, false) => return Ok(()),
    };
    if records {
        Err(CliFailure::usage(format!(
            "{option} writes the report to standard output, where the records go; name an output file with -o"
        )))
    } else {
        Ok(())
    }
}

/// Warns of records that are not those of the file: they cut the lines of a text, or are blocks.
fn warn_of_other_records(arguments: &Arguments, spec: &RecordSpec) {
    if arguments.order.is_of_text() || arguments.quiet {
        return;
    }
    let input = first_input(arguments);
    let found = match spec.framing() {
        Framing::Fixed(bytes) => Glance::at(input).and_then(|glance| glance.cut_lines(bytes)),
        _ if arguments.order.format == BLOCKED => {
            Glance::at(input).and_then(|glance| glance.blocks())
        }
        _ => None,
    };
    if let Some(found) = found {
        say::warn(format!("{} {found}", input.display()));
    }
}

/// Refuses a report without a place, or in a file that cannot be written.
fn check_report_path(arguments: &Arguments) -> Result<(), CliFailure> {
    let Some(report) = arguments.report_file() else {
        return Ok(());
    };
    let is_file = report.is_file() && !is_descriptor(report);
    let opened = is_file.then(|| File::options().write(true).open(report));
    let what = match opened {
        _ if !directory_of(report).is_dir() => "no such directory; make it first".to_owned(),
        _ if report.is_dir() => "a directory; name a file in it".to_owned(),
        Some(Err(cause)) => format!("{cause}; change its permissions, or name another file"),
        _ => return Ok(()),
    };
    let message = format!("--report {}: {what}", report.display());
    Err(CliFailure {
        file: Some(report.to_owned()),
        ..CliFailure::usage(message)
    })
}

/// Refuses to verify anything but regular files, which alone can be read again.
fn check_verify(arguments: &Arguments) -> Result<(), CliFailure> {
    // A missing output will be a regular file, or a directory of them.
    let can_be_read = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.map_or(true, |found| found.is_file() || found.is_dir()) && !is_descriptor(path)
    };
    let can_be_read = !arguments.outputs.is_empty() && arguments.outputs.iter().all(can_be_read);
    if arguments.verify && !can_be_read {
        return Err(CliFailure::usage(
            "--verify reads the output again, which must be a regular file; name one with -o",
        ));
    }
    Ok(())
}

/// The first input, as messages name it.
fn first_input(arguments: &Arguments) -> &Path {
    let stdin = Path::new(STANDARD_INPUT);
    let named = arguments.inputs.first().map_or(stdin, PathBuf::as_path);
    if named == Path::new("-") {
        stdin
    } else {
        named
    }
}

/// The inputs, or standard input.
fn sources(arguments: &Arguments) -> Vec<Source> {
    let source = |path: &PathBuf| match path.as_path() {
        path if path == Path::new("-") => Source::Standard,
        path => Source::Path(path.to_owned()),
    };
    if arguments.inputs.is_empty() {
        vec![Source::Standard]
    } else {
        arguments.inputs.iter().map(source).collect()
    }
}

/// The format of the output: the one that is asked for, or that of the file's name.
fn compression_of(arguments: &Arguments, target: &Target) -> Option<Compression> {
    match (arguments.compress_output, target) {
        (Decompress::Auto, Target::Path(path)) => Compression::of_name(path),
        (Decompress::From(format), _) => Some(format),
        _ => None,
    }
}

/// The resources that the options leave to the run.
fn resources(arguments: &Arguments) -> Result<Resources, CliFailure> {
    Ok(Resources {
        cores: arguments
            .parallel
            .map_or_else(terminal::launcher::cores, usize::from),
        memory_bytes: memory::limit(&arguments.memory, arguments.order.is_of_lines())?,
        io: arguments.io,
    })
}

fn job(arguments: &Arguments, spec: &RecordSpec, target: Target) -> Result<Job, CliFailure> {
    let program = arguments.compress_program.as_deref();
    let pack = arguments.compress.or_else(|| program.map(pack_of));
    Ok(Job {
        compress: compression_of(arguments, &target),
        decompress: arguments.decompress,
        temporary: temporary::directories(arguments),
        temporary_limit: arguments.tmp_limit,
        pack: pack.unwrap_or(Pack::Auto),
        plan: arguments.plan,
        exchange: arguments.exchange,
        tuning: Tuning {
            tune: arguments.tune,
            start: arguments.start,
            fan_in: arguments.batch_size,
            ..Tuning::default()
        },
        host: node_real::host_name(),
        bad_rows: arguments.bad_records.clone(),
        longest_line: (arguments.max_line).map_or(LongestLine::Seen, |bytes| {
            LongestLine::AtLeast(bytes as usize)
        }),
        top: arguments.order.top,
        ..Job::new(sources(arguments), spec, target, resources(arguments)?)
    })
}
