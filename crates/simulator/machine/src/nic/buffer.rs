//! The transmit buffers of a NIC.

use super::members::Members;
use crate::network::store::id::PacketId;
use crate::schedule::Ticks;

/// A buffer with a message that is not acknowledged as a whole.
pub struct TransmitBuffer {
    /// The whole message, from which packets are made. Nothing else reads it, since it has left the
    /// cache by the time of its ACK.
    pub head: PacketId,
    /// Its number among the messages of the NIC.
    pub message: u32,
    pub is_large: bool,
    /// Whether its words are stored in the packet.
    pub is_inline: bool,
    /// Its timeout, unless an ACK or PULL arrives before.
    pub late_at: Ticks,
    /// Timeouts since it was sent.
    pub tries: u8,
    /// NACKs of its receiver.
    pub refusals: u8,
    /// A bit per unacknowledged segment.
    pub waiting: u8,
    /// A bit per segment that waits for a GRANT.
    pub held: u8,
    /// The members of a multicast that have not acknowledged, unless switches collect their ACKs.
    pub members: Option<Box<Members>>,
}
