//! Totals: numbers of records with equal keys, added up into the one record that is kept.
//!
//! ```text
//! city,day,sales                                    city,day,sales
//! Oslo,Mon,9.5       -u --key city --sum sales      Bonn,Mon,7
//! Bonn,Mon,7                                        Oslo,Mon,12.75
//! Oslo,Tue,3.25
//! ```
//!
//! RunningTotals are exact, whatever the order of the records: decimals of up to 38 digits, never floats. The bytes around a
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
use crate::text::TextOrder;
use crate::text::row::NullWords;

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
    #[error("numbers are added up, no other types; leave the type out, or write num")]
    NotANumber,
    #[error(
        "a total needs the type of a whole number, such as {0}:u32le or :packed; floats have no sum that is the same \
         in every order"
    )]
    NoWholeNumber(String),
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
            KeyProblem::OfMainframe { .. } => {
                let place = given.split(':').next().unwrap_or_default();
                TotalProblem::NoWholeNumber(place.to_owned())
            }
            _ => error.into(),
        })
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
        let number = nulls
            .iter()
            .find(|word| Exact::read(word.as_bytes()).is_ok_and(|it| it.is_some()));
        let nulls = NullWords::new(nulls);
        Totals::of(sums, |given| {
            if let Some(number) = number {
                return Err(TotalProblem::NullNumber(number.clone()));
            }
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
        Totals::of(sums, |given| Field::of_line(given, order))
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
        // Digits, a sign, a point and a zero before it.
        self.fields.len() * (exact::MOST_DIGITS as usize + 3)
    }

    /// Checks the numbers of a record, without its delimiter or length. Returns a checksum that adds up as the numbers
    /// do: it is that of a record with their totals.
    ///
    /// # Errors
    /// If one is no number, has too many digits, or has no place in the record.
    pub fn check(&self, record: &[u8]) -> Result<u128, BadRow> {
        let mut sum = 0_u128;
        for (field, weight) in self.fields.iter().zip((1..).step_by(2)) {
            let number = field.check(record)?.map_or(0, Exact::checksum);
            // Numbers that changed their places would add up to another sum.
            sum = sum.wrapping_add(number.wrapping_mul(weight));
        }
        Ok(sum)
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
        let all = self.fields.iter().zip(&sums.now);
        let mut edits: Vec<_> = all
            .filter_map(|(field, sum)| {
                let range = field.range(record);
                let total = field.written((*sum)?, &record[range.clone()]);
                Some((range, total))
            })
            .collect();
        edits.sort_by_key(|(range, _)| range.start);
        let mut at = 0;
        for (range, total) in edits {
            out.extend_from_slice(&record[at..range.start]);
            out.extend_from_slice(&total);
            at = range.end;
        }
        out.extend_from_slice(&record[at..]);
    }
}

#[cfg(test)]
mod tests;
