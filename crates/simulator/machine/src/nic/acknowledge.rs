//! ACKs and NACKs: sending them, and handling them at the sender of the message.

use super::buffer::TransmitBuffer;
use super::resend::MOST_DOUBLINGS;
use super::state::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, PART, Packet};
use crate::network::store::id::PacketId;
use crate::schedule::Ticks;

/// Half the number of timeouts that a sender waits for a PULL after the first NACK; each NACK
/// doubles it.
const PULL_TIMEOUTS: u64 = 16;

impl Nic {
    /// Sends an ACK for a whole packet, or a NACK.
    pub(super) fn acknowledge(&mut self, id: PacketId, whole: bool, fabric: &mut Fabric) {
        let packet = &fabric[id];
        let ready = fabric.now() + fabric.nic_model().receive_cycles;
        let is_copy = packet.kind.is_copy();
        let is_kept = is_copy && fabric.layout.setting.aggregates_acks;
        let kind = match (is_kept, whole) {
            (false, true) => Kind::Ack,
            (false, false) => Kind::Nack,
            (true, true) => Kind::CopyAck,
            (true, false) => Kind::CopyNack,
        };
        // For a copy that a switch keeps it goes to the leaf, which knows the multicast by its sender.
        let (from, to) = if is_kept {
            (packet.from, packet.to)
        } else {
            (self.answering(packet), packet.from)
        };
        let answer = Packet {
            time: ready,
            from,
            to,
            ..packet.control(kind)
        };
        let id = fabric.put(answer);
        self.emit(id, fabric);
    }

    /// Tells the sender of a packet to send a segment.
    pub(super) fn request(&mut self, kind: Kind, concerned: &Packet, fabric: &mut Fabric) {
        let ready = fabric.now() + fabric.nic_model().receive_cycles;
        let request = concerned.answer(kind, self.answering(concerned), ready);
        let id = fabric.put(request);
        self.emit(id, fabric);
    }

    /// The sender of an answer: the member that a copy is for, or else the NIC.
    pub(super) fn answering(&self, packet: &Packet) -> u32 {
        if packet.kind.is_copy() {
            packet.to
        } else {
            self.first_rank
        }
    }

    /// Handles an ACK of a segment: the buffer is free when all segments are acknowledged, by all
    /// members if they acknowledge one by one.
    pub(super) fn acknowledged(&mut self, id: PacketId, ranks: &[RankState], fabric: &mut Fabric) {
        let Packet {
            from,
            slot,
            sequence,
            ..
        } = fabric[id];
        fabric.scratch.slab.give_up(id);
        let timeout = fabric.nic_model().timeout_cycles;
        let Some(buffer) = self.buffer_of(slot, sequence) else {
            return;
        };
        if let Some(members) = &mut buffer.members
            && members.acknowledged(from)
        {
            // ACKs that come one by one take their time.
            buffer.late_at = fabric.now() + timeout;
            return;
        }
        buffer.waiting &= !(1 << (sequence & 1));
        if buffer.waiting > 0 {
            return;
        }
        if buffer.is_inline {
            fabric.scratch.slab.give_up(buffer.head);
        } else {
            fabric.take(buffer.head);
        }
        let is_large = buffer.is_large;
        self.large_in_use -= u32::from(is_large);
        self.free_buffers.push(slot & !PART);
        if self.offered == 0 {
            return;
        }
        let time = ranks
            .iter()
            .map(|rank| rank.outgoing.first)
            .min()
            .unwrap_or(Ticks::NEVER);
        self.offer(time, fabric);
    }

    /// Handles a NACK: only the header arrived, and the receiver will send a PULL.
    pub(super) fn nacked(&mut self, nack: &Packet, fabric: &Fabric) {
        let timeout = fabric.nic_model().timeout_cycles;
        let Some(buffer) = self.buffer_of(nack.slot, nack.sequence) else {
            return;
        };
        if buffer.members.is_some() {
            // The others must not wait for this one.
            return;
        }
        buffer.refusals = (buffer.refusals + 1).min(MOST_DOUBLINGS);
        buffer.late_at = fabric.now() + timeout.doubled(buffer.refusals) * PULL_TIMEOUTS;
    }

    /// Handles a header that a switch returned for lack of room: sends the packet again later, at a
    /// random time, since packets that collided would otherwise collide again.
    pub(super) fn returned_to_sender(&mut self, returned: &Packet, fabric: &mut Fabric) {
        let timeout = fabric.nic_model().timeout_cycles;
        let now = fabric.now();
        let drawn = u64::from(fabric.layout.draw(Purpose::Wait, returned, now));
        let Some(buffer) = self.buffer_of(returned.slot, returned.sequence) else {
            return;
        };
        let spread = timeout / 8;
        let late_at = now + spread + Ticks((drawn * spread.0) >> 32);
        (buffer.late_at, buffer.tries) = (late_at, 0);
        self.schedule_check(late_at, fabric);
    }

    /// Handles a GRANT: sends the segment.
    pub(super) fn granted(&mut self, grant: &Packet, fabric: &mut Fabric) {
        let model = fabric.nic_model();
        let ready = fabric.now() + model.transmit_cycles;
        let timeout = model.timeout_cycles;
        let Some(buffer) = self.buffer_of(grant.slot, grant.sequence) else {
            return;
        };
        let segment = grant.sequence & 1;
        if buffer.held >> segment & 1 == 0 {
            // A RESEND was faster.
            return;
        }
        buffer.held = 0;
        (buffer.late_at, buffer.tries) = (ready + timeout, 0);
        self.send_segment(usize::from(grant.slot & !PART), segment, ready, fabric);
        self.schedule_check(ready + timeout, fabric);
    }

    /// Handles a PULL: sends the segment again.
    pub(super) fn pulled(&mut self, pull: &Packet, fabric: &mut Fabric) {
        let model = fabric.nic_model();
        let ready = fabric.now() + model.transmit_cycles;
        let timeout = model.timeout_cycles;
        let Some(buffer) = self.buffer_of(pull.slot, pull.sequence) else {
            return;
        };
        (buffer.late_at, buffer.held) = (ready + timeout, 0);
        if let Some(members) = &buffer.members {
            if members.misses(pull.from) {
                fabric.counts.resent += 1;
                let number = usize::from(pull.slot);
                self.send_copy(number, pull.from, ready, fabric);
            }
            return;
        }
        let head = &mut fabric[buffer.head];
        head.kind = head.kind.again();
        let number = usize::from(pull.slot & !PART);
        fabric.counts.resent += 1;
        self.send_segment(number, pull.sequence & 1, ready, fabric);
        self.schedule_check(ready + timeout, fabric);
    }

    /// The buffer that an answer concerns.
    fn buffer_of(&mut self, slot: u8, sequence: u32) -> Option<&mut TransmitBuffer> {
        let buffer = self.buffers.get_mut(usize::from(slot & !PART))?;
        // A second ACK of a segment that was sent twice may find another message in the buffer.
        (buffer.waiting > 0 && buffer.message == sequence >> 1).then_some(buffer)
    }
}
