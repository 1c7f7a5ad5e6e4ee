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

use std::io::{self, BufRead, BufReader, BufWriter, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use ::sort::{Job, Target};
use record::text::TextOrder;
use record::{Comparison, Framing, Headed, LineKeys, LineOrder, RecordSpec, RowSpec};
use rustix::io::{FdFlags, fcntl_setfd};

use super::explain;
use super::shown::{head, mark, next, order_of};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;

/// The form in which the output is shown.
enum Shown {
    Lines(Option<Box<Headed>>, LineOrder),
    Rows(RowSpec),
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
    /// Prints warnings of the order, and starts to print lines.
    pub(super) fn of(spec: &RecordSpec) -> Result<View, CliFailure> {
        let shown = match (spec.rows(), spec.order()) {
            (Some(rows), _) => {
                let told = explain::summary_of_rows(rows).into_iter();
                told.for_each(|line| say::err(format!("gristmill: {line}")));
                Shown::Rows(rows.clone())
            }
            (None, Comparison::Lines(order)) if order.keys == LineKeys::Text => {
                Shown::of_lines(spec.headed(), order)
            }
            (None, order) => Shown::Records(order.clone()),
        };
        let refused = |cause: io::Error| {
            let message = format!("cannot make a pipe: {cause}; raise ulimit -n");
            CliFailure::new("system", message)
        };
        let (exit, entry) = io::pipe().map_err(refused)?;
        // As if it were inherited, since it is an output by its name.
        fcntl_setfd(&entry, FdFlags::empty()).map_err(|cause| refused(cause.into()))?;
        let printer = thread::spawn(move || print(exit, &shown));
        Ok(View { entry, printer })
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
    fn of_lines(headed: Option<&Headed>, order: &LineOrder) -> Shown {
        match order.text.locale() {
            None => say::err("gristmill: lines are compared as bytes, as in the C locale"),
            Some(locale) => {
                let tag = locale.tag();
                say::err(format!("gristmill: text is compared by the rules of {tag}"));
            }
        }
        for warning in order.text.warnings() {
            say::err(format!("gristmill: {warning}"));
        }
        Shown::Lines(headed.cloned().map(Box::new), order.clone())
    }
}

fn print(sorted: PipeReader, shown: &Shown) -> io::Result<()> {
    let sorted = BufReader::new(sorted);
    let mut out = BufWriter::new(io::stdout().lock());
    match shown {
        Shown::Lines(headed, order) => {
            let (head, mut sorted) = head(sorted, headed.as_deref())?;
            out.write_all(&head)?;
            let lines = Keyed {
                order: &order.text,
                framing: order.framing,
                newline: b'\n',
            };
            lines.print(&mut sorted, &mut out)?;
        }
        Shown::Rows(rows) => print_rows(sorted, rows, &mut out)?,
        Shown::Records(comparison) => print_records(sorted, comparison, &mut out)?,
    }
    out.flush()
}

/// Lines or rows, and how they are shown.
struct Keyed<'a> {
    order: &'a TextOrder,
    framing: Framing,
    /// Stands for a newline: a row takes one line.
    newline: u8,
}

impl Keyed<'_> {
    fn print(&self, sorted: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
        while let Some(line) = next(sorted, self.framing, usize::MAX)? {
            self.show(&line.bytes, out)?;
        }
        Ok(())
    }

    /// Prints a line, and below it a line under the bytes that each key reads.
    fn show(&self, line: &[u8], out: &mut impl Write) -> io::Result<()> {
        let shown = self.print_text(line, out)?;
        for key in self.order.explain(line) {
            writeln!(out, "{}", mark(&shown, key.read, "^ no match for key"))?;
        }
        Ok(())
    }

    /// Prints a line, a tab as `>`, and gives it as it is shown.
    fn print_text(&self, line: &[u8], out: &mut impl Write) -> io::Result<Vec<u8>> {
        let shown = |&byte: &u8| match byte {
            b'\t' => b'>',
            b'\n' => self.newline,
            other => other,
        };
        let shown: Vec<u8> = line.iter().map(shown).collect();
        out.write_all(&shown)?;
        out.write_all(b"\n")?;
        Ok(shown)
    }
}

