//! The messages that a NIC has received, so that none is delivered twice.

use std::collections::HashSet;

use crate::network::packet::Packet;
use crate::schedule::Ticks;

/// Two generations of messages; after a while the older one is forgotten.
#[derive(Default)]
pub struct Completed {
    new: Generation,
    old: Generation,
    turned: Ticks,
}

/// Messages, each as one number of its sender, receiver and sequence.
#[derive(Default)]
struct Generation {
    /// In order of arrival; most are never looked up.
    messages: Log,
    /// A hash set of those that had arrived at the last look-up.
    known: HashSet<u64>,
    /// The messages that a retransmission completed: the first try may still arrive.
    by_second_try: HashSet<u64>,
}

/// Numbers that are rarely read, in pieces: a growing vector would leave its old memory behind, and
/// this is the largest part of a NIC.
#[derive(Default)]
struct Log {
    pieces: Vec<Vec<u64>>,
}

/// Numbers per piece.
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

    /// The numbers after the first `count`.
    fn after(&self, count: usize) -> impl Iterator<Item = u64> {
        let pieces = self.pieces.iter().skip(count / PIECE);
        pieces.flatten().copied().skip(count % PIECE)
    }
}

impl Generation {
    fn has(&mut self, key: u64) -> bool {
        self.known.extend(self.messages.after(self.known.len()));
        self.known.contains(&key)
    }
}

/// Timeouts after which a message does not arrive again. Its sender retries at least once in 64
/// timeouts, so 32 retransmissions in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

/// The newest messages, which are remembered at any age.
const REMEMBERED: usize = 1 << 16;

impl Completed {
    pub fn add(&mut self, packet: &Packet, now: Ticks, timeout: Ticks) {
        if now - self.turned > timeout * FORGOTTEN && self.new.messages.len() > REMEMBERED {
            self.old = std::mem::take(&mut self.new);
            self.turned = now;
        }
        let key = Completed::key(packet);
        self.new.messages.push(key);
        if packet.kind.is_again() {
            self.new.by_second_try.insert(key);
        }
    }

    /// Whether a packet belongs to a message that has been received.
    pub fn has(&mut self, packet: &Packet) -> bool {
        let key = Completed::key(packet);
        let generations = [&mut self.new, &mut self.old];
        if packet.kind.is_again() {
            return generations
                .into_iter()
                .any(|generation| generation.has(key));
        }
        generations.into_iter().any(|generation| {
            !generation.by_second_try.is_empty() && generation.by_second_try.contains(&key)
        })
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
        // The next message starts a generation; the old one is forgotten at the turn after it.
        (0..=REMEMBERED as u32).for_each(|sequence| {
            completed.add(&packet((1 << 21) + 2 * sequence, Kind::Data), now, Ticks(1));
        });
        assert!(completed.has(&late));
        completed.add(&packet(1 << 22, Kind::Data), now * 2, Ticks(1));
        assert!(completed.has(&late), "only one turn has passed");
        assert!(completed.has(&packet(1 << 20, Kind::DataAgain)));
        assert!(!completed.has(&packet(3 << 21, Kind::DataAgain)));
    }
}
