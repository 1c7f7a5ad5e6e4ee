//! `gristmill explain`: the first lines of an input with their keys, and how each key was read.
//!
//! ```text
//! key 1, -k 2n,2: a decimal number
//! lines with equal keys: compared as bytes
//!
//! line 1: pears,-12.5x,7
//!               _____     key 1: the number "-12.5"
//!         ______________  equal keys: the whole line
//! ```
//!
//! Nothing is sorted: only those lines are read. Rows and binary records are shown likewise.

mod keys;
mod records;
mod rows;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ::sort::view_of;
use clap::{ArgAction, Args};
use node::{Decompress, Decompression};
use node_real::{Contents, Whole};
use record::text::{TextOrder, Warning};
use record::{Comparison, Framing, RowSpec};

use super::options::{Arguments as SortArguments, Order};
use super::shown::{Line, next};
use super::{request, shown};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use units::{counted, positive};

pub(super) use records::Explained;
pub(super) use rows::summary as summary_of_rows;

const EXAMPLES: &str = "\
Examples:
  gristmill explain -t, -k3,3nr -k1,1 sales.csv
  gristmill explain -k2 names.txt --lines 2     # the key goes on to the end
  ls -l | gristmill explain -k5h";

/// A longer line is shown in part.
const MOST_LINE_BYTES: usize = 64 << 10;

/// Binary records are shown as far as these bytes have them.
const MOST_RECORD_BYTES: u64 = 1 << 20;

/// A memory limit, of which a decompressor takes a part.
const CONTENTS_BYTES: u64 = 64 << 20;

/// Show the keys of the first lines, rows or records, and how they are read.
///
/// The options are those of sort. Nothing is sorted: the first lines are shown in their order, with
/// the bytes that count for each key underlined; of binary records the bytes of each key. A key that
/// finds no number where it should be one is warned of.
#[derive(Args)]
#[command(before_long_help = EXAMPLES, args_override_self = true, infer_long_args = true)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Lines, rows or records to explain [default: standard input]
    #[arg(value_name = "FILE")]
    input: Option<PathBuf>,

    #[command(flatten)]
    order: Order,

    /// Number of lines to show
    #[arg(long, value_name = "N", value_parser = positive, default_value = "5")]
    #[arg(help_heading = "Input and output")]
    lines: u64,
    /// Lines end with NUL, not with a newline
    #[arg(short, long, help_heading = "Input and output")]
    zero_terminated: bool,

    /// Print help
    #[arg(long, action = ArgAction::HelpLong, help_heading = "Help")]
    help: Option<bool>,
}

/// Explains the first lines of the input.
///
/// # Errors
/// Wrong options, an input that cannot be read, or standard output that cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let sort = SortArguments {
        order: arguments.order.clone(),
        zero_terminated: arguments.zero_terminated,
        ..SortArguments::plain()
    };
    if arguments.order.shuffle.is_some() {
        let why = "explain shows keys, and --shuffle has none; leave it out";
        return Err(CliFailure::usage(why));
    }
    let spec = request::spec_of(&sort)?;
    let input = arguments.input.as_deref();
    let failed = |cause| unread(input, &cause);
    request::say_terminal(input.is_some());
    let reader = BufReader::new(contents(open(input)?, spec.order()));
    let (head, mut reader) = shown::head(reader, spec.headed()).map_err(failed)?;
    if let Some(records) = records::Explained::of(spec.order()) {
        return explain_records(&records, arguments, &mut reader);
    }
    if let Some(rows) = spec.rows() {
        let explained = rows::Explained::below(&head, rows)?;
        return explain_rows((rows, explained), arguments, &mut reader);
    }
    let Comparison::Lines(lines) = spec.order() else {
        unreachable!("binary records are explained above");
    };
    let (order, framing) = (&lines.text, &lines.framing);
    // The summary names decimal numbers.
    let warnings = order.warnings().into_iter();
    warnings
        .filter(|warning| *warning != Warning::DecimalPoint)
        .for_each(say::warn);
    for line in keys::summary(order, spec.keep(), &arguments.order.sums) {
        say::out(line)?;
    }
    let above = head
        .iter()
        .filter(|byte| framing.delimiter() == Some(**byte));
    let first = 1 + above.count() as u64;
    let several = lines.multiline.is_some();
    for number in first..first.saturating_add(arguments.lines) {
        let Some(line) = next_line(&mut reader, *framing).map_err(failed)? else {
            break;
        };
        let name = format!("{} {number}", arguments.order.noun(1));
        show(order, &name, &line)?;
        for missing in keys::missing(order, &line.bytes) {
            say::warn(format!("{name}: {missing}"));
        }
        let checked = lines.check(&line.bytes).map(drop);
        if let Err(mistake) = checked.and_then(|()| spec.totals().check(&line.bytes).map(drop)) {
            let end = if several {
                ""
            } else {
                " without --bad-records"
            };
            say::warn(format!("{name}: {mistake}; a sort ends here{end}"));
        }
    }
    Ok(Exit::Done)
}

