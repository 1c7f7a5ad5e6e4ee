//! The sending end of a link: two queues, control packets before data (nanoPU's switches).
//!
//! A port makes no events. It computes which packets have left whenever one arrives, and at the end
//! of a window: packets start one after the other as soon as the link is free, waiting control
//! before waiting data, without preemption. Only trimmed headers alternate with data: in a large
//! incast the headers of retransmissions would otherwise fill the link for ever (NDP uses weights
//! for the same reason).

use crate::network::packet::Packet;
use crate::schedule::{Pace, Ticks};

/// Flits of waiting data between two trimmed headers: sixteen small packets. The receiver sends a
/// NACK and a PULL per header, and an ACK per data packet; for small messages these fill the way
/// back if there is more than one header per ten data packets.
const DATA_FLITS: u32 = 160;

/// Headers that may wait at a port: few enough that they arrive before a timeout.
const MOST_HEADERS: u32 = 64;

/// The sending end of a link, with queues for control (0) and data (1), whose packets are in the
/// store of all ports of a thread.
#[derive(Debug)]
pub struct Port {
    pub pace: Pace,
    /// When the link is free.
    busy: Ticks,
    /// When the first waiting packet starts; `Ticks::NEVER` without one.
    start: Ticks,
    queues: [Queue; 2],
    pub sent_flits: u64,
    /// Trimmed headers that wait.
    headers: u32,
    /// Flits of data that precede the next header.
    data_turn: u32,
}

#[derive(Debug)]
struct Queue {
    /// When the first packet is ready; `Ticks::NEVER` in an empty queue.
    ready: Ticks,
    /// Waiting flits.
    flits: u64,
    first: Entry,
    last: Entry,
}

/// The packets that wait at the ports of a thread. Most ports are empty, so they share one store,
/// in which the next free entry is still in the cache.
#[derive(Debug)]
pub struct QueueStore<At> {
    entries: Vec<Queued<At>>,
    /// The first free entry of a linked list.
    free: Entry,
}

type Entry = u32;

const NO_ENTRY: Entry = Entry::MAX;

#[derive(Clone, Copy, Debug)]
struct Queued<At> {
    ready: Ticks,
    at: At,
    flits: u16,
    is_header: bool,
    next: Entry,
}

impl<At> Default for QueueStore<At> {
    fn default() -> QueueStore<At> {
        QueueStore {
            entries: Vec::new(),
            free: NO_ENTRY,
        }
    }
}

impl<At: Copy> QueueStore<At> {
    #[inline]
    fn insert(&mut self, packet: Queued<At>) -> Entry {
        let entry = self.free;
        if let Some(free) = self.entries.get_mut(entry as usize) {
            self.free = free.next;
            *free = packet;
            return entry;
        }
        assert!(
            self.entries.len() < NO_ENTRY as usize,
            "entries are numbered in 32 bits"
        );
        self.entries.push(packet);
        self.entries.len() as Entry - 1
    }

    #[inline]
    fn remove(&mut self, entry: Entry) -> Queued<At> {
        let packet = self.entries[entry as usize];
        self.entries[entry as usize].next = self.free;
        self.free = entry;
        packet
    }
}

impl Queue {
    const EMPTY: Queue = Queue {
        ready: Ticks::NEVER,
        flits: 0,
        first: NO_ENTRY,
        last: NO_ENTRY,
    };
}

impl Port {
    /// The end of a link of this pace.
    pub fn new(pace: Pace) -> Port {
        let queues = [Queue::EMPTY, Queue::EMPTY];
        Port {
            pace,
            busy: Ticks(0),
            start: Ticks::NEVER,
            queues,
            sent_flits: 0,
            headers: 0,
            data_turn: 0,
        }
    }

    /// When the first waiting packet starts, unless one with priority arrives; `Ticks::NEVER`
    /// without a packet.
    #[inline]
    pub fn next_start(&self) -> Ticks {
        self.start
    }

    /// Waiting flits of control or of data.
    pub fn waiting(&self, control: bool) -> u64 {
        self.queues[usize::from(!control)].flits
    }

    /// Starts a packet if no other waits and the link is free.
    #[inline]
    pub fn begin_now(&mut self, now: Ticks, packet: &Packet) -> bool {
        let is_free = self.busy <= now && self.start == Ticks::NEVER;
        if is_free {
            self.busy = now + self.pace.ticks(packet.flits.into());
            self.sent_flits += u64::from(packet.flits);
        }
        is_free
    }

    /// Adds a packet that is ready at its time. A queue keeps its order: a packet that is not ready
    /// holds up those behind it.
    #[inline]
    pub fn push<At: Copy>(&mut self, packet: &Packet, at: At, store: &mut QueueStore<At>) {
        let queue = &mut self.queues[usize::from(!packet.kind.is_control())];
        let is_header = packet.kind.is_trimmed();
        self.headers += u32::from(is_header);
        queue.flits += u64::from(packet.flits);
        let (ready, flits) = (packet.time, packet.flits);
        let entry = store.insert(Queued {
            ready,
            at,
            flits,
            is_header,
            next: NO_ENTRY,
        });
        if queue.first == NO_ENTRY {
            queue.first = entry;
            queue.ready = packet.time;
            self.start = self.start.min(self.busy.max(packet.time));
        } else {
            store.entries[queue.last as usize].next = entry;
        }
        queue.last = entry;
    }

