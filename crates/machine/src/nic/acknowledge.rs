//! ACKs and NACKs: what a receiver answers, and what a sender does with it.

use super::Nic;
use super::transmit::{MOST_DOUBLINGS, Slot};
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, PART, Packet};
use crate::network::slab::Place;
use crate::schedule::Ticks;

/// Half the timeouts that a sender waits for a PULL after the first NACK; each NACK doubles them.
const PATIENCE: u64 = 16;

impl Nic {
    /// Answers a packet: with an ACK if it came whole, else with a NACK.
    pub(super) fn answer(&mut self, place: Place, whole: bool, fabric: &mut Fabric) {
        let packet = &fabric.scratch.slab[place];
        let ready = fabric.scheduler.now + fabric.layout.profile.nic.receive_cycles;
        let is_copy = matches!(
            packet.kind,
            Kind::Copy | Kind::CopyAgain | Kind::CopyTrimmed
        );
        let kind = match (is_copy, whole) {
            (false, true) => Kind::Ack,
            (false, false) => Kind::Nack,
            (true, true) => Kind::CopyAck,
            (true, false) => Kind::CopyNack,
        };
        // That of a copy goes to the leaf, which knows the multicast by its sender.
        let (from, to) = if is_copy {
            (packet.from, packet.to)
        } else {
            (self.first_rank, packet.from)
        };
        let answer = Packet {
            time: ready,
            from,
            to,
            ..packet.control(kind)
        };
        let place = fabric.scratch.slab.put(answer);
        self.emit(place, fabric);
    }

    /// An ACK of a segment: the buffer is free when all segments are acknowledged.
    pub(super) fn acknowledged(&mut self, ack: &Packet, ranks: &[RankState], fabric: &mut Fabric) {
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
            .unwrap_or(Ticks::NEVER);
        self.offer(time, fabric);
    }

    /// A NACK: only the header arrived, and the receiver will ask for the packet.
    pub(super) fn refused(&mut self, nack: &Packet, fabric: &Fabric) {
        let timeout = fabric.layout.profile.nic.timeout_cycles;
        let Some(slot) = self.slot_of(nack) else {
            return;
        };
        slot.refusals = (slot.refusals + 1).min(MOST_DOUBLINGS);
        slot.late_at = fabric.scheduler.now + timeout.doubled(slot.refusals) * PATIENCE;
    }

    /// A switch had no room even for the header: the packet is sent again after a while. Each
    /// packet has a moment of its own, or they would all collide again.
    pub(super) fn given_back(&mut self, returned: &Packet, fabric: &mut Fabric) {
        let timeout = fabric.layout.profile.nic.timeout_cycles;
        let drawn = u64::from(
            fabric
                .layout
                .draw(Purpose::Wait, returned, fabric.scheduler.now),
        );
        let Some(slot) = self.slot_of(returned) else {
            return;
        };
        let spread = timeout / 8;
        let late_at = fabric.scheduler.now + spread + Ticks((drawn * spread.0) >> 32);
        (slot.late_at, slot.tries) = (late_at, 0);
        self.look_after(late_at, fabric);
    }

    /// A PULL: the receiver asks for a segment.
    pub(super) fn asked_again(&mut self, pull: &Packet, fabric: &mut Fabric) {
        let model = &fabric.layout.profile.nic;
        let ready = fabric.scheduler.now + model.transmit_cycles;
        let timeout = model.timeout_cycles;
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
}
