//! The way out: the arbiter that serves the cores, the transmit buffers, and retransmission after a
//! timeout.

use node::Words;

use super::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::packet::{PART, Packet};
use crate::network::slab::Place;
use crate::profile::NicModel;
use crate::schedule::Ticks;

/// A transmit buffer.
pub struct Slot {
    /// The whole message, as its first segment, from which every packet is made. It is not read
    /// otherwise: by the time of its ACK it is no longer in the cache.
    pub head: Place,
    /// Its number among the messages of the NIC.
    pub message: u32,
    pub is_large: bool,
    /// Whether its words need no memory of their own.
    pub is_inline: bool,
    /// When it is late if nothing acknowledges it or asks for it.
    pub late_at: Ticks,
    /// How often it was late.
    pub tries: u8,
    /// How often its receiver has sent a NACK.
    pub refusals: u8,
    /// A bit for each segment that is not acknowledged.
    pub waiting: u8,
}

/// The most times that the timeout of a message doubles.
pub(super) const MOST_DOUBLINGS: u8 = 6;

impl Nic {
    /// One of its cores has a message that is ready at `time`.
    pub fn offer(&mut self, time: Ticks, fabric: &Fabric) {
        if time < Ticks::NEVER && self.has_slot(false, fabric) {
            let at = self.free_at.max(time).max(fabric.scheduler.now);
            self.transmit_at = self.transmit_at.min(at);
        }
    }

    /// Takes the next message of its cores, lowest core first.
    pub(super) fn transmit(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.transmit_at = Ticks::NEVER;
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
            .unwrap_or(Ticks::NEVER);
        self.offer(time, fabric);
    }

    fn take(&mut self, core: usize, rank: &mut RankState, fabric: &mut Fabric) {
        let place = rank
            .outgoing
            .pop(&fabric.scratch.slab)
            .expect("a message waits");
        let model = &fabric.layout.profile.nic;
        let packet = &mut fabric.scratch.slab[place];
        let words = Ticks(packet.words.len() as u64 + 1);
        let turn = if self.served == core as u32 {
            Ticks(0)
        } else {
            model.turn_cycles
        };
        self.served = core as u32;
        self.free_at = packet
            .time
            .max(self.free_at + words)
            .max(fabric.scheduler.now)
            + turn;
        let ready = self.free_at + model.transmit_cycles;
        let message = self.next_message;
        packet.sequence = message << 1;
        self.next_message = message.wrapping_add(1) & (u32::MAX >> 1);
        let is_large = is_large(packet, model);
        self.large_in_use += u32::from(is_large);
        let waiting = if is_large { 0b11 } else { 0b1 };
        packet.slot = self.free_slots.pop().unwrap_or(self.slots.len() as u8);
        let number = usize::from(packet.slot);
        let late_at = ready + model.timeout_cycles;
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

    pub(super) fn send_segment(
        &mut self,
        slot: usize,
        segment: u32,
        ready: Ticks,
        fabric: &mut Fabric,
    ) {
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

    /// Schedules a check for late messages: a little after `late_at`, since many are late soon
    /// after each other, and one check finds them together.
    pub(super) fn look_after(&mut self, late_at: Ticks, fabric: &Fabric) {
        let time = late_at + fabric.layout.profile.nic.timeout_cycles / 16;
        self.look_at = self.look_at.min(time);
    }

    /// Sends messages again that are late; their timeout doubles each time.
    pub(super) fn look_for_late(&mut self, fabric: &mut Fabric) {
        self.look_at = Ticks::NEVER;
        let timeout = fabric.layout.profile.nic.timeout_cycles;
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            if slot.waiting == 0 || slot.late_at > fabric.scheduler.now {
                continue;
            }
            slot.tries = (slot.tries + 1).min(MOST_DOUBLINGS);
            slot.late_at = fabric.scheduler.now + timeout.doubled(slot.tries);
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