/// Prints the header, and rows with their keys underlined.
fn print_rows(sorted: impl BufRead, rows: &RowSpec, out: &mut impl Write) -> io::Result<()> {
    let framing = rows.dialect.framing();
    let (head, mut sorted) = head(sorted, Some(&Headed::Rows(rows.clone())))?;
    if rows.has_header() && head.is_empty() {
        return Ok(());
    }
    // The sort has read the same header.
    let (order, _) = order_of(rows, &head).map_err(io::Error::other)?;
    let has_head = !rows.head.is_none();
    let rows = Keyed {
        order: &order.text(),
        framing,
        newline: b'|',
    };
    if has_head {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let end = head.iter().rposition(|byte| !is_end(byte));
        rows.print_text(&head[..end.map_or(0, |last| last + 1)], out)?;
    }
    rows.print(&mut sorted, out)
}

/// Prints for each record its length, and the bytes of each key.
fn print_records(
    mut sorted: impl BufRead,
    comparison: &Comparison,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(explained) = explain::Explained::of(comparison) else {
        return Ok(());
    };
    let mut number = 0;
    while let Some(record) = next(&mut sorted, explained.framing, usize::MAX)? {
        number += 1;
        for line in explained.lines(number, &record.bytes) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::text::KeyOptions;
    use record::{Given, Ties};

    fn lines(order: &TextOrder) -> Keyed<'_> {
        Keyed {
            order,
            framing: Framing::Delimited(b'\n'),
            newline: b'\n',
        }
    }

    fn rows(keys: &[&str]) -> RowSpec {
        let spec = RecordSpec::new(&Given {
            format: "csv".to_owned(),
            keys: keys.iter().map(ToString::to_string).collect(),
            ..Given::default()
        });
        spec.unwrap().rows().unwrap().clone()
    }

    /// A width in a format has 16 bits.
    #[test]
    fn long_keys_are_underlined() {
        let order = TextOrder::new(Vec::new(), KeyOptions::default(), None, Ties::Record, None);
        let (line, mut out) = (vec![b'x'; 100_000], Vec::new());
        lines(&order.unwrap()).show(&line, &mut out).unwrap();
        assert_eq!(
            out[100_001..],
            [vec![b'_'; 100_000], b"\n".to_vec()].concat()
        );
    }

    #[test]
    fn keys_are_underlined() {
        let keys = vec!["2n".parse().unwrap(), "1,1".parse().unwrap()];
        let ties = Ties::Record;
        let order = TextOrder::new(keys, KeyOptions::default(), None, ties, None).unwrap();
        let mut out = Vec::new();
        lines(&order)
            .print(&mut &b"ab\t12 x\nc\n"[..], &mut out)
            .unwrap();
        let shown = "ab>12 x\n   __\n__\n_______\nc\n ^ no match for key\n_\n_\n";
        assert_eq!(String::from_utf8_lossy(&out), shown);
    }

    #[test]
    fn rows_are_shown_in_one_line_each() {
        let rows = rows(&["n:num", "name"]);
        let sorted = b"name,n\r\n\"a\nb\",3\r\nc,12\n";
        let mut out = Vec::new();
        let mut reader = BufReader::with_capacity(4, &sorted[..]);
        print_rows(&mut reader, &rows, &mut out).unwrap();
        let shown = "name,n\n\"a|b\",3\r\n      _\n ___\n";
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with(shown), "{out}");
    }

    #[test]
    fn no_rows_are_not_shown() {
        let rows = rows(&["n:num"]);
        let mut out = Vec::new();
        print_rows(&mut &b""[..], &rows, &mut out).unwrap();
        assert_eq!(out, b"");
    }
}
