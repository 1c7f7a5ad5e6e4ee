//! Sending: a core's time per message that it sends (NanoSort, section 6.1, Figure 7).
//!
//! Rank 0 sends to all other ranks in turn.

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

/// Send messages from one core (Figure 7).
///
/// Stages: `send` on core 0, `receive` on the others.
#[derive(Args, Clone, Debug, Serialize)]
pub struct SendLoop {
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

described! { SendLoop is "send" on 64 cores; "--messages 256 --bytes 128" }

impl Program for SendLoop {
    type Answer = Handed;

    async fn run(self, node: Node) -> Handed {
        if self.objection(node.nodes()).is_some() {
            return Handed::default();
        }
        let begin = node.now();
        let others = node.nodes().saturating_sub(1);
        let mut taken = Taken::default();
        match node.rank().0.checked_sub(1) {
            None => {
                node.stage("send");
                let mut words = vec![0; words_of(self.bytes)];
                for number in 0..self.messages {
                    fill(&mut words, self.seed, Rank(0), number);
                    let rank = Rank(1 + number % others);
                    node.send(Address { rank, port: PORT }, &words).await;
                }
            }
            Some(index) => {
                node.stage("receive");
                let port = node.bind(PORT);
                for _ in 0..share(self.messages, others, index) {
                    taken.take(&port.next(&node).await.words);
                }
            }
        }
        let span = Span::since(begin, &node);
        Handed { taken, span }
    }

    fn check(&self, answers: &[Handed]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let mut expected = vec![Taken::default(); answers.len()];
        let mut words = vec![0; words_of(self.bytes)];
        for (number, rank) in (0..self.messages).zip((1..answers.len()).cycle()) {
            fill(&mut words, self.seed, Rank(0), number);
            expected[rank].take(&words);
        }
        let wrong = |(rank, answer): (usize, &Handed)| answer.taken.fault(&expected[rank], rank);
        let messages = grouped(self.messages.into());
        let result = format!("{messages} messages of {} bytes sent", self.bytes);
        Verdict::new(result, answers.iter().enumerate().find_map(wrong))
            .with_spans(answers.iter().take(1).map(|answer| answer.span))
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let messages = u64::from(self.messages);
        Some(Load::of_messages(messages, ranks, 4 << 10).and(0, 40 * messages))
    }

    fn timing(&self) -> Timing {
        Timing::Busy {
            rank: Rank(0),
            stage: "send",
        }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        too_long(self.bytes).or_else(|| alone(ranks, self.messages))
    }
}
