//! The exchange in rounds: each rank sends to one and receives from one (psort, "global
//! distribution").
//!
//! ```text
//! round         0      1      2      3        of a cycle, with four ranks; round 0 needs no network
//! rank 0 to     0      1      2      3
//! rank 1 to     1      2      3      0        nobody receives from two at once, so nothing queues up
//! rank 2 to     2      3      0      1        in a switch (free of collisions)
//! rank 3 to     3      0      1      2
//!
//! a round       receiver -- ready --> sender       what came before has come
//!               receiver <== chunks == sender      what waits for it, no more than its share
//!               receiver <-- done --- sender       that has left
//! ```
//!
//! psort knows what each node gets before it begins, and 16 rounds are enough for 16 nodes. Here
//! records come while they are read, so rounds go on in *cycles*, each with what has come since,
//! until a cycle in which every rank has told every other that it was its last one. There is no
//! barrier: a rank waits for the two that it has to do with, and so for all in the end, which is
//! what rounds cost.
//!
//! No deadlock: a rank waits for *ready* of one that has ended the round before, and for *done* of
//! one that has been told *ready*; either comes whether or not there is anything to send, so if all
//! have ended a round, all end the next one. What is on its way is waited for as in
//! [`sender`](super::sender).

use std::collections::BTreeMap;

use node::{Address, Closed, Rank};
use pipeline::{Failure, Worker};

use crate::error::SortError;

use crate::stages::sender::{Sender, Waiting};

/// A rank that has nothing to send waits so long for its distributors, or else others' rounds would
/// have to go as fast as they can: the time of a chunk on a link of 1 GB/s, so that little is lost.
const PAUSE_S: f64 = 1e-3;

/// Who waits for another rank looks so often whether the run has ended.
const LOOK_S: f64 = 0.25;

/// What ranks tell each other, with the number of the round since the beginning.
const READY: u64 = 0;
const DONE: u64 = 1;

/// Sends all that distributors have.
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
        // Then all that is left goes in this cycle. Ranks tell the same to all others, so all leave
        // together.
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

/// Waits a little for something to send.
async fn pause(worker: &Worker, sender: &Sender, waiting: &mut Waiting) -> Result<(), Failure> {
    let node = &worker.node;
    let until = node.now().after((PAUSE_S / node.seconds(1)) as u64);
    let came = async { sender.chunks.pop_until(node, until).await.transpose() };
    if let Some(more) = worker.starve(came).await? {
        waiting.add(more);
    }
    Ok(())
}

/// Sends what waits for a rank now, and comes back when it has left.
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
        // When all of its credits are back, nothing is on its way.
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

/// What ranks tell each other of rounds.
struct Talk<'a> {
    worker: &'a Worker,
    sender: &'a Sender,
    /// What came before it was waited for: by sender, kind and round, what else it says.
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

    /// Waits for a word of a rank.
    async fn hear(&mut self, rank: u32, [kind, round]: [u64; 2]) -> Result<u64, Failure> {
        let wanted = (rank, kind, round);
        let look = (LOOK_S / self.worker.node.seconds(1)) as u64;
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
                // It may have died.
                None if self.sender.pool.is_closed() => return Err(Closed.into()),
                None => {}
            }
        }
    }
}
