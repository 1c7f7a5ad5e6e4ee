//! A nanoPU NIC: the way out of several cores, and the way in.
//!
//! ```text
//!   cores' words -> arbiter -> transmit buffer -> egress port -> leaf      (this file)
//!                    (one word a tick)   until every packet is acknowledged
//!   leaf -> receive buffer -> a core's receive queue -> its registers      (nic/receive.rs)
//!                    \ ACK+PULL for each packet, NACK+PULL for a trimmed one
//! ```
//!
//! Messages are stored before they go on, in both directions. The window of transmit buffers, freed
//! by ACKs, is what bounds a core's messages under way; a core whose NIC has none free fills the
//! words it may have waiting, and then waits itself.

mod pull;
mod receive;

use std::collections::VecDeque;

use node::Words;

use self::pull::Pulls;
use self::receive::{Completed, Partial};
use crate::cores::rank::RankState;
use crate::network::fabric::{Fabric, Link};
use crate::network::layout::Purpose;
use crate::network::packet::{PART, Packet};
use crate::network::port::Port;
use crate::network::slab::Place;
use crate::profile::NicModel;

pub struct Nic {
    number: u32,
    first_rank: u32,
    egress: Port,
    leaf: Link,
    // The arbiter.
    free_at: u64,
    served: u32,
    transmit_at: u64,
    // Transmit buffers.
    slots: Vec<Slot>,
    free_slots: Vec<u8>,
    large_in_use: u32,
    next_message: u32,
    /// When it looks which messages are late.
    look_at: u64,
    // Receiving.
    held: u32,
    entries: u32,
    blocked: VecDeque<Place>,
    unblock_at: u64,
    partial: Vec<Partial>,
    completed: Completed,
    pulls: Pulls,
    /// First flits of messages in, when this NIC is tapped.
    tapped_in: VecDeque<u64>,
    /// From first flit in to last flit out.
    pub tapped: Vec<u64>,
}

/// A transmit buffer.
struct Slot {
    /// The whole message, as its first segment: what is sent is made from it, again if need be. It
    /// is left alone otherwise: by the time of its ACK it is no longer in the cache.
    head: Place,
    /// Its number among the messages of the NIC.
    message: u32,
    is_large: bool,
    /// Whether its words need no memory of their own.
    is_inline: bool,
    /// When it is late: not acknowledged, and not asked for.
    late_at: u64,
    /// How often it was late.
    tries: u8,
    /// How often its receiver promised to ask for it.
    refusals: u8,
    /// A bit for each segment that is not acknowledged.
    waiting: u8,
}

impl Nic {
    pub fn new(number: u32, fabric: &Fabric) -> Nic {
        Nic {
            number,
            first_rank: number * fabric.layout.topology.ranks_per_nic,
            egress: Port::default(),
            leaf: fabric.link_up(number),
            free_at: 0,
            served: 0,
            transmit_at: u64::MAX,
            slots: Vec::new(),
            free_slots: Vec::new(),
            large_in_use: 0,
            next_message: 0,
            look_at: u64::MAX,
            held: 0,
            entries: 0,
            blocked: VecDeque::new(),
            unblock_at: u64::MAX,
            partial: Vec::new(),
            completed: Completed::default(),
            pulls: Pulls::default(),
            tapped_in: VecDeque::new(),
            tapped: Vec::new(),
        }
    }

    /// When it does something by itself next.
    pub fn next(&self) -> u64 {
        self.transmit_at
            .min(self.look_at)
            .min(self.pulls.ask_at)
            .min(self.unblock_at)
    }

    /// Does what is due now.
    pub fn act(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        if self.transmit_at == fabric.scheduler.now {
            self.transmit(ranks, fabric);
        } else if self.look_at == fabric.scheduler.now {
            self.look_for_late(fabric);
        } else if self.pulls.ask_at == fabric.scheduler.now {
            self.pull_if_idle(fabric);
        } else {
            self.unblock(ranks, fabric);
        }
    }

    /// One of its cores has a message that is ready at `time`.
    pub fn offer(&mut self, time: u64, fabric: &Fabric) {
        if time < u64::MAX && self.has_slot(false, fabric) {
            let at = self.free_at.max(time).max(fabric.scheduler.now);
            self.transmit_at = self.transmit_at.min(at);
        }
    }

    /// Takes the next message of its cores, lowest core first.
    fn transmit(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.transmit_at = u64::MAX;
        let is_ready = |rank: &RankState| {
            rank.outgoing.first <= fabric.scheduler.now && self.has_slot_for(rank, fabric)
        };
        if let Some(core) = ranks.iter().position(is_ready) {
            self.take(core, &mut ranks[core], fabric);
        }
        let fitting = ranks.iter().filter(|rank| self.has_slot_for(rank, fabric));
        let time = fitting
            .map(|rank| rank.outgoing.first)
            .min()
            .unwrap_or(u64::MAX);
        self.offer(time, fabric);
    }

