//! The exchange alone, under schedules of the deterministic driver.

use rehearsal::Driver;
use sort::ExchangeKind;
use sort::alone::{ExchangeAlone, Exchanged, Load};

const CHUNK_BYTES: usize = 4096;

/// The results of all ranks.
fn run(seed: u64, ranks: u32, kind: ExchangeKind, chunks: u64) -> Vec<Exchanged> {
    let driver = Driver::new(seed, ranks);
    let ends = driver.run(move |node| async move {
        let mut alone = ExchangeAlone::new(&node);
        let load = Load {
            kind,
            chunks,
            chunk_bytes: CHUNK_BYTES,
        };
        // The second exchange must find nothing that the first one left.
        alone.run(&node, load).await.unwrap();
        alone.run(&node, load).await.unwrap()
    });
    ends.unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"))
}

/// Number of chunks from each rank.
fn counts(exchanged: &Exchanged, ranks: u32) -> Vec<usize> {
    (0..ranks)
        .map(|rank| exchanged.from.iter().filter(|&&from| from == rank).count())
        .collect()
}

#[test]
fn every_rank_gets_all_chunks_of_every_other() {
    for seed in 0..60 {
        let (ranks, chunks) = (1 + seed as u32 % 6, seed % 23);
        for kind in [ExchangeKind::Streams, ExchangeKind::Rounds] {
            for (own, exchanged) in (0..).zip(run(seed, ranks, kind, chunks)) {
                let expected: Vec<usize> = (0..ranks)
                    .map(|from| if from == own { 0 } else { chunks as usize })
                    .collect();
                assert_eq!(counts(&exchanged, ranks), expected, "seed {seed} {kind:?}");
                assert_eq!(exchanged.records, 40 * chunks * u64::from(ranks - 1));
            }
        }
    }
}

/// In a cycle of rounds, chunks come from one rank after the other, in psort's order, under any
/// schedule; streams have no order.
#[test]
fn rounds_are_free_of_collisions() {
    const RANKS: u32 = 5;
    let is_in_order = |own: u32, exchanged: &Exchanged| {
        let order = (1..RANKS).map(|step| (own + RANKS - step) % RANKS);
        exchanged.from == order.collect::<Vec<u32>>()
    };
    let mut disorder = 0;
    for seed in 0..200 {
        for (own, exchanged) in (0..).zip(run(seed, RANKS, ExchangeKind::Rounds, 1)) {
            assert!(
                is_in_order(own, &exchanged),
                "seed {seed} rank {own}: {:?}",
                exchanged.from
            );
        }
        let streams = run(seed, RANKS, ExchangeKind::Streams, 1);
        disorder += (0..)
            .zip(&streams)
            .filter(|(own, came)| !is_in_order(*own, came))
            .count();
    }
    assert!(
        disorder > 100,
        "only {disorder} of the streams came in another order"
    );
}
