//! Receiving: a core's time per message that waits for it (NanoSort, section 6.1, Figure 6).
//!
//! All other ranks send their shares of the messages to rank 0 as fast as they can.

use clap::Args;
use node::{Address, Node, Port, Rank};
use serde::Serialize;

use crate::described;
use crate::load::Load;
use crate::message::{Handed, Taken, alone, fill, share, too_long, words_of};
use crate::options::{count, message_bytes};
use crate::program::{Program, Span, Timing, Verdict};
use units::grouped;

const PORT: Port = Port(1);

/// Receive messages that wait for one core (Figure 6).
///
/// Stages: `receive` on core 0, `send` on the others.
#[derive(Args, Clone, Debug, Serialize)]
pub struct ReceiveLoop {
    /// Bytes of a message
    #[arg(long, value_name = "B", default_value_t = 16, value_parser = message_bytes)]
    pub bytes: u32,
    /// Total number of messages
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count)]
    pub messages: u32,
    /// Seed of the contents.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { ReceiveLoop is "receive" on 64 cores; "--messages 256 --bytes 128" }

impl Program for ReceiveLoop {
    type Answer = Handed;

    async fn run(self, node: Node) -> Handed {
        if self.objection(node.nodes()).is_some() {
            return Handed::default();
        }
        let begin = node.now();
        let mut taken = Taken::default();
        match node.rank().0.checked_sub(1) {
            None => {
                node.stage("receive");
                let port = node.bind(PORT);
                for _ in 0..self.messages {
                    taken.take(&port.next(&node).await.words);
                }
            }
            Some(index) => {
                node.stage("send");
                self.send(&node, share(self.messages, node.nodes() - 1, index))
                    .await;
            }
        }
        let span = Span::since(begin, &node);
        Handed { taken, span }
    }

    fn check(&self, answers: &[Handed]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let others = answers.len() as u32 - 1;
        let mut expected = Taken::default();
        let mut words = vec![0; words_of(self.bytes)];
        for message in 0..self.messages {
            let (from, number) = (Rank(1 + message % others), message / others);
            fill(&mut words, self.seed, from, number);
            expected.take(&words);
        }
        let messages = grouped(self.messages.into());
        let result = format!("{messages} messages of {} bytes received", self.bytes);
        Verdict::new(result, answers[0].taken.fault(&expected, 0))
            .with_spans(std::iter::once(answers[0].span))
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let messages = u64::from(self.messages);
        Some(Load::of_messages(messages, ranks, 4 << 10).and(0, 40 * messages))
    }

    fn timing(&self) -> Timing {
        Timing::Busy {
            rank: Rank(0),
            stage: "receive",
        }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        too_long(self.bytes).or_else(|| alone(ranks, self.messages))
    }
}

impl ReceiveLoop {
    async fn send(&self, node: &Node, messages: u32) {
        let (rank, port) = (Rank(0), PORT);
        let mut words = vec![0; words_of(self.bytes)];
        for number in 0..messages {
            fill(&mut words, self.seed, node.rank(), number);
            node.send(Address { rank, port }, &words).await;
        }
    }
}
