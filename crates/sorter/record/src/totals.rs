//! Totals: numbers of records with equal keys, added up into the one record that is kept.
//!
//! ```text
//! city,day,sales                                    city,day,sales
//! Oslo,Mon,9.5       -u --key city --sum sales      Bonn,Mon,7
//! Bonn,Mon,7                                        Oslo,Mon,12.75
//! Oslo,Tue,3.25
//! ```
//!
//! Sums are exact, whatever the order of the records: decimals of up to 38 digits, never floats. The bytes around a
//! number stay. A missing value, such as an empty field, counts for nothing.
//!
//! A total that does not fit, of more than 38 digits or wider than its bytes in a binary record, is not written:
//! the record that would make it stays apart, as with SUM of DFSORT, and nothing is lost.

mod binary;
mod exact;
mod field;

use std::sync::Arc;

use thiserror::Error;

use crate::field_order::FieldOrder;
use crate::key::{Key, KeyError, KeyProblem};
use crate::order::Order;
use crate::rows::{
    BadRow, Header, RowKey, RowKeyError, RowOrder, RowOrderProblem, ValueKind, ValueOrder,
};
use crate::text::row::NullWords;
use crate::text::{ANY_RECORD, TextOrder};

use exact::Exact;
use field::Field;

/// The fields of records that are added up; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    fields: Arc<[Field]>,
}

/// The totals of some records.
#[derive(Clone, Debug, Default)]
pub struct RunningTotals {
    now: Vec<Option<Exact>>,
    /// Room for those with a record more.
    next: Vec<Option<Exact>>,
}

/// The numbers of a record that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// A checksum that adds up as the numbers do: it is that of a record with their totals.
    pub checksum: u128,
    /// The fields that are there, a bit for each of the first 63, and one for any record.
    pub found: u64,
}

/// The reason why a total was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("sum {given}: {problem}")]
pub struct TotalError {
    /// The field as it was given.
    pub given: String,
    /// The mistake, which displays with a remedy.
    pub problem: TotalProblem,
}

