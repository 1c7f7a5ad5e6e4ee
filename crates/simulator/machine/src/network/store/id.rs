//! Names of packets in a slab.

/// A packet in the slab of its thread. Only slabs make ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(u32);

/// The end of a list.
pub const NO_PACKET: PacketId = PacketId(u32::MAX);

impl PacketId {
    pub(super) fn of(number: u32) -> PacketId {
        PacketId(number)
    }

    pub fn number(self) -> u32 {
        self.0
    }
}
