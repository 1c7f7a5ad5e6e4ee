//! Options that do not go together, and options of lines with other records.

use std::path::{Path, PathBuf};

use ::sort::{Choice, names_rank};
use record::FormatOption::{
    Counts, Delimiter, Head, Header, KeyOptions, Locale, Multiline, Null, Quote, Separator,
    ShortRows, Shuffle,
};
use record::{FormatKind, RecordSpec};

use super::advice::{for_records, for_rows};
use super::target::is_directory;
use crate::sort::choices::CheckName;
use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;
use terminal::progress::Mode;

/// Formats of text, as people may call them.
const ALIASES: [(&str, &str); 5] = [
    ("json", "jsonl"),
    ("ndjson", "jsonl"),
    ("text", "lines"),
    ("txt", "lines"),
    ("string", "lines"),
];

fn refuse(is_refused: bool, why: &str) -> Result<(), CliFailure> {
    if is_refused {
        Err(CliFailure::usage(why))
    } else {
        Ok(())
    }
}

/// Refuses options that do not go together.
pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    check_format(arguments)?;
    check_check(arguments)?;
    refuse(
        arguments.debug && !arguments.outputs.is_empty(),
        "--debug shows the lines with their keys on standard output; leave -o or --debug out",
    )?;
    refuse(
        arguments.compress.is_some() && arguments.compress_program.is_some(),
        "--compress and --compress-program both say how temporary data is compressed; give only one",
    )?;
    check_top(arguments)?;
    check_several(arguments)?;
    check_shuffle(arguments)?;
    refuse(
        arguments.quiet && arguments.progress == Mode::Json,
        "-q shows no progress; leave -q or --progress json out",
    )?;
    check_joined(arguments)?;
    refuse(
        arguments.bad_records.as_deref() == Some(Path::new("-")),
        "--bad-records writes a file, not standard output; name one, or ./- for a file of that name",
    )?;
    refuse(
        arguments.order.keep.is_some() && !arguments.order.unique,
        "--keep says which of equal records -u keeps; add -u",
    )?;
    refuse(
        arguments.merge && matches!(arguments.plan, Choice::OnePass | Choice::TwoPass),
        "-m merges inputs that are sorted, and this --plan sorts; leave one of them out",
    )?;
    refuse(
        arguments.resume && arguments.stripe.is_some(),
        "--stripe protects one run, and --resume saves progress for the next; leave one of them out",
    )?;
    refuse(
        arguments.resume && arguments.max_line.is_some(),
        "--resume takes lines of up to 64 KB; leave --max-line or --resume out",
    )?;
    refuse(
        arguments.resume && arguments.order.draws_salt(),
        "--resume with -R needs --random-source, so that the sort continues in the same order",
    )
}

impl Arguments {
    /// How to tell of disorder, if the input is to be checked and not sorted.
    pub(super) fn checks(&self) -> Option<CheckName> {
        let quietly = self.check_quietly.then_some(CheckName::Quiet);
        self.check.or(quietly)
    }
}

/// Refuses names of formats that have another one.
fn check_name(format: &str) -> Result<(), CliFailure> {
    let names = FormatKind::TEXT.map(|(name, _)| (name, name));
    let mut names = names.into_iter().chain(ALIASES);
    let meant =
        names.find(|(name, instead)| name.eq_ignore_ascii_case(format) && format != *instead);
    if let Some((_, instead)) = meant {
        return Err(CliFailure::usage(format!(
            "--format {format}: use --format {instead}"
        )));
    }
    if format.len() > 3 && (format.starts_with("csv") || format.starts_with("tsv")) {
        return Err(CliFailure::usage(format!(
            "--format {format}: use --format csv, and -t for the byte between fields, as in -t ';'"
        )));
    }
    Ok(())
}