/// A mistake in a total.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TotalProblem {
    #[error("totals are of records with equal keys, of which unique keeps one; ask for that, too")]
    NotUnique,
    #[error(
        "without a key whole records are compared, and equal ones have nothing to add; give a key"
    )]
    NoKey,
    #[error(
        "it is a key, or a part of one, and a total there would change the order; choose another field"
    )]
    IsKey,
    #[error("a key goes on to the end of the line; end it with its field, as in -k1,1")]
    OpenKey,
    #[error(
        "a key that ends at a character may reach it, and a total would change the order; end the key with a field"
    )]
    KeyOfCharacters,
    #[error("it is given twice, or has bytes of another one; leave one of them out")]
    Twice,
    #[error("{0:?} stands for a missing value, and a total may come to it; leave one of them out")]
    NullNumber(String),
    #[error("totals have no direction; leave desc out")]
    Directed,
    #[error("it is no field of lines; write its number, such as 2")]
    NoField,
    #[error(
        "plain numbers are added up, no other types; leave the type out, and take signs of currencies off before"
    )]
    NotANumber,
    #[error(
        "a total needs the type of a whole number: {0}:zoned, :packed, or u8, i8, u16le and their like; floats are not \
         added up"
    )]
    NoWholeNumber(String),
    #[error("fields of DFSORT are written as OFFSET+LENGTH:TYPE: {0}:zoned for ZD, :packed for PD")]
    OfDfsort(String),
    #[error("it ends behind the {0} bytes of a record")]
    Behind(usize),
    #[error("a pair's value has no known place; use the format varlen")]
    OfPair,
    #[error("numbers may have the byte that separates or quotes fields; choose another separator")]
    Separator,
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    RowKey(#[from] RowKeyError),
    #[error(transparent)]
    Row(#[from] RowOrderProblem),
}

impl TotalError {
    pub(crate) fn new(given: &str, problem: TotalProblem) -> TotalError {
        let given = given.to_owned();
        TotalError { given, problem }
    }
}

/// # Errors
/// If it is no column of numbers.
fn column(given: &str) -> Result<RowKey, TotalProblem> {
    let key: RowKey = given.parse()?;
    if key.order.descending {
        return Err(TotalProblem::Directed);
    }
    let kinds = [ValueKind::Text, ValueKind::Number];
    let is_plain = kinds.into_iter().any(|kind| {
        let plain = ValueOrder::default();
        key.order == ValueOrder { kind, ..plain }
    });
    is_plain.then_some(key).ok_or(TotalProblem::NotANumber)
}

/// # Errors
/// If these are no bytes of a number.
fn bytes(given: &str) -> Result<Key, TotalProblem> {
    given
        .parse()
        .map_err(|error: KeyError| match error.problem {
            // Its advice is for keys.
            KeyProblem::OfMainframe {
                instead: "bytes", ..
            } => {
                let place = given.split(':').next().unwrap_or_default();
                TotalProblem::NoWholeNumber(place.to_owned())
            }
            KeyProblem::NoLength => match of_dfsort(given) {
                Some(place) => TotalProblem::OfDfsort(place),
                None => error.into(),
            },
            _ => error.into(),
        })
}

/// The place of a field as SUM FIELDS has it: its position from 1, its length, and its format.
fn of_dfsort(given: &str) -> Option<String> {
    let mut parts = given.split(',');
    let position: usize = parts.next()?.trim().parse().ok()?;
    let length: usize = parts.next()?.trim().parse().ok()?;
    Some(format!("{}+{length}", position.checked_sub(1)?))
}

/// # Errors
/// If one of the words that stand for a missing value is a number.
fn no_number(nulls: &NullWords) -> Result<(), TotalProblem> {
    let is_number = |word: &&str| Exact::read(word.as_bytes()).is_ok_and(|it| it.is_some());
    match nulls.all().find(is_number) {
        Some(number) => Err(TotalProblem::NullNumber(number.to_owned())),
        None => Ok(()),
    }
}

impl Totals {
    /// Columns or members of rows. Each of these words stands for a missing value.
    ///
    /// # Errors
    /// If one has no place in the rows, or is a key.
    pub fn of_rows(
        sums: &[String],
        order: &RowOrder,
        (header, nulls): (Option<&Header>, &[String]),
    ) -> Result<Totals, TotalError> {
        let nulls = NullWords::new(nulls);
        Totals::of(sums, |given| {
            no_number(&nulls)?;
            Field::of_row(&column(given)?, order, (header, &nulls))
        })
    }

    /// Checks the columns of rows whose header is still to come.
    ///
    /// # Errors
    /// If one is no column of numbers, whatever the header, or no column is a key.
    pub fn check_columns(sums: &[String], keys: &[RowKey]) -> Result<(), TotalError> {
        let each = |given: &String| {
            let key = keys.first().ok_or(TotalProblem::NoKey);
            let checked = key.and(column(given));
            checked
                .map(drop)
                .map_err(|problem| TotalError::new(given, problem))
        };
        sums.iter().try_for_each(each)
    }

    /// Fields of lines, by their numbers from 1.
    ///
    /// # Errors
    /// If one is no number, or is a key.
    pub fn of_lines(sums: &[String], order: &TextOrder) -> Result<Totals, TotalError> {
        Totals::of(sums, |given| {
            no_number(order.nulls())?;
            Field::of_line(given, order)
        })
    }

    /// Bytes of records of one length, as keys have them.
    ///
    /// # Errors
    /// If one is no whole number of the record, or is a key.
    pub fn of_records(sums: &[String], order: &Order) -> Result<Totals, TotalError> {
        Totals::of(sums, |given| {
            let key = bytes(given)?;
            if key.offset.saturating_add(key.bytes) > order.record_bytes() {
                return Err(TotalProblem::Behind(order.record_bytes()));
            }
            let whole = [Key::plain(0, order.record_bytes())];
            Field::of_bytes(
                key,
                Some(order.keys())
                    .filter(|keys| **keys != whole)
                    .unwrap_or_default(),
            )
        })
    }

    /// Bytes of records with lengths.
    ///
    /// # Errors
    /// If one is no whole number, or is a key.
    pub fn of_fields(sums: &[String], order: &FieldOrder) -> Result<Totals, TotalError> {
        Totals::of(sums, |given| {
            if order.prefix().has_key() {
                return Err(TotalProblem::OfPair);
            }
            Field::of_bytes(bytes(given)?, order.keys())
        })
    }

    fn of(
        sums: &[String],
        field: impl Fn(&str) -> Result<Field, TotalProblem>,
    ) -> Result<Totals, TotalError> {
        let mut fields: Vec<Field> = Vec::new();
        for given in sums {
            let found = field(given).and_then(|field| {
                let is_new = fields.iter().all(|other| !field.meets(other));
                is_new.then_some(field).ok_or(TotalProblem::Twice)
            });
            fields.push(found.map_err(|problem| TotalError::new(given, problem))?);
        }
        Ok(Totals {
            fields: fields.into(),
        })
    }

    /// Whether nothing is added up.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.fields.is_empty()
    }

    /// The most bytes by which totals make a record longer.
    #[must_use]
    pub fn most_added(&self) -> usize {
        self.fields.iter().map(Field::most_added).sum()
    }

    /// Checks the numbers of a record, without its delimiter or length.
    ///
    /// # Errors
    /// If one is no number, has too many digits, or has no place in the record.
    pub fn check(&self, record: &[u8]) -> Result<Numbers, BadRow> {
        let mut numbers = Numbers {
            checksum: 0,
            found: ANY_RECORD,
        };
        for (field, place) in self.fields.iter().zip(0_u32..) {
            let Some(number) = field.check(record)? else {
                continue;
            };
            // Numbers that changed their places would add up to another sum.
            let weighed = number.checksum().wrapping_mul(2 * u128::from(place) + 1);
            numbers.checksum = numbers.checksum.wrapping_add(weighed);
            numbers.found |= 1_u64.checked_shl(place).unwrap_or_default();
        }
        Ok(numbers)
    }

    /// The fields that no record had, if there were records; `found` is that of all of them.
    #[must_use]
    pub fn unseen(&self, found: u64) -> Vec<String> {
        let is_unseen = |place: u32| found & ANY_RECORD > 0 && found >> place & 1 == 0;
        let fields = self.fields.iter().zip(0..ANY_RECORD.trailing_zeros());
        let unseen = fields.filter(|(_, place)| is_unseen(*place));
        unseen.map(|(field, _)| field.to_string()).collect()
    }

    /// The numbers of the first record.
    pub fn begin(&self, sums: &mut RunningTotals, record: &[u8]) {
        sums.now.clear();
        let numbers = self.fields.iter().map(|field| field.read(record));
        sums.now.extend(numbers);
    }

    /// Adds the numbers of a further record. Returns false, and adds nothing, if a total does not fit.
    #[must_use]
    pub fn add(&self, sums: &mut RunningTotals, record: &[u8]) -> bool {
        sums.next.clear();
        for (field, sum) in self.fields.iter().zip(&sums.now) {
            let Some(sum) = field.plus(*sum, field.read(record)) else {
                return false;
            };
            sums.next.push(sum);
        }
        std::mem::swap(&mut sums.now, &mut sums.next);
        true
    }

    /// Writes a record with totals in the places of its numbers.
    pub fn write(&self, sums: &RunningTotals, record: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(record);
        for (field, sum) in self.fields.iter().zip(&sums.now) {
            if let Some(total) = *sum {
                field.write(total, out, begin);
            }
        }
    }
}

#[cfg(test)]
mod tests;
