//! Rows and binary records under their keys.

use std::io::{self, BufRead, Write};

use ::sort::Rows;
use record::rows::Header;
use record::{Comparison, Scanner};

use super::underline;
use crate::sort::explain;

/// Prints the header, and rows with their keys underlined. A tab is shown as `>`, and a newline in
/// quotes as `|`, so that a row takes one line.
pub(super) fn print_rows(
    sorted: &mut impl BufRead,
    rows: &Rows,
    out: &mut impl Write,
) -> io::Result<()> {
    let framing = rows.dialect.framing();
    let mut scanner = framing.scanner();
    let header = if rows.has_header {
        match next(sorted, &mut scanner)? {
            None => return Ok(()),
            header => header,
        }
    } else {
        None
    };
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let names = header.as_deref().map(|header| {
        let end = header.iter().rposition(|byte| !is_end(byte));
        &header[..end.map_or(0, |last| last + 1)]
    });
    if let Some(names) = names {
        out.write_all(&in_one_line(names))?;
        out.write_all(b"\n")?;
    }
    // The sort has read the same header.
    let names = names.map(|names| Header::parse(rows.dialect, names));
    let names = names.transpose().map_err(io::Error::other)?;
    let order = rows.order(names.as_ref());
    let order = order.map_err(io::Error::other)?.text();
    while let Some(row) = next(sorted, &mut scanner)? {
        let row = framing.body(&row);
        let shown = in_one_line(row);
        out.write_all(&shown)?;
        out.write_all(b"\n")?;
        let keys = order.explain(row).into_iter().map(|view| view.read);
        underline(&shown, keys, out)?;
    }
    Ok(())
}

/// Prints for each record its length, and the bytes of each key.
pub(super) fn print_records(
    sorted: &mut impl BufRead,
    comparison: &Comparison,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(explained) = explain::Explained::of(comparison) else {
        return Ok(());
    };
    let mut scanner = explained.framing.scanner();
    let mut number = 0;
    while let Some(record) = next(sorted, &mut scanner)? {
        number += 1;
        for line in explained.lines(number, &record) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The next record, with all of its bytes.
fn next(sorted: &mut impl BufRead, scanner: &mut Scanner) -> io::Result<Option<Vec<u8>>> {
    let mut record = Vec::new();
    loop {
        let bytes = sorted.fill_buf()?;
        let end = scanner.end(bytes).map_err(io::Error::other)?;
        let taken = end.unwrap_or(bytes.len());
        record.extend_from_slice(&bytes[..taken]);
        let is_last = bytes.is_empty();
        sorted.consume(taken);
        if end.is_some() || is_last {
            return Ok((!record.is_empty()).then_some(record));
        }
    }
}

fn in_one_line(row: &[u8]) -> Vec<u8> {
    let shown = |byte: &u8| match byte {
        b'\t' => b'>',
        b'\n' => b'|',
        other => *other,
    };
    row.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::rows::Dialect;
    use record::text::TextTies;
    use std::io::BufReader;

    #[test]
    fn rows_are_shown_in_one_line_each() {
        let rows = Rows {
            dialect: Dialect::CSV,
            has_header: true,
            keys: vec!["n:num".parse().unwrap(), "name".parse().unwrap()],
            ties: TextTies::Line,
            locale: None,
            unique: false,
            bad_rows: None,
        };
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
        let rows = Rows {
            dialect: Dialect::CSV,
            has_header: true,
            keys: vec!["n:num".parse().unwrap()],
            ties: TextTies::Line,
            locale: None,
            unique: false,
            bad_rows: None,
        };
        let mut out = Vec::new();
        print_rows(&mut &b""[..], &rows, &mut out).unwrap();
        assert_eq!(out, b"");
    }
}
