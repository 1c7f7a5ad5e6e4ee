//! The order of rows: CSV, TSV and JSON Lines, with keys by column name.
//!
//! ```text
//! city,price            Header          the names of the first row
//! price:num:desc        RowKey          what the user asks for
//!       |
//!       v
//!   RowOrder            column 2, numbers, the largest first      describe: "column:2:num:desc"
//!       |      \
//!       v       v
//!  TextOrder   RowCheck                 "abc" in column price is not a number
//! ```
//!
//! A row is a record without the newline that ends it. [`RowOrder::text`] makes an order of such
//! rows, with words, prefixes and all else that lines have ([`crate::text`]). Orders expect rows that
//! [`RowCheck`] let pass; of others they read something, always the same.
//!
//! | | fields or members | missing |
//! |---|---|---|
//! | CSV (RFC 4180) | a field that begins with a quote goes on to the closing one; a doubled quote stands for one, and separators and newlines belong to the field. Elsewhere a quote is a character | an empty field |
//! | TSV (IANA text/tab-separated-values) | fields between tabs, without quotes | an empty field |
//! | JSON Lines | a value of JSON (RFC 8259) in each row | a member that is not there, null, `""` |
//!
//! A missing value is before all others, and behind them with `desc`, if the key does not say `nulls-first` or
//! `nulls-last`. A carriage return at the end of
//! a row belongs to no field.

mod aside;
mod bad_row;
mod check;
mod describe;
mod dialect;
mod header;
mod key;
mod order;

pub use crate::text::form::{DatePattern, Form, FormError, Listed, ListedError};
pub use crate::text::row::{Nulls, PathError, ValueError, ValueKind, ValueOrder, ValueOrderError};
pub use aside::{RowAside, is_aside};
pub use bad_row::{BadRow, RowProblem};
pub use check::RowCheck;
pub(crate) use check::{name_of, only_key, shown};
pub use dialect::{Dialect, DialectError};
pub use header::{Header, HeaderError, Names, without_mark};
pub use key::{RowKey, RowKeyError};
pub use order::{RowOrder, RowOrderError, RowOrderProblem};
