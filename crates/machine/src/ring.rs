//! The order of time inside a block: a ring of buckets, one for each tick.
//!
//! Almost all that happens lies within a link, a switch and a window of now, so it goes into the
//! bucket of its tick without a comparison. What lies beyond the ring (timers, long work, tails)
//! waits in a heap. Within a tick the total order is (receiver, sender, sequence), whatever the
//! order of insertion: so neither threads nor blocks show in a result.
//!
//! ```text
//!   base                           base + TICKS
//!    | t | t+1 | t+2 | ...            |      heap: later
//!      |    |
//!    list  list     through the packets of the slab
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::slab::{NOWHERE, Place, Slab};

/// Ticks that the ring covers, a power of two: two hops of the nanoPU's network with room to spare.
const TICKS: usize = 4096;
const BITS: usize = 64;
const WORDS: usize = TICKS / BITS;

/// Something that happens now: to whom, and its place in the slab.
pub type Due = (u64, Place);

pub struct Ring {
    heads: Box<[Place; TICKS]>,
    /// A bit for each bucket that is not empty, and one for each word of them that is not zero.
    filled: [u64; WORDS],
    words: u64,
    /// No event lies before it.
    base: u64,
    later: BinaryHeap<Reverse<(u64, Place)>>,
}

impl Ring {
    pub fn new() -> Ring {
        Ring {
            heads: Box::new([NOWHERE; TICKS]),
            filled: [0; WORDS],
            words: 0,
            base: 0,
            later: BinaryHeap::new(),
        }
    }

    /// Adds what the slab holds at `place`, at its time.
    pub fn add(&mut self, slab: &mut Slab, place: Place) {
        let packet = &mut slab[place];
        let time = packet.time;
        debug_assert!(time >= self.base, "{time} lies before {}", self.base);
        if time - self.base >= TICKS as u64 {
            self.later.push(Reverse((time, place)));
            return;
        }
        let bucket = time as usize % TICKS;
        packet.next = std::mem::replace(&mut self.heads[bucket], place);
        self.filled[bucket / BITS] |= 1 << (bucket % BITS);
        self.words |= 1 << (bucket / BITS);
    }

    /// When the next event is; `u64::MAX` when there is none.
    pub fn next(&self) -> u64 {
        let later = self.later.peek().map_or(u64::MAX, |Reverse((time, _))| *time);
        self.near().min(later)
    }

    /// Moves to `time`, before which nothing is left, and gives what happens then, in order.
    pub fn take(&mut self, slab: &mut Slab, time: u64, due: &mut Vec<Due>) {
        due.clear();
        self.base = time;
        while let Some(&Reverse((time, place))) = self.later.peek() {
            if time - self.base >= TICKS as u64 {
                break;
            }
            self.later.pop();
            self.add(slab, place);
        }
        let bucket = time as usize % TICKS;
        let mut place = std::mem::replace(&mut self.heads[bucket], NOWHERE);
        let word = &mut self.filled[bucket / BITS];
        *word &= !(1 << (bucket % BITS));
        if *word == 0 {
            self.words &= !(1 << (bucket / BITS));
        }
        while place != NOWHERE {
            let packet = &slab[place];
            due.push((packet.receiver(), place));
            place = packet.next;
        }
        // What comes next is on its way into the cache meanwhile.
        for ahead in 1..=AHEAD {
            slab.fetch(self.heads[(bucket + ahead) % TICKS]);
        }
        in_order(slab, due);
    }

    /// The next event in the ring itself.
    fn near(&self) -> u64 {
        let first = self.base as usize % TICKS;
        let (word, bit) = (first / BITS, first % BITS);
        let ahead = self.filled[word] & (u64::MAX << bit);
        if ahead != 0 {
            return self.base + (ahead.trailing_zeros() as usize - bit) as u64;
        }
        // The words after this one, around the ring, and this one's front at last.
        let others = self.words.rotate_right(word as u32) & !1;
        let steps = if others != 0 { others.trailing_zeros() as usize } else { WORDS };
        let bits = self.filled[(word + steps) % WORDS];
        if bits == 0 {
            return u64::MAX;
        }
        self.base + (steps * BITS + bits.trailing_zeros() as usize - bit) as u64
    }
}

/// Ticks ahead whose first packet is fetched.
const AHEAD: usize = 4;

/// Puts what happens at one moment in order. Two that come to one receiver are rare: only they are
/// looked at again for their sender.
fn in_order(slab: &Slab, due: &mut [Due]) {
    const FEW: usize = 20;
    if due.len() > FEW {
        due.sort_unstable();
    } else {
        for next in 1..due.len() {
            let one = due[next];
            let mut hole = next;
            while hole > 0 && due[hole - 1].0 > one.0 {
                due[hole] = due[hole - 1];
                hole -= 1;
            }
            due[hole] = one;
        }
    }
    if due.windows(2).any(|two| two[0].0 == two[1].0) {
        due.sort_by_key(|&(receiver, place)| (receiver, slab[place].sender()));
    }
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn events_come_in_the_order_of_time_receiver_sender() {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let (mut slab, mut ring, mut due) = (Slab::default(), Ring::new(), Vec::new());
            let mut expected = Vec::new();
            let mut seen = Vec::new();
            let mut add = |slab: &mut Slab, ring: &mut Ring, now: u64, random: &mut Random| {
                let reach = [3, 100, 5000, 50_000][random.below(4)];
                let time = now + random.below(reach) as u64;
                let event = Packet::event(Kind::Timer, time, random.below(4) as u32);
                expected.push((time, event.to));
                let place = slab.put(event);
                ring.add(slab, place);
            };
            (0..50).for_each(|_| add(&mut slab, &mut ring, 0, &mut random));
            let mut more = 1500;
            loop {
                let now = ring.next();
                if now == u64::MAX {
                    break;
                }
                ring.take(&mut slab, now, &mut due);
                assert!(!due.is_empty());
                for &(_, place) in &due {
                    let event = slab.take(place);
                    assert_eq!(event.time, now);
                    seen.push((event.time, event.to));
                }
                if more > 0 {
                    more -= 1;
                    (0..random.below(3))
                        .for_each(|_| add(&mut slab, &mut ring, now + 1, &mut random));
                }
            }
            expected.sort_unstable();
            assert_eq!(seen, expected, "seed {seed}");
        }
    }
}
