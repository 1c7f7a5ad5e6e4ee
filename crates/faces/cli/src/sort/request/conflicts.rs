//! Options that do not go together, and options of lines with other records.

use ::sort::{Choice, names_rank};

use super::advice::{for_records, for_rows};
use super::target::is_directory;
use crate::sort::choices::CheckName;
use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;
use terminal::progress::Mode;

/// Formats of text, as people may call them.
const TEXT: [(&str, &str); 9] = [
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("jsonl", "jsonl"),
    ("lines", "lines"),
    ("json", "jsonl"),
    ("ndjson", "jsonl"),
    ("text", "lines"),
    ("txt", "lines"),
    ("string", "lines"),
];

/// Refuses options that do not go together.
pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    check_format(arguments)?;
    check_check(arguments)?;
    check_debug(arguments)?;
    check_compression(arguments)?;
    check_top(arguments)?;
    if arguments.quiet && arguments.progress == Mode::Json {
        return Err(CliFailure::usage(
            "-q shows no progress; leave -q or --progress json out",
        ));
    }
    check_count(arguments)?;
    check_merge(arguments)?;
    if arguments.resume && arguments.max_line.is_some() {
        return Err(CliFailure::usage(
            "--resume takes lines of up to 64 KB; leave --max-line or --resume out",
        ));
    }
    if arguments.resume && arguments.order.draws_salt() {
        return Err(CliFailure::usage(
            "--resume with -R needs --random-source, so that the sort continues in the same order",
        ));
    }
    Ok(())
}

impl Arguments {
    /// How to tell of disorder, if the input is to be checked and not sorted.
    pub(super) fn checks(&self) -> Option<CheckName> {
        let quietly = self.check_quietly.then_some(CheckName::Quiet);
        self.check.or(quietly)
    }
}

/// Refuses formats that are not supported, and options of lines with other formats.
fn check_format(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let format = order.format.as_str();
    let is_meant =
        |(name, instead): &&(&str, &str)| name.eq_ignore_ascii_case(format) && format != *instead;
    if let Some((_, instead)) = TEXT.iter().find(is_meant) {
        return Err(CliFailure::usage(format!(
            "--format {format}: use --format {instead}"
        )));
    }
    if format.len() > 3 && (format.starts_with("csv") || format.starts_with("tsv")) {
        return Err(CliFailure::usage(format!(
            "--format {format}: use --format csv, and -t for the byte between fields, as in -t ';'"
        )));
    }
    check_rows(arguments)?;
    if order.is_of_lines() {
        return Ok(());
    }
    let others = [
        (
            !order.separators.is_empty() && format != "csv",
            "-t".to_owned(),
        ),
        (
            !order.random_source.is_empty(),
            "--random-source".to_owned(),
        ),
        (!order.sort.is_empty(), "--sort".to_owned()),
        (arguments.zero_terminated, "-z".to_owned()),
        (order.count, "--count".to_owned()),
        (
            order.locale.is_some() && !order.is_of_rows(),
            "--locale".to_owned(),
        ),
    ];
    let letters = order.letters();
    // -rn is about the direction first: a type is of little help with that.
    let letter = letters.chars().max_by_key(|&letter| letter == 'r');
    let letter = letter.filter(|_| order.sort.is_empty());
    let letter = letter.map(|letter| (true, format!("-{letter}")));
    let given = letter.into_iter().chain(others).find(|(given, _)| *given);
    given.map_or(Ok(()), |(_, option)| {
        let instead = if order.is_of_rows() {
            for_rows(&option)
        } else {
            for_records(&option)
        };
        let others = if option == "--locale" {
            " and rows"
        } else {
            ""
        };
        Err(CliFailure::usage(format!(
            "{option} is for lines{others}, not for --format {format}; {instead}"
        )))
    })
}

/// Refuses options of rows with other records, and files of bad rows that are not their own.
fn check_rows(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let (format, is_csv) = (&order.format, order.format == "csv");
    let given = [
        (order.no_header && !is_csv && format != "tsv", "--no-header"),
        (order.quote.is_some() && !is_csv, "--quote"),
        (
            arguments.bad_records.is_some() && !order.is_of_rows(),
            "--bad-records",
        ),
    ];
    if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
        return Err(CliFailure::usage(format!(
            "{option} is for rows, not for --format {format}; use --format csv"
        )));
    }
    if !order.is_of_rows() {
        return Ok(());
    }
    if arguments.resume && arguments.bad_records.is_some() {
        Err(CliFailure::usage(
            "--resume stops at the first bad row, so it cannot be combined with --bad-records; leave one of them out",
        ))
    } else {
        Ok(())
    }
}

