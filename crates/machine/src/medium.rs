//! What everything inside a block works through: its packets, its time, and the links out of it.

use std::sync::Arc;

use crate::packet::{Kind, NO_SWITCH, Packet, Sizes};
use crate::report::Counts;
use crate::ring::Ring;
use crate::slab::Slab;
use crate::switch::Batch;
use crate::topology::{End, Topology};
use crate::{Profile, Setting};

/// What does not change during a run; all blocks share it.
pub struct Fabric {
    pub profile: Profile,
    pub setting: Setting,
    pub topology: Topology,
    pub sizes: Sizes,
    /// Flits that a port's queue holds.
    pub queue_flits: u64,
    /// The least time between two blocks: how long a window is.
    pub window: u64,
    /// Whether the whole machine is one block.
    pub one_block: bool,
}

/// Moments of a window have 14 bits in a switch's order.
const LONGEST_WINDOW: u64 = (1 << 14) - 1;

/// With less between two blocks than this, what windows save is less than what they cost.
const SHORTEST_WINDOW: u64 = 32;

impl Fabric {
    pub fn new(profile: Profile, setting: Setting) -> Fabric {
        let topology = Topology::new(&profile, setting.ranks);
        let network = &profile.network;
        let flits = |bytes: u32| bytes.div_ceil(network.flit_bytes) as u16;
        let sizes = Sizes {
            header: flits(profile.nic.header_bytes),
            word: flits(8),
            control: flits(profile.nic.control_bytes),
        };
        let queue_flits =
            network.queue_bytes.map_or(u64::MAX, |bytes| bytes / u64::from(network.flit_bytes));
        let window = network.link + network.switch.max(u64::from(sizes.header.min(sizes.control)));
        let window = window.clamp(1, LONGEST_WINDOW);
        let one_block = network.link + network.switch < SHORTEST_WINDOW || topology.switches == 1;
        Fabric { queue_flits, window, one_block, topology, sizes, profile, setting }
    }

    /// Which block a switch is in.
    pub fn block_of(&self, switch: u32) -> u32 {
        if self.one_block { 0 } else { switch }
    }

    pub fn blocks(&self) -> u32 {
        if self.one_block { 1 } else { self.topology.switches }
    }

    /// The first switch of a block, and the first after it.
    pub fn switches_of(&self, block: u32) -> (u32, u32) {
        if self.one_block { (0, self.topology.switches) } else { (block, block + 1) }
    }

    /// The first NIC of a block, and the first after it.
    pub fn nics_of(&self, block: u32) -> (u32, u32) {
        if self.one_block {
            (0, self.topology.nics)
        } else if block < self.topology.leaves {
            self.topology.below(block)
        } else {
            (self.topology.nics, self.topology.nics)
        }
    }

    /// A number that the run's seed and a packet decide: the same on any thread, nothing to keep
    /// (SplitMix64's finaliser).
    pub fn draw(&self, purpose: Purpose, packet: &Packet, time: u64) -> u32 {
        let mut value = self.setting.seed ^ (purpose as u64) << 56;
        value ^= (u64::from(packet.from) << 32) | u64::from(packet.sequence);
        value = value.wrapping_add(time.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        value = value.wrapping_add(u64::from(packet.to) << 17);
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) as u32
    }
}

/// What a number is drawn for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    Route = 1,
    Tail = 2,
    Loss = 3,
    Wait = 4,
}

/// A block's packets and time.
pub struct Medium {
    pub fabric: Arc<Fabric>,
    pub slab: Slab,
    pub ring: Ring,
    pub now: u64,
    pub counts: Counts,
    /// For other blocks: a bin for each link of the block's switch.
    pub outbox: Vec<Batch>,
    /// Bins that were emptied, to be filled again.
    pub spare: Vec<Batch>,
    /// For the block's own switches, in a window to come.
    pub inward: Batch,
    /// When the first of what was launched to a switch arrives.
    pub first_out: u64,
    /// NICs whose egress port has something waiting.
    pub leaving: Vec<u32>,
    /// Tasks that will go on at a time that is known.
    pub resuming: usize,
    /// When a task went on last.
    pub last_resumed: u64,
    // What every launch needs, near at hand.
    link: u64,
    switch: u64,
    loss_parts: u32,
}

impl Medium {
    pub fn new(fabric: &Arc<Fabric>, block: u32) -> Medium {
        let topology = &fabric.topology;
        let links = topology.downlinks(block) + topology.uplinks(block);
        let bins = if fabric.one_block { 0 } else { links as usize };
        Medium {
            fabric: Arc::clone(fabric),
            slab: Slab::default(),
            ring: Ring::new(),
            now: 0,
            counts: Counts::default(),
            outbox: vec![Batch::new(); bins],
            spare: Vec::new(),
            link: fabric.profile.network.link,
            switch: fabric.profile.network.switch,
            loss_parts: fabric.setting.loss_parts,
            inward: Vec::new(),
            first_out: u64::MAX,
            leaving: Vec::new(),
            resuming: 0,
            last_resumed: 0,
        }
    }

    /// Entries of a receive queue that a message takes.
    pub fn entries_of(&self, packet: &Packet) -> u32 {
        let bytes = packet.words.len() as u32 * 8;
        bytes.div_ceil(self.fabric.profile.nic.entry_bytes).max(1)
    }

    /// Lets something happen at its time.
    pub fn schedule(&mut self, packet: Packet) {
        let place = self.slab.put(packet);
        self.ring.add(&mut self.slab, place);
    }

    /// An event of the block's own.
    pub fn event(&mut self, kind: Kind, time: u64, whom: u32) {
        self.schedule(Packet::event(kind, time.max(self.now), whom));
    }

    /// A packet begins on a link: it arrives where the link leads, unless it is lost.
    #[inline]
    pub fn launch(&mut self, mut packet: Packet, start: u64, link: &Link) {
        if self.loss_parts > 0 && self.fabric.draw(Purpose::Loss, &packet, start) < self.loss_parts
        {
            self.counts.lost += 1;
            return;
        }
        let flits = u64::from(packet.flits);
        match link.end {
            End::Nic(_) => {
                packet.time = start + self.link + flits;
                packet.at = NO_SWITCH;
                self.schedule(packet);
            }
            End::Switch(switch) => {
                packet.time = start + self.link + flits.max(self.switch) + link.tail;
                packet.at = switch as u16;
                self.first_out = self.first_out.min(packet.time);
                if link.stays {
                    self.inward.push(Some(packet));
                } else {
                    let bin = &mut self.outbox[link.number as usize];
                    if bin.capacity() == 0 {
                        *bin = self.spare.pop().unwrap_or_default();
                    }
                    bin.push(Some(packet));
                }
            }
        }
    }
}

/// A link, as its sending end sees it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Where it leads.
    pub end: End,
    /// Its number at its switch.
    pub number: u32,
    /// Whether it leads to a switch of the same block.
    pub stays: bool,
    /// What a message that is drawn for it takes longer.
    pub tail: u64,
}
