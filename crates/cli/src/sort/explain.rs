//! `gristmill explain`: the first lines of an input with their keys, and what each key was read as.
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
//! Nothing is sorted: only those lines are read. Rows are shown likewise.

mod keys;
mod rows;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ::sort::Rows;
use clap::{ArgAction, Args};
use codec::{Decoder, Header, LONGEST_HEADER};
use record::text::{TextOrder, Warning};

use super::options::Order;
use super::{Arguments as SortArguments, conflicts, format, lines};
use crate::ending::failure::{CliFailure, Exit};
use crate::ending::say;
use crate::size::positive;

const EXAMPLES: &str = "\
Examples:
  gristmill explain -t, -k3,3nr -k1,1 sales.csv
  gristmill explain -k2 names.txt --lines 2     # the key goes on to the end
  ls -l | gristmill explain -k5h";

/// A longer line is shown in part.
const MOST_LINE_BYTES: u64 = 64 << 10;

/// A memory limit, of which a decompressor takes a part.
const CONTENTS_BYTES: u64 = 64 << 20;

/// Show which bytes of a line or row each key is, and what they are read as.
///
/// The options are those of sort. Nothing is sorted: the first lines are shown in their order, with
/// the bytes that count for each key underlined. A key that finds no number where it should be one
/// is warned of.
#[derive(Args)]
#[command(before_long_help = EXAMPLES, args_override_self = true, infer_long_args = true)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Lines to explain [default: standard input]
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
    if !sort.order.is_of_lines() && !sort.order.is_of_rows() {
        return Err(CliFailure::usage(format!(
            "explain shows the keys of lines and rows, not of --format {}; the keys of its records are where --key says",
            sort.order.format
        )));
    }
    conflicts::check(&sort)?;
    let input = arguments.input.as_deref();
    let failed = |cause| unread(input, &cause);
    let mut reader = BufReader::new(contents(open(input)?).map_err(failed)?);
    if let Some(rows) = format::of(&sort)?.rows {
        return explain_rows(&rows, arguments, &mut reader);
    }
    let (order, delimiter) = (lines::order(&sort)?, lines::delimiter(&sort));
    // The summary names decimal numbers.
    let warnings = order.warnings().into_iter();
    warnings
        .filter(|warning| *warning != Warning::DecimalPoint)
        .for_each(say::warn);
    for line in keys::summary(&order, sort.order.unique) {
        say::out(line)?;
    }
    for number in 1..=arguments.lines {
        let Some(line) = next_line(&mut reader, delimiter).map_err(failed)? else {
            break;
        };
        let name = format!("line {number}");
        show(&order, &name, &line)?;
        for missing in keys::missing(&order, &line.bytes) {
            say::warn(format!("{name}: {missing}"));
        }
    }
    Ok(Exit::Done)
}

fn explain_rows(
    rows: &Rows,
    arguments: &Arguments,
    reader: &mut impl BufRead,
) -> Result<Exit, CliFailure> {
    let explained = rows::Explained::begin(rows, reader)?;
    for line in rows::summary(rows) {
        say::out(line)?;
    }
    for number in 1..=arguments.lines {
        let row = explained.next(reader);
        let row = row.map_err(|cause| unread(arguments.input.as_deref(), &cause))?;
        let Some(row) = row else { break };
        let name = format!("row {number}");
        show(&explained.order, &name, &row)?;
        if let Some(mistake) = explained.mistake(&row.bytes).filter(|_| !row.is_cut) {
            say::warn(format!("{name}: {mistake}"));
        }
    }
    Ok(Exit::Done)
}

/// The first bytes of a line, and whether there are more.
struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
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

/// The next line, without its delimiter.
fn next_line(reader: &mut impl BufRead, delimiter: u8) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let most = MOST_LINE_BYTES + 1;
    if reader
        .by_ref()
        .take(most)
        .read_until(delimiter, &mut bytes)?
        == 0
    {
        return Ok(None);
    }
    if bytes.last() == Some(&delimiter) {
        bytes.pop();
    }
    let is_cut = bytes.len() as u64 > MOST_LINE_BYTES;
    if is_cut {
        bytes.pop();
        skip_line(reader, delimiter)?;
    }
    Ok(Some(Line { bytes, is_cut }))
}

/// Reads up to the end of a line.
fn skip_line(reader: &mut impl BufRead, delimiter: u8) -> io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        let end = bytes.iter().position(|&byte| byte == delimiter);
        let length = end.map_or(bytes.len(), |before| before + 1);
        let is_done = end.is_some() || length == 0;
        reader.consume(length);
        if is_done {
            return Ok(());
        }
    }
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
fn contents(mut source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut begin = Vec::new();
    let most = LONGEST_HEADER as u64;
    source.by_ref().take(most).read_to_end(&mut begin)?;
    Ok(match Header::of(&begin, CONTENTS_BYTES) {
        Some(header) => Box::new(Decoder::new(header, begin, source)),
        None => Box::new(io::Cursor::new(begin).chain(source)),
    })
}

fn unread(input: Option<&Path>, cause: &io::Error) -> CliFailure {
    let name = input.unwrap_or(Path::new("standard input"));
    let message = format!("cannot read {}: {cause}; check the name", name.display());
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
        let next = || next_line(&mut reader, b'\n').unwrap();
        std::iter::from_fn(next)
            .map(|line| (line.bytes.len(), line.is_cut))
            .collect()
    }

    #[test]
    fn long_lines_are_cut() {
        let most = MOST_LINE_BYTES as usize;
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
