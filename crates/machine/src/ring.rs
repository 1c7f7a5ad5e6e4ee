//! The order of time inside a block: a ring of buckets, one for each tick.
//!
//! Almost all that happens lies within a link, a switch and a window of now, so it goes into the
//! bucket of its tick without a comparison. What lies beyond the ring (timers, long work, tails)
//! waits in a heap. Within a tick the total order is (receiver, sender, sequence), whatever the
//! order of insertion: so neither threads nor blocks show in a result.
//!
//! ```text
//!   base                           base + size
//!    | t | t+1 | t+2 | ...            |      heap: later
//!      |    |
//!    list  list     through the packets of the store
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::{NONE, Store};

const BITS: usize = 64;

pub struct Ring {
    heads: Vec<u32>,
    /// A bit for each bucket that is not empty.
    filled: Vec<u64>,
    /// No event lies before it.
    base: u64,
    later: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Ring {
    /// A ring that covers at least `span` ticks.
    pub fn new(span: u64) -> Ring {
        let size = (span.max(BITS as u64)).next_power_of_two() as usize;
        let (heads, filled) = (vec![NONE; size], vec![0; size / BITS]);
        Ring { heads, filled, base: 0, later: BinaryHeap::new() }
    }

    /// Adds what the store holds at `place`, at its time.
    pub fn add(&mut self, store: &mut Store, place: u32) {
        let time = store[place].time;
        debug_assert!(time >= self.base, "{time} lies before {}", self.base);
        if time - self.base >= self.heads.len() as u64 {
            self.later.push(Reverse((time, place)));
            return;
        }
        let bucket = self.bucket(time);
        store[place].next = self.heads[bucket];
        self.heads[bucket] = place;
        self.filled[bucket / BITS] |= 1 << (bucket % BITS);
    }

    /// When the next event is.
    pub fn next(&self) -> Option<u64> {
        let later = self.later.peek().map(|Reverse((time, _))| *time);
        let near = self.near();
        near.map_or(later, |near| Some(later.map_or(near, |later| near.min(later))))
    }

    /// Moves to `time`, at which or before which nothing is left, and gives what happens then, in
    /// order.
    pub fn take(&mut self, store: &mut Store, time: u64, due: &mut Vec<u32>) {
        due.clear();
        self.base = time;
        while let Some(&Reverse((time, place))) = self.later.peek() {
            if time - self.base >= self.heads.len() as u64 {
                break;
            }
            self.later.pop();
            self.add(store, place);
        }
        let bucket = self.bucket(time);
        let mut place = std::mem::replace(&mut self.heads[bucket], NONE);
        self.filled[bucket / BITS] &= !(1 << (bucket % BITS));
        while place != NONE {
            due.push(place);
            place = store[place].next;
        }
        if due.len() > 1 {
            due.sort_by_key(|&place| store[place].order());
        }
    }

    fn bucket(&self, time: u64) -> usize {
        time as usize & (self.heads.len() - 1)
    }

    /// The next event in the ring itself.
    fn near(&self) -> Option<u64> {
        let first = self.bucket(self.base);
        let words = self.filled.len();
        // The first word is looked at twice: from the first bucket on, and at last up to it.
        for step in 0..=words {
            let index = (first / BITS + step) % words;
            let mut bits = self.filled[index];
            if step == 0 {
                bits &= u64::MAX << (first % BITS);
            } else if step == words {
                bits &= !(u64::MAX << (first % BITS));
            }
            if bits != 0 {
                let bucket = index * BITS + bits.trailing_zeros() as usize;
                let ahead = bucket.wrapping_sub(first) & (self.heads.len() - 1);
                return Some(self.base + ahead as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn events_come_in_the_order_of_time_receiver_sender() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (mut store, mut ring, mut due) = (Store::new(), Ring::new(128), Vec::new());
            let mut expected = Vec::new();
            let mut seen = Vec::new();
            let mut add = |store: &mut Store, ring: &mut Ring, now: u64, random: &mut Random| {
                let reach = [3, 100, 5000][random.below(3)];
                let time = now + random.below(reach) as u64;
                let event = Packet::event(Kind::Timer, time, random.below(4) as u32);
                expected.push((time, event.to));
                let place = store.put(event);
                ring.add(store, place);
            };
            (0..50).for_each(|_| add(&mut store, &mut ring, 0, &mut random));
            let mut more = 500;
            while let Some(now) = ring.next() {
                ring.take(&mut store, now, &mut due);
                for &place in &due {
                    let event = store.take(place);
                    assert_eq!(event.time, now);
                    seen.push((event.time, event.to));
                }
                if more > 0 {
                    more -= 1;
                    add(&mut store, &mut ring, now + 1, &mut random);
                }
            }
            expected.sort_unstable();
            assert_eq!(seen, expected);
        }
    }
}