    /// Removes the next packet that starts before `until`; returns it with its start.
    #[inline]
    pub fn next<At: Copy>(
        &mut self,
        until: Ticks,
        store: &mut QueueStore<At>,
    ) -> Option<(At, Ticks)> {
        let start = self.start;
        if start >= until {
            return None;
        }
        let is_data = self.queues[0].ready > start || self.is_datas_turn(start, store);
        let queue = &mut self.queues[usize::from(is_data)];
        let packet = store.remove(queue.first);
        queue.first = packet.next;
        queue.ready = store
            .entries
            .get(packet.next as usize)
            .map_or(Ticks::NEVER, |next| next.ready);
        queue.flits -= u64::from(packet.flits);
        if packet.is_header {
            self.headers -= 1;
            self.data_turn = DATA_FLITS;
        } else if is_data {
            self.data_turn = self.data_turn.saturating_sub(u32::from(packet.flits));
        }
        self.busy = start + self.pace.ticks(packet.flits.into());
        self.sent_flits += u64::from(packet.flits);
        self.start = self
            .busy
            .max(self.queues[0].ready.min(self.queues[1].ready));
        Some((packet.at, start))
    }

    /// Whether waiting data precede the next header.
    fn is_datas_turn<At>(&self, start: Ticks, store: &QueueStore<At>) -> bool {
        let next_is_header = || store.entries[self.queues[0].first as usize].is_header;
        self.data_turn > 0 && self.queues[1].ready <= start && next_is_header()
    }

    /// Whether another header may wait.
    pub fn takes_header(&self) -> bool {
        self.headers < MOST_HEADERS
    }

    /// Calls `visit` for every waiting packet, which may move it.
    pub fn for_each_waiting<At>(&self, store: &mut QueueStore<At>, mut visit: impl FnMut(&mut At)) {
        for queue in &self.queues {
            let mut entry = queue.first;
            while let Some(waiting) = store.entries.get_mut(entry as usize) {
                visit(&mut waiting.at);
                entry = waiting.next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use node::Words;

    use super::*;
    use crate::network::packet::{Kind, Packet, Sizes};

    const SIZES: Sizes = Sizes {
        header: 8,
        word: 1,
        control: 9,
    };

    /// The packets that leave, with their times, if the port is drained in steps.
    fn sent(packets: &[(Kind, u64)], step: u64) -> Vec<(Kind, u64)> {
        let (mut port, mut store) = (Port::new(Pace::TICK), QueueStore::default());
        for &(kind, time) in packets {
            port.push(&packet(kind, time), kind, &mut store);
        }
        let mut sent = Vec::new();
        for until in (0..200).step_by(step as usize) {
            while let Some(next) = port.next(Ticks(until), &mut store) {
                sent.push((next.0, next.1.0));
            }
        }
        assert_eq!(port.sent_flits, sent.len() as u64 * 10 - control(&sent));
        sent
    }

    fn packet(kind: Kind, time: u64) -> Packet {
        let mut packet = Packet {
            words: Words::from(&[1, 2][..]),
            ..Packet::new(kind, Ticks(time), 0, 0)
        };
        packet.measure(&SIZES);
        packet
    }

    fn control(sent: &[(Kind, u64)]) -> u64 {
        sent.iter().filter(|(kind, _)| kind.is_control()).count() as u64
    }

    #[test]
    fn control_precedes_data_without_preemption() {
        let packets = [
            (Kind::Data, 0),
            (Kind::Data, 1),
            (Kind::Ack, 4),
            (Kind::Data, 60),
            (Kind::Ack, 62),
        ];
        let expected = [
            (Kind::Data, 0),
            (Kind::Ack, 10),
            (Kind::Data, 19),
            (Kind::Data, 60),
            (Kind::Ack, 70),
        ];
        for step in [1, 7, 50, 199] {
            assert_eq!(sent(&packets, step), expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_free_link_takes_a_packet_at_once() {
        let (mut port, mut store) = (Port::new(Pace::TICK), QueueStore::default());
        assert!(port.begin_now(Ticks(5), &packet(Kind::Data, 0)));
        assert!(!port.begin_now(Ticks(14), &packet(Kind::Data, 0)));
        port.push(&packet(Kind::Ack, 14), (), &mut store);
        assert_eq!(port.waiting(true), 9);
        assert!(
            !port.begin_now(Ticks(15), &packet(Kind::Data, 0)),
            "something waits"
        );
        assert_eq!(port.next(Ticks(15), &mut store), None);
        assert_eq!(
            port.next(Ticks(16), &mut store).map(|(_, start)| start),
            Some(Ticks(15))
        );
        assert_eq!(port.waiting(true), 0);
    }
}