fn explain_records(
    records: &records::Explained<'_>,
    arguments: &Arguments,
    reader: &mut impl BufRead,
) -> Result<Exit, CliFailure> {
    let mut bytes = Vec::new();
    let read = reader.take(MOST_RECORD_BYTES).read_to_end(&mut bytes);
    read.map_err(|cause| unread(arguments.input.as_deref(), &cause))?;
    let mut rest = &bytes[..];
    for number in 1..=arguments.lines {
        let Some(end) = records.framing.end(rest) else {
            break;
        };
        for line in records.lines(number, &rest[..end]) {
            say::out(line)?;
        }
        rest = &rest[end..];
    }
    if records.framing.end(rest).is_none() && !rest.is_empty() {
        let (offset, left) = (bytes.len() - rest.len(), rest.len());
        say::warn(if (bytes.len() as u64) < MOST_RECORD_BYTES {
            let left = counted(left as u64, "byte");
            format!("{left} from offset {offset} on: no whole record; check --format")
        } else {
            format!(
                "the record at offset {offset} is not shown: it ends behind the first megabyte, or \
             its length cannot be one; check --format"
            )
        });
    }
    Ok(Exit::Done)
}

fn explain_rows(
    (rows, mut explained): (&RowSpec, rows::Explained),
    arguments: &Arguments,
    reader: &mut impl BufRead,
) -> Result<Exit, CliFailure> {
    let failed = |cause| unread(arguments.input.as_deref(), &cause);
    for line in rows::summary(rows) {
        say::out(line)?;
    }
    for _ in 0..arguments.lines {
        let row = explained.next(reader).map_err(failed)?;
        let Some((line, row)) = row else { break };
        let name = format!("line {line}");
        show(&explained.order, &name, &row)?;
        if row.is_cut {
            // Its end may be behind quotes that hold newlines.
            break;
        }
        if let Some(mistake) = explained.mistake(&row.bytes) {
            say::warn(format!("{name}: {mistake}"));
        }
    }
    Ok(Exit::Done)
}

/// Prints a line with its keys.
fn show(order: &TextOrder, name: &str, line: &Line) -> Result<(), CliFailure> {
    say::out("")?;
    for text in keys::explained(order, name, &line.bytes) {
        say::out(text)?;
    }
    if line.is_cut {
        say::warn(format!(
            "{name} is longer than {MOST_LINE_BYTES} bytes: the rest of it is not shown"
        ));
    }
    Ok(())
}

/// The next line; what is not shown of it is read, too.
fn next_line(reader: &mut impl BufRead, framing: Framing) -> io::Result<Option<Line>> {
    let mut read = || next(reader, framing, MOST_LINE_BYTES + 1);
    let line = read()?;
    let mut goes_on = line.as_ref().is_some_and(|line| line.is_cut);
    while goes_on {
        goes_on = read()?.is_some_and(|rest| rest.is_cut);
    }
    Ok(line)
}

fn open(input: Option<&Path>) -> Result<Box<dyn Read + Send>, CliFailure> {
    match input {
        None => Ok(Box::new(io::stdin())),
        Some(path) if path == Path::new("-") => Ok(Box::new(io::stdin())),
        Some(path) => match File::open(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(cause) => Err(unread(input, &cause)),
        },
    }
}

/// The contents of an input, as a sort would read them.
fn contents(source: Box<dyn Read + Send>, order: &Comparison) -> impl Read {
    let reading = Decompression {
        decompress: Decompress::Auto,
        cores: 1,
        memory_bytes: CONTENTS_BYTES,
        view: view_of(order.multiline()),
        lots: None,
    };
    Contents::new(Whole(source), reading)
}

fn unread(input: Option<&Path>, cause: &io::Error) -> CliFailure {
    let name = input.unwrap_or(Path::new("standard input"));
    let advice = match cause.kind() {
        // Bytes that have no view: the cause says what to do.
        io::ErrorKind::InvalidInput => "",
        _ => "; check the name",
    };
    let message = format!("cannot read {}: {cause}{advice}", name.display());
    CliFailure {
        file: input.map(Path::to_owned),
        ..CliFailure::new("io", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(usize, bool)> {
        let mut reader = BufReader::with_capacity(100, bytes);
        let next = || next_line(&mut reader, Framing::Delimited(b'\n')).unwrap();
        std::iter::from_fn(next)
            .map(|line| (line.bytes.len(), line.is_cut))
            .collect()
    }

    #[test]
    fn long_lines_are_cut() {
        let most = MOST_LINE_BYTES;
        assert_eq!(lines(b"ab\n\nc"), [(2, false), (0, false), (1, false)]);
        assert_eq!(lines(b""), []);
        for (length, shown, is_cut) in [(most, most, false), (most + 1, most, true)] {
            let mut bytes = vec![b'x'; length];
            assert_eq!(lines(&bytes), [(shown, is_cut)]);
            bytes.extend(b"\nab\n");
            assert_eq!(lines(&bytes), [(shown, is_cut), (2, false)]);
        }
    }
}
