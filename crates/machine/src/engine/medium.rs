//! What everything inside a block works through: its packets, its time, and the links out of it.

use std::sync::Arc;

use crate::cores::events::{Event, Events};
use crate::network::bins::{Bin, Bins};
use crate::network::packet::{List, Packet, Sizes};
use crate::network::port::WaitingRoom;
use crate::network::slab::{Place, Slab};
use crate::network::switch::{Agenda, At, LONGEST_WINDOW};
use crate::network::topology::{End, Topology};
use crate::report::Counts;
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
        let queue_flits = network
            .queue_bytes
            .map_or(u64::MAX, |bytes| bytes / u64::from(network.flit_bytes));
        let window = network.link
            + network
                .switch
                .max(u64::from(sizes.header.min(sizes.control)));
        let window = window.clamp(1, LONGEST_WINDOW);
        let one_block = network.link + network.switch < SHORTEST_WINDOW || topology.switches == 1;
        Fabric {
            queue_flits,
            window,
            one_block,
            topology,
            sizes,
            profile,
            setting,
        }
    }

    /// No packet and its answer are longer on their way, but for queues.
    pub fn slowest(&self) -> u64 {
        let hop = self.profile.network.link + self.profile.network.switch.max(u64::from(u16::MAX));
        2 * (self.setting.tail + 6 * hop)
    }

    /// Which block a switch is in.
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

    /// The first switch of a block, and the first after it.
    pub fn switches_of(&self, block: u32) -> (u32, u32) {
        if self.one_block {
            (0, self.topology.switches)
        } else {
            (block, block + 1)
        }
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

/// What the blocks of a thread share, each while it runs: memory that the one before has just used
/// is still in the cache.
#[derive(Default)]
pub struct Bench {
    /// Packets in NICs and at ports.
    pub slab: Slab,
    /// What waits at the ports of NICs, and of switches.
    pub at_nics: WaitingRoom<Place>,
    pub at_switches: WaitingRoom<At>,
    /// Bins that were emptied, to be filled again.
    pub spare: Vec<Bin>,
    /// Where a switch puts in order what arrives.
    pub agenda: Agenda,
}

/// A block's packets and time.
pub struct Medium {
    pub fabric: Arc<Fabric>,
    pub bench: Bench,
    /// Whether it has the bench: its packets are out of reach otherwise.
    pub is_at_work: bool,
    pub now: u64,
    pub counts: Counts,
    /// What comes to each of the block's switches from inside.
    pub inward: Vec<Inward>,
    /// What came to the block's switch from other blocks.
    pub incoming: Vec<Bin>,
    /// What comes to each of its NICs, in order of time.
    pub arrivals: Vec<List>,
    /// What the tasks behind each NIC will do.
    pub events: Vec<Events>,
    /// When something happens next at each NIC.
    pub wake: Vec<u64>,
    /// The NIC that is being run.
    pub here: usize,
    /// Headers that a switch gives back.
    pub returned: Vec<Packet>,
    /// For other blocks, by the link of the block's switch.
    pub outbox: Vec<Bins>,
    /// When the first of what is in them arrives.
    pub first_out: u64,
    /// Tasks that will go on at a time that is known.
    pub resuming: usize,
    /// When a task went on last.
    pub last_resumed: u64,
    first_switch: u32,
    first_nic: u32,
    // What every launch needs, near at hand.
    link: u64,
    switch: u64,
    loss_parts: u32,
}

impl Medium {
    pub fn new(fabric: &Arc<Fabric>, block: u32) -> Medium {
        let topology = &fabric.topology;
        let links = topology.downlinks(block) + topology.uplinks(block);
        let links = if fabric.one_block { 0 } else { links };
        let (first_switch, until_switch) = fabric.switches_of(block);
        let (first_nic, until_nic) = fabric.nics_of(block);
        let nics = (until_nic - first_nic) as usize;
        Medium {
            fabric: Arc::clone(fabric),
            bench: Bench::default(),
            is_at_work: false,
            now: 0,
            counts: Counts::default(),
            inward: (first_switch..until_switch)
                .map(|_| Inward::default())
                .collect(),
            incoming: Vec::new(),
            arrivals: vec![List::default(); nics],
            events: vec![Events::default(); nics],
            wake: vec![u64::MAX; nics],
            here: 0,
            returned: Vec::new(),
            outbox: (0..links).map(|_| Bins::default()).collect(),
            first_out: u64::MAX,
            resuming: 0,
            last_resumed: 0,
            first_switch,
            first_nic,
            link: fabric.profile.network.link,
            switch: fabric.profile.network.switch,
            loss_parts: fabric.setting.loss_parts,
        }
    }

    /// Entries of a receive queue that a message takes.
    pub fn entries_of(&self, packet: &Packet) -> u32 {
        let bytes = packet.words.len() as u32 * 8;
        bytes.div_ceil(self.fabric.profile.nic.entry_bytes).max(1)
    }

    /// Something happens at its time behind the NIC that is being run.
    pub fn event(&mut self, event: Event) {
        let wake = &mut self.wake[self.here];
        *wake = event.time.min(*wake);
        self.events[self.here].add(event);
    }

    /// A link as what is launched needs it: where it leads from a switch of this block.
    pub fn link_to(&self, end: End, number: u32) -> Link {
        match end {
            End::Nic(nic) => Link::Nic(nic - self.first_nic),
            End::Switch(switch) if self.fabric.one_block => {
                Link::Switch(switch - self.first_switch)
            }
            End::Switch(_) => Link::Block(number),
        }
    }

    /// The link from a NIC to its leaf.
    pub fn link_up(&self, nic: u32) -> Link {
        Link::Switch(self.fabric.topology.leaf_of(nic) - self.first_switch)
    }

    /// A packet begins on a link: it arrives where the link leads, unless it is lost. A tail is
    /// what it takes longer to a switch.
    #[inline]
    pub fn launch(&mut self, packet: &mut Packet, start: u64, link: Link, tail: u64) {
        if self.loss_parts > 0 && self.is_lost(packet, start) {
            return;
        }
        let flits = u64::from(packet.flits);
        let to_switch = start + self.link + flits.max(self.switch) + tail;
        match link {
            Link::Nic(nic) => self.deliver(packet, start + self.link + flits, nic as usize),
            Link::Switch(switch) => self.bring(switch as usize, packet, to_switch),
            Link::Block(number) => {
                self.first_out = self.first_out.min(to_switch);
                self.outbox[number as usize].push(packet, to_switch, &mut self.bench.spare);
            }
        }
    }

    /// A packet comes to a NIC at `time`.
    #[inline]
    fn deliver(&mut self, packet: &mut Packet, time: u64, nic: usize) {
        self.wake[nic] = time.min(self.wake[nic]);
        let slab = &mut self.bench.slab;
        let place = slab.put(packet.take());
        slab[place].time = time;
        self.arrivals[nic].push(slab, place);
    }

    /// A packet comes to a switch of this block at `time`.
    #[inline]
    pub fn bring(&mut self, switch: usize, packet: &mut Packet, time: u64) {
        let inward = &mut self.inward[switch];
        inward.first = inward.first.min(time);
        inward.packets.push(packet, time, &mut self.bench.spare);
    }

    #[cold]
    fn is_lost(&mut self, packet: &Packet, start: u64) -> bool {
        let is_lost = self.fabric.draw(Purpose::Loss, packet, start) < self.loss_parts;
        self.counts.lost += u64::from(is_lost);
        is_lost
    }

    /// When something happens next: at a switch, at a NIC, in another block.
    pub fn next(&self) -> u64 {
        let inward = self.inward.iter().map(|inward| inward.first);
        let wake = self.wake.iter().copied();
        inward
            .chain(wake)
            .min()
            .unwrap_or(u64::MAX)
            .min(self.first_out)
    }
}

/// Packets for a switch of this block.
pub struct Inward {
    pub packets: Bins,
    /// When the first arrives.
    pub first: u64,
}

impl Default for Inward {
    fn default() -> Inward {
        Inward {
            packets: Bins::default(),
            first: u64::MAX,
        }
    }
}

/// A link, as its sending end sees it: to a NIC or a switch of its block, or to another block by
/// the bin of that number.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    Nic(u32),
    Switch(u32),
    Block(u32),
}
