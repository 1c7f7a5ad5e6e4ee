//! The messages that a NIC has received, so that none is delivered twice.

use std::collections::HashSet;

use crate::network::packet::Packet;
use crate::schedule::Ticks;

/// Two generations of messages; after a while the older one is forgotten.
#[derive(Default)]
pub struct Completed {
    /// The newest messages, up to [`PIECE`] of them.
    newest: Vec<u64>,
    /// The older ones, and those of second tries, apart since they are rarely touched.
    rest: Option<Box<Rest>>,
}

#[derive(Default)]
struct Rest {
    new: Generation,
    old: Generation,
    turned: Ticks,
}

/// Messages, each as one number of its sender, receiver and sequence.
#[derive(Default)]
struct Generation {
    /// In order of arrival; most are never looked up. A growing vector would leave its old memory
    /// behind, and this is the largest part of a NIC.
    pieces: Vec<Vec<u64>>,
    /// A hash set of the messages of the first pieces, which had arrived at the last look-up.
    known: HashSet<u64>,
    known_pieces: usize,
    /// The messages that a retransmission completed: the first try may still arrive.
    by_second_try: HashSet<u64>,
}

/// Numbers per piece.
const PIECE: usize = 128;

impl Generation {
    fn has(&mut self, key: u64) -> bool {
        let new = self.pieces.iter().skip(self.known_pieces).flatten();
        self.known.extend(new);
        self.known_pieces = self.pieces.len();
        self.known.contains(&key)
    }

    fn len(&self) -> usize {
        self.pieces.len() * PIECE
    }
}

/// Timeouts after which a message does not arrive again. Its sender retries at least once in 64
/// timeouts, so 32 retransmissions in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

/// The newest messages, which are remembered at any age.
const REMEMBERED: usize = 1 << 16;

impl Completed {
    #[inline]
    pub fn add(&mut self, packet: &Packet, now: Ticks, timeout: Ticks) {
        let key = Completed::key(packet);
        if self.newest.len() == PIECE {
            self.store(now, timeout);
        }
        self.newest.push(key);
        if packet.kind.is_again() {
            let rest = self.rest.get_or_insert_default();
            rest.new.by_second_try.insert(key);
        }
    }

    /// Stores the newest messages, and forgets the older generation if its time has come.
    #[cold]
    fn store(&mut self, now: Ticks, timeout: Ticks) {
        let rest = self.rest.get_or_insert_default();
        let piece = std::mem::replace(&mut self.newest, Vec::with_capacity(PIECE));
        rest.new.pieces.push(piece);
        if now - rest.turned > timeout * FORGOTTEN && rest.new.len() > REMEMBERED {
            rest.old = std::mem::take(&mut rest.new);
            rest.turned = now;
        }
    }

    /// Whether a packet belongs to a message that has been received.
    #[inline]
    pub fn has(&mut self, packet: &Packet) -> bool {
        if packet.kind.is_again() {
            return self.has_again(Completed::key(packet));
        }
        let key = || Completed::key(packet);
        self.rest.as_ref().is_some_and(|rest| {
            let generations = [&rest.new, &rest.old];
            generations.iter().any(|generation| {
                !generation.by_second_try.is_empty() && generation.by_second_try.contains(&key())
            })
        })
    }

    #[cold]
    fn has_again(&mut self, key: u64) -> bool {
        self.newest.contains(&key)
            || self
                .rest
                .as_mut()
                .is_some_and(|rest| rest.new.has(key) || rest.old.has(key))
    }

    /// Unique: fewer than 2^24 ranks, 256 or fewer of them behind a NIC, 2^31 messages of a NIC.
    fn key(packet: &Packet) -> u64 {
        let message = u64::from(packet.sequence >> 1);
        message << 32 | u64::from(packet.from) << 8 | u64::from(packet.to % 256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::packet::Kind;

    #[test]
    fn a_first_try_is_known_after_a_retransmission_and_a_turn() {
        let (mut completed, now) = (Completed::default(), Ticks(FORGOTTEN * 10));
        let packet = |sequence, kind| Packet {
            sequence,
            ..Packet::new(kind, Ticks(0), 5, 1)
        };
        for sequence in 0..=REMEMBERED as u32 {
            completed.add(&packet(2 * sequence, Kind::Data), Ticks(0), Ticks(1));
        }
        let late = packet(1 << 20, Kind::Data);
        completed.add(&packet(1 << 20, Kind::DataAgain), now, Ticks(1));
        let fill = |completed: &mut Completed, first: u32, now| {
            (0..=REMEMBERED as u32 + PIECE as u32).for_each(|sequence| {
                completed.add(&packet(first + 2 * sequence, Kind::Data), now, Ticks(1));
            });
        };
        // These start a generation; the old one is forgotten at the turn after it.
        fill(&mut completed, 1 << 21, now);
        assert!(completed.has(&late));
        assert!(
            completed.has(&packet(0, Kind::DataAgain)),
            "only one turn has passed"
        );
        assert!(completed.has(&packet(1 << 20, Kind::DataAgain)));
        assert!(!completed.has(&packet(3 << 21, Kind::DataAgain)));
        fill(&mut completed, 1 << 22, now * 2);
        assert!(
            !completed.has(&packet(0, Kind::DataAgain)),
            "two turns have passed"
        );
        assert!(!completed.has(&late));
        assert!(completed.has(&packet(1 << 22, Kind::DataAgain)));
    }
}
