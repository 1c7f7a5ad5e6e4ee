//! Receiving: reassembly, and the cores' receive queues.

use node::Words;

use super::partial::Partial;
use super::state::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, PART, Packet};
use crate::network::store::id::PacketId;
use crate::network::store::prefetch;
use crate::schedule::Ticks;

/// Beyond this many, entries are freed even if no room is needed, since their list takes memory.
const MOST_RELEASES: usize = 6;

impl Nic {
    /// Prefetches the state that the next packet will need.
    #[inline]
    pub fn prefetch_for(&self, next: &Packet, ranks: &[RankState]) {
        if next.kind == Kind::Ack {
            self.buffers
                .get(usize::from(next.slot & !PART))
                .into_iter()
                .for_each(prefetch);
        } else {
            let rank = next.to.wrapping_sub(self.first_rank);
            ranks.get(rank as usize).into_iter().for_each(prefetch);
        }
    }

    /// Handles a packet whose last flit has arrived.
    pub fn arrive(&mut self, id: PacketId, ranks: &mut [RankState], fabric: &mut Fabric) {
        match fabric[id].kind {
            Kind::Data | Kind::DataAgain | Kind::Copy | Kind::CopyAgain => {
                self.arrive_data(id, ranks, fabric);
            }
            Kind::Trimmed | Kind::CopyTrimmed => {
                self.acknowledge(id, false, fabric);
                let header = fabric.take(id);
                if header.kind == Kind::Trimmed || !fabric.layout.setting.aggregates_acks {
                    self.queue_pull(header, fabric);
                }
            }
            Kind::Ack => {
                self.acknowledged(id, ranks, fabric);
            }
            Kind::Nack => {
                let nack = fabric.take(id);
                self.nacked(&nack, fabric);
            }
            Kind::Returned => {
                let returned = fabric.take(id);
                self.returned_to_sender(&returned, fabric);
            }
            Kind::Grant => {
                let grant = fabric.take(id);
                self.granted(&grant, fabric);
            }
            Kind::Pull => {
                let pull = fabric.take(id);
                self.pulled(&pull, fabric);
            }
            other => unreachable!("{other:?} does not come to a NIC"),
        }
    }

    fn arrive_data(&mut self, id: PacketId, ranks: &mut [RankState], fabric: &mut Fabric) {
        if self.tap.is_some() {
            self.tap_in(id, fabric);
        }
        if self.completed.has(&fabric[id]) {
            self.acknowledge(id, true, fabric);
            fabric.take(id);
            self.pull_for_data(fabric);
            return;
        }
        let is_part = fabric[id].is_part();
        let known = is_part && self.partial_of(&fabric[id]).is_some();
        if !known && self.is_full(fabric) {
            self.reject(id, fabric);
            return;
        }
        self.buffers_in_use += u32::from(!known);
        self.acknowledge(id, true, fabric);
        self.pull_for_data(fabric);
        if is_part {
            let packet = &mut fabric[id];
            let whole = self.assemble(packet);
            let header = packet.control(packet.kind);
            let Some(whole) = whole else {
                fabric.take(id);
                self.note_first(&header, fabric);
                return;
            };
            packet.words = whole;
            self.note_whole(&header, fabric);
        }
        let timeout = fabric.nic_model().timeout_cycles;
        self.completed.add(&fabric[id], fabric.now(), timeout);
        self.enqueue(id, ranks, fabric);
    }

    /// Notes the first flit of a packet that has arrived.
    #[cold]
    fn tap_in(&mut self, id: PacketId, fabric: &Fabric) {
        let length = self.pace(fabric).ticks(fabric[id].flits.into());
        if let Some(tap) = &mut self.tap {
            tap.arrive(fabric.now() - length);
        }
    }

    /// Whether all receive buffers are in use.
    pub(super) fn is_full(&self, fabric: &Fabric) -> bool {
        self.buffers_in_use >= fabric.nic_model().receive_buffers
    }