/// Refuses options that the format does not have.
fn check_format(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let (format, kind) = (order.format.as_str(), order.kind());
    check_name(format)?;
    check_rows(arguments)?;
    let several = order.multiline().map(|(_, option)| option);
    let letters = order.letters();
    // -rn is about the direction first: a type is of little help with that.
    let letter = letters.chars().max_by_key(|&letter| letter == 'r');
    let letter = letter.filter(|_| order.sort.is_empty());
    let letter = letter.map(|letter| format!("-{letter}"));
    let given = [
        (
            letter.is_some(),
            KeyOptions,
            letter.as_deref().unwrap_or_default(),
        ),
        (!order.separators.is_empty(), Separator, "-t"),
        (
            !order.random_source.is_empty(),
            KeyOptions,
            "--random-source",
        ),
        (!order.sort.is_empty(), KeyOptions, "--sort"),
        (arguments.zero_terminated, Delimiter, "-z"),
        (several.is_some(), Multiline, several.unwrap_or_default()),
        (order.shuffle.is_some(), Shuffle, "--shuffle"),
        (order.count, Counts, "--count"),
        (order.locale.is_some(), Locale, "--locale"),
        (!order.header.is_empty(), Head, "--header"),
    ];
    let mut unfit = given
        .into_iter()
        .filter(|(_, option, _)| !kind.has(*option));
    let Some((_, option, name)) = unfit.find(|(is_given, ..)| *is_given) else {
        return Ok(());
    };
    let instead = if kind.is_rows() {
        for_rows(name, kind)
    } else {
        for_records(name)
    };
    let others = match option {
        Locale => " and rows",
        Head => ", csv and tsv",
        _ => "",
    };
    Err(CliFailure::usage(format!(
        "{name} is for lines{others}, not for --format {format}; {instead}"
    )))
}

