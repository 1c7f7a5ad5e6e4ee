//! A field whose numbers are added up: where it is, and how numbers stand in it.

use std::fmt;
use std::ops::Range;

use super::exact::{Exact, MOST_DIGITS};
use super::{TotalProblem, binary};
use crate::key::Key;
use crate::rows::{
    BadRow, Header, RowKey, RowOrder, RowProblem, ValueError, name_of, only_key, shown,
};
use crate::text::row::{NullWords, RowPlace, count_fields, without_cr};
use crate::text::{Place, TextKey, TextOrder};

/// Bytes of a number in text.
const OF_NUMBERS: &[u8] = b"0123456789.+-eE";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A column or member.
    Row {
        place: RowPlace,
        nulls: NullWords,
        name: String,
        /// Whether a row may have fewer columns.
        may_be_short: bool,
    },
    /// A field of lines: its number from 1.
    Line {
        place: Place,
        nulls: NullWords,
        separator: Option<u8>,
        number: usize,
    },
    /// Bytes of binary records.
    Bytes(Key),
}

impl Field {
    pub(super) fn of_row(
        key: &RowKey,
        order: &RowOrder,
        (header, nulls): (Option<&Header>, &NullWords),
    ) -> Result<Field, TotalProblem> {
        let dialect = order.dialect();
        let bytes = [dialect.separator(), dialect.quote()];
        check_separator(bytes.into_iter().flatten())?;
        let place = order.place(header, key)?;
        if order.values().is_empty() {
            return Err(TotalProblem::NoKey);
        }
        if order.values().iter().any(|value| value.place == place) {
            return Err(TotalProblem::IsKey);
        }
        let name = name_of(&place, header);
        let nulls = nulls.clone();
        Ok(Field::Row {
            place,
            nulls,
            name,
            may_be_short: order.may_be_short(),
        })
    }

    pub(super) fn of_line(given: &str, order: &TextOrder) -> Result<Field, TotalProblem> {
        let number = given.parse::<usize>().ok().filter(|&number| number > 0);
        let number = number.ok_or(TotalProblem::NoField)?;
        let separator = order.separator();
        check_separator(separator)?;
        let before = number - 1;
        let holds = |key: &TextKey| {
            let last = key.end.map_or(usize::MAX, |end| end.fields);
            (key.start_fields..=last).contains(&before)
        };
        // So many bytes on may be in any field behind.
        let may_reach = |key: &TextKey| {
            let end = key.end.filter(|end| end.bytes > 0);
            end.is_some_and(|end| before >= key.start_fields.min(end.fields))
        };
        match order.given() {
            [] => return Err(TotalProblem::NoKey),
            keys if keys.iter().any(|key| key.end.is_none() && holds(key)) => {
                return Err(TotalProblem::OpenKey);
            }
            keys if keys.iter().any(holds) => return Err(TotalProblem::IsKey),
            keys if keys.iter().any(may_reach) => return Err(TotalProblem::KeyOfCharacters),
            _ => {}
        }
        let key = format!("{number},{number}").parse::<TextKey>();
        let key = key.map_err(|_| TotalProblem::NoField)?;
        Ok(Field::Line {
            place: Place::of(&key, separator),
            nulls: order.nulls().clone(),
            separator,
            number,
        })
    }

    pub(super) fn of_bytes(field: Key, keys: &[Key]) -> Result<Field, TotalProblem> {
        if !binary::adds_up(field.kind) {
            let place = format!("{}+{}", field.offset, field.bytes);
            return Err(TotalProblem::NoWholeNumber(place));
        }
        if field.descending {
            return Err(TotalProblem::Directed);
        }
        match keys {
            [] => Err(TotalProblem::NoKey),
            keys if keys.iter().any(|key| meet(key, &field)) => Err(TotalProblem::IsKey),
            _ => Ok(Field::Bytes(field)),
        }
    }

    /// Whether another field has bytes of this one.
    pub(super) fn meets(&self, other: &Field) -> bool {
        match (self, other) {
            (Field::Bytes(one), Field::Bytes(other)) => meet(one, other),
            _ => self == other,
        }
    }

    /// # Errors
    /// If the record has no number there, and no place for one.
    pub(super) fn check(&self, record: &[u8]) -> Result<Option<Exact>, BadRow> {
        let is_there = match self {
            Field::Row { place, name, .. } => {
                if let RowPlace::Path(path) = place {
                    only_key(record, path, name)?;
                }
                place.is_in(record) || self.made(record).is_some()
            }
            Field::Line {
                place, separator, ..
            } => match separator {
                // Blanks are before a field, and none without it.
                None => !place.key(record).trim_ascii().is_empty(),
                Some(byte) => {
                    let separators = memchr::memchr_iter(*byte, record).count();
                    separators >= place.before()
                }
            },
            Field::Bytes(key) => key.offset.saturating_add(key.bytes) <= record.len(),
        };
        if !is_there {
            let place = self.to_string();
            return Err(BadRow::at(0, RowProblem::NoPlace { place }));
        }
        self.number(record).map_err(|error| {
            let range = self.range(record);
            let value = match self {
                Field::Bytes(_) => hexadecimal(&record[range.clone()]),
                _ => shown(&record[range.clone()]),
            };
            let place = self.to_string();
            let problem = RowProblem::Value {
                value,
                place,
                error,
            };
            BadRow::at(range.start, problem)
        })
    }

    /// The number of a record that was checked; `None` if it is missing.
    pub(super) fn read(&self, record: &[u8]) -> Option<Exact> {
        self.number(record).ok().flatten()
    }

