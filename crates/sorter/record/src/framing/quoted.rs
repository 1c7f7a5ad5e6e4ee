//! Rows of fields: a newline inside of quotes does not end a row (RFC 4180).
//!
//! ```text
//! a,"b
//! c",d"e\n          one row: the first quote opens a field, the one in d"e is a character
//! a,"b""c"\n        a doubled quote inside of quotes stands for one
//! ```
//!
//! A quote opens a field only at its beginning, behind a separator or the row before.

/// The bytes that give a row its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quoting {
    /// The byte between two fields.
    pub separator: u8,
    /// The byte around a field that holds separators, quotes or newlines.
    pub quote: u8,
}

/// The place of the next byte in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum InRow {
    /// At the beginning of a field: a quote opens it.
    FieldStart,
    /// In a field, outside of quotes.
    Plain,
    /// Inside of quotes.
    Quoted,
    /// Behind a quote inside of quotes: it closed the field, or is doubled.
    Quote,
}

impl Quoting {
    /// Commas and double quotes.
    pub const CSV: Quoting = Quoting {
        separator: b',',
        quote: b'"',
    };

    pub(super) fn end(self, bytes: &[u8]) -> Option<usize> {
        self.end_from(&mut { InRow::FieldStart }, bytes)
    }

    /// The end of the row that goes on with `bytes`, and the place behind them if it does not end
    /// there.
    pub(super) fn end_from(self, place: &mut InRow, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let &first = rest.first()?;
            match place {
                InRow::Quoted => {
                    at += memchr::memchr(self.quote, rest)? + 1;
                    *place = InRow::Quote;
                    continue;
                }
                InRow::Quote | InRow::FieldStart if first == self.quote => {
                    at += 1;
                    *place = InRow::Quoted;
                    continue;
                }
                _ => {}
            }
            // Outside of quotes. A quote matters only behind a separator.
            let Some(found) = memchr::memchr2(self.quote, b'\n', rest) else {
                let last = rest.last();
                *place = if last == Some(&self.separator) {
                    InRow::FieldStart
                } else {
                    InRow::Plain
                };
                return None;
            };
            if rest[found] == b'\n' {
                *place = InRow::FieldStart;
                return Some(at + found + 1);
            }
            let opens = found > 0 && rest[found - 1] == self.separator;
            *place = if opens { InRow::Quoted } else { InRow::Plain };
            at += found + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newline_inside_of_quotes_ends_nothing() {
        let end = |row: &[u8]| Quoting::CSV.end(row);
        assert_eq!(end(b"a,b\nc"), Some(4));
        assert_eq!(end(b"\n"), Some(1));
        assert_eq!(end(b"\"a\nb\"\nc\n"), Some(6));
        assert_eq!(end(b"x,\"a\n\"\"\n\",c\n"), Some(12));
        assert_eq!(end(b"\"\"\nc"), Some(3));
        // A quote in the middle of a field is a character.
        assert_eq!(end(b"5\" pipe\nc"), Some(8));
        assert_eq!(end(b"a\"\"b\nc"), Some(5));
        assert_eq!(end(b"\"a\"b\"\nc"), Some(6));
        assert_eq!(end(b"\"a\n"), None);
        assert_eq!(end(b""), None);
    }
}
