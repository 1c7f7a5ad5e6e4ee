//! What nodes of a sort send each other, for networks that count it, or lose it on purpose.

use node::Port;

pub use crate::plan::window;

/// Where agreements are made.
pub(crate) const AGREEMENTS: Port = Port(100);

/// Where chunks come in.
pub const CHUNKS: Port = Port(101);

/// Where ranks hear from each other.
pub const WATCH: Port = Port(102);

/// Where ranks hear of each other's rounds.
pub(crate) const ROUNDS: Port = Port(110);

/// What is told.
pub const HERE: u64 = 0;