/// Refuses options of rows with other records, and files of bad rows that are not their own.
fn check_rows(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let (format, kind) = (&order.format, order.kind());
    let sets_aside = arguments.bad_records.is_some();
    let given = [
        (order.no_header && !kind.has(Header), "--no-header"),
        (order.quote.is_some() && !kind.has(Quote), "--quote"),
        (!order.nulls.is_empty() && !kind.has(Null), "--null"),
        (order.short_rows && !kind.has(ShortRows), "--short-rows"),
        (sets_aside && kind == FormatKind::Binary, "--bad-records"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
        let others = match option {
            "--null" | "--bad-records" => " and lines",
            _ => "",
        };
        return Err(CliFailure::usage(format!(
            "{option} is for rows{others}, not for --format {format}; use --format csv"
        )));
    }
    refuse(
        arguments.resume && sets_aside,
        "--resume stops at the first mistake, so it cannot be combined with --bad-records; leave one of them out",
    )
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
        (!arguments.order.sums.is_empty(), "--sum"),
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

/// Refuses records of several lines where each would have to be one.
fn check_several(arguments: &Arguments) -> Result<(), CliFailure> {
    let Some((_, option)) = arguments.order.multiline() else {
        return Ok(());
    };
    let is_set = arguments.outputs.iter().any(|output| is_directory(output));
    let refused = match () {
        () if arguments.order.record_start.is_some() && arguments.order.record_lines.is_some() => {
            "and --record-lines both say where a record begins; give only one"
        }
        () if arguments.zero_terminated => {
            "makes records of lines that end with newlines; leave -z out"
        }
        () if !arguments.order.header.is_empty() => {
            "makes all lines records, and --header keeps some on top; leave one of them out"
        }
        () if is_set => {
            "writes one file, and a set lists records of one line; name one file with -o"
        }
        () if arguments.bad_records.is_some() => {
            "makes records of several lines, and --bad-records sets single ones aside; leave one of them out"
        }
        () if arguments.debug => {
            "makes records of several lines, and --debug shows keys below one; leave one of them out"
        }
        () => return Ok(()),
    };
    Err(CliFailure::usage(format!("{option} {refused}")))
}

/// Refuses a shuffle with options about an order.
fn check_shuffle(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    if order.shuffle.is_none() {
        return Ok(());
    }
    let is_set = arguments.outputs.iter().any(|output| is_directory(output));
    let letter = order.letters().chars().next().map(|it| format!("-{it}"));
    let check = if arguments.check_quietly { "-C" } else { "-c" };
    let others = [
        (!order.keys.is_empty(), "-k"),
        (letter.is_some(), letter.as_deref().unwrap_or_default()),
        (!order.separators.is_empty(), "-t"),
        (order.locale.is_some(), "--locale"),
        (order.stable, "-s"),
        (order.unique, "-u"),
        (order.joins().is_some(), order.joins().unwrap_or_default()),
        (order.keep.is_some(), "--keep"),
        (!order.nulls.is_empty(), "--null"),
        (arguments.bad_records.is_some(), "--bad-records"),
        (arguments.merge, "-m"),
        (arguments.checks().is_some(), check),
        (arguments.verify, "--verify"),
        (arguments.debug, "--debug"),
    ];
    if let Some((_, other)) = others.into_iter().find(|(is_given, _)| *is_given) {
        return Err(CliFailure::usage(format!(
            "--shuffle puts lines in no order, and {other} is about one; leave one of them out"
        )));
    }
    refuse(
        !order.random_source.is_empty(),
        "--random-source is for -R; give --shuffle a seed, as in --shuffle=42",
    )?;
    refuse(
        arguments.resume,
        "--shuffle begins anew each time, so --resume has nothing to go on with; leave it out",
    )?;
    let is_seed = |input: &&PathBuf| input.to_string_lossy().parse::<u64>().is_ok();
    let seed = arguments.inputs.first().filter(is_seed);
    refuse(
        order.shuffle == Some(None) && seed.is_some_and(|seed| !seed.exists()),
        "--shuffle has its seed behind =, as in --shuffle=42",
    )?;
    refuse(
        is_set,
        "--shuffle writes one file, and a set lists records in an order; name one file with -o",
    )
}

/// Refuses to set lines aside that cannot have mistakes.
pub(super) fn check_mistakes(arguments: &Arguments, spec: &RecordSpec) -> Result<(), CliFailure> {
    refuse(
        arguments.bad_records.is_some() && !spec.can_set_aside(),
        "--bad-records has nothing to do: lines have mistakes only in keys with a type, such as -k4:date, or in fields of --sum",
    )
}

/// Refuses a file that an option of a sort has taken for its value, so that standard input would be read.
pub(super) fn check_swallowed(arguments: &Arguments) -> Result<(), CliFailure> {
    if !arguments.inputs.is_empty() || arguments.files0_from.is_some() {
        return Ok(());
    }
    let order = &arguments.order;
    let heads = "a number of lines, or their first characters";
    let given = [
        (&order.header, "--header", heads),
        (&order.sums, "--sum", "a column"),
        (&order.nulls, "--null", "a word"),
    ];
    let is_file = |value: &&String| value.parse::<u64>().is_err() && Path::new(value).is_file();
    let mut taken = given.into_iter().filter_map(|(values, option, needed)| {
        let file = values.iter().find(is_file)?;
        Some(format!(
            "{option} takes {needed} first, and {file} is a file"
        ))
    });
    taken
        .next()
        .map_or(Ok(()), |told| Err(CliFailure::usage(told)))
}

/// Refuses `--count` and `--sum` where no records are joined, and where joined ones stand in the way.
fn check_joined(arguments: &Arguments) -> Result<(), CliFailure> {
    let order = &arguments.order;
    let names_rank = arguments.outputs.iter().any(|path| names_rank(path));
    let is_set = arguments.outputs.iter().any(|output| is_directory(output));
    let Some(option) = order.joins() else {
        return Ok(());
    };
    let refused = match () {
        () if !order.unique && order.count => "counts the lines of which -u keeps one; add -u",
        () if !order.unique => "adds up the records of which -u keeps one; add -u",
        () if order.top.is_some() => {
            "needs all records, and --top drops some; leave --top out, and sort the output by its numbers with --top"
        }
        () if arguments.debug => {
            "joins records, and --debug shows all of them; leave one of them out"
        }
        () if arguments.verify => {
            "changes records, and --verify reads them again as they were; leave one of them out"
        }
        () if names_rank => "needs one output without {rank} in its name",
        () if is_set => {
            "writes one file, and a set lists records as they were; name one file with -o"
        }
        () if arguments.resume => "has no --resume; leave one of them out",
        () => return Ok(()),
    };
    Err(CliFailure::usage(format!("{option} {refused}")))
}
