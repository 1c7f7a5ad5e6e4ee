//! Memory for packets, the only part of this crate with `unsafe`.
//!
//! ```text
//!   place     a cache line for a packet
//!   bins      packets on their way to a switch, moved from bin to bin
//!   slab      packets at NICs and in ports, by id
//!   list      queues of packets in the slab
//!   prefetch  state that will soon be needed, to the cache
//! ```

pub mod bins;
pub mod id;
pub mod list;
pub mod place;
mod prefetching;
pub mod slab;

pub use prefetching::prefetch;
