//! The sending end of a link: two queues, control packets before data (nanoPU's switches).
//!
//! A port makes no events. What leaves it arrives a link's latency later at least, so it is enough to
//! work out what left whenever something comes, and once in each such time (`Medium::drain`):
//! packets begin one after the other, at once when the link is free, a waiting control packet before
//! a waiting data packet, and nothing interrupts a packet that has begun.

use crate::packet::{List, Packet, Sizes, Store};

/// The sending end of a link.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// When the link has sent what began.
    busy: u64,
    control: List,
    data: List,
    /// Flits that wait in each of them.
    waiting: [u64; 2],
    /// Flits that went over the link.
    pub sent_flits: u64,
    /// Whether it is among the ports to drain.
    pub listed: bool,
}

impl Port {
    pub fn is_empty(&self) -> bool {
        self.control.is_empty() && self.data.is_empty()
    }

    /// Flits that wait in the queue of such a packet.
    pub fn waiting(&self, control: bool) -> u64 {
        self.waiting[usize::from(!control)]
    }

    /// Begins with a packet that is there now, if nothing waits and the link is free.
    pub fn begin_now(&mut self, now: u64, flits: u64) -> bool {
        if !self.is_empty() || self.busy > now {
            return false;
        }
        self.begin(now, flits);
        true
    }

    /// Adds a packet that is there from its time on; those of one queue come in that order.
    pub fn push(&mut self, store: &mut Store, place: u32, sizes: &Sizes) {
        let control = store[place].kind.is_control();
        self.waiting[usize::from(!control)] += store[place].flits(sizes);
        if control { &mut self.control } else { &mut self.data }.push(store, place);
    }

    /// The next packet that begins before `until`: its place, and when it begins.
    pub fn next(&mut self, store: &Store, until: u64, sizes: &Sizes) -> Option<(u32, u64)> {
        let ready = |packet: Option<&Packet>| packet.map_or(u64::MAX, |packet| packet.time);
        let (control, data) = (ready(self.control.front(store)), ready(self.data.front(store)));
        let start = self.busy.max(control.min(data));
        if start >= until {
            return None;
        }
        let is_control = control <= start;
        let list = if is_control { &mut self.control } else { &mut self.data };
        let place = list.pop(store)?;
        let flits = store[place].flits(sizes);
        self.waiting[usize::from(!is_control)] -= flits;
        self.begin(start, flits);
        Some((place, start))
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
    use crate::packet::Kind;

    const SIZES: Sizes = Sizes { header: 8, word: 1, control: 9 };

    /// What leaves, and when, if it is drained in steps.
    fn sent(packets: &[(Kind, u64)], step: u64) -> Vec<(Kind, u64)> {
        let (mut store, mut port) = (Store::new(), Port::default());
        for &(kind, time) in packets {
            let words = Words::from(&[1, 2][..]);
            let place = store.put(Packet { words, ..Packet::event(kind, time, 0) });
            port.push(&mut store, place, &SIZES);
        }
        let mut sent = Vec::new();
        for until in (0..200).step_by(step as usize) {
            while let Some((place, start)) = port.next(&store, until, &SIZES) {
                sent.push((store.take(place).kind, start));
            }
        }
        assert_eq!(port.sent_flits, sent.len() as u64 * 10 - control(&sent));
        sent
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
        let (mut store, mut port) = (Store::new(), Port::default());
        assert!(port.begin_now(5, 10));
        assert!(!port.begin_now(14, 10));
        let place = store.put(Packet::event(Kind::Ack, 14, 0));
        port.push(&mut store, place, &SIZES);
        assert_eq!(port.waiting(true), 9);
        assert!(!port.begin_now(15, 10), "something waits");
        assert_eq!(port.next(&store, 15, &SIZES), None);
        assert_eq!(port.next(&store, 16, &SIZES).map(|(_, start)| start), Some(15));
        assert_eq!(port.waiting(true), 0);
    }
}
