//! Flood: every rank sends as fast as it can, which measures the network and the simulator.
//!
//! Without a target, message number j of rank i goes to rank `perm_j(i)`, where each `perm_j` is a
//! [`Permutation`]: targets look random, and every rank receives one message of each number.
//!
//! ```text
//!   a burst:  send 16 to random ranks, then receive 16     until all are through
//! ```
//!
//! With a target, all ranks behind other NICs send to the ranks behind the target's NIC in turn:
//! the worst case of incast.
//!
//! Messages go in bursts because a sending core does not receive. A receive queue of a nanoPU core
//! holds 63 entries of 64 bytes; if all cores sent more than fits before they received, every
//! sender could wait for room at another. A burst of small messages fits almost four times. A
//! rank gets ahead of others only by the messages that it has received, so a queue rarely holds
//! more than a burst or two; that it never fills is not proven. Behind a target no rank both sends
//! and receives.

use clap::Args;
use node::{Address, MessagePort, Node, Port, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::message::{Handed, Taken, fill, too_long, words_of};
use crate::options::{count, from_0, message_bytes};
use crate::permutation::Permutation;
use crate::program::{Program, Span, Verdict};
use units::grouped;

const PORT: Port = Port(1);

/// Messages that a rank sends before it receives: a quarter of a receive queue.
const BURST: u32 = 16;

/// Bytes of a burst, also a quarter of a receive queue; a larger message is a burst by itself.
const BURST_BYTES: u32 = 1024;

/// Send messages from all cores to random ones: the simulator's own benchmark.
///
/// Stages: `send`, `receive`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Flood {
    /// Bytes of a message
    #[arg(long, value_name = "B", default_value_t = 16, value_parser = message_bytes)]
    pub bytes: u32,
    /// Messages of each sending core
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count)]
    pub messages: u32,
    /// Send all messages to the cores behind this core's NIC [default: to random cores]
    #[arg(long, value_name = "R", value_parser = from_0)]
    pub to: Option<u32>,
    /// Seed of targets and contents.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Flood is "flood" on 1024 cores; "--cores 64K --threads 2", "--cores 256 --to 0" }

/// The answer of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flooded {
    /// Received messages, begin and end.
    pub handed: Handed,
    /// Ranks that share a NIC.
    pub ranks_per_nic: u32,
}

impl Program for Flood {
    type Answer = Flooded;

    async fn run(self, node: Node) -> Flooded {
        let begin = node.now();
        let mut taken = Taken::default();
        if self.objection(node.nodes()).is_none() {
            let port = node.bind(PORT);
            match self.to.map(Rank) {
                None => self.to_all(&node, &port, &mut taken).await,
                Some(to) => {
                    self.to_nic(&node, &port, Nic::of(to, &node), &mut taken)
                        .await
                }
            }
        }
        let span = Span::since(begin, &node);
        let handed = Handed { taken, span };
        Flooded {
            handed,
            ranks_per_nic: node.ranks_per_nic(),
        }
    }

    fn check(&self, answers: &[Flooded]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let mut expected = vec![Taken::default(); answers.len()];
        let mut words = vec![0; words_of(self.bytes)];
        self.for_each(answers, |from, number, to| {
            fill(&mut words, self.seed, Rank(from), number);
            expected[to as usize].take(&words);
        });
        let wrong =
            |(rank, answer): (usize, &Flooded)| answer.handed.taken.fault(&expected[rank], rank);
        let fault = answers.iter().enumerate().find_map(wrong);
        let messages = grouped(expected.iter().map(|taken| taken.count).sum());
        let result = format!("{messages} messages of {} bytes arrived once", self.bytes);
        Verdict::new(result, fault).with_spans(answers.iter().map(|answer| answer.handed.span))
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let messages = u64::from(self.messages) * u64::from(ranks);
        Some(Load::of_messages(messages, ranks, 10 << 10))
    }

    /// No rank sends to its own NIC.
    fn needs_two_nics(&self) -> bool {
        self.to.is_some() && self.messages > 0
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let no_target = |to: u32| {
            let last = ranks.saturating_sub(1);
            let why = format!("--to {to}: there is no such core; {ranks} cores are 0 to {last}");
            (to >= ranks).then_some(why)
        };
        too_long(self.bytes)
            .or_else(|| (self.bytes < 8).then(|| "a flood's messages hold 8 bytes".to_owned()))
            .or_else(|| self.to.and_then(no_target))
    }
}

impl Flood {
    async fn to_all(&self, node: &Node, port: &MessagePort, taken: &mut Taken) {
        let mut words = vec![0; words_of(self.bytes)];
        let burst = (BURST_BYTES / self.bytes).clamp(1, BURST);
        let mut sent = 0;
        while sent < self.messages {
            let until = self.messages.min(sent + burst);
            node.stage("send");
            for number in sent..until {
                fill(&mut words, self.seed, node.rank(), number);
                let rank = Rank(self.permutation(node.nodes(), number).of(node.rank().0));
                node.send(Address { rank, port: PORT }, &words).await;
            }
            node.stage("receive");
            for _ in sent..until {
                taken.take(&port.next(node).await.words);
            }
            sent = until;
        }
    }

