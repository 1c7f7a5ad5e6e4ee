//! Memory for packets, the only part of this crate with `unsafe`.
//!
//! ```text
//!   slot      a cache line for a packet
//!   bins      packets on their way to a switch, moved from bin to bin
//!   slab      packets at NICs and in ports, by id
//!   list      queues of packets in the slab
//!   prefetch  state that will soon be needed, to the cache
//! ```

pub mod bins;
pub mod id;
pub mod list;
mod prefetching;
pub mod slab;
pub mod slot;

pub use prefetching::prefetch;
