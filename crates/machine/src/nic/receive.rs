//! The way in: reassembly, acknowledgement, and the cores' receive queues.

use std::collections::HashSet;

use node::Words;

use super::Nic;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::network::slab::Place;

/// A message of which some segments are there.
pub struct Partial {
    from: u32,
    message: u32,
    segments: [Option<Words>; 2],
    /// Whether one of them was sent again: what was sent first may still come.
    again: bool,
}

/// Messages that were received whole: one that is sent again is not delivered again. Each is its
/// sender, receiver and number in one word; after a while the older half is forgotten.
#[derive(Default)]
pub struct Completed {
    new: Half,
    old: Half,
    turned: u64,
}

/// What was received whole in a stretch of time.
#[derive(Default)]
struct Half {
    /// In the order in which they came. Most are never asked for.
    messages: Log,
    /// As many of them as were there when one was asked for, to be found.
    known: HashSet<u64>,
    /// Those that were whole by what was sent again: what was sent first may still come.
    by_second_try: HashSet<u64>,
}

/// Numbers that are added and seldom looked at. In pieces: what grows by moving leaves as much
/// behind, and this is the largest thing that a NIC has.
#[derive(Default)]
struct Log {
    pieces: Vec<Vec<u64>>,
}

/// Numbers of a piece.
const PIECE: usize = 128;

impl Log {
    fn len(&self) -> usize {
        self.pieces
            .last()
            .map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    fn push(&mut self, number: u64) {
        match self.pieces.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => last.push(number),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(number);
                self.pieces.push(piece);
            }
        }
    }

    /// Those after the first so many.
    fn after(&self, count: usize) -> impl Iterator<Item = u64> {
        let pieces = self.pieces.iter().skip(count / PIECE);
        pieces.flatten().copied().skip(count % PIECE)
    }
}

impl Half {
    fn has(&mut self, key: u64) -> bool {
        self.known.extend(self.messages.after(self.known.len()));
        self.known.contains(&key)
    }
}

/// Timeouts after which a message does not come again. Its sender tries once in 64 timeouts at
/// least, so 32 tries in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

/// So many entries that were taken are freed whether there is need of them or not: to note more
/// takes more memory.
const MANY: usize = 16;

/// So many are remembered whatever their age.
const REMEMBERED: usize = 1 << 16;

impl Completed {
    fn add(&mut self, packet: &Packet, now: u64, timeout: u64) {
        if now - self.turned > FORGOTTEN * timeout && self.new.messages.len() > REMEMBERED {
            self.old = std::mem::take(&mut self.new);
            self.turned = now;
        }
        let key = Completed::key(packet);
        self.new.messages.push(key);
        if packet.kind.is_again() {
            self.new.by_second_try.insert(key);
        }
    }

    /// Whether a packet is of a message that was whole before.
    fn has(&mut self, packet: &Packet) -> bool {
        let key = Completed::key(packet);
        let halves = [&mut self.new, &mut self.old];
        if packet.kind.is_again() {
            return halves.into_iter().any(|half| half.has(key));
        }
        halves
            .into_iter()
            .any(|half| !half.by_second_try.is_empty() && half.by_second_try.contains(&key))
    }

    /// Unique: fewer than 2^24 ranks, 256 or fewer of them behind a NIC, 2^31 messages of a NIC.
    fn key(packet: &Packet) -> u64 {
        let message = u64::from(packet.sequence >> 1);
        message << 32 | u64::from(packet.from) << 8 | u64::from(packet.to % 256)
    }
}

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
            let first_flit = fabric.scheduler.now - u64::from(packet.flits);
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
        let timeout = fabric.layout.profile.nic.timeout;
        self.completed
            .add(&fabric.scratch.slab[place], fabric.scheduler.now, timeout);
        self.hand_on(place, ranks, fabric);
    }

    /// Whether each receive buffer holds a message.
    pub(super) fn is_full(&self, fabric: &Fabric) -> bool {
        self.held >= fabric.layout.profile.nic.receive_buffers
    }

    /// Has no room for a packet, and asks for it again later; a copy comes again by itself.
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

    /// Acknowledges a packet, or asks for it again.
    fn answer(&mut self, place: Place, whole: bool, fabric: &mut Fabric) {
        let packet = &fabric.scratch.slab[place];
        let ready = fabric.scheduler.now + fabric.layout.profile.nic.receive;
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

    /// Hands a message on to its core's queue, or keeps it back, and all that come after it.
    fn hand_on(&mut self, place: Place, ranks: &mut [RankState], fabric: &mut Fabric) {
        let rank = &ranks[(fabric.scratch.slab[place].to - self.first_rank) as usize];
        let is_long = rank.releases() >= MANY;
        if is_long || !self.blocked.is_empty() || !self.has_room(place, ranks, fabric) {
            self.release(ranks, fabric.scheduler.now);
        }
        if self.blocked.is_empty() && self.has_room(place, ranks, fabric) {
            self.deliver(place, fabric.layout.profile.nic.receive, ranks, fabric);
            return;
        }
        self.blocked.push_back(place);
        self.wait_for_room(ranks);
    }

    /// Tries again what was kept back.
    pub(super) fn unblock(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        self.unblock_at = u64::MAX;
        self.release(ranks, fabric.scheduler.now);
        while let Some(&place) = self.blocked.front() {
            if !self.has_room(place, ranks, fabric) {
                break;
            }
            self.blocked.pop_front();
            // It has come through the pipeline long ago; one tick hands it on.
            self.deliver(place, 1, ranks, fabric);
        }
        self.wait_for_room(ranks);
    }

    /// A core takes a message from its queue at `time`: what is kept back may go on then.
    pub fn made_room(&mut self, time: u64) {
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

    fn deliver(&mut self, place: Place, after: u64, ranks: &mut [RankState], fabric: &mut Fabric) {
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

    /// Entries that were taken until now are free.
    fn release(&mut self, ranks: &mut [RankState], now: u64) {
        for rank in ranks {
            self.entries -= rank.release(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_second_try_completed_is_known_to_the_first_after_the_turn() {
        let (mut completed, now) = (Completed::default(), FORGOTTEN * 10);
        let packet = |sequence, kind| Packet {
            sequence,
            ..Packet::new(kind, 0, 5, 1)
        };
        for sequence in 0..=REMEMBERED as u32 {
            completed.add(&packet(2 * sequence, Kind::Data), 0, 1);
        }
        let late = packet(1 << 20, Kind::Data);
        completed.add(&packet(1 << 20, Kind::DataAgain), now, 1);
        // The next one turns the memory: what is old is forgotten when it turns again.
        (0..=REMEMBERED as u32).for_each(|sequence| {
            completed.add(&packet((1 << 21) + 2 * sequence, Kind::Data), now, 1);
        });
        assert!(completed.has(&late));
        completed.add(&packet(1 << 22, Kind::Data), now * 2, 1);
        assert!(completed.has(&late), "the memory turned once since");
        assert!(completed.has(&packet(1 << 20, Kind::DataAgain)));
        assert!(!completed.has(&packet(3 << 21, Kind::DataAgain)));
    }
}
