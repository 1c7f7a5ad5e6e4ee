//! Rows that are set aside for their mistakes, in a file that can be read again whatever they hold.
//!
//! ```text
//! csv     file,line,reason,row              the whole row in one field, in quotes
//! tsv     file  line  reason  city  price   the row's own fields follow
//! jsonl   {"file":"a","line":2,"reason":"..","row":"{"}      or "hex", if the row is not UTF-8
//! ```

use std::fmt::Write;

use serde_json::json;

use super::dialect::Dialect;

/// The columns before those of the row.
const PLACE: [&str; 3] = ["file", "line", "reason"];

/// A row, where it was, and the reason why it is set aside.
#[derive(Clone, Copy, Debug)]
pub struct RowAside<'a> {
    /// The name of the input.
    pub file: &'a [u8],
    /// The line where the row begins, if it is known.
    pub line: Option<u64>,
    /// The mistake.
    pub reason: &'a str,
    /// The row, without the newline at its end.
    pub row: &'a [u8],
}

impl RowAside<'_> {
    /// Writes it as a row of the file.
    pub fn write(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let line = self.line.map_or(String::new(), |line| line.to_string());
        match dialect {
            Dialect::Csv { separator, quote } => {
                let reason = self.reason.as_bytes();
                for (number, field) in [self.file, line.as_bytes(), reason, self.row]
                    .into_iter()
                    .enumerate()
                {
                    out.extend((number > 0).then_some(separator));
                    quoted(field, quote, out);
                }
            }
            Dialect::Tsv => {
                for field in [self.file, line.as_bytes(), self.reason.as_bytes()] {
                    let is_end = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r');
                    out.extend(
                        field
                            .iter()
                            .map(|byte| if is_end(byte) { b' ' } else { *byte }),
                    );
                    out.push(b'\t');
                }
                out.extend(self.row);
            }
            Dialect::JsonLines => {
                let (name, row) = match std::str::from_utf8(self.row) {
                    Ok(row) => ("row", row.to_owned()),
                    Err(_) => ("hex", hex(self.row)),
                };
                let file = json!(String::from_utf8_lossy(self.file));
                let (line, reason, row) = (json!(self.line), json!(self.reason), json!(row));
                // The names stay in this order whatever a map of JSON does.
                let object = format!(
                    "{{\"file\":{file},\"line\":{line},\"reason\":{reason},\"{name}\":{row}}}"
                );
                out.extend(object.bytes());
            }
        }
        out.push(b'\n');
    }
}

impl Dialect {
    /// The first row of a file of rows set aside; empty in JSON Lines. `header` has the rows' own
    /// columns, if they have names.
    #[must_use]
    pub fn header_aside(self, header: &[u8]) -> Vec<u8> {
        let own = match self {
            Dialect::JsonLines => return Vec::new(),
            Dialect::Tsv if !header.is_empty() => header,
            _ => &b"row\n"[..],
        };
        let separator = self.separator().unwrap_or_default();
        let names = PLACE.map(|name| [name.as_bytes(), &[separator]].concat());
        [&names.concat(), own].concat()
    }
}

/// Whether a file that begins with these bytes has rows set aside, of whichever format.
#[must_use]
pub fn is_aside(front: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', front).unwrap_or(front.len());
    let first = &front[..end];
    if let Some(&separator) = first.get(PLACE[0].len()) {
        let names = PLACE.map(|name| [name.as_bytes(), &[separator]].concat());
        // Behind tabs are the columns of the rows.
        match first.strip_prefix(&names.concat()[..]) {
            Some(b"row") => return true,
            Some(_) if separator == b'\t' => return true,
            _ => {}
        }
    }
    let object = serde_json::from_slice::<serde_json::Value>(first);
    object.is_ok_and(|object| PLACE.iter().all(|name| object.get(name).is_some()))
}

fn quoted(field: &[u8], quote: u8, out: &mut Vec<u8>) {
    out.push(quote);
    for &byte in field {
        out.extend((byte == quote).then_some(quote));
        out.push(byte);
    }
    out.push(quote);
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes all");
    }
    text
}
