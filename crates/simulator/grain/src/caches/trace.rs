//! The reads of a client, drawn: files that all clients share and files of its own, each read from
//! its first block to its last.
//!
//! ```text
//!   shared    0  1  2 ...                     file n is read 1 / (n + 1) as often as the first
//!   its own   ... 3  2  1  0  new             the newest file is the most popular one
//! ```
//!
//! A client has a quarter of its cache to four times as much of its own, as many clients in each
//! octave. A new file is the newest from then on, so what a client reads moves on.

use node::{Random, Rank};

use super::{Caches, READS_OF};

/// The bits of a block's number below those of its owner, a client or 0.
const OWNER_SHIFT: u32 = 32;

pub(super) struct Trace {
    random: Random,
    owner: u64,
    shared: Popularity,
    own: Popularity,
    /// The file of its own that is new.
    newest: u64,
    next: u64,
    left: u32,
}

impl Trace {
    pub fn new(program: &Caches, client: Rank) -> Trace {
        let mut random = Random::stream(program.seed, READS_OF | u64::from(client.0));
        let octave = (program.cache / 4)
            .max(1)
            .saturating_mul(1 << random.below(4));
        let blocks = octave.saturating_add(random.below(octave as usize) as u32);
        let own = Popularity::new(blocks / program.run);
        Trace {
            random,
            owner: u64::from(client.0) << OWNER_SHIFT,
            shared: Popularity::new(program.shared_blocks / program.run),
            newest: own.files() - 1,
            own,
            next: 0,
            left: 0,
        }
    }

    /// The pause before the next read, in microseconds, and its block.
    pub fn next(&mut self, program: &Caches) -> (u64, u64) {
        if self.left == 0 {
            self.next = self.first_block(program);
            self.left = program.run;
        }
        self.left -= 1;
        let block = self.next;
        self.next += 1;
        let pause = self.random.below(2 * program.pause_us as usize + 1);
        (pause as u64, block)
    }

    /// The first block of the next file.
    fn first_block(&mut self, program: &Caches) -> u64 {
        let run = u64::from(program.run);
        if self.draws(program.shared) {
            return self.shared.draw(&mut self.random) * run;
        }
        let back = if self.draws(program.fresh) {
            self.newest += 1;
            0
        } else {
            self.own.draw(&mut self.random)
        };
        self.owner + (self.newest - back) * run
    }

    fn draws(&mut self, percent: u32) -> bool {
        self.random.below(100) < percent as usize
    }
}

/// Draws file n with a weight of 1 / (n + 1): Zipf's law, in whole numbers.
struct Popularity {
    sums: Vec<u64>,
}

impl Popularity {
    fn new(files: u32) -> Popularity {
        let mut sum = 0;
        let weigh = |rank: u64| {
            sum += (1 << 40) / rank;
            sum
        };
        let sums = (1..=u64::from(files.max(1))).map(weigh).collect();
        Popularity { sums }
    }

    fn files(&self) -> u64 {
        self.sums.len() as u64
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let all = self.sums[self.sums.len() - 1];
        let drawn = random.below(all as usize) as u64;
        self.sums.partition_point(|sum| *sum <= drawn) as u64
    }
}
