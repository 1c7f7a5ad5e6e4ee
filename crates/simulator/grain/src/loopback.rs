//! Loopback: the time of a message through a NIC and a core, wire to wire (NanoSort, Table 1).
//!
//! ```text
//!   last rank  --message-->  NIC | rank 0: reads it, sends it back | NIC  --message-->  last rank
//!                            ^ first flit in                last flit out ^
//! ```
//!
//! There is one message at a time. The sender is behind another NIC, so nothing else passes rank
//! 0's.

use clap::Args;
use node::{Address, Node, Port, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::message::{alone, fill, too_long, words_of};
use crate::options::{count, message_bytes};
use crate::program::{Program, Span, Timing, Verdict};
use units::grouped;

const PORT: Port = Port(1);

/// Send messages to a core that sends each back, timed at its NIC (Table 1).
///
/// The last core sends to core 0. Stages: `forward` on core 0, `loop` on the sender.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Loopback {
    /// Bytes of a message
    #[arg(long, value_name = "B", default_value_t = 8, value_parser = message_bytes)]
    pub bytes: u32,
    /// Messages, one after the other
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = count)]
    pub messages: u32,
    /// Seed of the contents.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

// Two NICs of four cores each.
described! { Loopback is "loopback" on 8 cores; "--bytes 64", "--machine nebula" }

/// The answer of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looped {
    /// Messages that rank 0 forwarded, or that the sender received back.
    pub messages: u32,
    /// Messages that came back changed.
    pub changed: u32,
    /// Whether the sender is behind rank 0's NIC.
    pub shares_nic: bool,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for Loopback {
    type Answer = Looped;

    async fn run(self, node: Node) -> Looped {
        if self.objection(node.nodes()).is_some() {
            return Looped::default();
        }
        let sender = Rank(node.nodes() - 1);
        match node.rank() {
            Rank(0) => self.forward(&node, sender).await,
            rank if rank == sender => self.send(&node).await,
            _ => Looped::default(),
        }
    }

    fn check(&self, answers: &[Looped]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let Some((first, last)) = answers.first().zip(answers.last()) else {
            return Verdict::refused("there are no cores".to_owned());
        };
        let fault = self.fault(first, last);
        let messages = grouped(self.messages.into());
        let result = format!("{messages} messages of {} bytes there and back", self.bytes);
        Verdict::new(result, fault).with_spans(std::iter::once(last.span))
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let messages = u64::from(self.messages);
        Some(Load::of_messages(2 * messages, ranks, 4 << 10))
    }

    fn timing(&self) -> Timing {
        Timing::Tap(Rank(0))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        too_long(self.bytes).or_else(|| alone(ranks, self.messages))
    }
}

impl Loopback {
    fn fault(&self, first: &Looped, last: &Looped) -> Option<String> {
        let (there, back) = (first.messages, last.messages);
        if [there, back] != [self.messages; 2] {
            return Some(format!(
                "of {} messages {there} arrived and {back} came back",
                self.messages
            ));
        }
        if last.changed > 0 {
            return Some(format!("{} messages came back changed", last.changed));
        }
        (last.shares_nic && self.messages > 0)
            .then(|| "the sender is behind core 0's own NIC: ask for more cores".to_owned())
    }

    async fn forward(&self, node: &Node, sender: Rank) -> Looped {
        let begin = node.now();
        node.stage("forward");
        let port = node.bind(PORT);
        for _ in 0..self.messages {
            let message = port.next(node).await;
            node.forward(at(sender), &message).await;
        }
        let span = Span::since(begin, node);
        Looped {
            messages: self.messages,
            span,
            ..Looped::default()
        }
    }

    async fn send(&self, node: &Node) -> Looped {
        let begin = node.now();
        node.stage("loop");
        let port = node.bind(PORT);
        let shares_nic = node.rank().0 < node.ranks_per_nic();
        let mut looped = Looped {
            shares_nic,
            ..Looped::default()
        };
        let mut words = vec![0; words_of(self.bytes)];
        for number in 0..self.messages {
            fill(&mut words, self.seed, node.rank(), number);
            node.send(at(Rank(0)), &words).await;
            let message = port.next(node).await;
            looped.messages += 1;
            looped.changed += u32::from(*message.words != *words);
        }
        let span = Span::since(begin, node);
        Looped { span, ..looped }
    }
}

fn at(rank: Rank) -> Address {
    Address { rank, port: PORT }
}
