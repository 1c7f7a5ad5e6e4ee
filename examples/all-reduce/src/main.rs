//! All-reduce on a ring: every core has a vector, and ends with the sum of all vectors.
//!
//! The vector is cut into a chunk per core. In each step every core sends one chunk to the next core
//! and receives another from the one before. In the first half it adds what it receives, in the second
//! half it keeps it, so after 2 (p - 1) steps all p cores have all sums.

use gristmill_sim::prelude::*;

const PORT: Port = Port(1);

/// Add the vectors of all cores, around a ring.
///
/// Stages: `reduce`, `gather`.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(crate = "gristmill_sim::serde")]
struct AllReduce {
    /// Words of the vector of a core
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = count)]
    words: u32,
    /// The seed of the run.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    seed: u64,
}

described! { AllReduce is "all-reduce" on 16 cores; "--words 1024", "--machine torus.toml" }

impl AllReduce {
    fn values(&self, rank: u32) -> Vec<u64> {
        let mut random = Random::stream(self.seed, rank.into());
        (0..self.words).map(|_| random.next_u64()).collect()
    }

    /// The words of a chunk, of `chunks`.
    fn chunk(&self, chunk: u32, chunks: u32) -> std::ops::Range<usize> {
        let begin =
            |chunk: u32| (u64::from(self.words) * u64::from(chunk) / u64::from(chunks)) as usize;
        begin(chunk)..begin(chunk + 1)
    }
}

impl Program for AllReduce {
    type Answer = (Vec<u64>, Span);

    async fn run(self, node: Node) -> Self::Answer {
        let begin = node.now();
        let (me, cores) = (node.rank().0, node.nodes());
        let port = node.bind(PORT);
        let next = Address {
            rank: Rank((me + 1) % cores),
            port: PORT,
        };
        let mut values = self.values(me);
        let mut early: Vec<Message> = Vec::new();
        for step in 0..2 * (cores - 1) {
            let adds = step < cores - 1;
            node.stage(if adds { "reduce" } else { "gather" });
            let sent = self.chunk((me + 2 * cores - step) % cores, cores);
            let mut words = vec![u64::from(step)];
            words.extend(&values[sent]);
            node.send(next, &words).await;
            // Messages may overtake each other on their way.
            let is_due = |message: &Message| message.words[0] == u64::from(step);
            let message = loop {
                if let Some(found) = early.iter().position(is_due) {
                    break early.swap_remove(found);
                }
                early.push(port.next(&node).await);
            };
            let received = self.chunk((me + 2 * cores - step - 1) % cores, cores);
            node.work(Work::Scan {
                words: received.len() as u64,
            });
            for (value, word) in values[received].iter_mut().zip(&message.words[1..]) {
                *value = if adds {
                    value.wrapping_add(*word)
                } else {
                    *word
                };
            }
        }
        (values, Span::since(begin, &node))
    }

    fn check(&self, answers: &[Self::Answer]) -> Verdict {
        let mut sums = vec![0_u64; self.words as usize];
        for rank in 0..answers.len() as u32 {
            let values = self.values(rank);
            sums.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum = sum.wrapping_add(value));
        }
        let wrong = answers.iter().position(|(values, _)| *values != sums);
        let fault = wrong.map(|core| format!("core {core} has other sums"));
        let result = format!("{} cores have {} sums", answers.len(), self.words);
        Verdict::new(result, fault).with_spans(answers.iter().map(|(_, span)| *span))
    }

    fn messages(&self, answers: &[Self::Answer], _multicast: bool) -> Option<u64> {
        let cores = answers.len() as u64;
        Some(2 * cores * (cores - 1))
    }

    fn objection(&self, cores: u32) -> Option<String> {
        let longest = self.words.div_ceil(cores) as usize + 1;
        (longest > MESSAGE_WORDS)
            .then(|| format!("a chunk has {longest} words, and a message {MESSAGE_WORDS}"))
    }
}

fn main() -> std::process::ExitCode {
    gristmill_sim::main::<AllReduce>()
}
