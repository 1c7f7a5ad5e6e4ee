//! A sort or a check as the command line asks for it, made once, with all that is checked before a record
//! is read. Nothing behind it sees the command line.
//!
//! ```text
//! Arguments -- files0, conflicts, apart, outputs, temporary, screen: what is refused
//!     |
//!     v
//!  Request      the job, with its records (format), target and resume
//!     |         what is verified and shown
//!     +-------- Telling: what is told of it, and to whom
//! ```

mod advice;
mod apart;
mod conflicts;
mod files0;
mod format;
mod outputs;
mod ranks;
mod resume;
mod screen;
mod target;
mod telling;
mod temporary;

use std::path::{Path, PathBuf};

use ::sort::{
    Checked, Choice, Job, LongestLine, Pack, Resources, Source, Target, Tuning, contents_of,
};
use host::glance::{BLOCKED, Glance};
use node::{Compression, Decompress, Rank};
use pipeline::Control;
use record::{FormatKind, Framing, RecordSpec};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::files::STANDARD_INPUT;

use super::choices::{CheckName, pack_of};
use super::memory;
use super::options::Arguments;
use ranks::with_rank;
use target::Named;

pub(super) use files0::expanded;
pub(super) use screen::say_terminal;
pub(super) use telling::Telling;

/// A sort that is ready to run.
pub(super) struct Request {
    pub job: Job,
    pub spec: RecordSpec,
    /// The outputs, until they are there.
    pub named: Named,
    /// Whether the output is read again.
    pub verifies: bool,
    /// Whether lines are shown with their keys, in place of an output.
    pub shows_keys: bool,
    pub telling: Telling,
}

/// A check that is ready to run.
pub(super) struct Check {
    pub job: Checked,
    pub how: CheckName,
    pub telling: Telling,
}

impl Request {
    /// The sort of a process without other ranks.
    ///
    /// # Errors
    /// Options, files or a machine with which the sort cannot begin, with the option to change.
    pub(super) fn alone(arguments: &Arguments) -> Result<Request, CliFailure> {
        let resume = resume::of(arguments)?;
        let (shared, listing) = (ranks::is_shared(arguments), ranks::listing(arguments));
        let own = &ranks::alone(arguments)?;
        let request = Request::new(own, listing.as_deref())?;
        warn_of_other_records(own, &request.spec);
        say_terminal(!own.inputs.is_empty());
        let plan = if own.merge && resume.is_none() {
            Choice::MergeInputs
        } else {
            own.plan
        };
        Ok(Request {
            job: Job {
                plan,
                shared,
                resume,
                listing,
                ..request.job
            },
            ..request
        })
    }

    /// The part of a rank.
    ///
    /// # Errors
    /// As [`Request::alone`], and what several ranks do not do.
    pub(super) fn of_rank(
        arguments: &Arguments,
        rank: Rank,
        ranks: u32,
        control: &Control,
    ) -> Result<Request, CliFailure> {
        ranks::check(arguments)?;
        let (own, listing) = (with_rank(arguments, rank), ranks::listing(arguments));
        let request = Request::new(&own, listing.as_deref())?;
        if rank == Rank::ROOT {
            apart::check(&ranks::all(arguments, ranks), listing.as_deref())?;
        }
        Ok(Request {
            job: Job {
                shared: ranks::is_shared(arguments),
                resume: resume::of(arguments)?,
                listing,
                target: ranks::one_for_all(arguments, request.job.target),
                control: control.clone(),
                ..request.job
            },
            telling: request.telling.by(arguments.report.as_deref()),
            ..request
        })
    }

    /// `list` is the list of the outputs of all ranks, if there is one.
    fn new(arguments: &Arguments, list: Option<&Path>) -> Result<Request, CliFailure> {
        conflicts::check(arguments)?;
        conflicts::check_swallowed(arguments)?;
        outputs::check(arguments)?;
        apart::check(std::slice::from_ref(arguments), list)?;
        temporary::check(arguments)?;
        let named = Named::new(&arguments.outputs)?;
        let spec = format::of(arguments)?;
        conflicts::check_mistakes(arguments, &spec)?;
        screen::check(arguments)?;
        let job = job(arguments, &spec, named.target.clone())?;
        temporary::check_stripes(&job, arguments.quiet)?;
        Ok(Request {
            job,
            spec,
            named,
            verifies: arguments.verify,
            shows_keys: arguments.debug,
            telling: Telling::of(arguments),
        })
    }
}

impl Check {
    /// The check that is asked for, if none is sorted.
    ///
    /// # Errors
    /// As [`Request::alone`].
    pub(super) fn of(arguments: &Arguments) -> Result<Option<Check>, CliFailure> {
        let Some(how) = arguments.checks() else {
            return Ok(None);
        };
        let spec = spec_of(arguments)?;
        let resources = resources(arguments)?;
        say_terminal(!arguments.inputs.is_empty());
        let job = Checked {
            decompress: arguments.decompress,
            source: sources(arguments).swap_remove(0),
            contents: contents_of(&spec),
            headed: spec.headed().cloned(),
            longest_line: arguments.max_line.map(|bytes| bytes as usize),
            io: resources.io,
            cores: resources.cores,
            memory_bytes: resources.memory_bytes,
            control: Control::default(),
        };
        let telling = Telling::of(arguments);
        Ok(Some(Check { job, how, telling }))
    }
}

/// The records that the options ask for.
///
/// # Errors
/// Options that contradict each other, or a format, key or separator with a mistake.
pub(super) fn spec_of(arguments: &Arguments) -> Result<RecordSpec, CliFailure> {
    conflicts::check(arguments)?;
    format::of(arguments)
}

/// Warns of records that are not those of the file: they cut the lines of a text, or are blocks.
fn warn_of_other_records(arguments: &Arguments, spec: &RecordSpec) {
    if arguments.order.kind() != FormatKind::Binary || arguments.quiet {
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
    let is_of_lines = arguments.order.kind() == FormatKind::Lines;
    let cores = arguments.parallel.map(usize::from);
    Ok(Resources {
        cores: cores.unwrap_or_else(terminal::launcher::cores),
        memory_bytes: memory::limit(&arguments.memory, is_of_lines)?,
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
        spill_layout: arguments.spill_layout,
        stripe: arguments.stripe,
        splitters: arguments.splitters,
        pack: pack.unwrap_or(Pack::Auto),
        plan: arguments.plan,
        exchange: arguments.exchange,
        shares: arguments.shares.clone(),
        tuning: Tuning {
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
