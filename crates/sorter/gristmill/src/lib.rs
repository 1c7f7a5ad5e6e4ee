//! Sorts records that do not fit in memory.
//!
//! A [`Sorter`] takes lines, rows or binary records from files, a reader, an iterator or one by one,
//! and gives them back in order, as a file, to a writer or one by one. It works within a limit of
//! memory and puts the rest into temporary files, which it removes.
//!
//! ```
//! use gristmill::{Format, Sorter};
//!
//! let mut feed = Sorter::new(Format::lines()).memory(64 << 20).start()?;
//! for city in ["Oslo\n", "Bonn\n", "Rome\n"] {
//!     feed.push(city.as_bytes())?;
//! }
//! let mut sorted = feed.finish()?;
//! let mut cities = Vec::new();
//! while let Some(line) = sorted.next()? {
//!     cities.push(String::from_utf8_lossy(line).into_owned());
//! }
//! assert_eq!(cities, ["Bonn\n", "Oslo\n", "Rome\n"]);
//! # Ok::<(), gristmill::Error>(())
//! ```
//!
//! Records in an order of your own, by a key that a function makes of each:
//!
//! ```
//! use gristmill::{Format, Sorter};
//!
//! struct Sale { city: String, cents: i64 }
//!
//! fn sale(line: &[u8]) -> Sale {
//!     let line = String::from_utf8_lossy(line);
//!     let (city, cents) = line.split_once(' ').unwrap();
//!     Sale { city: city.to_owned(), cents: cents.parse().unwrap() }
//! }
//!
//! let sorter = Sorter::new(Format::lines()).by_key(|line| {
//!     let sale = sale(line);
//!     (std::cmp::Reverse(sale.cents), sale.city)
//! });
//! let mut feed = sorter.start()?;
//! feed.push_all(["Oslo 5\n", "Bonn 7\n", "Rome 5\n"])?;
//! assert_eq!(feed.finish()?.read_to_vec()?, b"Bonn 7\nOslo 5\nRome 5\n");
//! # Ok::<(), gristmill::Error>(())
//! ```
//!
//! Nothing here is global: several sorts may run at once, each within its own limit. The library
//! prints nothing, handles no signal and never ends the process, and no path is special: `-` is a file.
//! An error, a panic of the caller, a
//! [`Watch`] or a drop ends a sort: its temporary files are removed then. An output appears under its
//! name only when it is complete.

mod contents;
mod encoder;
mod error;
mod feed;
mod format;
mod front;
pub mod gensort;
mod key;
mod report;
mod running;
mod sorted;
mod sorter;
mod watch;

pub use error::Error;
pub use feed::Feed;
pub use format::Format;
pub use key::Key;
pub use report::{Disorder, Report};
pub use sorted::Sorted;
pub use sorter::Sorter;
pub use watch::{Progress, Watch};

/// The Rust blocks of the page are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/library.md")]
struct Page;
