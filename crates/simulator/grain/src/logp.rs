//! LogP: overheads, latency and gap of the network as a program sees them, by two methods.
//!
//! ```text
//!   signature   time to issue a request, over their number and the time between them
//!               (Culler, Liu, Martin, Yoshikawa, IEEE Micro 1996)
//!   PRTT        n messages, with a time between them, and one answer
//!               (Hoefler, Lichei, Rehm, IPDPS 2007)
//! ```
//!
//! Core 0 measures by its own clock; another core answers. Each method is repeated, and the report has
//! the median and the range.

mod answering;
mod meter;
mod methods;

use clap::Args;
use node::{Address, Node, Port, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::message::alone;
use crate::options::{count, from_0};
use crate::program::{Measured, Program, Timing, Verdict};

const PORT: Port = Port(1);

/// Measure LogP: overheads, latency, gap, and time per byte, by two methods.
///
/// Core 0 measures, another one answers; the rest do nothing.
#[derive(Args, Clone, Debug, Serialize)]
pub struct LogP {
    /// The core that answers [default: the last one]
    #[arg(long, value_name = "R", value_parser = from_0)]
    pub to: Option<u32>,
    /// Requests without a reply at most (gam allows 8)
    #[arg(long, value_name = "W", default_value_t = 8, value_parser = count)]
    pub window: u32,
    /// Repetitions, of which the median and the range are shown
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count)]
    pub rounds: u32,
    /// The parameter that is the run's figure, in us, or us for a byte
    #[arg(long, value_name = "NAME", default_value = "L", value_parser = NAMES)]
    pub figure: String,
    /// No message has contents that matter.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

/// Overhead of a send and of a receive, latency, gap of messages, gap of bytes; a round trip.
const NAMES: [&str; 6] = ["o_s", "o_r", "L", "g", "G", "RTT"];

described! { LogP is "logp" on 2 cores; "--machine now", "--machine threads --rounds 50" }

/// The parameters that core 0 measured; of other cores nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    measured: Vec<Measured>,
    rank: u32,
}

impl Program for LogP {
    type Answer = Parameters;

    async fn run(self, node: Node) -> Parameters {
        let rank = node.rank().0;
        let mut parameters = Parameters {
            measured: Vec::new(),
            rank,
        };
        if self.objection(node.nodes()).is_some() {
            return parameters;
        }
        let to = self.to.unwrap_or(node.nodes() - 1);
        if rank == 0 {
            node.stage("measure");
            let address = Address {
                rank: Rank(to),
                port: PORT,
            };
            let meter = meter::Meter::new(&node, address, self.window);
            parameters.measured = methods::all(&meter, self.rounds).await;
        } else if rank == to {
            node.stage("answer");
            answering::answer(&node).await;
        }
        parameters
    }

    fn check(&self, answers: &[Parameters]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let measured = answers[0].measured.clone();
        if measured.is_empty() {
            return Verdict::refused("core 0 measured nothing".to_owned());
        }
        // A real clock on a busy machine may hide a parameter, which is a difference of times.
        let untold = measured.iter().find(|one| !one.is_told());
        let remark = untold.map(|one| {
            format!(
                "{} by {} is below what the clock can tell: repeat it on a quiet machine, with more --rounds",
                one.name, one.method
            )
        });
        // PRTT sees the gap that the processor's overheads hide from the signature.
        let of_figure = measured.iter().rfind(|one| one.name == self.figure);
        let figure = of_figure.filter(|one| one.is_told()).map(|one| one.median);
        // Where all repetitions are the same there is no noise, and the method is wrong.
        let is_wrong = untold.is_some_and(|one| one.low == one.high);
        let window = self.window;
        let peer = self.peer(answers);
        let mut result = format!("LogP between cores 0 and {peer}, window {window}");
        if let Some(remark) = &remark {
            result = format!("{result}; {remark}");
        }
        Verdict {
            figure,
            measured,
            ..Verdict::new(result, remark.filter(|_| is_wrong))
        }
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let messages =
            u64::from(self.rounds).saturating_mul(methods::MESSAGES * u64::from(self.window));
        Some(Load::of_messages(messages, ranks, 4 << 10))
    }

    fn timing(&self) -> Timing {
        Timing::LastEnd
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let no_peer = |to: u32| {
            let last = ranks.saturating_sub(1);
            (to == 0 || to >= ranks)
                .then(|| format!("--to {to}: expected a core other than 0, of 1 to {last}"))
        };
        alone(ranks, 1).or_else(|| self.to.and_then(no_peer))
    }
}

impl LogP {
    fn peer(&self, answers: &[Parameters]) -> u32 {
        let last = answers.last().map_or(0, |answer| answer.rank);
        self.to.unwrap_or(last)
    }
}
