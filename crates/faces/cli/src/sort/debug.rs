//! `--debug`: each line of the output, with its keys underlined.
//!
//! ```text
//! sort ---- pipe ---- printer ---- standard output
//!                                    apples>12
//!                                          __
//!                                    _________
//! ```
//!
//! The sort writes its output to a pipe of this process, so lines are shown as they come, however
//! many there are. Rows are shown likewise, behind their header, and of binary records the bytes of
//! each key, as `explain` shows them.

mod records;

use std::io::{self, BufRead, BufReader, BufWriter, PipeReader, PipeWriter, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use ::sort::{Job, Rows, Target};
use record::Comparison;
use record::text::TextOrder;
use rustix::io::{FdFlags, fcntl_setfd};

use super::underline::mark;
use super::{Arguments, explain, lines};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;

/// The form in which the output is shown.
enum Shown {
    Lines(TextOrder, u8),
    Rows(Rows),
    Records(Comparison),
}

/// A printer of lines.
pub(super) struct View {
    /// The pipe has an end until the sort has opened it.
    entry: PipeWriter,
    printer: JoinHandle<io::Result<()>>,
}

/// Where temporary files go without -T and TMPDIR, as if the output were standard output.
const TEMPORARY: &str = ".";

impl View {
    /// Prints warnings of the order, and starts to print lines, if `--debug` asks for it.
    pub(super) fn of(
        arguments: &Arguments,
        rows: Option<&Rows>,
        comparison: &Comparison,
    ) -> Result<Option<View>, CliFailure> {
        if !arguments.debug {
            return Ok(None);
        }
        let shown = match rows {
            Some(rows) => {
                let told = explain::summary_of_rows(rows).into_iter();
                told.for_each(|line| say::err(format!("gristmill: {line}")));
                Shown::Rows(rows.clone())
            }
            None if !arguments.order.is_of_lines() => Shown::Records(comparison.clone()),
            None => Shown::of_lines(arguments)?,
        };
        let refused = |cause: io::Error| {
            let message = format!("cannot make a pipe: {cause}; raise ulimit -n");
            CliFailure::new("system", message)
        };
        let (exit, entry) = io::pipe().map_err(refused)?;
        // As if it were inherited, since it is an output by its name.
        fcntl_setfd(&entry, FdFlags::empty()).map_err(|cause| refused(cause.into()))?;
        let printer = thread::spawn(move || print(exit, &shown));
        Ok(Some(View { entry, printer }))
    }

    /// The job with its output here.
    pub(super) fn takes(&self, job: Job) -> Job {
        let path = format!("/proc/self/fd/{}", self.entry.as_raw_fd());
        let temporary = if job.temporary.is_empty() {
            vec![PathBuf::from(TEMPORARY)]
        } else {
            job.temporary
        };
        Job {
            target: Target::Path(path.into()),
            compress: None,
            temporary,
            ..job
        }
    }

    /// Waits for the last line.
    pub(super) fn finish(self) -> Result<(), CliFailure> {
        drop(self.entry);
        let printed = self.printer.join().expect("printing does not panic");
        printed.map_err(|cause| say::unwritten(&cause))
    }
}

impl Shown {
    fn of_lines(arguments: &Arguments) -> Result<Shown, CliFailure> {
        let order = lines::order(arguments)?;
        match order.locale() {
            None => say::err("gristmill: lines are compared as bytes, as in the C locale"),
            Some(locale) => {
                let tag = locale.tag();
                say::err(format!("gristmill: text is compared by the rules of {tag}"));
            }
        }
        for warning in order.warnings() {
            say::err(format!("gristmill: {warning}"));
        }
        Ok(Shown::Lines(order, lines::delimiter(arguments)))
    }
}

fn print(sorted: PipeReader, shown: &Shown) -> io::Result<()> {
    let mut sorted = BufReader::new(sorted);
    let mut out = BufWriter::new(io::stdout().lock());
    match shown {
        Shown::Lines(order, delimiter) => {
            let mut line = Vec::new();
            while sorted.read_until(*delimiter, &mut line)? > 0 {
                line.pop();
                show(&line, order, &mut out)?;
                line.clear();
            }
        }
        Shown::Rows(rows) => records::print_rows(&mut sorted, rows, &mut out)?,
        Shown::Records(comparison) => records::print_records(&mut sorted, comparison, &mut out)?,
    }
    out.flush()
}

/// Prints a line, and below it what each key reads.
fn show(line: &[u8], order: &TextOrder, out: &mut impl Write) -> io::Result<()> {
    let shown = |&byte: &u8| if byte == b'\t' { b'>' } else { byte };
    let text: Vec<u8> = line.iter().map(shown).chain([b'\n']).collect();
    out.write_all(&text)?;
    underline(
        line,
        order.explain(line).into_iter().map(|view| view.read),
        out,
    )
}

/// Prints a line under each of these bytes of a line that was printed.
fn underline(
    line: &[u8],
    keys: impl Iterator<Item = Range<usize>>,
    out: &mut impl Write,
) -> io::Result<()> {
    for read in keys {
        writeln!(out, "{}", mark(line, read, "^ no match for key"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::text::{KeyOptions, TextTies};

    /// A width in a format has 16 bits.
    #[test]
    fn long_keys_are_underlined() {
        let order = TextOrder::new(
            Vec::new(),
            KeyOptions::default(),
            None,
            TextTies::Line,
            None,
        );
        let (line, mut out) = (vec![b'x'; 100_000], Vec::new());
        show(&line, &order.unwrap(), &mut out).unwrap();
        assert_eq!(
            out[100_001..],
            [vec![b'_'; 100_000], b"\n".to_vec()].concat()
        );
    }

    #[test]
    fn keys_are_underlined() {
        let keys = vec!["2n".parse().unwrap(), "1,1".parse().unwrap()];
        let ties = TextTies::Line;
        let order = TextOrder::new(keys, KeyOptions::default(), None, ties, None).unwrap();
        let mut out = Vec::new();
        show(b"ab\t12 x", &order, &mut out).unwrap();
        show(b"c", &order, &mut out).unwrap();
        let shown = "ab>12 x\n   __\n__\n_______\nc\n ^ no match for key\n_\n_\n";
        assert_eq!(String::from_utf8_lossy(&out), shown);
    }
}
