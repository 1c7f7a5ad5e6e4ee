//! The GRANTs of Homa: which messages a receiver grants, and which granted packets are late.

use crate::network::packet::Packet;
use crate::schedule::Ticks;

/// Messages that are granted at a time: one for each priority that Homa has for granted packets at
/// most, of the eight of a switch (sections 3.4 and 3.5, "controlled overcommitment").
const OVERCOMMITMENT: usize = 7;

/// The messages whose rest waits for a GRANT, or for its arrival.
pub struct Grants {
    /// In order of arrival.
    messages: Vec<Incoming>,
    /// When it looks for granted packets that are late.
    pub check_at: Ticks,
}

impl Default for Grants {
    fn default() -> Grants {
        Grants {
            messages: Vec::new(),
            check_at: Ticks::NEVER,
        }
    }
}

struct Incoming {
    /// Its last packet, as a header.
    last: Packet,
    rest_words: u16,
    /// When the granted packet is late; `None` before the GRANT.
    late_at: Option<Ticks>,
}

impl Grants {
    /// Notes a message by its first packet.
    pub fn announce(&mut self, first: &Packet) {
        let last = Packet {
            sequence: first.sequence | 1,
            ..first.control(first.kind)
        };
        if self.place_of(&last).is_none() {
            self.messages.push(Incoming {
                last,
                rest_words: first.port,
                late_at: None,
            });
        }
    }

    /// Forgets a message that is whole.
    pub fn finish(&mut self, packet: &Packet) {
        if let Some(place) = self.place_of(packet) {
            self.messages.remove(place);
        }
    }

    fn place_of(&self, packet: &Packet) -> Option<usize> {
        let message = (packet.from, packet.sequence >> 1);
        let is_it = |it: &Incoming| (it.last.from, it.last.sequence >> 1) == message;
        self.messages.iter().position(is_it)
    }

    /// Grants the message with the shortest rest, the oldest of several, unless enough are granted;
    /// returns its last packet.
    pub fn grant(&mut self, late_at: Ticks) -> Option<Packet> {
        let granted = self.messages.iter().filter(|it| it.late_at.is_some());
        if granted.count() >= OVERCOMMITMENT {
            return None;
        }
        let waiting = self.messages.iter_mut().filter(|it| it.late_at.is_none());
        let shortest = waiting.min_by_key(|it| it.rest_words)?;
        shortest.late_at = Some(late_at);
        self.check_at = self.check_at.min(late_at);
        Some(shortest.last.clone())
    }

    /// The granted packets that are late, each of which is waited for anew.
    pub fn late(&mut self, now: Ticks, timeout: Ticks) -> Vec<Packet> {
        let mut late = Vec::new();
        self.check_at = Ticks::NEVER;
        for it in &mut self.messages {
            let Some(late_at) = &mut it.late_at else {
                continue;
            };
            if *late_at <= now {
                *late_at = now + timeout;
                late.push(it.last.clone());
            }
            self.check_at = self.check_at.min(*late_at);
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::packet::Kind;

    fn first(from: u32, rest_words: u16) -> Packet {
        Packet {
            sequence: 6,
            port: rest_words,
            ..Packet::new(Kind::Data, Ticks(0), from, 1)
        }
    }

    fn granted(grants: &mut Grants, at: u64) -> Option<(u32, u32)> {
        let last = grants.grant(Ticks(at))?;
        Some((last.from, last.sequence))
    }

    #[test]
    fn the_shortest_rest_is_granted_first_and_few_at_a_time() {
        let mut grants = Grants::default();
        for (from, rest) in (0..).zip([90, 20, 128, 20, 1, 60, 50, 40, 30]) {
            grants.announce(&first(from, rest));
        }
        // Sent again, since its ACK was lost.
        grants.announce(&first(4, 1));
        let order: Vec<_> = (0..9).map_while(|_| granted(&mut grants, 5)).collect();
        assert_eq!(order, [4, 1, 3, 8, 7, 6, 5].map(|from| (from, 7)));
        grants.finish(&first(8, 0));
        assert_eq!(granted(&mut grants, 5), Some((0, 7)));
        assert_eq!(granted(&mut grants, 5), None);
        grants.finish(&first(2, 0));
        grants.finish(&first(1, 0));
        assert_eq!(granted(&mut grants, 5), None, "no message waits");
    }

    #[test]
    fn late_packets_are_requested_until_they_come() {
        let mut grants = Grants::default();
        (0..3).for_each(|from| grants.announce(&first(from, 10)));
        (0..2).for_each(|at| assert!(granted(&mut grants, 100 + at).is_some()));
        assert_eq!(grants.check_at, Ticks(100));
        let late = |grants: &mut Grants, now| -> Vec<u32> {
            let late = grants.late(Ticks(now), Ticks(50));
            late.iter().map(|last| last.from).collect()
        };
        assert_eq!(late(&mut grants, 100), [0]);
        assert_eq!(grants.check_at, Ticks(101));
        assert_eq!(late(&mut grants, 150), [0, 1]);
        grants.finish(&first(0, 0));
        assert_eq!(late(&mut grants, 250), [1], "the third waits for its GRANT");
        grants.finish(&first(1, 0));
        assert!(late(&mut grants, 300).is_empty() && grants.check_at == Ticks::NEVER);
    }
}