/// Refuses what a check of one input cannot do.
fn check_check(arguments: &Arguments) -> Result<(), CliFailure> {
    let Some(how) = arguments.checks() else {
        return Ok(());
    };
    let refused = |what: String| Err(CliFailure::usage(what));
    if arguments.check == Some(CheckName::DiagnoseFirst) && arguments.check_quietly {
        let both = "-c reports the first line out of order and -C reports nothing; give only one";
        return refused(both.to_owned());
    }
    let option = match how {
        CheckName::DiagnoseFirst => "-c",
        CheckName::Quiet => "-C",
        CheckName::Verdict => "check",
    };
    let others = [
        (!arguments.outputs.is_empty(), "-o"),
        (arguments.verify, "--verify"),
        (arguments.json, "--json"),
        (arguments.report.is_some(), "--report"),
        (arguments.resume, "--resume"),
        (arguments.debug, "--debug"),
        (arguments.bad_records.is_some(), "--bad-records"),
        (arguments.order.top.is_some(), "--top"),
        (arguments.order.count, "--count"),
    ];
    if let Some((_, other)) = others.into_iter().find(|(given, _)| *given) {
        return refused(format!(
            "{option} only checks an input, so {other} has nothing to do; leave one of them out"
        ));
    }
    if let [_, second, ..] = arguments.inputs.as_slice() {
        let second = second.display();
        return refused(format!(
            "{option} checks one input, and {second} is a second one; check one after the other"
        ));
    }
    Ok(())
}

/// Refuses two choices of one thing.
fn check_compression(arguments: &Arguments) -> Result<(), CliFailure> {
    if arguments.compress.is_some() && arguments.compress_program.is_some() {
        Err(CliFailure::usage(
            "--compress and --compress-program both say how temporary data is compressed; give only \
         one",
        ))
    } else {
        Ok(())
    }
}

/// Refuses --top with plans that do not drop records early.
fn check_top(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_merge = matches!(arguments.plan, Choice::Auto | Choice::Merge);
    let is_set = arguments.outputs.iter().any(|output| is_directory(output));
    let refused = match arguments.order.top {
        None => return Ok(()),
        Some(_) if !is_merge => "--top sorts by a merge; leave --plan out",
        Some(_) if is_set => "--top does not write sets of files; name one file with -o",
        Some(_) if arguments.resume => "--top has no --resume; leave one of them out",
        Some(_) => return Ok(()),
    };
    Err(CliFailure::usage(refused))
}

/// Refuses `--count` where no lines are dropped, and where counts stand in the way.
fn check_count(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let names_rank = arguments.outputs.iter().any(|path| names_rank(path));
    let is_set = arguments.outputs.iter().any(|output| is_directory(output));
    let refused = match () {
        () if !order.count => return Ok(()),
        () if !order.unique => "--count counts the lines of which -u keeps the first; add -u",
        () if order.top.is_some() => {
            "--count needs all lines, and --top drops some; leave --top out, and take the first lines with head"
        }
        () if arguments.debug => "--debug shows lines without counts; leave one of them out",
        () if arguments.verify => {
            "--verify reads lines again and expects no counts before them; leave one of them out"
        }
        () if names_rank => "--count needs one output without {rank} in its name",
        () if is_set => {
            "--count writes one file, and a set lists records, not counts; name one file with -o"
        }
        () if arguments.resume => "--count has no --resume; leave one of them out",
        () => return Ok(()),
    };
    Err(CliFailure::usage(refused))
}

/// Refuses plans that sort with `-m`.
fn check_merge(arguments: &Arguments) -> Result<(), CliFailure> {
    let sorts = matches!(arguments.plan, Choice::OnePass | Choice::TwoPass);
    if arguments.merge && sorts {
        Err(CliFailure::usage(
            "-m merges inputs that are sorted, and this --plan sorts; leave one of them out",
        ))
    } else {
        Ok(())
    }
}

/// Refuses `--debug` where the output is for programs.
fn check_debug(arguments: &Arguments) -> Result<(), CliFailure> {
    if arguments.debug && !arguments.outputs.is_empty() {
        Err(CliFailure::usage(
            "--debug shows the lines with their keys on standard output; leave -o or --debug out",
        ))
    } else {
        Ok(())
    }
}
