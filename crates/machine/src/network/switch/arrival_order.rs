//! The packets that arrive at a switch in a window, sorted by the link they leave by, then by time,
//! sender and sequence.
//!
//! A link's packets do not touch those of another. So packets are first put in order of their
//! ticks, then of the links they leave by, both by counting; what is left in disorder are the few
//! of one link and one tick, which a pass of insertions mends.

use crate::network::bins::{Bin, Spot};
use crate::network::packet::Packet;

/// A packet that arrives in a window, and leaves by a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Its tick in the window, its sender and its sequence in one number.
    moment: u64,
    /// Where it lies.
    spot: Spot,
    pub link: u16,
}

/// Bits of a sequence in a moment: a NIC sends fewer than 2^25 messages in a window.
const SEQUENCE_BITS: u32 = 26;

/// Bits of sender and sequence: there are at most 2^24 ranks.
const SENDER_BITS: u32 = 50;

/// The longest window: ticks have what bits are left.
pub const LONGEST_WINDOW: u64 = (1 << (u64::BITS - SENDER_BITS)) - 1;

/// Fewer are put in order by comparing.
const FEW: usize = 64;

impl Arrival {
    /// In which tick of the window it arrives.
    #[inline]
    pub fn tick(self) -> u64 {
        self.moment >> SENDER_BITS
    }

    #[inline]
    pub fn spot(self) -> Spot {
        self.spot
    }
}

/// The packets that arrive in a window.
#[derive(Default)]
pub struct ArrivalOrder {
    /// In any order at first, by link and moment at last.
    due: Vec<Arrival>,
    other: Vec<Arrival>,
    /// How many arrive at each tick, and how many leave by each link; then where the next goes.
    ticks: Vec<u32>,
    links: Vec<u32>,
}

impl ArrivalOrder {
    /// Begins a window.
    pub fn clear(&mut self, ticks: usize, links: usize) {
        self.due.clear();
        for (counts, most) in [(&mut self.ticks, ticks), (&mut self.links, links)] {
            counts.clear();
            counts.resize(most, 0);
        }
    }

    /// Notes a packet that arrives at a tick of the window and leaves by that link.
    #[inline]
    pub fn note(&mut self, packet: &Packet, tick: u64, spot: Spot, link: u32) {
        let sequence = u64::from(packet.sequence) & ((1 << SEQUENCE_BITS) - 1);
        let moment = tick << SENDER_BITS | u64::from(packet.from) << SEQUENCE_BITS | sequence;
        self.ticks[tick as usize] += 1;
        self.links[link as usize] += 1;
        self.due.push(Arrival {
            moment,
            spot,
            link: link as u16,
        });
    }

    /// Puts all in order.
    pub fn sort(&mut self, bins: &mut [Bin]) {
        if self.due.len() < FEW {
            self.due.sort_unstable_by_key(|due| (due.link, due.moment));
            let mut sum = 0;
            for count in &mut self.links {
                sum += *count;
                *count = sum;
            }
        } else {
            scatter(&self.due, &mut self.other, &mut self.ticks, |due| {
                due.tick() as usize
            });
            scatter(&self.other, &mut self.due, &mut self.links, |due| {
                usize::from(due.link)
            });
        }
        for next in 1..self.due.len() {
            // Behind the last of another link it may come by chance, and stays there.
            if self.due[next - 1].moment >= self.due[next].moment {
                self.mend(next, bins);
            }
        }
    }

    /// Moves a packet before those of its link that come after it. Only a packet and its second
    /// try, or answers of one NIC to two others, can agree in time, sender and sequence: of these
    /// the packets themselves decide.
    fn mend(&mut self, next: usize, bins: &mut [Bin]) {
        let due = self.due[next];
        let mut rest = |due: Arrival| {
            let packet = due.spot().packet(bins);
            (packet.to, packet.kind)
        };
        let mut hole = next;
        while hole > 0 {
            let before = self.due[hole - 1];
            let is_behind = before.moment > due.moment
                || before.moment == due.moment && rest(before) > rest(due);
            if before.link != due.link || !is_behind {
                break;
            }
            self.due[hole] = before;
            hole -= 1;
        }
        self.due[hole] = due;
    }

    /// The packets that leave by a link, in order.
    #[inline]
    pub fn of(&self, link: usize) -> &[Arrival] {
        // Each link's next place is the first of the link after it by now.
        let first = link.checked_sub(1).map_or(0, |before| self.links[before]);
        &self.due[first as usize..self.links[link] as usize]
    }

    pub fn len(&self) -> usize {
        self.due.len()
    }
}

/// Puts packets in the order of a small number, those of one number as they were. The counts of the
/// numbers become the ends of each.
fn scatter(
    from: &[Arrival],
    to: &mut Vec<Arrival>,
    counts: &mut [u32],
    number: impl Fn(&Arrival) -> usize,
) {
    let mut sum = 0;
    for count in counts.iter_mut() {
        sum += std::mem::replace(count, sum);
    }
    to.resize(from.len(), Arrival::default());
    for due in from {
        let place = &mut counts[number(due)];
        to[*place as usize] = *due;
        *place += 1;
    }
}
