//! Sending: the arbiter between the cores, the transmit buffers, and timeouts.

use node::Words;

use super::buffer::TransmitBuffer;
use super::members::Members;
use super::state::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::packet::{PART, Packet};
use crate::network::store::id::PacketId;
use crate::profile::NicModel;
use crate::schedule::Ticks;

impl Nic {
    /// A core has written a message, which is ready at `time`.
    pub fn accept(&mut self, time: Ticks, fabric: &Fabric) {
        self.offered += 1;
        self.offer(time, fabric);
    }

    /// Schedules the arbiter for a core's message that is ready at `time`.
    pub(super) fn offer(&mut self, time: Ticks, fabric: &Fabric) {
        if time < Ticks::NEVER && self.has_buffer(false, fabric) {
            let at = self.free_at.max(time).max(fabric.now());
            self.transmit_at = self.transmit_at.min(at);
        }
    }

    /// Sends the next message of its cores, lowest core first.
    pub(super) fn transmit(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.transmit_at = Ticks::NEVER;
        let is_ready = |rank: &RankState| {
            rank.outgoing.first <= fabric.now() && self.has_buffer_for(rank, fabric)
        };
        if let Some(core) = ranks.iter().position(is_ready) {
            self.take(core, &mut ranks[core], fabric);
        }
        if self.offered == 0 {
            return;
        }
        let fitting = ranks
            .iter()
            .filter(|rank| self.has_buffer_for(rank, fabric));
        let time = fitting
            .map(|rank| rank.outgoing.first)
            .min()
            .unwrap_or(Ticks::NEVER);
        self.offer(time, fabric);
    }

    fn take(&mut self, core: usize, rank: &mut RankState, fabric: &mut Fabric) {
        let message = rank.outgoing.pop(&fabric.scratch.slab);
        let id = message.expect("a message waits");
        self.offered -= 1;
        let model = fabric.nic_model();
        self.arbitrate(core, &fabric[id], model, fabric.now());
        let ready = self.free_at + model.transmit_cycles;
        let late_at = ready + model.timeout_cycles;
        if let Some(log) = &mut fabric.log {
            let each = fabric.layout.topology.ranks_per_nic;
            let nic = self.number - log.first_nic;
            log.taken(nic as usize, nic * each + core as u32, ready);
        }
        let (number, segments) = self.fill_buffer(id, late_at, fabric);
        for segment in 0..segments {
            if self.buffers[number].held >> segment & 1 == 1 {
                continue;
            }
            self.send_segment(number, segment, ready, fabric);
        }
        self.schedule_check(late_at, fabric);
        rank.wake_senders(fabric);
    }

    /// Occupies the arbiter with a message: a tick per word, and more if the served core changes.
    fn arbitrate(&mut self, core: usize, packet: &Packet, model: &NicModel, now: Ticks) {
        let words = Ticks(packet.words.len() as u64 + 1);
        let turn = if self.served_core == core as u32 {
            Ticks(0)
        } else {
            model.turn_cycles
        };
        self.served_core = core as u32;
        self.free_at = packet.time.max(self.free_at + words).max(now) + turn;
    }

    /// Moves a message into a free buffer; returns its number, and how many segments it has.
    fn fill_buffer(&mut self, id: PacketId, late_at: Ticks, fabric: &mut Fabric) -> (usize, u32) {
        let is_large = is_large(&fabric[id], fabric.nic_model());
        let is_scheduled = fabric.layout.setting.transport.is_scheduled(1);
        let members = Members::of(&fabric[id], fabric.layout.setting.aggregates_acks);
        let packet = &mut fabric[id];
        let message = self.next_message;
        packet.sequence = message << 1;
        self.next_message = message.wrapping_add(1) & (u32::MAX >> 1);
        self.large_in_use += u32::from(is_large);
        packet.slot = self.free_buffers.pop().unwrap_or(self.buffers.len() as u8);
        let number = usize::from(packet.slot);
        let buffer = TransmitBuffer {
            head: id,
            message,
            is_large,
            is_inline: packet.words.is_inline(),
            late_at,
            tries: 0,
            refusals: 0,
            waiting: if is_large { 0b11 } else { 0b1 },
            held: if is_large && is_scheduled { 0b10 } else { 0 },
            members,
        };
        if number == self.buffers.len() {
            self.buffers.push(buffer);
        } else {
            self.buffers[number] = buffer;
        }
        (number, 1 + u32::from(is_large))
    }

    /// Whether there is a free buffer for the first message of a core.
    fn has_buffer_for(&self, rank: &RankState, fabric: &Fabric) -> bool {
        let model = fabric.nic_model();
        let front = || rank.outgoing.front(&fabric.scratch.slab);
        // The size matters only if all buffers for large messages are in use.
        self.has_buffer(false, fabric)
            && (self.large_in_use < model.large_transmit_buffers
                || !front().is_some_and(|packet| is_large(packet, model)))
    }

    fn has_buffer(&self, large: bool, fabric: &Fabric) -> bool {
        let model = fabric.nic_model();
        let used = self.buffers.len() - self.free_buffers.len();
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
        let model = fabric.nic_model();
        let head = &fabric[self.buffers[slot].head];
        let is_part = is_large(head, model);
        let mut port = head.port;
        let words = if is_part {
            let each = (model.segment_bytes / 8) as usize;
            let from = segment as usize * each;
            if segment == 0 && self.buffers[slot].held > 0 {
                port = (head.words.len() - each) as u16;
            }
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
            port,
            time: ready,
            ..*head
        };
        let id = fabric.put(packet);
        self.emit(id, fabric);
    }

    /// Schedules a check of timeouts a little after `late_at`, so that one check finds several late
    /// messages.
    pub(super) fn schedule_check(&mut self, late_at: Ticks, fabric: &Fabric) {
        let time = late_at + fabric.nic_model().timeout_cycles / 16;
        self.check_at = self.check_at.min(time);
    }
}

/// Whether a message has two segments; a multicast has one.
fn is_large(packet: &Packet, model: &NicModel) -> bool {
    packet.words.len() > model.segment_bytes as usize / 8 && !packet.kind.is_multicast()
}
