//! The node that a program runs on, and the verbs it offers.
//!
//! A program is written once, against a [`Node`]; the node is real (threads, files) or simulated
//! (coroutines, modelled disks, a virtual clock). The idea is Berkeley NOW's: a thin message layer
//! with credits hides the machine.
//!
//! ```text
//!   program / stage            async fn that reads like the paper's pseudo-code
//!        |
//!      Node                    clock, work, messages, disks, random numbers, spawn
//!        |  Queue Pool Tokens Posted Ticket    written once, over one primitive:
//!        |        Guarded = state + Signal (an epoch that a change advances)
//!        |
//!   dyn Backend                poll-shaped, hidden; node-real and machine implement it
//! ```
//!
//! Three rules make a program behave alike on both kinds of node:
//!
//! * Every verb on shared state is `async` and first lets the world reach the task's clock
//!   ([`Node::reach`]); `send` and a submitted disk request take effect at that clock.
//! * An await waits for one event, or until a deadline. Nothing joins or selects.
//! * `Drop` touches memory only, never a backend: a simulated kill drops futures.
//!
//! This crate knows no backend, no wall clock and no record.

pub mod backend;
mod buffer;
mod collective;
mod compression;
#[cfg(feature = "conformance")]
pub mod conformance;
mod disk;
mod group;
mod handle;
mod lots;
mod message;
mod opening;
mod random;
mod reorder;
mod requests;
mod sync;
pub mod temporary;
mod time;
mod view;
mod words;
mod work;

pub use backend::Message;
pub use buffer::{Buffer, Filled, Memory};
pub use collective::Collective;
pub use compression::{CodingMemory, Compress, Compression, Decompress, Decompression};
pub use disk::{ChainTicket, DiskError, DiskTicket, File};
pub use group::Group;
pub use handle::{Node, Panic, catch, caught};
pub use lots::{Dealer, Heading, LOT_BYTES, Lots};
pub use message::{Arrival, BulkPort, MESSAGE_BYTES, MESSAGE_WORDS, MessagePort, Undelivered};
pub use opening::{
    Access, FileKind, Metadata, NotBelieved, Open, PERMISSION_BITS, Standard, of_another_group,
};
pub use random::Random;
pub use reorder::{Matching, Reorder};
pub use requests::{Requests, Way};
pub use sync::{Close, Closed, Guarded, Mutex, Pool, Posted, Queue, Ticket, Tokens, lock_waits};
pub use time::{Address, Port, Rank, Time};
pub use view::{AHEAD_BYTES, Stretch, View};
pub use words::{INLINE_WORDS, Words};
pub use work::{Costs, Work};