    fn number(&self, record: &[u8]) -> Result<Option<Exact>, ValueError> {
        match self {
            Field::Row { place, nulls, .. } => {
                nulls.taken_from(place.find(record)).with(Exact::read)
            }
            Field::Line { place, nulls, .. } => {
                Exact::read(nulls.taken_from_field(place.key(record)))
            }
            Field::Bytes(key) => match record.get(key.offset..key.offset + key.bytes) {
                Some(field) => binary::read(key.kind, field).map(Some),
                None => Ok(None),
            },
        }
    }

    /// The sum; `None` if it does not fit.
    pub(super) fn plus(&self, a: Option<Exact>, b: Option<Exact>) -> Option<Option<Exact>> {
        let (Some(one), Some(other)) = (a, b) else {
            return Some(a.or(b));
        };
        let sum = one.plus(other)?;
        let fits = match self {
            Field::Bytes(key) => binary::fits(key.kind, key.bytes, sum.units()),
            Field::Row { .. } | Field::Line { .. } => true,
        };
        fits.then_some(Some(sum))
    }

    /// A record without the field gets it, if it can: the place where the total belongs, and the bytes before it.
    ///
    /// ```text
    /// a,b         column 4        a,b,,12
    /// {"k": 1}    member n        {"k": 1,"n":12}
    /// ```
    fn made(&self, record: &[u8]) -> Option<(usize, Vec<u8>)> {
        let Field::Row {
            place,
            may_be_short,
            ..
        } = self
        else {
            return None;
        };
        match place {
            RowPlace::Column(column) => {
                let end = without_cr(record).len();
                let fields = count_fields(record, column.separator, column.quote).ok()?;
                let missing = (column.before + 1).checked_sub(fields)?;
                may_be_short.then(|| (end, vec![column.separator; missing]))
            }
            RowPlace::Path(path) => {
                let member = path.member_name()?;
                let close = record.trim_ascii_end().strip_suffix(b"}")?;
                let before = close.trim_ascii_end();
                let comma = if before.trim_ascii() == b"{" { "" } else { "," };
                let name = serde_json::Value::from(member);
                Some((before.len(), format!("{comma}{name}:").into_bytes()))
            }
        }
    }

    /// Writes a total, which fits, into a record from byte `begin` on: in the place of its number, or as a field that
    /// the record lacks.
    pub(super) fn write(&self, total: Exact, out: &mut Vec<u8>, begin: usize) {
        let record = &out[begin..];
        let is_there = match self {
            Field::Row { place, .. } => place.is_in(record),
            Field::Line { .. } | Field::Bytes(_) => true,
        };
        let made = if is_there { None } else { self.made(record) };
        let (range, written) = match made {
            Some((at, before)) => (at..at, [&before[..], total.to_string().as_bytes()].concat()),
            None => {
                let range = self.range(record);
                (range.clone(), self.written(total, &record[range]))
            }
        };
        out.splice(begin + range.start..begin + range.end, written);
    }

    /// The most bytes by which a total makes a record longer: digits, a sign, a point and a zero, and a field that the
    /// record lacks.
    pub(super) fn most_added(&self) -> usize {
        let number = MOST_DIGITS as usize + 3;
        match self {
            Field::Row { place, .. } => match place {
                RowPlace::Column(column) => number + column.before,
                // Each letter of a name may be an escape.
                RowPlace::Path(path) => number + 4 + 6 * path.member_name().map_or(0, str::len),
            },
            Field::Line { .. } => number,
            Field::Bytes(_) => 0,
        }
    }

    /// The bytes of a record in whose place the total is written: those of its number, without blanks and quotes
    /// around it.
    fn range(&self, record: &[u8]) -> Range<usize> {
        let inside = match self {
            Field::Row { place, .. } => place.ranges(record).1,
            Field::Line { place, .. } => place.range(record),
            Field::Bytes(key) => return key.offset..key.offset + key.bytes,
        };
        let text = &record[inside.clone()];
        let blanks = text.len() - text.trim_ascii_start().len();
        match text.trim_ascii() {
            [] => {
                let end = inside.start + text.strip_suffix(b"\r").unwrap_or(text).len();
                end..end
            }
            number => inside.start + blanks..inside.start + blanks + number.len(),
        }
    }

    /// The bytes of a total, which fits, in the place of those that are there.
    fn written(&self, total: Exact, before: &[u8]) -> Vec<u8> {
        match self {
            Field::Bytes(key) => {
                let written = binary::written(key.kind, before, total.units());
                written.expect("a number of this field, or a sum that fits it")
            }
            Field::Row { .. } | Field::Line { .. } => total.to_string().into_bytes(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Row { name, .. } => f.write_str(name),
            Field::Line { number, .. } => write!(f, "field {number}"),
            Field::Bytes(key) => write!(f, "bytes {key}"),
        }
    }
}

/// Whether two stretches of bytes overlap.
fn meet(one: &Key, other: &Key) -> bool {
    let end = |key: &Key| key.offset.saturating_add(key.bytes);
    one.offset < end(other) && other.offset < end(one)
}

/// # Errors
/// If numbers have one of these bytes, which would then end their field.
fn check_separator(bytes: impl IntoIterator<Item = u8>) -> Result<(), TotalProblem> {
    if bytes.into_iter().any(|byte| OF_NUMBERS.contains(&byte)) {
        return Err(TotalProblem::Separator);
    }
    Ok(())
}

/// Bytes as mainframes write them.
fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("X'{digits}'")
}
