//! The program against a naive one, which has lists for caches, no messages, and one read at a time.

use machine::{Cluster, Driver, Profile, Setting};
use node::{Node, Random, Rank};

use super::client::Client;
use super::server::Server;
use super::trace::Trace;
use super::{Cached, Caches, LEVELS, Level, PORT, Policy, SERVER, other_client};
use crate::Program;

const POLICIES: [Policy; 5] = [
    Policy::Local,
    Policy::Server,
    Policy::Greedy,
    Policy::NChance,
    Policy::Ideal,
];

/// Reads far enough apart that none hears of another one under way.
fn apart(policy: Policy, seed: u64) -> Caches {
    Caches {
        policy,
        seed,
        cache: 8 + (seed % 3) as u32 * 8,
        server_cache: 24,
        shared_blocks: 48,
        reads: 400,
        chances: 1 + (seed % 3) as u32,
        pause_us: 10_000_000,
        ..Caches::default()
    }
}

fn on_cluster(program: &Caches, ranks: u32) -> Vec<Cached> {
    let profile = Profile::named("ramcloud").unwrap();
    let cluster = Cluster::new(profile, Setting::new(ranks)).unwrap();
    let run = program.clone();
    cluster
        .run(move |node| run.clone().run(node))
        .unwrap()
        .answers
}

#[test]
fn every_policy_reads_as_lists_do() {
    let mut forwarded = 0;
    for policy in POLICIES {
        for seed in 1..5 {
            let program = apart(policy, seed);
            let answers = on_cluster(&program, 8);
            assert_eq!(program.check(&answers).fault, None, "{policy:?}, {seed}");
            let naive = Naive::run(&program, 8);
            for (rank, answer) in answers.iter().enumerate() {
                let found = (answer.reads, answer.forwarded);
                let expected = (naive.reads[rank], naive.forwarded[rank]);
                assert_eq!(found, expected, "{policy:?}, seed {seed}, core {rank}");
            }
            forwarded += naive.forwarded.iter().sum::<u32>();
        }
    }
    assert!(forwarded > 100, "{forwarded}");
}

/// A read takes what it is charged for, and not what its messages take besides.
#[test]
fn a_read_takes_its_charges() {
    let program = apart(Policy::NChance, 3);
    let mut times: Vec<u64> = on_cluster(&program, 8)
        .iter()
        .flat_map(|answer| answer.times.clone())
        .map(|ticks| ticks * 3125 / 10_000_000)
        .collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!(times, [250, 1050, 1250, 15_850]);
}

/// With a charge of nothing the machine decides: a miss takes two messages or three.
#[test]
fn without_charges_messages_take_their_time() {
    let program = Caches {
        local_us: 0,
        hop_us: 0,
        block_us: 0,
        disk_us: 0,
        ..apart(Policy::Greedy, 2)
    };
    let answers = on_cluster(&program, 8);
    let times = answers.iter().flat_map(|answer| &answer.times);
    let most = times.max().map(|ticks| ticks * 3125 / 10_000);
    assert!((5_000..15_000).contains(&most.unwrap()), "{most:?} ns");
}

/// Caches of one block, many reads at once, and drawn orders of messages.
#[test]
fn tiny_caches_neither_wait_for_ever_nor_lose_count() {
    for seed in 0..60 {
        let program = Caches {
            policy: POLICIES[seed as usize % 5],
            cache: 1 + seed as u32 % 4,
            server_cache: seed as u32 % 3 * 4,
            chances: seed as u32 % 4,
            reads: 60,
            shared: 80,
            shared_blocks: 12,
            run: 1 + seed as u32 % 3,
            pause_us: [0, 5_000][seed as usize / 5 % 2],
            seed,
            ..Caches::default()
        };
        let run = program.clone();
        let answers = Driver::new(seed, 2 + seed as u32 % 7).run(move |node| run.clone().run(node));
        let verdict = program.check(&answers.unwrap());
        assert_eq!(verdict.fault, None, "{program:?}");
    }
}

/// A server whose disk has other contents than the blocks': some are stale.
#[test]
fn a_stale_block_is_found() {
    for policy in POLICIES {
        let program = apart(policy, 1);
        let stale = apart(policy, 2);
        let own = program.clone();
        let run = move |node: Node| {
            let (own, stale) = (own.clone(), stale.clone());
            async move {
                let port = node.bind(PORT);
                match node.rank() {
                    SERVER => Server::new(&stale, &node).serve(&port).await,
                    _ => Client::new(&own, &node).read(&port).await,
                }
            }
        };
        let answers = Driver::new(1, 4).run(run).unwrap();
        let fault = program.check(&answers).fault.unwrap();
        assert!(fault.contains("other contents"), "{fault}");
    }
}

struct Naive {
    /// Blocks of each rank, the oldest first, and how often each may still move on; 0 if it was
    /// read there.
    caches: Vec<Vec<(u64, u32)>>,
    memory: Vec<u64>,
    further: Vec<u64>,
    targets: Vec<Random>,
    reads: Vec<[[u32; 4]; 2]>,
    forwarded: Vec<u32>,
}

