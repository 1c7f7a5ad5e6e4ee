//! The sending end of a link: two queues, control packets before data (nanoPU's switches).
//!
//! A port makes no events. It is enough to work out what left whenever something comes, and at the
//! end of a window: packets begin one after the other, at once when the link is free, a waiting
//! control packet before a waiting data packet, and nothing interrupts a packet that has begun. Only
//! headers of cut packets take turns with data: else, where very many senders meet, the headers of
//! what they send again would fill the link for ever (NDP weighs the two for the same reason).

use crate::packet::List;
use crate::slab::{Place, Slab};

/// Flits of data that go between two headers of cut packets while data wait: sixteen small packets.
/// For each header its receiver sends a NACK and a PULL, for each data packet an ACK: of small
/// messages these fill the way back when more than one header comes with ten data packets.
const DATA_FLITS: u32 = 160;

/// Headers that may wait at a port: few enough that none is late when it comes.
const MOST_HEADERS: u32 = 64;

/// The sending end of a link. Of its two queues, that of control packets comes first.
#[derive(Clone, Debug)]
pub struct Port {
    /// When the link has sent what began.
    busy: u64,
    /// When the first of each queue is there.
    ready: [u64; 2],
    queues: [List; 2],
    /// Flits that wait in each.
    waiting: [u32; 2],
    /// Flits that went over the link.
    pub sent_flits: u64,
    /// Headers of cut packets that wait.
    headers: u32,
    /// Flits of data that go before the next header.
    data_turn: u32,
}

impl Default for Port {
    fn default() -> Port {
        Port {
            busy: 0,
            ready: [u64::MAX; 2],
            queues: [List::default(); 2],
            waiting: [0; 2],
            sent_flits: 0,
            headers: 0,
            data_turn: 0,
        }
    }
}

impl Port {
    pub fn is_empty(&self) -> bool {
        self.next_start() == u64::MAX
    }

    /// When the next packet begins, if no other comes before; `u64::MAX` when none waits.
    pub fn next_start(&self) -> u64 {
        self.busy.max(self.ready[0].min(self.ready[1]))
    }

    /// Flits that wait in the queue of such a packet.
    pub fn waiting(&self, control: bool) -> u64 {
        u64::from(self.waiting[usize::from(!control)])
    }

    /// Begins with a packet that is there now, if nothing waits and the link is free.
    pub fn begin_now(&mut self, now: u64, flits: u64) -> bool {
        if self.busy > now || !self.is_empty() {
            return false;
        }
        self.begin(now, flits);
        true
    }

    /// Adds a packet that is there from its time on; those of one queue come in that order.
    pub fn push(&mut self, slab: &mut Slab, place: Place) {
        let packet = &slab[place];
        let queue = usize::from(!packet.kind.is_control());
        self.headers += u32::from(packet.kind.is_trimmed());
        self.waiting[queue] += u32::from(packet.flits);
        if self.ready[queue] == u64::MAX {
            self.ready[queue] = packet.time;
        }
        self.queues[queue].push(slab, place);
    }

    /// The next packet that begins before `until`: its place, and when it begins.
    pub fn next(&mut self, slab: &Slab, until: u64) -> Option<(Place, u64)> {
        let start = self.next_start();
        if start >= until {
            return None;
        }
        let queue = usize::from(self.ready[0] > start || self.is_datas_turn(slab, start));
        let place = self.queues[queue].pop(slab)?;
        self.ready[queue] = self.queues[queue].front(slab).map_or(u64::MAX, |next| next.time);
        let packet = &slab[place];
        let flits = packet.flits;
        if packet.kind.is_trimmed() {
            self.headers -= 1;
            self.data_turn = DATA_FLITS;
        } else if queue == 1 {
            self.data_turn = self.data_turn.saturating_sub(u32::from(flits));
        }
        self.waiting[queue] -= u32::from(flits);
        self.begin(start, u64::from(flits));
        Some((place, start))
    }

    /// Whether a cut packet's header would be next while data wait that have not had their turns.
    fn is_datas_turn(&self, slab: &Slab, start: u64) -> bool {
        let next_is_header =
            || self.queues[0].front(slab).is_some_and(|next| next.kind.is_trimmed());
        self.data_turn > 0 && self.ready[1] <= start && next_is_header()
    }

    /// Whether one more header may wait.
    pub fn takes_header(&self) -> bool {
        self.headers < MOST_HEADERS
    }

    fn begin(&mut self, start: u64, flits: u64) {
        self.busy = start + flits;
        self.sent_flits += flits;
    }
}

#[cfg(test)]
mod tests {
    use node::Words;

    use super::*;
    use crate::packet::{Kind, Packet, Sizes};

    const SIZES: Sizes = Sizes { header: 8, word: 1, control: 9 };

    /// What leaves, and when, if it is drained in steps.
    fn sent(packets: &[(Kind, u64)], step: u64) -> Vec<(Kind, u64)> {
        let (mut slab, mut port) = (Slab::default(), Port::default());
        for &(kind, time) in packets {
            let place = slab.put(packet(kind, time));
            port.push(&mut slab, place);
        }
        let mut sent = Vec::new();
        for until in (0..200).step_by(step as usize) {
            while let Some((place, start)) = port.next(&slab, until) {
                sent.push((slab.take(place).kind, start));
            }
        }
        assert_eq!(port.sent_flits, sent.len() as u64 * 10 - control(&sent));
        sent
    }

    fn packet(kind: Kind, time: u64) -> Packet {
        let mut packet = Packet { words: Words::from(&[1, 2][..]), ..Packet::event(kind, time, 0) };
        packet.measure(&SIZES);
        packet
    }

    fn control(sent: &[(Kind, u64)]) -> u64 {
        sent.iter().filter(|(kind, _)| kind.is_control()).count() as u64
    }

    #[test]
    fn control_goes_first_and_nothing_is_interrupted() {
        let packets =
            [(Kind::Data, 0), (Kind::Data, 1), (Kind::Ack, 4), (Kind::Data, 60), (Kind::Ack, 62)];
        let expected =
            [(Kind::Data, 0), (Kind::Ack, 10), (Kind::Data, 19), (Kind::Data, 60), (Kind::Ack, 70)];
        for step in [1, 7, 50, 199] {
            assert_eq!(sent(&packets, step), expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_free_link_takes_a_packet_at_once() {
        let (mut slab, mut port) = (Slab::default(), Port::default());
        assert!(port.begin_now(5, 10));
        assert!(!port.begin_now(14, 10));
        let place = slab.put(packet(Kind::Ack, 14));
        port.push(&mut slab, place);
        assert_eq!(port.waiting(true), 9);
        assert!(!port.begin_now(15, 10), "something waits");
        assert_eq!(port.next(&slab, 15), None);
        assert_eq!(port.next(&slab, 16).map(|(_, start)| start), Some(15));
        assert_eq!(port.waiting(true), 0);
    }
}
