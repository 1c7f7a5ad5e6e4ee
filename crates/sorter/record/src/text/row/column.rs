//! Finds a field in a row by the number of its column (RFC 4180).
//!
//! ```text
//! 12,5" pipe,"a, ""b""",9\r      quote opens a field only at the field's beginning
//! .. ....... __________ .        so the search counts separators, sixteen bytes at a time,
//!            ^                   until a quote opens a field, passes that field, and goes on
//! ```
//!
//! A row without quotes thus costs two comparisons for sixteen bytes. A carriage return at the end of
//! a row belongs to no field.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::super::scan::{Byte, Ends, Sixteen, nth};
use super::super::words::Sink;
use super::{Coded, Coding, Found};
use crate::steps::count;

/// A column of rows of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The byte between two fields.
    pub(crate) separator: u8,
    /// The byte around a field that holds separators, quotes or newlines, if there is one.
    pub(crate) quote: Option<u8>,
    /// The number of columns before it.
    pub(crate) before: usize,
}

/// Without the carriage return at the end of a row.
#[inline]
pub(crate) fn without_cr(row: &[u8]) -> &[u8] {
    row.strip_suffix(b"\r").unwrap_or(row)
}

/// The place behind the quote that ends the field whose opening quote is before `from`, if there is
/// one.
#[inline]
fn past_quoted(row: &[u8], from: usize, quote: u8) -> Option<usize> {
    let mut at = from;
    loop {
        let passed = memchr(quote, row.get(at..)?)? + 1;
        count(passed);
        at += passed;
        if row.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

/// A mistake in a row of fields, at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadField {
    /// The quote here opens a field that does not end.
    Open(usize),
    /// A byte behind a closing quote.
    Behind(usize),
}

/// The number of fields of a row.
///
/// # Errors
/// If a field that a quote opens does not end with one.
pub(crate) fn count_fields(
    row: &[u8],
    separator: u8,
    quote: Option<u8>,
) -> Result<usize, BadField> {
    let row = without_cr(row);
    let (mut count, mut opened) = (1, None);
    for from in (0..row.len()).step_by(Sixteen::BYTES) {
        let bytes = Sixteen::at(row, from);
        opened = quote.filter(|&quote| bytes.marks_of([quote]) != 0);
        if opened.is_some() {
            break;
        }
        count += bytes.marks_of([separator]).count_ones() as usize;
    }
    match opened {
        Some(quote) => count_quoted(row, separator, quote),
        None => Ok(count),
    }
}

/// The number of fields of a row that has quotes.
fn count_quoted(row: &[u8], separator: u8, quote: u8) -> Result<usize, BadField> {
    let first = memchr(quote, row).unwrap_or(row.len());
    // The field in which the first quote is.
    let before = memrchr(separator, &row[..first]);
    let mut count = memchr_iter(separator, &row[..first]).count() + 1;
    let mut at = before.map_or(0, |separator| separator + 1);
    loop {
        if row.get(at) == Some(&quote) {
            let behind = past_quoted(row, at + 1, quote).ok_or(BadField::Open(at))?;
            if row.get(behind).is_some_and(|&byte| byte != separator) {
                return Err(BadField::Behind(behind));
            }
            at = behind;
        }
        match memchr(separator, &row[at..]) {
            None => return Ok(count),
            Some(end) => at += end + 1,
        }
        count += 1;
    }
}

impl Column {
    /// The value of a row's field; empty if the row has too few fields.
    #[inline]
    pub(crate) fn find(self, row: &[u8]) -> Found<'_> {
        self.find_at(row).0
    }

    /// The value of a row's field, and the place of the field.
    #[inline]
    pub(crate) fn find_at(self, row: &[u8]) -> (Found<'_>, usize) {
        let range = self.range(row);
        let start = range.start;
        (self.value(&row[range]), start)
    }

    /// Whether the row has the field.
    pub(crate) fn is_in(self, row: &[u8]) -> bool {
        self.start(without_cr(row)).is_some()
    }

    /// The values of a row's fields from this column on, each found from the end of the one before.
    pub(crate) fn each(self, row: &[u8]) -> impl Iterator<Item = Found<'_>> {
        let row = without_cr(row);
        let mut next = self.start(row).map(|(start, _)| start);
        std::iter::from_fn(move || {
            let start = next?;
            let end = self.end(row, start);
            next = (end < row.len()).then_some(end + 1);
            Some(self.value(&row[start..end]))
        })
    }

    /// The value of a field with its quotes.
    #[inline]
    fn value(self, field: &[u8]) -> Found<'_> {
        match field {
            [first, inside @ ..] if Some(*first) == self.quote => quoted(inside, *first),
            field => Found::Plain(field),
        }
    }

    /// The bytes of the field, with its quotes.
    #[inline]
    fn range(self, row: &[u8]) -> Range<usize> {
        let row = without_cr(row);
        match self.start(row) {
            None => row.len()..row.len(),
            Some((start, Some(separator))) => start..separator,
            Some((start, None)) => start..self.end(row, start),
        }
    }

    /// The bytes of the field, and those inside of its quotes.
    pub(super) fn ranges(self, row: &[u8]) -> (Range<usize>, Range<usize>) {
        let field = self.range(row);
        let is_quote = |byte: Option<&u8>| byte.is_some() && byte.copied() == self.quote;
        let mut inside = field.clone();
        if is_quote(row[field.clone()].first()) {
            inside.start += 1;
            let closes = inside.end > inside.start && is_quote(row[inside.clone()].last());
            inside.end -= usize::from(closes);
        }
        (field, inside)
    }

    /// The start of the field, and its end if that was seen; `None` if the row has too few.
    #[inline]
    fn start(self, row: &[u8]) -> Option<(usize, Option<usize>)> {
        let (mut at, mut left) = (0, self.before);
        if left == 0 {
            return Some((0, None));
        }
        let Some(quote) = self.quote else {
            let mut ends = Ends::behind(row, 0, Byte(self.separator));
            let start = ends.nth(left)? + 1;
            return Some((start, ends.nth(1)));
        };
        loop {
            if row.get(at) == Some(&quote) {
                left -= 1;
                let closed = past_quoted(row, at + 1, quote)?;
                at = nth(row, closed, self.separator, 1)? + 1;
                if left == 0 {
                    return Some((at, None));
                }
            } else {
                let end;
                (at, end) = self.past_unquoted(row, at, quote, &mut left)?;
                if left == 0 {
                    return Some((at, end));
                }
            }
        }
    }

    /// From the start of a field, the start of the one that follows `left` more, and its end if that was
    /// seen; or the start of an earlier one that a quote opens.
    #[inline]
    fn past_unquoted(
        self,
        row: &[u8],
        from: usize,
        quote: u8,
        left: &mut usize,
    ) -> Option<(usize, Option<usize>)> {
        let mut at = from;
        // The bit of the first byte, if a separator is before it.
        let mut after = 0;
        while at < row.len() {
            let bytes = Sixteen::at(row, at);
            let separators = bytes.marks_of([self.separator]);
            let opening = bytes.marks_of([quote]) & (separators << 1 | after);
            let first = opening & opening.wrapping_neg();
            let mut before = separators & first.wrapping_sub(1);
            while before != 0 {
                let place = before.trailing_zeros();
                before &= before - 1;
                *left -= 1;
                if *left == 0 {
                    let start = at + place as usize + 1;
                    // Further ones before a quote that opens a field are ends.
                    let end = (before != 0).then(|| at + before.trailing_zeros() as usize);
                    return Some((start, end));
                }
            }
            if opening != 0 {
                return Some((at + first.trailing_zeros() as usize, None));
            }
            after = separators >> (Sixteen::BYTES - 1);
            at += Sixteen::BYTES;
        }
        None
    }

    /// The end of the field that starts at `start`.
    #[inline]
    fn end(self, row: &[u8], start: usize) -> usize {
        let closed = match row.get(start) {
            Some(&first) if Some(first) == self.quote => past_quoted(row, start + 1, first),
            _ => Some(start),
        };
        let end = closed.and_then(|closed| nth(row, closed, self.separator, 1));
        end.unwrap_or(row.len())
    }
}

/// The value of a field, from the bytes behind its opening quote.
#[inline]
fn quoted(inside: &[u8], quote: u8) -> Found<'_> {
    match memchr(quote, inside) {
        Some(closing) if closing + 1 == inside.len() => Found::Plain(&inside[..closing]),
        // The front of a longer row.
        None => Found::Plain(inside),
        Some(_) => Found::Coded(Coded {
            bytes: inside,
            coding: Coding::Doubled(quote),
        }),
    }
}

/// Writes the value of a field, from the bytes behind its opening quote. Bytes behind the closing
/// quote, a mistake, count as they are.
pub(super) fn decode(inside: &[u8], quote: u8, out: &mut impl Sink) {
    let mut rest = inside;
    while let Some(place) = memchr(quote, rest) {
        let is_doubled = rest.get(place + 1) == Some(&quote);
        out.push_all(&rest[..place + usize::from(is_doubled)]);
        rest = &rest[place + 1 + usize::from(is_doubled)..];
        if !is_doubled || out.is_full() {
            break;
        }
    }
    if !out.is_full() {
        out.push_all(rest);
    }
}
