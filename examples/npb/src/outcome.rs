//! The end of a run: what its ranks found together, and the verdict on it.

use gristmill_sim::serde::{Deserialize, Serialize};
use gristmill_sim::{Node, Span, Time, Verdict};
use units::{amount, grouped};

use crate::block::State;
use crate::class::Reference;
use crate::mail::{Counts, Mail};
use crate::options::Case;

/// NPB's limit of relative errors.
const TOLERANCE: f64 = 1e-8;

/// What a rank knows at the end; all but its own part is of all ranks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(crate = "gristmill_sim::serde")]
pub struct Outcome {
    /// Norms of the residual.
    pub residual: State,
    /// Norms of the distance from the exact solution.
    pub error: State,
    /// The surface integral, of LU.
    pub integral: Option<f64>,
    /// Seconds of the iterations on the slowest rank.
    pub seconds: f64,
    /// Messages of the iterations, of all ranks.
    pub sent: Counts,
    /// Messages of the iterations, of this rank.
    pub own: Counts,
    /// The iterations by the clock of this rank.
    pub span: Span,
}

impl Outcome {
    /// The end of the iterations, which began at a time.
    pub async fn of(mail: &mut Mail, begin: Time) -> Outcome {
        let own = mail.take_counts();
        let span = Span::since(begin, mail.node());
        let mut seconds = [seconds(mail.node(), span)];
        mail.combine(&mut seconds, f64::max).await;
        let [messages, bytes] = mail.sums([own.messages as f64, own.bytes as f64]).await;
        Outcome {
            seconds: seconds[0],
            sent: Counts {
                messages: messages as u64,
                bytes: bytes as u64,
            },
            own,
            span,
            ..Outcome::default()
        }
    }

    /// The verdict on the outcomes of ranks, of all or of one, when `expected` messages should have been sent.
    pub fn judge(case: &Case, outcomes: &[Outcome], expected: Counts) -> Verdict {
        let Some(first) = outcomes.first() else {
            return Verdict::refused("no ranks".to_owned());
        };
        let differs = |other: &&Outcome| other.bits() != first.bits();
        let reference = case.reference();
        let fault = reference
            .and_then(|reference| first.fault(case, reference))
            .or_else(|| {
                outcomes
                    .iter()
                    .find(differs)
                    .map(|_| "ranks differ in their values".to_owned())
            })
            .or_else(|| {
                let wrong = first.sent != expected;
                wrong.then(|| format!("{:?} were sent, not {expected:?}", first.sent))
            });
        let size = case.size();
        let mflops = case.operations() * f64::from(size.iterations) / first.seconds / 1e6;
        let end = match (&fault, reference) {
            (Some(_), _) => "failed",
            (None, Some(_)) => "verified",
            (None, None) => "ran, unverified",
        };
        let rate = if mflops.is_finite() {
            format!("{mflops:.0} MFLOPS, ")
        } else {
            String::new()
        };
        let Counts { messages, bytes } = first.sent;
        let sent = format!("{} messages with {}", grouped(messages), amount(bytes));
        let result = format!("{} {end}: {rate}{sent}", case.name());
        Verdict {
            figure: Some(mflops).filter(|mflops| mflops.is_finite()),
            ..Verdict::new(result, fault)
        }
        .with_spans(outcomes.iter().map(|outcome| outcome.span))
    }

    /// All values, which may be no numbers, bit by bit.
    fn bits(&self) -> Vec<u64> {
        let all = self
            .residual
            .into_iter()
            .chain(self.error)
            .chain(self.integral);
        all.map(f64::to_bits).collect()
    }

    /// The first value that is not the reference's.
    fn fault(&self, case: &Case, reference: &Reference) -> Option<String> {
        let (step, wanted) = (
            case.size().step,
            case.benchmark.sizes[case.options.class as usize].step,
        );
        if (step - wanted).abs() > TOLERANCE {
            return Some(format!("dt is {step}, and {wanted} in this class"));
        }
        let named = |what: &'static str, ours: State, theirs: State| {
            let pairs = ours.into_iter().zip(theirs).enumerate();
            pairs.map(move |(at, pair)| (format!("{what} {}", at + 1), pair))
        };
        let integral = self.integral.zip(reference.integral);
        let all = named("residual", self.residual, reference.residual)
            .chain(named("error", self.error, reference.error))
            .chain(integral.map(|pair| ("surface integral".to_owned(), pair)));
        let is_near = |ours: f64, theirs: f64| (ours - theirs).abs() <= TOLERANCE * theirs.abs();
        // A value may be no number, which is near nothing.
        let mut wrong = all.filter(|(_, (ours, theirs))| !is_near(*ours, *theirs));
        wrong.next().map(|(what, (ours, theirs))| {
            format!("{what} is {ours:.13e}, and should be {theirs:.13e}")
        })
    }
}

fn seconds(node: &Node, span: Span) -> f64 {
    node.seconds(span.end.since(span.begin))
}

/// Norms from sums of squares over all points inside.
pub fn norms(sums: State, points: usize) -> State {
    let inside = (points as f64 - 2.0).powi(3);
    sums.map(|sum| (sum / inside).sqrt())
}
