//! Messages of which a NIC has a part.

use node::Words;

use crate::network::packet::Packet;

/// A message with a segment missing.
pub struct Partial {
    from: u32,
    message: u32,
    segments: [Option<Words>; 2],
    /// Whether a segment was sent again: its first try may still arrive.
    again: bool,
}

impl Partial {
    /// The message of a segment, without any segment.
    pub fn of(segment: &Packet) -> Partial {
        Partial {
            from: segment.from,
            message: segment.sequence >> 1,
            segments: [None, None],
            again: false,
        }
    }

    /// Whether a segment belongs to it.
    pub fn is_of(&self, segment: &Packet) -> bool {
        (self.from, self.message) == (segment.from, segment.sequence >> 1)
    }

    /// Adds a segment; returns the message when it is whole. If any segment was sent again, the last
    /// one counts as such, too.
    pub fn add(&mut self, packet: &mut Packet) -> Option<Words> {
        self.again |= packet.kind.is_again();
        if self.again {
            packet.kind = packet.kind.again();
        }
        let segments = &mut self.segments;
        segments[(packet.sequence & 1) as usize] = Some(std::mem::take(&mut packet.words));
        let [Some(first), Some(second)] = segments else {
            return None;
        };
        Some(Words::from(&[&first[..], &second[..]].concat()[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::packet::Kind;
    use crate::schedule::Ticks;

    /// The first try of a segment may arrive behind the whole message, and is known only if the
    /// message counts as sent again, whichever segment came last.
    #[test]
    fn a_message_of_which_a_segment_was_sent_again_is_noted() {
        let (once, again) = (Kind::Data, Kind::DataAgain);
        for (kinds, noted) in [
            ([once, once], once),
            ([once, again], again),
            ([again, once], again),
            ([again, again], again),
        ] {
            for first in 0..2 {
                let mut partial = Partial {
                    from: 5,
                    message: 3,
                    segments: [None, None],
                    again: false,
                };
                let mut packet = |segment: u32, kind| {
                    let mut packet = Packet {
                        sequence: 6 + segment,
                        words: Words::from(&[u64::from(segment)][..]),
                        ..Packet::new(kind, Ticks(0), 5, 1)
                    };
                    (partial.add(&mut packet), packet.kind)
                };
                assert!(packet(first, kinds[0]).0.is_none());
                let (whole, kind) = packet(1 - first, kinds[1]);
                assert_eq!(whole.expect("both are here")[..], [0, 1]);
                assert_eq!(kind, noted, "{kinds:?}");
            }
        }
    }
}
