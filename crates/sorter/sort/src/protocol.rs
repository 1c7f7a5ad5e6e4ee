//! Ports and messages between the ranks of a sort: public for tests whose networks count messages,
//! or lose them on purpose.

use node::Port;

pub use crate::plan::window;

/// Agreements of all ranks.
pub(crate) const AGREEMENTS: Port = Port(100);

/// Chunks of records.
pub const CHUNKS: Port = Port(101);

/// Heartbeats and failures.
pub const HEARTBEATS: Port = Port(102);

/// Whether all ranks can begin, and heartbeats meanwhile on the next port.
pub const BEGIN: Port = Port(103);

/// How all ranks ended, and heartbeats meanwhile on the next port.
pub const END: Port = Port(105);

/// Agreements about a file that all ranks write, which come between those of the sort.
pub(crate) const TOGETHER: Port = Port(107);

/// Starts of rounds (`--exchange rounds`).
pub(crate) const ROUNDS: Port = Port(110);

/// Barriers around an exchange that is measured alone.
pub(crate) const MEETING: Port = Port(111);

/// Seconds without a heartbeat after which a rank is lost: long enough for a very busy machine, and
/// short enough for a sort to end within half a minute.
pub const SILENT_S: f64 = 15.0;

/// The first word of a heartbeat.
pub const HERE: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ() {
        let next = |port: Port| Port(port.0 + 1);
        let mut ports = vec![AGREEMENTS, CHUNKS, HEARTBEATS, TOGETHER, ROUNDS, MEETING];
        ports.extend([BEGIN, next(BEGIN), END, next(END)]);
        let all = ports.len();
        ports.sort();
        ports.dedup();
        assert_eq!(ports.len(), all);
    }
}
