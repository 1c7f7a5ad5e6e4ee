//! Programs of tiny tasks: what thousands of nanosecond cores can do together.
//!
//! Each is written once, as what one rank does, and runs on threads or on a simulated cluster of
//! nanoPU cores. One program is one file; each checks what its ranks answer against naive code.
//!
//! ```text
//!   one core      local_min  local_sort                     NanoSort, Figures 2 and 8
//!   two NICs      loopback                                  NanoSort, Table 1
//!   messages      receive  send  flood                      NanoSort, Figures 6 and 7
//!   a tree        merge_min                                 NanoSort, section 3.1, Figures 3 and 4
//!   sorting       nano_sort  pivot_trial                    NanoSort, section 4, Figure 5
//!                 milli_sort                                NanoSort, section 6.2.2, Figures 9 and 10
//!   applications  kv  set_algebra  map_reduce               NanoSort, section 3.2, Figure 1
//! ```
//!
//! A new program is a file with a struct that derives [`clap::Args`], [`described!`] and
//! [`Program`], and its names below: `mod`, `pub use`, and a line of [`visit_all`].
//!
//! What they share: [`Tree`], the shape of a merge tree, [`Permutation`], who sends to whom without
//! a table, [`pivot_select`], and [`Program`]. They follow the paper's rules (section 3.2): fire
//! and forget, no coordinator, and the end of each step known by counting.
//!
//! The crate names no machine, no clock and no random source but its node's and its seed.

mod collective;
mod distribution;
mod flood;
mod kv;
mod local_min;
mod local_sort;
mod loopback;
mod map_reduce;
mod merge_min;
mod message;
mod milli_sort;
mod nano_sort;
mod options;
mod permutation;
mod pivot_select;
mod pivot_trial;
mod program;
mod receive;
mod records;
mod send;
mod set_algebra;
mod table;
mod tree;
pub mod units;

pub use distribution::Distribution;
pub use flood::{Flood, Flooded};
pub use kv::{Kv, Shard};
pub use local_min::{Least, LocalMin};
pub use local_sort::{LocalSort, Sorted};
pub use loopback::{Loopback, Looped};
pub use map_reduce::{Counted, MapReduce};
pub use merge_min::MergeMin;
pub use message::{Handed, Taken};
pub use milli_sort::MilliSort;
pub use nano_sort::{Exchange, NanoSort, Reading};
pub use options::{Described, ReorderBy, count, defaults, from_0};
pub use permutation::Permutation;
pub use pivot_select::{Strategy, of_as_many, pivot_select};
pub use pivot_trial::{Named, Naming, PivotTrial};
pub use program::{Program, Span, Timing, Verdict};
pub use receive::ReceiveLoop;
pub use records::Part;
pub use send::SendLoop;
pub use set_algebra::{Found, Hits, SetAlgebra};
pub use table::Table;
pub use tree::Tree;

/// Meets every program: [`visit_all`].
pub trait Visitor {
    /// Meets one.
    fn visit<P: Program + Described>(&mut self);
}

/// Shows the visitor every program, in the order of the help.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<Loopback>();
    visitor.visit::<ReceiveLoop>();
    visitor.visit::<SendLoop>();
    visitor.visit::<LocalMin>();
    visitor.visit::<LocalSort>();
    visitor.visit::<MergeMin>();
    visitor.visit::<MilliSort>();
    visitor.visit::<NanoSort>();
    visitor.visit::<PivotTrial>();
    visitor.visit::<Flood>();
    visitor.visit::<Kv>();
    visitor.visit::<SetAlgebra>();
    visitor.visit::<MapReduce>();
}