impl Naive {
    fn run(program: &Caches, ranks: u32) -> Naive {
        let all = ranks as usize;
        let mut naive = Naive {
            caches: vec![Vec::new(); all],
            memory: Vec::new(),
            further: Vec::new(),
            targets: (0..ranks).map(|rank| program.targets(Rank(rank))).collect(),
            reads: vec![[[0; 4]; 2]; all],
            forwarded: vec![0; all],
        };
        let readers = 1..=program.readers(ranks) as usize;
        let trace = |rank| Trace::new(program, Rank(rank as u32));
        let mut traces: Vec<Trace> = readers.clone().map(trace).collect();
        // The next read of each client: its time in microseconds, the client and the block.
        let mut next: Vec<(u64, usize, u64)> = readers
            .map(|rank| {
                let (pause, block) = traces[rank - 1].next(program);
                (pause, rank, block)
            })
            .collect();
        while let Some(&first) = next.iter().min() {
            let (time, rank, block) = first;
            next.retain(|read| *read != first);
            let (level, hops) = naive.read(program, rank, block);
            let before: u32 = naive.reads[rank].as_flattened().iter().sum();
            let counts = usize::from(before >= program.warming());
            naive.reads[rank][counts][level as usize] += 1;
            if before + 1 < program.reads {
                let (pause, block) = traces[rank - 1].next(program);
                next.push((time + program.charge(level, hops) + pause, rank, block));
            }
        }
        naive
    }

    fn read(&mut self, program: &Caches, rank: usize, block: u64) -> (Level, u64) {
        if let Some(at) = self.position(rank, block) {
            self.caches[rank].remove(at);
            self.caches[rank].push((block, 0));
            return (LEVELS[0], 0);
        }
        let mut leaving = None;
        if self.caches[rank].len() == program.cache as usize {
            let (out, chances) = self.caches[rank].remove(0);
            if program.policy == Policy::NChance && self.holders(out).is_empty() {
                let left = match chances {
                    0 => program.chances,
                    chances => chances - 1,
                };
                leaving = Some((out, left)).filter(|_| left > 0);
            }
            if program.policy == Policy::Ideal {
                self.further.retain(|kept| *kept != out);
                self.further.push(out);
                let most = program.cache as usize * (self.caches.len() - 1);
                self.further
                    .drain(..self.further.len().saturating_sub(most));
            }
        }
        let found = self.look_up(program, block);
        self.caches[rank].push((block, 0));
        if let Some(leaving) = leaving {
            self.forward(program, rank, leaving);
        }
        found
    }

    fn look_up(&mut self, program: &Caches, block: u64) -> (Level, u64) {
        let holders = self.holders(block);
        for (holder, at) in &holders {
            self.caches[*holder][*at].1 = 0;
        }
        let in_memory = self.memory.contains(&block);
        let works_together = program.policy >= Policy::Greedy;
        let is_further = self.further.contains(&block);
        let fetched = !in_memory && works_together && !holders.is_empty();
        if !in_memory && !fetched && is_further {
            self.further.retain(|kept| *kept != block);
        }
        if fetched || !in_memory && is_further {
            return (Level::Remote, 3);
        }
        if program.policy != Policy::Local {
            self.memory.retain(|kept| *kept != block);
            self.memory.push(block);
            let most = program.server_cache as usize;
            self.memory.drain(..self.memory.len().saturating_sub(most));
        }
        let level = if in_memory {
            Level::Server
        } else {
            Level::Disk
        };
        (level, 2)
    }

    fn forward(&mut self, program: &Caches, rank: usize, (block, chances): (u64, u32)) {
        let ranks = self.caches.len() as u32;
        let to = other_client(&mut self.targets[rank], Rank(rank as u32), ranks);
        let to = to.unwrap().0 as usize;
        self.forwarded[rank] += 1;
        if self.caches[to].len() == program.cache as usize {
            let held = &self.caches[to];
            let is_duplicate = |(block, _): &(u64, u32)| self.holders(*block).len() > 1;
            let duplicate = held.iter().position(is_duplicate);
            let recirculating = || held.iter().position(|(_, chances)| *chances > 0);
            let victim = duplicate.or_else(recirculating).unwrap_or(0);
            self.caches[to].remove(victim);
        }
        self.caches[to].push((block, chances));
    }

    fn position(&self, rank: usize, block: u64) -> Option<usize> {
        self.caches[rank]
            .iter()
            .position(|(held, _)| *held == block)
    }

    /// The ranks that hold a block, and where.
    fn holders(&self, block: u64) -> Vec<(usize, usize)> {
        let ranks = 0..self.caches.len();
        ranks
            .filter_map(|rank| Some((rank, self.position(rank, block)?)))
            .collect()
    }
}
