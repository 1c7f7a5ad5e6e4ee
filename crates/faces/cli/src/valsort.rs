//! `gristmill valsort`: validates sorted records, as the reference valsort 1.5 does.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::sort::{
    IoChoice, Manifest, SetSummary, SortError, Source, Validated, ValidatedSet, validate,
    validate_set,
};
use clap::Args;
use node::Decompress;
use pipeline::{Control, Failure};
use record::{Comparison, RECORD_BYTES, SUMMARY_BYTES, Summary};

use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::files::keep_apart;

use crate::gensort::split_options;
use crate::listed::files_listed;
use host::machine;
use terminal::text::printable;
use terminal::{launcher, progress};
use units::threads;

/// The summaries of hundreds of thousands of parts fit. They may come through a pipe, and a pipe
/// need not end.
const MOST_SUMMARIES_BYTES: u64 = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  gristmill valsort output.dat
  gristmill valsort sorted/                    # a set, by its manifest
  gristmill valsort -o 1.sum part-1; gristmill valsort -o 2.sum part-2
  cat 1.sum 2.sum > all.sum; gristmill valsort -s all.sum";

/// Check that gensort records are in order, as valsort 1.5 does.
///
/// A file is taken as 100-byte records with a 10-byte key; gristmill check takes any format. A directory with a manifest.json, or
/// that file, is a set: all files that it lists are checked in its order and by its format and
/// keys, and each against its entry.
///
/// The parts of a data set can be checked one by one (-o PART.sum), and then as a whole: -s checks
/// their summaries, concatenated in the order of the parts. Exit codes: 0 in order; 1 not in order,
/// empty or cut short, as with the reference; 2 unreadable.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Ignore the case of ASCII letters
    #[arg(short = 'i')]
    ignore_case: bool,
    /// Print nothing
    #[arg(short = 'q')]
    quiet: bool,
    /// Threads to use [default: all cores]
    #[arg(short = 't', value_name = "N", value_parser = threads)]
    threads: Option<u16>,
    /// Write a summary of this part to a file
    #[arg(short = 'o', value_name = "SUMMARY_FILE")]
    summary: Option<PathBuf>,
    /// Check the summaries in the file instead of records
    #[arg(short = 's')]
    summaries: bool,
    /// Sorted records, a set of files, or with -s summaries
    ///
    /// The reference's I/O options may follow. As with the reference, - is a file of that name.
    #[arg(value_name = "FILE_NAME[,opts]")]
    file: OsString,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let comparison = Comparison::valsort(arguments.ignore_case);
    let set = manifest_of_set(arguments);
    if let Some(summary) = &arguments.summary {
        let named = || vec![split_options(&arguments.file).0.into()];
        let read: Vec<PathBuf> = set.as_deref().map_or_else(named, files_listed);
        keep_apart(&[("-o", summary)], &read)?;
    }
    let summary = if let Some(directory) = set {
        let found = validated_set(arguments, directory)?;
        if !found.wrong.is_empty() {
            return Ok(tell_wrong(arguments, &found));
        }
        found.summary
    } else if arguments.summaries {
        match joined(Path::new(&arguments.file), &comparison)? {
            Ok(summary) => summary,
            Err(said) => return Ok(refuse(arguments, &said)),
        }
    } else {
        match validated(arguments, &comparison)? {
            Ok(summary) => summary,
            Err(said) => return Ok(refuse(arguments, &said)),
        }
    };
    if summary.records == 0 {
        return Ok(refuse(
            arguments,
            "there must be at least one record to be validated",
        ));
    }
    if let Some(path) = &arguments.summary {
        let bytes = summary
            .to_bytes()
            .map_err(|error| CliFailure::new("summary", error.to_string()))?;
        terminal::files::write(path, &bytes).map_err(|cause| io_failure("write", path, &cause))?;
    }
    if !arguments.quiet {
        summary.report_lines().iter().for_each(say::err);
    }
    Ok(if summary.is_ordered() {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// Prints what the reference prints about an input that it cannot check.
fn refuse(arguments: &Arguments, said: &str) -> Exit {
    if !arguments.quiet {
        say::err(said);
    }
    Exit::CheckFailed
}

/// The manifest of the set of files that is to be validated, if it is one.
fn manifest_of_set(arguments: &Arguments) -> Option<PathBuf> {
    let path = PathBuf::from(split_options(&arguments.file).0);
    if arguments.summaries {
        None
    } else if path.is_dir() {
        Some(path.join(Manifest::NAME))
    } else {
        let is_list = path.to_string_lossy().ends_with(Manifest::SUFFIX);
        (is_list || path.ends_with(Manifest::NAME)).then_some(path)
    }
}

fn validated_set(arguments: &Arguments, manifest: PathBuf) -> Result<SetSummary, CliFailure> {
    if arguments.ignore_case {
        let message =
            "-i does not apply to a set: its manifest gives the order of the keys; omit -i";
        return Err(CliFailure::usage(message));
    }
    let control = Control::default();
    let job = ValidatedSet {
        manifest,
        io: split_options(&arguments.file).1.unwrap_or(IoChoice::Auto),
        cores: arguments.threads.map_or_else(launcher::cores, usize::from),
        control: control.clone(),
    };
    machine::run(&control, progress_of(arguments), move |node| {
        let job = job.clone();
        async move { validate_set(&node, &job).await }
    })
}

/// Says of each file that is not as it should be what is wrong.
fn tell_wrong(arguments: &Arguments, found: &SetSummary) -> Exit {
    if !arguments.quiet {
        for (file, what) in &found.wrong {
            say::err(format!("{}: {what}", file.display()));
        }
        say::err("ERROR - the files are not what their manifest lists");
    }
    Exit::CheckFailed
}

fn progress_of(arguments: &Arguments) -> progress::Mode {
    if arguments.quiet {
        progress::Mode::Never
    } else {
        arguments.progress
    }
}

/// The summary of a file of records, or what the reference says of one that ends in a part.
fn validated(
    arguments: &Arguments,
    comparison: &Comparison,
) -> Result<Result<Summary, String>, CliFailure> {
    let (path, io) = split_options(&arguments.file);
    let control = Control::default();
    let job = Validated {
        decompress: Decompress::Auto,
        sources: vec![Source::Path(path.into())],
        comparison: comparison.clone(),
        io: io.unwrap_or(IoChoice::Auto),
        cores: arguments.threads.map_or_else(launcher::cores, usize::from),
        control: control.clone(),
    };
    let file = PathBuf::from(path);
    machine::run(&control, progress_of(arguments), move |node| {
        let (job, file) = (job.clone(), file.clone());
        async move {
            match validate(&node, &job).await {
                Err(failure) if is_truncated(&failure) => Ok(Err(partial_record(&file))),
                validated => validated.map(Ok),
            }
        }
    })
}

/// The words of the reference, and what to do with records of another format.
fn partial_record(file: &Path) -> String {
    let file = printable(&file.display().to_string());
    format!(
        "partial record found at end\ngristmill: valsort takes {file} as gensort's records of {RECORD_BYTES} bytes; \
         check other formats with `gristmill check --format FORMAT --key KEY {file}`"
    )
}

fn is_truncated(failure: &Failure) -> bool {
    let Failure::Program(error) = failure else {
        return false;
    };
    matches!(
        error.downcast_ref(),
        Some(SortError::TruncatedRecord { .. })
    )
}

/// The summary of joined summaries, or what the reference says of a file that ends in a part.
fn joined(path: &Path, comparison: &Comparison) -> Result<Result<Summary, String>, CliFailure> {
    let bytes = summaries(path).map_err(|cause| io_failure("read", path, &cause))?;
    let (parts, rest) = bytes.as_chunks::<SUMMARY_BYTES>();
    if !rest.is_empty() {
        return Ok(Err("partial partition summary found at end".to_owned()));
    }
    let mut joined = Summary::default();
    for part in parts {
        match Summary::from_bytes(part) {
            Ok(part) => joined = joined.merge(part, comparison),
            Err(error) => return Ok(Err(error.to_string())),
        }
    }
    Ok(Ok(joined))
}

fn summaries(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MOST_SUMMARIES_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_SUMMARIES_BYTES {
        let most = MOST_SUMMARIES_BYTES >> 20;
        return Err(io::Error::other(format!("it is longer than {most} MiB")));
    }
    Ok(bytes)
}

fn io_failure(verb: &str, path: &Path, cause: &io::Error) -> CliFailure {
    let message = format!("cannot {verb} {}: {cause}; check the name", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