    async fn to_nic(&self, node: &Node, port: &MessagePort, nic: Nic, taken: &mut Taken) {
        let rank = node.rank();
        if nic.holds(rank) {
            node.stage("receive");
            for _ in 0..nic.received(self.messages, node.nodes(), rank) {
                taken.take(&port.next(node).await.words);
            }
            return;
        }
        node.stage("send");
        let mut words = vec![0; words_of(self.bytes)];
        for number in 0..self.messages {
            fill(&mut words, self.seed, rank, number);
            let rank = nic.target(rank, number);
            node.send(Address { rank, port: PORT }, &words).await;
        }
    }

    /// Calls `each` with the sender, the number and the receiver of each message.
    fn for_each(&self, answers: &[Flooded], mut each: impl FnMut(u32, u32, u32)) {
        let ranks = answers.len() as u32;
        let nic = self
            .to
            .map(|to| Nic::new(Rank(to), answers[0].ranks_per_nic, ranks));
        for number in 0..self.messages {
            let permutation = self.permutation(ranks, number);
            for from in 0..ranks {
                match nic {
                    None => each(from, number, permutation.of(from)),
                    Some(nic) if nic.holds(Rank(from)) => {}
                    Some(nic) => each(from, number, nic.target(Rank(from), number).0),
                }
            }
        }
    }

    fn permutation(&self, ranks: u32, number: u32) -> Permutation {
        Permutation::new(ranks, self.seed, number.into())
    }
}

/// The ranks behind one NIC.
#[derive(Clone, Copy, Debug)]
struct Nic {
    base: u32,
    ranks: u32,
}

impl Nic {
    fn of(rank: Rank, node: &Node) -> Nic {
        Nic::new(rank, node.ranks_per_nic(), node.nodes())
    }

    /// The NIC of `rank`, in a run of `all` ranks.
    fn new(rank: Rank, ranks_per_nic: u32, all: u32) -> Nic {
        let ranks_per_nic = ranks_per_nic.max(1);
        let base = rank.0 - rank.0 % ranks_per_nic;
        Nic {
            base,
            ranks: ranks_per_nic.min(all - base),
        }
    }

    fn holds(self, rank: Rank) -> bool {
        (self.base..self.base + self.ranks).contains(&rank.0)
    }

    /// The receiver of a message.
    fn target(self, from: Rank, number: u32) -> Rank {
        let turn = (u64::from(from.0) + u64::from(number)) % u64::from(self.ranks);
        Rank(self.base + turn as u32)
    }

    /// Messages that one rank behind this NIC receives if every other rank sends `messages`.
    ///
    /// A sender takes turns: each full round is one message per receiver, and the rest go to the
    /// `messages % ranks` receivers from the sender's own turn on.
    fn received(self, messages: u32, all: u32, rank: Rank) -> u64 {
        let (group, rest) = (u64::from(self.ranks), u64::from(messages % self.ranks));
        let senders = u64::from(all - self.ranks);
        let rounds = senders * u64::from(messages / self.ranks);
        // The rest of a sender reaches this rank if its own turn is at most `rest` before.
        let turn = u64::from(rank.0 - self.base);
        let below = |end: u32, residue: u64| (u64::from(end) + group - 1 - residue) / group;
        let senders_at = |residue: u64| {
            below(all, residue) - below(self.base + self.ranks, residue) + below(self.base, residue)
        };
        rounds
            + (0..rest)
                .map(|back| senders_at((turn + group - back) % group))
                .sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_a_target_are_counted_right() {
        for (all, ranks_per_nic) in [(1, 1), (2, 1), (5, 4), (9, 4), (16, 4), (23, 5), (40, 8)] {
            for to in 0..all {
                let nic = Nic::new(Rank(to), ranks_per_nic, all);
                assert!(nic.holds(Rank(to)));
                for messages in 0..12 {
                    let mut naive = vec![0; all as usize];
                    for from in (0..all).map(Rank).filter(|from| !nic.holds(*from)) {
                        for number in 0..messages {
                            naive[nic.target(from, number).0 as usize] += 1;
                        }
                    }
                    for rank in (0..all).map(Rank).filter(|rank| nic.holds(*rank)) {
                        assert_eq!(nic.received(messages, all, rank), naive[rank.0 as usize]);
                    }
                    assert!(
                        (0..all).all(|rank| nic.holds(Rank(rank)) || naive[rank as usize] == 0)
                    );
                }
            }
        }
    }
}
