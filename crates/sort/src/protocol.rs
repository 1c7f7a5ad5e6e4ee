//! Ports and messages between the ranks of a sort: public for tests whose networks count messages,
//! or lose them on purpose.

use node::Port;

pub use crate::plan::window;

/// Agreements of all ranks.
pub(crate) const AGREEMENTS: Port = Port(100);

/// Chunks of records.
pub const CHUNKS: Port = Port(101);

/// Heartbeats and failures.
pub const WATCH: Port = Port(102);

/// Starts of rounds (`--exchange rounds`).
pub(crate) const ROUNDS: Port = Port(110);

/// The first word of a heartbeat.
pub const HERE: u64 = 0;
