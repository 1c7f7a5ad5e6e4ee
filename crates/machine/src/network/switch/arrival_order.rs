//! The packets that arrive at a switch in a window, sorted by outgoing link, then by time, sender
//! and sequence.
//!
//! Two counting sorts order them by tick, then by link. An insertion sort then orders the few
//! packets with the same link and tick.

use crate::network::bins::{Bin, BinIndex};
use crate::network::packet::Packet;

/// A packet that arrives in a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Its tick in the window, its sender and its sequence in one number.
    moment: u64,
    index: BinIndex,
    /// The outgoing link.
    pub link: u16,
}

/// Bits of a sequence in a moment: a NIC sends fewer than 2^25 messages per window.
const SEQUENCE_BITS: u32 = 26;

/// Bits of sender and sequence in a moment: there are at most 2^24 ranks.
const SENDER_BITS: u32 = 50;

/// The longest window in ticks, which have the remaining bits.
pub const LONGEST_WINDOW: u64 = (1 << (u64::BITS - SENDER_BITS)) - 1;

/// Fewer arrivals are sorted by comparing.
const FEW: usize = 64;

impl Arrival {
    /// Its tick in the window.
    #[inline]
    pub fn tick(self) -> u64 {
        self.moment >> SENDER_BITS
    }

    #[inline]
    pub fn index(self) -> BinIndex {
        self.index
    }
}

/// The arrivals of a window.
#[derive(Default)]
pub struct ArrivalOrder {
    /// Unsorted at first; sorted by link and moment in the end.
    due: Vec<Arrival>,
    other: Vec<Arrival>,
    /// The number of arrivals per tick and per link; after the counting sorts, their ends.
    ticks: Vec<u32>,
    links: Vec<u32>,
}

impl ArrivalOrder {
    /// Begins a window of `ticks` ticks for a switch of `links` links.
    pub fn clear(&mut self, ticks: usize, links: usize) {
        self.due.clear();
        for (counts, most) in [(&mut self.ticks, ticks), (&mut self.links, links)] {
            counts.clear();
            counts.resize(most, 0);
        }
    }

    /// Adds a packet that arrives at a tick of the window, for a link.
    #[inline]
    pub fn note(&mut self, packet: &Packet, tick: u64, index: BinIndex, link: u32) {
        let sequence = u64::from(packet.sequence) & ((1 << SEQUENCE_BITS) - 1);
        let moment = tick << SENDER_BITS | u64::from(packet.from) << SEQUENCE_BITS | sequence;
        self.ticks[tick as usize] += 1;
        self.links[link as usize] += 1;
        self.due.push(Arrival {
            moment,
            index,
            link: link as u16,
        });
    }

    /// Sorts all arrivals.
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
            // True also for some first arrivals of a link, which `mend` leaves in place.
            if self.due[next - 1].moment >= self.due[next].moment {
                self.mend(next, bins);
            }
        }
    }

    /// Inserts a packet among the earlier ones of its link. Only a packet and its retransmission,
    /// or control packets of one NIC to two others, have the same moment; these are ordered by
    /// receiver and kind.
    fn mend(&mut self, next: usize, bins: &mut [Bin]) {
        let due = self.due[next];
        let mut rest = |due: Arrival| {
            let packet = due.index().packet(bins);
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

    /// The sorted arrivals for a link.
    #[inline]
    pub fn of(&self, link: usize) -> &[Arrival] {
        // `links` has the end of each link by now.
        let first = link.checked_sub(1).map_or(0, |before| self.links[before]);
        &self.due[first as usize..self.links[link] as usize]
    }

    pub fn len(&self) -> usize {
        self.due.len()
    }
}

/// A stable counting sort by a small number, whose counts become ends.
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
