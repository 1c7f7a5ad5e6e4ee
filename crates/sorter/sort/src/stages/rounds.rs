//! The exchange in rounds: each rank sends to one and receives from one (psort, "global
//! distribution").
//!
//! ```text
//! round         0      1      2      3        of a cycle, with four ranks; round 0 needs no network
//! rank 0 to     0      1      2      3
//! rank 1 to     1      2      3      0        no rank receives from two at once, so nothing queues up
//! rank 2 to     2      3      0      1        in a switch (free of collisions)
//! rank 3 to     3      0      1      2
//!
//! a round       receiver -- ready --> sender       all earlier chunks have arrived
//!               receiver <== chunks == sender      those that wait for it, at most its share
//!               receiver <-- done --- sender       all of them have left
//! ```
//!
//! psort knows the whole distribution before it begins, so 16 rounds are enough for 16 nodes. Here
//! records are exchanged while they are read, so rounds repeat in *cycles*, each with the chunks that
//! were filled since the last one. The exchange ends with the cycle in which every rank has told
//! every other rank that this is its last. There is no barrier: a rank waits for its two partners of
//! a round, and so indirectly for all ranks; that is the cost of rounds.
//!
//! No deadlock: a rank waits for *ready* from a rank that has ended the previous round, and for *done*
//! from a rank that was told *ready*. Both are sent even if there are no chunks. So if all ranks have
//! ended a round, all end the next one. Chunks in flight are awaited as in [`sender`](super::sender).

use std::collections::BTreeMap;

use node::{Address, Closed, Rank};
use pipeline::{Failure, Worker};

use crate::error::SortError;

use crate::stages::sender::{Sender, Waiting};

/// How long a rank without chunks waits for its distributors, so that idle rounds do not spin: the
/// time of a chunk on a link of 1 GB/s, so little is lost.
const PAUSE_S: f64 = 1e-3;

/// Interval at which a rank that waits for another one checks whether the run has ended.
const LOOK_S: f64 = 0.25;

/// Messages between ranks, each with the number of its round since the beginning.
const READY: u64 = 0;
const DONE: u64 = 1;

/// Sends all chunks of the distributors.
pub(super) async fn send_all(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    let (own, ranks) = (worker.node.rank().0, worker.node.nodes());
    let mut waiting = Waiting::new();
    let mut talk = Talk {
        worker,
        sender,
        heard: BTreeMap::new(),
    };
    let mut round = 0;
    loop {
        waiting.fill(worker, sender).await?;
        if waiting.more && waiting.is_empty() {
            pause(worker, sender, &mut waiting).await?;
        }
        // Then all remaining chunks go in this cycle. A rank tells all others the same, so all ranks
        // leave together.
        let is_last = !waiting.more;
        let mut are_last = is_last;
        send_to(own, worker, sender, &mut waiting).await?;
        for step in 1..ranks {
            round += 1;
            let [to, from] = [(own + step) % ranks, (own + ranks - step) % ranks];
            talk.tell(from, [READY, round, 0]).await;
            talk.hear(to, [READY, round]).await?;
            waiting.fill(worker, sender).await?;
            send_to(to, worker, sender, &mut waiting).await?;
            talk.tell(to, [DONE, round, u64::from(is_last)]).await;
            are_last &= talk.hear(from, [DONE, round]).await? == 1;
        }
        if are_last {
            return Ok(());
        }
    }
}

async fn pause(worker: &Worker, sender: &Sender, waiting: &mut Waiting) -> Result<(), Failure> {
    let node = &worker.node;
    let until = node.now().after(node.ticks(PAUSE_S));
    let came = async { sender.chunks.pop_until(node, until).await.transpose() };
    if let Some(more) = worker.starve(came).await? {
        waiting.add(more);
    }
    Ok(())
}

/// Sends the chunks that wait for a rank, and returns when they have left.
async fn send_to(
    rank: u32,
    worker: &Worker,
    sender: &Sender,
    waiting: &mut Waiting,
) -> Result<(), Failure> {
    let count = waiting.of(rank);
    for _ in 0..count {
        waiting.send_one(worker, sender, &[rank]).await?;
    }
    if count > 0 && rank != worker.node.rank().0 {
        // All credits are back: no chunk is in flight.
        let its = [rank];
        for _ in 0..sender.window {
            worker
                .hold(sender.credits.take_any(&worker.node, &its, None))
                .await?;
        }
        for _ in 0..sender.window {
            sender.credits.give(&worker.node, rank).await;
        }
    }
    Ok(())
}

/// This rank's messages about rounds.
struct Talk<'a> {
    worker: &'a Worker,
    sender: &'a Sender,
    /// Early messages: the value by sender, kind and round.
    heard: BTreeMap<(u32, u64, u64), u64>,
}

impl Talk<'_> {
    async fn tell(&self, rank: u32, words: [u64; 3]) {
        let port = crate::protocol::ROUNDS;
        self.worker
            .node
            .send(
                Address {
                    rank: Rank(rank),
                    port,
                },
                &words,
            )
            .await;
    }

    /// Waits for a message of a rank.
    async fn hear(&mut self, rank: u32, [kind, round]: [u64; 2]) -> Result<u64, Failure> {
        let wanted = (rank, kind, round);
        let look = self.worker.node.ticks(LOOK_S);
        loop {
            if let Some(said) = self.heard.remove(&wanted) {
                return Ok(said);
            }
            let (node, port) = (&self.worker.node, &self.sender.rounds);
            let next =
                async { Ok::<_, Closed>(port.next_until(node, node.now().after(look)).await) };
            match self.worker.starve(next).await? {
                Some(message) => {
                    let words: Vec<u64> = message.words.iter().copied().collect();
                    let [kind, round, said] = words[..] else {
                        let what = format!("{words:?} of a round");
                        return Err(SortError::Foreign {
                            rank: message.from.0,
                            what,
                        }
                        .into());
                    };
                    self.heard.insert((message.from.0, kind, round), said);
                }
                // The other rank may have died.
                None if self.sender.pool.is_closed() => return Err(Closed.into()),
                None => {}
            }
        }
    }
}