    /// Drops a packet for lack of a buffer, and requests it again later; a switch that keeps a copy
    /// sends it again by itself.
    fn reject(&mut self, id: PacketId, fabric: &mut Fabric) {
        fabric.counts.dropped += 1;
        let setting = &fabric.layout.setting;
        let is_kept = fabric[id].kind.is_copy() && setting.aggregates_acks;
        // Homa's senders hear nothing, and try again after their timeouts.
        let is_silent = is_kept || setting.transport != crate::setting::Transport::Ndp;
        if !is_silent {
            self.acknowledge(id, false, fabric);
        }
        let packet = fabric.take(id);
        if !is_silent {
            self.queue_pull(packet.control(packet.kind.trimmed()), fabric);
        }
    }

    pub(super) fn partial_of(&self, packet: &Packet) -> Option<usize> {
        self.partial.iter().position(|part| part.is_of(packet))
    }

    /// Adds a segment; returns the message when it is whole.
    fn assemble(&mut self, packet: &mut Packet) -> Option<Words> {
        let index = self.partial_of(packet).unwrap_or_else(|| {
            self.partial.push(Partial::of(packet));
            self.partial.len() - 1
        });
        let whole = self.partial[index].add(packet)?;
        self.partial.swap_remove(index);
        Some(whole)
    }

    /// Adds a message to its core's queue. Without room it is blocked, with all that follow it.
    fn enqueue(&mut self, id: PacketId, ranks: &mut [RankState], fabric: &mut Fabric) {
        fabric[id].flits = fabric.entries_of(&fabric[id]) as u16;
        let rank = &ranks[(fabric[id].to - self.first_rank) as usize];
        let is_long = rank.releases() >= MOST_RELEASES;
        let mut has_room = self.has_room(id, ranks, fabric);
        if is_long || !self.blocked.is_empty() || !has_room {
            self.release(ranks, fabric.now());
            has_room = self.has_room(id, ranks, fabric);
        }
        if self.blocked.is_empty() && has_room {
            self.deliver(id, fabric.nic_model().receive_cycles, ranks, fabric);
            return;
        }
        self.blocked.push_back(id);
        self.wait_for_room(ranks);
    }

    /// Delivers blocked messages as far as there is room.
    pub(super) fn unblock(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.unblock_at = Ticks::NEVER;
        self.release(ranks, fabric.now());
        while let Some(&id) = self.blocked.front() {
            if !self.has_room(id, ranks, fabric) {
                break;
            }
            self.blocked.pop_front();
            // It is through the pipeline already.
            self.deliver(id, Ticks(1), ranks, fabric);
        }
        self.wait_for_room(ranks);
    }

    /// A core takes a message from its queue at `time`, so a blocked one may follow.
    pub fn made_room(&mut self, time: Ticks) {
        if !self.blocked.is_empty() {
            self.unblock_at = self.unblock_at.min(time);
        }
    }

    fn wait_for_room(&mut self, ranks: &[RankState]) {
        if self.blocked.is_empty() {
            return;
        }
        if let Some(time) = ranks.iter().filter_map(RankState::next_release).min() {
            self.unblock_at = self.unblock_at.min(time);
        }
    }

    fn deliver(
        &mut self,
        id: PacketId,
        after: Ticks,
        ranks: &mut [RankState],
        fabric: &mut Fabric,
    ) {
        let entries = u32::from(fabric[id].flits);
        self.buffers_in_use -= 1;
        self.entries += entries;
        let time = fabric.now() + after;
        let packet = &mut fabric[id];
        packet.time = time;
        let rank = &mut ranks[(packet.to - self.first_rank) as usize];
        rank.deliver(id, entries, fabric);
    }

    fn has_room(&self, id: PacketId, ranks: &[RankState], fabric: &Fabric) -> bool {
        let model = fabric.nic_model();
        let packet = &fabric[id];
        let entries = u32::from(packet.flits);
        let rank = &ranks[(packet.to - self.first_rank) as usize];
        self.entries + entries <= model.all_entries && rank.has_room(packet.port, entries, fabric)
    }

    /// Frees the entries of messages that cores have taken by now.
    fn release(&mut self, ranks: &mut [RankState], now: Ticks) {
        for rank in ranks {
            self.entries -= rank.release(now);
        }
    }
}
