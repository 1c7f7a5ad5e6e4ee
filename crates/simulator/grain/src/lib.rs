//! Programs of tiny tasks, for thousands of cores that exchange messages in nanoseconds.
//!
//! A program is written once, as the task of one rank, and runs on threads or on a simulated
//! cluster of nanoPU cores. Each program checks the answers of its ranks against naive code.
//!
//! ```text
//!   one core      local_min  local_sort               NanoSort, Figures 2 and 8
//!   two NICs      loopback                            NanoSort, Table 1
//!   messages      receive  send  flood                NanoSort, Figures 6 and 7
//!                 logp                                NOW, section 3, Figure 5
//!   a tree        merge_min                           NanoSort, section 3.1, Figures 3 and 4
//!   sorting       nano_sort  pivot_trial              NanoSort, section 4, Figure 5
//!                 push_sort                           ours: docs/papers/faster.md
//!                 milli_sort                          NanoSort, section 6.2.2, Figures 9 and 10
//!                 is                                  NAS Parallel Benchmarks
//!   applications  kv  set_algebra  map_reduce         NanoSort, section 3.2, Figure 1
//!   idle memory   caches  paging                      NOW, section 2.3
//!   two at once   beside                              NanoSort, section 2.1
//! ```
//!
//! A new program is a struct of options that derives [`clap::Args`], calls [`described!`] and
//! implements [`Program`], and a line of [`visit_all`].
//!
//! Programs follow the paper's rules (section 3.2): send without waiting for a response, no
//! coordinator, and steps that end by counting messages. They share [`Tree`], [`Permutation`] and
//! [`pivot_select`]. Time and random numbers come from the node and the seed alone.

mod beside;
mod block_cache;
mod bounds;
mod caches;
mod collective;
mod distribution;
mod flood;
mod is;
mod kv;
mod load;
mod local_min;
mod local_sort;
mod logp;
mod loopback;
mod map_reduce;
mod merge_min;
mod message;
mod milli_sort;
mod nano_sort;
mod options;
mod paging;
mod permutation;
mod pivot_select;
mod pivot_trial;
mod program;
mod push_sort;
mod receive;
mod records;
mod send;
mod set_algebra;
mod table;
mod tree;
mod work;

pub use beside::{Beside, Urgent};
pub use bounds::Bounds;
pub use caches::{Cached, Caches, Level, Policy};
pub use distribution::Distribution;
pub use flood::{Flood, Flooded};
pub use is::{Class, Is, Misplaced, Ranked};
pub use kv::{Kv, Shard};
pub use load::Load;
pub use local_min::{Least, LocalMin};
pub use local_sort::{LocalSort, Sorted};
pub use logp::{LogP, Parameters};
pub use loopback::{Loopback, Looped};
pub use map_reduce::{Counted, MapReduce};
pub use merge_min::MergeMin;
pub use message::{Handed, Taken};
pub use milli_sort::MilliSort;
pub use nano_sort::{Exchange, Groups, Named, NanoSort, PhaseEnd, Reading, Suspects};
pub use options::{Described, ReorderBy, count, defaults, from_0};
pub use paging::{Paged, Paging, Store, Walk};
pub use permutation::Permutation;
pub use pivot_select::{Strategy, of_as_many, pivot_select};
pub use pivot_trial::{PivotTrial, Pivots, Selection};
pub use program::{Measured, Program, Span, Timing, Verdict};
pub use push_sort::PushSort;
pub use receive::ReceiveLoop;
pub use records::Part;
pub use send::SendLoop;
pub use set_algebra::{Found, Hits, SetAlgebra};
pub use table::Table;
pub use tree::Tree;

/// Visits programs, whose types differ ([`visit_all`]).
pub trait Visitor {
    /// Called once per program.
    fn visit<P: Program + Described>(&mut self);
}

/// Calls the visitor for every program, in the order of the help.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<Loopback>();
    visitor.visit::<LogP>();
    visitor.visit::<ReceiveLoop>();
    visitor.visit::<SendLoop>();
    visitor.visit::<LocalMin>();
    visitor.visit::<LocalSort>();
    visitor.visit::<MergeMin>();
    visitor.visit::<MilliSort>();
    visitor.visit::<NanoSort>();
    visitor.visit::<PushSort>();
    visitor.visit::<PivotTrial>();
    visitor.visit::<Is>();
    visitor.visit::<Flood>();
    visitor.visit::<Kv>();
    visitor.visit::<SetAlgebra>();
    visitor.visit::<MapReduce>();
    visitor.visit::<Caches>();
    visitor.visit::<Paging>();
    visitor.visit::<Beside>();
}
