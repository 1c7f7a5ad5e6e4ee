//! The sending end of a NIC's link: control packets before data, each when it is ready.

use crate::network::fabric::Departure;
use crate::network::store::id::PacketId;
use crate::network::store::list::List;
use crate::network::store::slab::Slab;
use crate::schedule::{Pace, Ticks};

/// The packets that wait for the link of a NIC. A queue keeps its order: a packet that is not ready
/// holds up those behind it.
#[derive(Debug)]
pub struct Egress {
    /// When the link is free.
    busy: Ticks,
    /// When the first waiting packet starts; `Ticks::NEVER` without one.
    start: Ticks,
    control: Queue,
    data: Queue,
}

#[derive(Debug)]
struct Queue {
    /// When the first packet is ready, and may start; `Ticks::NEVER` in an empty queue.
    ready: Ticks,
    /// When the next packet may start.
    open: Ticks,
    gap: Gap,
    packets: List,
}

/// The time after a packet in which no other of its queue starts (LogGP's g and G: a NIC that is slower
/// than its link).
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    pub packet: Ticks,
    /// Thousandths of a tick for each flit.
    pub flit: u64,
}

impl Queue {
    fn new(gap: Gap) -> Queue {
        Queue {
            ready: Ticks::NEVER,
            open: Ticks(0),
            gap,
            packets: List::default(),
        }
    }
}

impl Egress {
    /// With a gap after each packet of data.
    pub fn new(gap: Gap) -> Egress {
        Egress {
            busy: Ticks(0),
            start: Ticks::NEVER,
            control: Queue::new(Gap::default()),
            data: Queue::new(gap),
        }
    }

    /// When the first waiting packet starts, unless one with priority is added; `Ticks::NEVER`
    /// without a packet.
    #[inline]
    pub fn next_start(&self) -> Ticks {
        self.start
    }

    /// Adds a packet that is ready at its time.
    #[inline]
    pub fn push(&mut self, id: PacketId, slab: &mut Slab) {
        let packet = &slab[id];
        let queue = if packet.kind.is_control() {
            &mut self.control
        } else {
            &mut self.data
        };
        if queue.ready == Ticks::NEVER {
            queue.ready = packet.time.max(queue.open);
            self.start = self.start.min(self.busy.max(queue.ready));
        }
        queue.packets.push(slab, id);
    }

    /// Removes the next packet that starts before `until`; returns it with its start.
    #[inline]
    pub fn next(&mut self, until: Ticks, pace: Pace, slab: &Slab) -> Option<(PacketId, Departure)> {
        let start = self.start;
        if start >= until {
            return None;
        }
        let queue = if self.control.ready <= start {
            &mut self.control
        } else {
            &mut self.data
        };
        let id = queue.packets.pop(slab)?;
        let next = queue.packets.front(slab);
        let flits = u64::from(slab[id].flits);
        let length = pace.ticks(flits);
        self.busy = start + length;
        queue.open = self.busy + queue.gap.packet + Ticks(flits * queue.gap.flit / 1000);
        queue.ready = next.map_or(Ticks::NEVER, |next| next.time.max(queue.open));
        self.start = self.busy.max(self.control.ready.min(self.data.ready));
        Some((id, Departure { start, length }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::packet::{Kind, Packet};

    #[test]
    fn ready_control_precedes_data_and_a_queue_keeps_its_order() {
        let (mut egress, mut slab) = (Egress::new(Gap::default()), Slab::default());
        // Numbers as senders. Packet 3 is ready early, but behind packet 2.
        let packets = [
            (Kind::Data, 0),
            (Kind::Ack, 4),
            (Kind::Data, 50),
            (Kind::Data, 20),
            (Kind::Ack, 55),
        ];
        for (number, (kind, ready)) in (0..).zip(packets) {
            let mut packet = Packet::new(kind, Ticks(ready), number, 0);
            packet.flits = 10;
            let id = slab.put(packet);
            egress.push(id, &mut slab);
        }
        let mut sent = Vec::new();
        for until in [5, 10, 51, 60, 90] {
            while let Some((id, departure)) = egress.next(Ticks(until), Pace::TICK, &slab) {
                sent.push((slab.take(id).from, departure.start.0));
            }
            assert!(egress.next_start() >= Ticks(until));
        }
        assert_eq!(sent, [(0, 0), (1, 10), (2, 50), (4, 60), (3, 70)]);
        assert_eq!(egress.next_start(), Ticks::NEVER);
    }

    /// Control packets use the time.
    #[test]
    fn a_gap_follows_each_packet_of_data() {
        let gap = Gap {
            packet: Ticks(5),
            flit: 2000,
        };
        let (mut egress, mut slab) = (Egress::new(gap), Slab::default());
        let push = |egress: &mut Egress, slab: &mut Slab, kind, ready, number| {
            let mut packet = Packet::new(kind, Ticks(ready), number, 0);
            packet.flits = 10;
            egress.push(slab.put(packet), slab);
        };
        push(&mut egress, &mut slab, Kind::Data, 0, 0);
        push(&mut egress, &mut slab, Kind::Data, 0, 1);
        push(&mut egress, &mut slab, Kind::Ack, 12, 2);
        let mut sent = Vec::new();
        while let Some((id, departure)) = egress.next(Ticks(1000), Pace::TICK, &slab) {
            sent.push((slab.take(id).from, departure.start.0));
        }
        push(&mut egress, &mut slab, Kind::Data, 60, 3);
        let (id, departure) = egress.next(Ticks(1000), Pace::TICK, &slab).unwrap();
        sent.push((slab.take(id).from, departure.start.0));
        assert_eq!(sent, [(0, 0), (2, 12), (1, 35), (3, 70)]);
    }
}
