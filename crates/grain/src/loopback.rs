//! Loopback: how long a message takes through a NIC and a core, wire to wire (NanoSort, Table 1).
//!
//! ```text
//!   last rank  --message-->  NIC | rank 0: reads it, sends it back | NIC  --message-->  last rank
//!                            ^ first flit in                last flit out ^
//! ```
//!
//! One message at a time. The sender sits behind another NIC, so that nothing else passes rank 0's.

use clap::Args;
use node::{Address, Node, Port, Rank};
use serde::Serialize;

use crate::described;
use crate::message::{alone, fill, too_long, words_of};
use crate::options::{count, message_bytes};
use crate::program::{Program, Span, Timing, Verdict, grouped};

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
    /// Decides what the messages say.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

// Two NICs of four cores: the sender is behind another one.
described! { Loopback is "loopback" on 8 cores; "--bytes 64", "--machine nebula" }

/// What a rank of the loopback saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looped {
    /// Messages that it sent on (rank 0) or got back (the sender).
    pub messages: u32,
    /// Messages that came back changed.
    pub changed: u32,
    /// Whether it sends from behind rank 0's NIC.
    pub shares_nic: bool,
    /// How long it took.
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
        let fault = if [first.messages, last.messages] != [self.messages; 2] {
            let (there, back) = (first.messages, last.messages);
            Some(format!(
                "of {} messages {there} came and {back} came back",
                self.messages
            ))
        } else if last.changed > 0 {
            Some(format!("{} messages came back changed", last.changed))
        } else if last.shares_nic && self.messages > 0 {
            Some("the sender is behind core 0's own NIC: ask for more cores".to_owned())
        } else {
            None
        };
        let messages = grouped(self.messages.into());
        let result = format!("{messages} messages of {} bytes there and back", self.bytes);
        Verdict::new(result, fault).with_spans(std::iter::once(last.span))
    }

    fn timing(&self) -> Timing {
        Timing::Tap(Rank(0))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        too_long(self.bytes).or_else(|| alone(ranks, self.messages))
    }
}

impl Loopback {
    async fn forward(&self, node: &Node, sender: Rank) -> Looped {
        let begin = node.now();
        node.stage("forward");
        let port = node.bind(PORT);
        for _ in 0..self.messages {
            let message = port.next(node).await;
            node.forward(
                Address {
                    rank: sender,
                    port: PORT,
                },
                &message,
            )
            .await;
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
            node.send(
                Address {
                    rank: Rank(0),
                    port: PORT,
                },
                &words,
            )
            .await;
            let message = port.next(node).await;
            looped.messages += 1;
            looped.changed += u32::from(*message.words != *words);
        }
        Looped {
            span: Span::since(begin, node),
            ..looped
        }
    }
}
