//! The packets that arrive at a switch in a window, sorted by outgoing link, then by time, sender
//! and sequence.
//!
//! Arrivals are kept in a list for every few ticks. Reading list by list, from the last arrival to the
//! first, a counting sort places the arrivals by link, in the order of their noting. An insertion sort
//! then orders the few packets of one link and one list.

use crate::network::arrival::Arrival;
use crate::network::store::bins::{Bin, BinIndex};

/// Fewer arrivals are sorted by comparing.
const FEW: usize = 64;

/// The end of a list.
const NO_ARRIVAL: u32 = u32::MAX;

/// The ticks of a list, as a shift: few arrivals of a link are that close.
const TICKS_SHIFT: u32 = 2;

/// The arrivals of a window.
#[derive(Default)]
pub struct ArrivalOrder {
    /// The arrivals, up to a count.
    noted: Vec<Noted>,
    count: usize,
    /// The last noted arrival of each list.
    lasts: Vec<u32>,
    /// The number of arrivals per link; once sorted, the place of the first, and behind them the end.
    links: Vec<u32>,
    /// Sorted by link and moment.
    sorted: Vec<Arrival>,
}

/// An arrival, and the one before it in its list.
#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    arrival: Arrival,
    before: u32,
}

impl ArrivalOrder {
    /// Begins a window of `ticks` ticks for a switch of `links` links.
    pub fn clear(&mut self, ticks: usize, links: usize) {
        self.count = 0;
        self.lasts.clear();
        self.lasts.resize((ticks >> TICKS_SHIFT) + 1, NO_ARRIVAL);
        self.links.clear();
        self.links.resize(links + 1, 0);
    }

    /// Makes room for so many more arrivals.
    pub fn reserve(&mut self, more: usize) {
        if self.noted.len() < self.count + more {
            self.noted.resize(self.count + more, Noted::default());
        }
    }

    /// Adds arrivals, for which there is room.
    #[inline]
    pub fn note(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        // As slices, which stay in registers.
        let (noted, lasts) = (&mut self.noted[..], &mut self.lasts[..]);
        let (links, mut count) = (&mut self.links[..], self.count);
        for arrival in arrivals {
            links[usize::from(arrival.link)] += 1;
            let last = &mut lasts[(arrival.tick() >> TICKS_SHIFT) as usize];
            let before = std::mem::replace(last, count as u32);
            noted[count] = Noted { arrival, before };
            count += 1;
        }
        self.count = count;
    }

    /// Sorts all arrivals.
    pub fn sort(&mut self, bins: &mut [Bin]) {
        if self.count < FEW {
            let noted = self.noted[..self.count].iter();
            self.sorted.clear();
            self.sorted.extend(noted.map(|noted| noted.arrival));
            self.sorted
                .sort_unstable_by_key(|due| (due.link, due.moment));
            let mut sum = 0;
            for count in &mut self.links {
                sum += std::mem::replace(count, sum);
            }
        } else {
            self.place_by_link();
        }
        for next in 1..self.sorted.len() {
            // True also for some first arrivals of a link, which `mend` leaves in place.
            if self.sorted[next - 1].moment >= self.sorted[next].moment {
                self.mend(next, bins);
            }
        }
    }

    /// A counting sort by link of the arrivals in the order of their lists.
    fn place_by_link(&mut self) {
        let mut sum = 0;
        for end in &mut self.links {
            sum += *end;
            *end = sum;
        }
        self.sorted.resize(self.count, Arrival::default());
        let (noted, links, sorted) = (&self.noted[..], &mut self.links[..], &mut self.sorted[..]);
        for &last in self.lasts.iter().rev() {
            let mut number = last;
            while let Some(Noted { arrival, before }) = noted.get(number as usize) {
                let place = &mut links[usize::from(arrival.link)];
                *place -= 1;
                sorted[*place as usize] = *arrival;
                number = *before;
            }
        }
    }

    /// Inserts a packet among the earlier ones of its link. Only a packet and its retransmission,
    /// or control packets of one NIC to two others, have the same moment; these are ordered by
    /// receiver and kind.
    fn mend(&mut self, next: usize, bins: &mut [Bin]) {
        let due = self.sorted[next];
        let mut rest = |due: Arrival| {
            let packet = BinIndex::of(due.number()).packet(bins);
            (packet.to, packet.kind)
        };
        let mut hole = next;
        while hole > 0 {
            let before = self.sorted[hole - 1];
            let is_behind = before.moment > due.moment
                || before.moment == due.moment && rest(before) > rest(due);
            if before.link != due.link || !is_behind {
                break;
            }
            self.sorted[hole] = before;
            hole -= 1;
        }
        self.sorted[hole] = due;
    }

    /// The sorted arrivals for a link.
    #[inline]
    pub fn of(&self, link: usize) -> &[Arrival] {
        let [first, end] = [self.links[link], self.links[link + 1]];
        &self.sorted[first as usize..end as usize]
    }

    pub fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;
    use crate::network::packet::{Kind, Packet};
    use crate::network::store::bins::Bins;
    use crate::schedule::Ticks;

    #[test]
    fn arrivals_are_sorted_by_link_moment_and_the_rest() {
        for (count, ticks) in [
            (0, 10),
            (1, 1),
            (FEW - 1, 100),
            (FEW, 100),
            (3000, 1),
            (3000, 979),
        ] {
            let mut random = Random::new(count as u64);
            let mut drawn = |below: u64| random.next_u64() % below;
            let (mut packets, mut spare, mut bins) = (Bins::default(), Vec::new(), Vec::new());
            for _ in 0..count {
                let (time, from, to) = (drawn(ticks), drawn(9), drawn(3));
                let kind = if drawn(2) == 0 {
                    Kind::Data
                } else {
                    Kind::DataAgain
                };
                let mut packet = Packet::new(kind, Ticks(time), from as u32, to as u32);
                packet.sequence = drawn(2) as u32;
                packets.push(packet, &mut spare);
            }
            packets.move_to(&mut bins);
            let mut order = ArrivalOrder::default();
            order.clear(ticks as usize, 5);
            order.reserve(count);
            let mut link = |number| BinIndex::nth(0, number).packet(&mut bins).from % 5;
            let links: Vec<u32> = (0..count).map(&mut link).collect();
            order.note((0..count).map(|number| {
                let index = BinIndex::nth(0, number);
                let packet = index.packet(&mut bins);
                Arrival::new(packet, packet.time.0, index, links[number])
            }));
            order.sort(&mut bins);
            let mut numbers: Vec<u32> = (0..5)
                .flat_map(|link| order.of(link))
                .map(|arrival| arrival.number())
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count as u32).collect::<Vec<_>>());
            for link in 0..5 {
                let mut key = |arrival: &Arrival| {
                    let packet = BinIndex::of(arrival.number()).packet(&mut bins);
                    assert_eq!((packet.from % 5, packet.time.0), (link, arrival.tick()));
                    let moment = (packet.time, packet.from, packet.sequence);
                    (moment, packet.to, packet.kind)
                };
                let keys: Vec<_> = order.of(link as usize).iter().map(&mut key).collect();
                assert!(keys.is_sorted(), "{count} arrivals in {ticks} ticks");
            }
        }
    }
}
