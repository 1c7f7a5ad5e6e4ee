//! The way in: reassembly, and the cores' receive queues.

use node::Words;

use super::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::network::slab::Place;
use crate::schedule::Ticks;

/// A message with a segment missing.
pub struct Partial {
    from: u32,
    message: u32,
    segments: [Option<Words>; 2],
    /// Whether one of them was sent again: what was sent first may still come.
    again: bool,
}

/// The most entries that stay to be freed: beyond this they are freed whether room is needed or
/// not, because the list takes memory.
const MOST_RELEASES: usize = 16;

impl Nic {
    /// A packet is in with its last flit.
    pub fn arrive(&mut self, place: Place, ranks: &mut [RankState], fabric: &mut Fabric) {
        match fabric.scratch.slab[place].kind {
            Kind::Data | Kind::DataAgain | Kind::Copy | Kind::CopyAgain => {
                self.arrive_data(place, ranks, fabric);
            }
            Kind::Trimmed | Kind::CopyTrimmed => {
                self.answer(place, false, fabric);
                let header = fabric.scratch.slab.take(place);
                if header.kind == Kind::Trimmed {
                    self.owe_pull(header, fabric);
                }
            }
            Kind::Ack => {
                let ack = fabric.scratch.slab.take(place);
                self.acknowledged(&ack, ranks, fabric);
            }
            Kind::Nack => {
                let nack = fabric.scratch.slab.take(place);
                self.refused(&nack, fabric);
            }
            Kind::Returned => {
                let returned = fabric.scratch.slab.take(place);
                self.given_back(&returned, fabric);
            }
            Kind::Pull => {
                let pull = fabric.scratch.slab.take(place);
                self.asked_again(&pull, fabric);
            }
            other => unreachable!("{other:?} does not come to a NIC"),
        }
    }

    fn arrive_data(&mut self, place: Place, ranks: &mut [RankState], fabric: &mut Fabric) {
        if fabric
            .layout
            .setting
            .tap
            .is_some_and(|tap| tap.0 / ranks.len() as u32 == self.number)
        {
            let packet = &fabric.scratch.slab[place];
            let first_flit = fabric.scheduler.now - packet.wire_time();
            self.tapped_in.push_back(first_flit);
        }
        if self.completed.has(&fabric.scratch.slab[place]) {
            self.answer(place, true, fabric);
            fabric.scratch.slab.take(place);
            self.pull_for_data(fabric);
            return;
        }
        let is_part = fabric.scratch.slab[place].is_part();
        let known = is_part && self.partial_of(&fabric.scratch.slab[place]).is_some();
        if !known && self.is_full(fabric) {
            self.turn_away(place, fabric);
            return;
        }
        self.held += u32::from(!known);
        self.answer(place, true, fabric);
        self.pull_for_data(fabric);
        if is_part {
            let packet = &mut fabric.scratch.slab[place];
            let Some(whole) = self.assemble(packet) else {
                fabric.scratch.slab.take(place);
                return;
            };
            packet.words = whole;
        }
        let timeout = fabric.layout.profile.nic.timeout_cycles;
        self.completed
            .add(&fabric.scratch.slab[place], fabric.scheduler.now, timeout);
        self.hand_on(place, ranks, fabric);
    }

    /// Whether each receive buffer holds a message.
    pub(super) fn is_full(&self, fabric: &Fabric) -> bool {
        self.held >= fabric.layout.profile.nic.receive_buffers
    }

    /// Drops a packet for lack of room, and asks for it again later; a copy comes again by itself.
    fn turn_away(&mut self, place: Place, fabric: &mut Fabric) {
        fabric.counts.dropped += 1;
        let is_data = matches!(
            fabric.scratch.slab[place].kind,
            Kind::Data | Kind::DataAgain
        );
        if is_data {
            self.answer(place, false, fabric);
        }
        let packet = fabric.scratch.slab.take(place);
        if is_data {
            self.owe_pull(packet.control(Kind::Trimmed), fabric);
        }
    }

    pub(super) fn partial_of(&self, packet: &Packet) -> Option<usize> {
        let message = packet.sequence >> 1;
        self.partial
            .iter()
            .position(|part| (part.from, part.message) == (packet.from, message))
    }

    /// Adds a segment: the whole message when it was the last.
    fn assemble(&mut self, packet: &mut Packet) -> Option<Words> {
        let index = self.partial_of(packet).unwrap_or_else(|| {
            let (from, message) = (packet.from, packet.sequence >> 1);
            self.partial.push(Partial {
                from,
                message,
                segments: [None, None],
                again: false,
            });
            self.partial.len() - 1
        });
        let partial = &mut self.partial[index];
        partial.again |= packet.kind.is_again();
        if partial.again {
            packet.kind = packet.kind.again();
        }
        let segments = &mut partial.segments;
        segments[(packet.sequence & 1) as usize] = Some(std::mem::take(&mut packet.words));
        let [Some(first), Some(second)] = segments else {
            return None;
        };
        let whole = Words::from(&[&first[..], &second[..]].concat()[..]);
        self.partial.swap_remove(index);
        Some(whole)
    }

    /// Puts a message in its core's queue. Without room it is kept back, with all that follow it.
    fn hand_on(&mut self, place: Place, ranks: &mut [RankState], fabric: &mut Fabric) {
        let rank = &ranks[(fabric.scratch.slab[place].to - self.first_rank) as usize];
        let is_long = rank.releases() >= MOST_RELEASES;
        if is_long || !self.blocked.is_empty() || !self.has_room(place, ranks, fabric) {
            self.release(ranks, fabric.scheduler.now);
        }
        if self.blocked.is_empty() && self.has_room(place, ranks, fabric) {
            self.deliver(
                place,
                fabric.layout.profile.nic.receive_cycles,
                ranks,
                fabric,
            );
            return;
        }
        self.blocked.push_back(place);
        self.wait_for_room(ranks);
    }

    /// Delivers messages that were kept back, as far as there is room.
    pub(super) fn unblock(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.unblock_at = Ticks::NEVER;
        self.release(ranks, fabric.scheduler.now);
        while let Some(&place) = self.blocked.front() {
            if !self.has_room(place, ranks, fabric) {
                break;
            }
            self.blocked.pop_front();
            // It has come through the pipeline long ago; one tick hands it on.
            self.deliver(place, Ticks(1), ranks, fabric);
        }
        self.wait_for_room(ranks);
    }

    /// A core takes a message from its queue at `time`: then a message that is kept back may
    /// follow.
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
        place: Place,
        after: Ticks,
        ranks: &mut [RankState],
        fabric: &mut Fabric,
    ) {
        let entries = fabric.entries_of(&fabric.scratch.slab[place]);
        self.held -= 1;
        self.entries += entries;
        let packet = &mut fabric.scratch.slab[place];
        packet.time = fabric.scheduler.now + after;
        let rank = &mut ranks[(packet.to - self.first_rank) as usize];
        rank.deliver(place, entries, fabric);
    }

    fn has_room(&self, place: Place, ranks: &[RankState], fabric: &Fabric) -> bool {
        let model = &fabric.layout.profile.nic;
        let packet = &fabric.scratch.slab[place];
        let entries = fabric.entries_of(&fabric.scratch.slab[place]);
        let rank = &ranks[(packet.to - self.first_rank) as usize];
        self.entries + entries <= model.all_entries && rank.has_room(packet.port, entries, fabric)
    }

    /// Frees the entries that cores took until now.
    fn release(&mut self, ranks: &mut [RankState], now: Ticks) {
        for rank in ranks {
            self.entries -= rank.release(now);
        }
    }
}