    fn take(&mut self, core: usize, rank: &mut RankState, fabric: &mut Fabric) {
        let place = rank
            .outgoing
            .pop(&fabric.scratch.slab)
            .expect("a message waits");
        let model = &fabric.layout.profile.nic;
        let packet = &mut fabric.scratch.slab[place];
        let words = packet.words.len() as u64 + 1;
        let turn = if self.served == core as u32 {
            0
        } else {
            model.turn
        };
        self.served = core as u32;
        self.free_at = packet
            .time
            .max(self.free_at + words)
            .max(fabric.scheduler.now)
            + turn;
        let ready = self.free_at + model.transmit;
        let message = self.next_message;
        packet.sequence = message << 1;
        self.next_message = message.wrapping_add(1) & (u32::MAX >> 1);
        let is_large = is_large(packet, model);
        self.large_in_use += u32::from(is_large);
        let waiting = if is_large { 0b11 } else { 0b1 };
        packet.slot = self.free_slots.pop().unwrap_or(self.slots.len() as u8);
        let number = usize::from(packet.slot);
        let late_at = ready + model.timeout;
        let is_inline = packet.words.is_inline();
        let slot = Slot {
            head: place,
            message,
            is_large,
            is_inline,
            late_at,
            tries: 0,
            refusals: 0,
            waiting,
        };
        if number == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.slots[number] = slot;
        }
        for segment in 0..1 + u32::from(is_large) {
            self.send_segment(number, segment, ready, fabric);
        }
        self.look_after(late_at, fabric);
        rank.room_at(fabric);
    }

    /// Whether there is a transmit buffer for the first message of a core.
    fn has_slot_for(&self, rank: &RankState, fabric: &Fabric) -> bool {
        let model = &fabric.layout.profile.nic;
        let front = || rank.outgoing.front(&fabric.scratch.slab);
        // Only when buffers for large ones are short does it matter how large it is.
        self.has_slot(false, fabric)
            && (self.large_in_use < model.large_transmit_buffers
                || !front().is_some_and(|packet| is_large(packet, model)))
    }

    fn has_slot(&self, large: bool, fabric: &Fabric) -> bool {
        let model = &fabric.layout.profile.nic;
        let used = self.slots.len() - self.free_slots.len();
        (used as u32) < model.transmit_buffers
            && (!large || self.large_in_use < model.large_transmit_buffers)
    }

    fn send_segment(&mut self, slot: usize, segment: u32, ready: u64, fabric: &mut Fabric) {
        let model = &fabric.layout.profile.nic;
        let head = &fabric.scratch.slab[self.slots[slot].head];
        let is_part = is_large(head, model);
        let words = if is_part {
            let each = (model.segment_bytes / 8) as usize;
            let from = segment as usize * each;
            Words::from(&head.words[from..head.words.len().min(from + each)])
        } else {
            head.words.clone()
        };
        let sequence = head.sequence + segment;
        let slot = head.slot | if is_part { PART } else { 0 };
        let packet = Packet {
            sequence,
            words,
            slot,
            time: ready,
            ..*head
        };
        let place = fabric.scratch.slab.put(packet);
        self.emit(place, fabric);
    }

    /// Puts a packet at the egress port.
    fn emit(&mut self, place: Place, fabric: &mut Fabric) {
        let packet = &mut fabric.scratch.slab[place];
        packet.measure(&fabric.layout.sizes);
        self.egress.push(packet, place, &mut fabric.scratch.at_nics);
    }

    /// Lets begin what can begin before `until`; when the next can.
    pub fn drain(&mut self, until: u64, fabric: &mut Fabric) -> u64 {
        while let Some((place, start)) = self.egress.next(until, &mut fabric.scratch.at_nics) {
            let mut packet = fabric.scratch.slab.take(place);
            let flits = u64::from(packet.flits);
            fabric.counts.packets += 1;
            fabric.counts.wire_bytes += flits * u64::from(fabric.layout.profile.network.flit_bytes);
            if !self.tapped_in.is_empty() && !packet.kind.is_control() {
                self.tap_out(start, flits);
            }
            let tail = self.tail(&packet, fabric);
            fabric.launch(&mut packet, start, self.leaf, tail);
        }
        self.egress.next_start()
    }

    /// A message leaves the tapped NIC.
    fn tap_out(&mut self, start: u64, flits: u64) {
        if let Some(first_in) = self
            .tapped_in
            .front()
            .copied()
            .filter(|&first_in| first_in < start)
        {
            self.tapped_in.pop_front();
            self.tapped.push(start + flits - first_in);
        }
    }

    /// What a message that is drawn for it takes longer on its way.
    fn tail(&self, packet: &Packet, fabric: &Fabric) -> u64 {
        let setting = &fabric.layout.setting;
        if setting.tail == 0 || packet.kind.is_control() {
            return 0;
        }
        let drawn = fabric.layout.draw(Purpose::Tail, packet, 0);
        if drawn < setting.tail_parts {
            setting.tail
        } else {
            0
        }
    }

    /// A segment was acknowledged: its buffer is free when all of its message are.
    fn acknowledged(&mut self, ack: &Packet, ranks: &[RankState], fabric: &mut Fabric) {
        let Some(slot) = self.slot_of(ack) else {
            return;
        };
        slot.waiting &= !(1 << (ack.sequence & 1));
        if slot.waiting > 0 {
            return;
        }
        if slot.is_inline {
            fabric.scratch.slab.give_up(slot.head);
        } else {
            fabric.scratch.slab.take(slot.head);
        }
        let is_large = slot.is_large;
        self.large_in_use -= u32::from(is_large);
        self.free_slots.push(ack.slot & !PART);
        let time = ranks
            .iter()
            .map(|rank| rank.outgoing.first)
            .min()
            .unwrap_or(u64::MAX);
        self.offer(time, fabric);
    }

    /// Its header alone arrived: the receiver will ask for it.
    fn refused(&mut self, nack: &Packet, fabric: &Fabric) {
        let timeout = fabric.layout.profile.nic.timeout;
        let Some(slot) = self.slot_of(nack) else {
            return;
        };
        slot.refusals = (slot.refusals + 1).min(MOST_DOUBLINGS);
        slot.late_at = fabric.scheduler.now + PATIENCE * (timeout << slot.refusals);
    }

    /// There was no room even for its header: it is sent again after a while, each at a moment of
    /// its own, lest they all come together again.
    fn given_back(&mut self, returned: &Packet, fabric: &mut Fabric) {
        let timeout = fabric.layout.profile.nic.timeout;
        let drawn = u64::from(
            fabric
                .layout
                .draw(Purpose::Wait, returned, fabric.scheduler.now),
        );
        let Some(slot) = self.slot_of(returned) else {
            return;
        };
        let spread = timeout / 8;
        let late_at = fabric.scheduler.now + spread + ((drawn * spread) >> 32);
        (slot.late_at, slot.tries) = (late_at, 0);
        self.look_after(late_at, fabric);
    }

    /// The receiver asks for a segment.
    fn asked_again(&mut self, pull: &Packet, fabric: &mut Fabric) {
        let model = &fabric.layout.profile.nic;
        let ready = fabric.scheduler.now + model.transmit;
        let timeout = model.timeout;
        let Some(slot) = self.slot_of(pull) else {
            return;
        };
        slot.late_at = ready + timeout;
        let head = &mut fabric.scratch.slab[slot.head];
        head.kind = head.kind.again();
        let number = usize::from(pull.slot & !PART);
        fabric.counts.resent += 1;
        self.send_segment(number, pull.sequence & 1, ready, fabric);
        self.look_after(ready + timeout, fabric);
    }

    fn slot_of(&mut self, answer: &Packet) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(usize::from(answer.slot & !PART))?;
        // An answer to what was sent twice may find its buffer with another message.
        (slot.waiting > 0 && slot.message == answer.sequence >> 1).then_some(slot)
    }

    /// Looks for what is late once something may be: a little later, since many are late soon after
    /// each other, and one look finds them together.
    fn look_after(&mut self, late_at: u64, fabric: &Fabric) {
        let time = late_at + fabric.layout.profile.nic.timeout / 16;
        self.look_at = self.look_at.min(time);
    }

    /// Sends again what nobody acknowledged for so long; each time it waits twice as long.
    fn look_for_late(&mut self, fabric: &mut Fabric) {
        self.look_at = u64::MAX;
        let timeout = fabric.layout.profile.nic.timeout;
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            if slot.waiting == 0 || slot.late_at > fabric.scheduler.now {
                continue;
            }
            slot.tries = (slot.tries + 1).min(MOST_DOUBLINGS);
            slot.late_at = fabric.scheduler.now + (timeout << slot.tries);
            let head = &mut fabric.scratch.slab[slot.head];
            head.kind = head.kind.again();
            let waiting = slot.waiting;
            for segment in (0..8).filter(|segment| waiting >> segment & 1 == 1) {
                fabric.counts.resent += 1;
                self.send_segment(number, segment, fabric.scheduler.now, fabric);
            }
        }
        let waiting = self.slots.iter().filter(|slot| slot.waiting > 0);
        if let Some(late_at) = waiting.map(|slot| slot.late_at).min() {
            self.look_after(late_at, fabric);
        }
    }
}

/// Whether a message has two segments; one to a group has one.
fn is_large(packet: &Packet, model: &NicModel) -> bool {
    packet.words.len() > model.segment_bytes as usize / 8 && !packet.kind.is_cast()
}

/// Half the timeouts that a sender waits for the PULL of what it knows to be cut: they double with
/// each NACK, the first among them.
const PATIENCE: u64 = 16;

/// How often the timeout of a message doubles.
const MOST_DOUBLINGS: u8 = 6;
