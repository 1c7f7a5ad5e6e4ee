//! The constants of a run: profile, setting, topology, and how the machine is cut into blocks.

use crate::network::arrival::LONGEST_WINDOW;
use crate::network::packet::{Packet, Sizes};
use crate::network::topology::{Topology, Wire};
use crate::schedule::Ticks;
use crate::{Profile, Setting};

pub struct Layout {
    pub profile: Profile,
    pub setting: Setting,
    pub topology: Topology,
    pub sizes: Sizes,
    /// Flits that a port's queue holds.
    pub queue_flits: u64,
    /// The length of a window: the least latency between two blocks.
    pub window: Ticks,
    /// Whether the whole machine is one block.
    pub one_block: bool,
}

/// With shorter windows, threads cost more than they save.
const SHORTEST_WINDOW: Ticks = Ticks(32);

impl Layout {
    pub fn new(profile: Profile, setting: Setting) -> Layout {
        let topology = Topology::new(&profile, setting.ranks);
        let network = &profile.network;
        let flits = |bytes: u32| bytes.div_ceil(network.flit_bytes) as u16;
        let sizes = Sizes {
            header: flits(profile.nic.header_bytes),
            word: flits(8),
            control: flits(profile.nic.control_bytes),
        };
        let queue_flits = network
            .queue_bytes
            .map_or(u64::MAX, |bytes| bytes / u64::from(network.flit_bytes));
        let shortest = u64::from(sizes.header.min(sizes.control));
        let least = |time: &dyn Fn(&Wire) -> Ticks| {
            let times = topology.inward().map(|wire| time(&wire));
            times.min().unwrap_or_default()
        };
        let window = least(&|wire| wire.least(wire.pace.ticks(shortest)));
        let window = window.clamp(Ticks(1), Ticks(LONGEST_WINDOW));
        let one_block =
            least(&|wire| wire.least(Ticks(0))) < SHORTEST_WINDOW || topology.switches == 1;
        Layout {
            queue_flits,
            window,
            one_block,
            topology,
            sizes,
            profile,
            setting,
        }
    }

    /// The longest round trip of a packet and its ACK, without queueing.
    pub fn slowest(&self) -> Ticks {
        let hop = |wire: Wire| wire.latency + wire.switch.max(wire.pace.ticks(u16::MAX.into()));
        let slowest = self.topology.inward().map(hop).max().unwrap_or_default();
        (Ticks(self.setting.tail) + slowest * self.topology.most_links()) * 2
    }

    /// The block of a switch.
    pub fn block_of(&self, switch: u32) -> u32 {
        if self.one_block { 0 } else { switch }
    }

    pub fn blocks(&self) -> u32 {
        if self.one_block {
            1
        } else {
            self.topology.switches
        }
    }

    /// The first switch of a block, and the first of the next.
    pub fn switches_of(&self, block: u32) -> (u32, u32) {
        if self.one_block {
            (0, self.topology.switches)
        } else {
            (block, block + 1)
        }
    }

    /// The first NIC of a block, and the first of the next.
    pub fn nics_of(&self, block: u32) -> (u32, u32) {
        if self.one_block {
            (0, self.topology.nics)
        } else {
            let own = self.topology.own(block);
            (own.start, own.end)
        }
    }

    /// Whether a packet is lost on the link on which it starts now.
    #[inline]
    pub fn loses(&self, packet: &Packet, start: Ticks) -> bool {
        let parts = self.setting.loss_parts;
        parts > 0 && self.draw(Purpose::Loss, packet, start) < parts
    }

    /// A random number from the run's seed, a packet and a time, so that it does not depend on
    /// threads (SplitMix64's finaliser).
    pub fn draw(&self, purpose: Purpose, packet: &Packet, time: Ticks) -> u32 {
        let mut value = self.setting.seed ^ (purpose as u64) << 56;
        value ^= (u64::from(packet.from) << 32) | u64::from(packet.sequence);
        value = value.wrapping_add(time.0.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        value = value.wrapping_add(u64::from(packet.to) << 17);
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) as u32
    }
}

/// The purpose of a drawn number.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    Route = 1,
    Tail = 2,
    Loss = 3,
    Wait = 4,
}
