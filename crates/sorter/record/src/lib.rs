//! Records of fixed length: formats, order, generation and validation. Lines of text and rows: their
//! order.
//!
//! Every other crate of Gristmill moves records without knowing them. This one knows them, and
//! offers what the others need: a length, an order of words, bytes to sort, a verdict.
//!
//! ```text
//! "--format fixed:64 --key 8+8:u64le"
//!        |  format, key
//!        v
//!      Order ---- words, prefixes ----> sort        (order, normalised, field, decimal, year, collation)
//!        |
//!        +------- compare ------------> Validator ----> Summary ----> "SUCCESS - all .."
//!                                          ^          (validate, comparison, summary, checksum)
//! record number --- Generator ---> records |
//!                      (gensort)
//! ```
//!
//! Lines of text have keys that are found in each line, numbers as digits and more: [`text`] turns
//! them into words too, with the options of GNU sort. [`rows`] does so with the columns of CSV and TSV
//! and the members of JSON Lines.
//!
//! It is arithmetic over slices: no files but those of an order that a key names (`order=FILE`), no threads, no
//! clock, and no other crate of the workspace.

mod checksum;
mod collation;
mod comparison;
mod decimal;
mod field;
mod field_order;
mod format;
mod framing;
mod gensort;
mod head;
mod key;
mod line_order;
mod multiline;
mod normalised;
mod order;
pub mod rows;
mod spec;
#[doc(hidden)]
pub mod steps;
mod summary;
pub mod text;
mod totals;
mod validate;
mod value;
mod year;

pub use checksum::Checksum;
pub use collation::Collation;
pub use comparison::Comparison;
pub use decimal::Decimal;
pub use field_order::FieldOrder;
pub use format::FormatError;
pub use framing::{BadLength, Framing, Prefix, PrefixError, Quoting, Scanner};
pub use gensort::{Generator, KEY_BYTES, RECORD_BYTES, Style};
pub use head::{Head, HeadError, ShortHead};
pub use key::{Endian, Key, KeyError, KeyProblem, Kind};
pub use line_order::{LineKeys, LineOrder};
pub use multiline::{Multiline, MultilineError, Pattern, RECORD_END};
pub use order::{MAX_KEYS, MAX_RECORD_BYTES, Order, Ties};
pub use spec::{
    FormatKind, FormatOption, Given, Headed, Keep, OBSOLETE, RecordSpec, RowSpec, SpecError,
};
pub use summary::{SUMMARY_BYTES, Summary, SummaryError};
pub use totals::{Numbers, RunningTotals, TotalError, TotalProblem, Totals};
pub use validate::Validator;
pub use value::KeyValue;
pub use year::{Year, YearForm};
