//! Messages to and fro between two ranks, through the same mail as those of LU and BT.

use gristmill_sim::prelude::*;
use units::grouped;

use crate::mail::{Mail, Tag};

const TAG: Tag = Tag(0);

/// Send a message to and fro between two ranks; its rate is that of one way.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(crate = "gristmill_sim::serde", rename_all = "kebab-case")]
pub struct Echo {
    /// Bytes of the message, which is sent in whole words of 8
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = from_0)]
    pub bytes: u32,
    /// Messages to and as many fro; one pair before them does not count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub rounds: u32,
    /// The seed of the run, which nothing depends on.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Echo is "echo" on 2 cores; "--bytes 8K", "--bytes 1M --rounds 10" }

/// The end of a rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(crate = "gristmill_sim::serde")]
pub struct Echoed {
    /// All rounds, by the clock of this rank.
    pub span: Span,
    /// Their seconds.
    pub seconds: f64,
    /// The first message that came back or forth with other values.
    pub wrong: Option<u32>,
}

impl Echo {
    /// The values of a message: no two of a run are alike.
    fn values(&self, message: u32) -> Vec<f64> {
        let words = self.bytes.div_ceil(8);
        let first = u64::from(message) * u64::from(words);
        (first..first + u64::from(words))
            .map(|value| value as f64)
            .collect()
    }

    /// The verdict on what some of `ranks` ranks found, the first of them at least.
    pub fn verdict(&self, answers: &[Echoed], ranks: u32) -> Verdict {
        if let Some(objection) = self.objection(ranks) {
            return Verdict::refused(objection);
        }
        let mut all = answers.iter().enumerate();
        let wrong = all.find_map(|(rank, it)| Some((rank, it.wrong?)));
        let fault = wrong
            .map(|(rank, round)| format!("rank {rank} received other values in round {round}"));
        let one_way = answers[0].seconds / (2.0 * f64::from(self.rounds));
        let rate = f64::from(self.bytes) / one_way / 1e6;
        let us = one_way * 1e6;
        let result = format!(
            "{} bytes one way: {us:.2} us, {rate:.2} MB/s",
            grouped(self.bytes.into())
        );
        Verdict {
            figure: Some(rate).filter(|rate| rate.is_finite()),
            ..Verdict::new(result, fault)
        }
        .with_spans(answers[..1].iter().map(|first| first.span))
    }
}

impl Program for Echo {
    type Answer = Echoed;

    async fn run(self, node: Node) -> Echoed {
        let mut echoed = Echoed::default();
        let me = node.rank();
        if self.objection(node.nodes()).is_some() {
            return echoed;
        }
        let other = Rank(1 - me.0);
        let mut mail = Mail::new(node);
        let mut begin = mail.node().now();
        for round in 0..=self.rounds {
            let expected = self.values(round);
            if me == Rank(0) {
                mail.send(other, TAG, &expected).await;
            }
            let values = mail.receive(other, TAG, expected.len()).await;
            if me != Rank(0) {
                mail.send(other, TAG, &values).await;
            }
            if values != expected {
                echoed.wrong.get_or_insert(round);
            }
            if round == 0 {
                begin = mail.node().now();
            }
        }
        echoed.span = Span::since(begin, mail.node());
        let ticks = echoed.span.end.since(begin);
        Echoed {
            seconds: mail.node().seconds(ticks),
            ..echoed
        }
    }

    fn check(&self, answers: &[Echoed]) -> Verdict {
        self.verdict(answers, answers.len() as u32)
    }

    fn timing(&self) -> Timing {
        Timing::Part { of: "rounds" }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        (ranks != 2).then(|| format!("an echo takes 2 ranks, and these are {ranks}"))
    }
}
