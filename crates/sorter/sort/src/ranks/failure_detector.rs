//! The failure detector: MPI does not notice a cut link, so ranks tell each other that they are
//! alive.
//!
//! ```text
//! every beat      alive          > all others; to rank 0 with progress
//! at a failure    failed: ...    > all others, whose runs end with this failure
//! at silence      lost: rank r   > all others, whose runs end with this failure
//! at the end      done           > all others; a rank that has this of all others stops waiting
//! ```
//!
//! A rank that is silent for too long has failed. A rank that is done waits for the others, which
//! may still have to fetch what it has sent; a rank that has failed does not.

use crate::protocol::{HEARTBEATS, HERE, SILENT_S};
use node::{Address, Message, Node, Panic, Port, Rank, Ticket, Time};
use pipeline::{Control, Failure};

use crate::error::SortError;

use crate::ranks::progress;

/// Seconds between beats, at least: few, so that rank 0 soon knows how much all have to do. And at
/// most: a rank that was just lost must be missed when the launcher ends the others.
const LEAST_BEAT_S: f64 = 0.25;
const MOST_BEAT_S: f64 = 1.0;

/// Between the two, a rank sends this many beats per second, to all others together.
const BEATS_PER_S: f64 = 256.0;

/// Seconds of delay in our own beats that show that this process stood still and could hear no
/// rank.
const STOOD_STILL_S: f64 = 2.0;

/// Bytes of a failure's text that are sent: a message has little more room.
const TOLD_BYTES: usize = 1900;

const FAILED: u64 = 1;
const DONE: u64 = 2;
const LOST: u64 = 3;
/// To this rank itself: the run has ended and waits for others (END), or it has failed (LEAVE).
const END: u64 = 4;
const LEAVE: u64 = 5;

/// Seconds between the beats of each of `ranks` ranks.
fn beat_s(ranks: u32) -> f64 {
    (f64::from(ranks) / BEATS_PER_S).clamp(LEAST_BEAT_S, MOST_BEAT_S)
}

pub(crate) struct FailureDetector {
    /// `None` with one rank.
    task: Option<Ticket<Result<(), Panic>>>,
    port: Port,
}

impl FailureDetector {
    /// Starts the detector of a sort; a failure of another rank fails `control`.
    pub(crate) fn start(node: &Node, control: &Control) -> Result<FailureDetector, Failure> {
        FailureDetector::over(node, control, HEARTBEATS)
    }

    /// As [`FailureDetector::start`], outside the sort.
    pub(crate) fn over(
        node: &Node,
        control: &Control,
        port: Port,
    ) -> Result<FailureDetector, Failure> {
        let control = control.clone();
        if node.nodes() == 1 {
            return Ok(FailureDetector { port, task: None });
        }
        let task = node.try_spawn("failure detector", async move |node: Node| {
            Peers::new(&node, control, port).listen(&node).await;
        });
        let stage = "failure detector";
        let task = task.map_err(|cause| Failure::NoThread { stage, cause })?;
        Ok(FailureDetector {
            port,
            task: Some(task),
        })
    }

    /// Tells all others that this rank has failed, unless they know: each rank finds by itself that
    /// an agreement failed.
    pub(crate) async fn alarm(&self, node: &Node, failure: &Failure) {
        let of = |error: &SortError| {
            use SortError::{Checkpoint, Different, Elsewhere, PartGone, Silent};
            matches!(
                error,
                Elsewhere { .. }
                    | Silent { .. }
                    | Different { .. }
                    | Checkpoint { .. }
                    | PartGone { .. }
            )
        };
        let is_known = match failure {
            Failure::Program(error) => error.downcast_ref().is_some_and(of),
            _ => false,
        };
        if !is_known {
            tell_peers(node, self.port, &encode_text(FAILED, &failure.to_string())).await;
        }
    }

    /// Ends the detector: after a success once all others have ended too, otherwise at once.
    pub(crate) async fn end(self, node: &Node, is_success: bool) {
        let Some(task) = self.task else { return };
        tell_peers(node, self.port, &[DONE]).await;
        let word = if is_success { END } else { LEAVE };
        node.send(
            Address {
                rank: node.rank(),
                port: self.port,
            },
            &[word],
        )
        .await;
        task.wait(node)
            .await
            .expect("the failure detector does not panic");
    }
}

async fn tell_peers(node: &Node, port: Port, words: &[u64]) {
    for rank in peers(node) {
        node.send(Address { rank, port }, words).await;
    }
}

fn peers(node: &Node) -> impl Iterator<Item = Rank> {
    let own = node.rank();
    (0..node.nodes()).map(Rank).filter(move |&rank| rank != own)
}

fn encode_text(what: u64, text: &str) -> Vec<u64> {
    let bytes = &text.as_bytes()[..text.len().min(TOLD_BYTES)];
    let each = bytes.chunks(8).map(|part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    });
    [what, bytes.len() as u64].into_iter().chain(each).collect()
}

fn decode_text(words: &[u64]) -> String {
    let length = words.get(1).map_or(0, |&length| length as usize);
    let bytes: Vec<u8> = words
        .iter()
        .skip(2)
        .flat_map(|word| word.to_le_bytes())
        .collect();
    String::from_utf8_lossy(&bytes[..length.min(bytes.len())]).into_owned()
}

struct Peers {
    control: Control,
    port: Port,
    /// By rank: its last message; `None` for this rank and for lost ones.
    heard: Vec<Option<Time>>,
    done: Vec<bool>,
    next: Time,
}

impl Peers {
    fn new(node: &Node, control: Control, port: Port) -> Peers {
        let now = node.now();
        let heard = (0..node.nodes()).map(|rank| (Rank(rank) != node.rank()).then_some(now));
        let done = (0..node.nodes())
            .map(|rank| Rank(rank) == node.rank())
            .collect();
        Peers {
            control,
            port,
            heard: heard.collect(),
            done,
            next: now,
        }
    }

    async fn listen(&mut self, node: &Node) {
        let port = node.bind(self.port);
        let mut is_done = false;
        while !(is_done && self.is_alone()) {
            if node.now() >= self.next {
                self.beat(node).await;
            }
            let Some(message) = port.next_until(node, self.next).await else {
                continue;
            };
            match message.words.first() {
                Some(&END) if message.from == node.rank() => is_done = true,
                Some(&LEAVE) if message.from == node.rank() => return,
                _ => self.hear(node.now(), &message),
            }
        }
    }

    fn is_alone(&self) -> bool {
        self.heard
            .iter()
            .zip(&self.done)
            .all(|(heard, done)| *done || heard.is_none())
    }

    /// Sends this rank's beat, and fails the run for each silent rank.
    async fn beat(&mut self, node: &Node) {
        let now = node.now();
        // A process that was stopped (Ctrl-Z) cannot tell whether others were silent.
        if now.since(self.next) > node.ticks(STOOD_STILL_S) {
            self.heard
                .iter_mut()
                .flatten()
                .for_each(|heard| *heard = now);
        }
        let told: Vec<u64> = [HERE]
            .into_iter()
            .chain(progress::encode(&self.control.progress()))
            .collect();
        for rank in peers(node) {
            let words = if rank == Rank::ROOT {
                &told[..]
            } else {
                &[HERE]
            };
            node.send(
                Address {
                    rank,
                    port: self.port,
                },
                words,
            )
            .await;
        }
        self.next = now.after(node.ticks(beat_s(node.nodes())));
        let silence = node.ticks(SILENT_S);
        for (rank, heard) in (0..).zip(&mut self.heard) {
            if heard.is_some_and(|heard| now.since(heard) > silence) {
                *heard = None;
                let seconds = SILENT_S as u64;
                tell_peers(node, self.port, &[LOST, u64::from(rank), seconds]).await;
                self.control
                    .fail(SortError::Silent { rank, seconds }.into());
            }
        }
    }

    fn hear(&mut self, now: Time, message: &Message) {
        let heard = &mut self.heard[message.from.0 as usize];
        match message.words.first().copied().unwrap_or(HERE) {
            FAILED => {
                *heard = None;
                let (rank, what) = (message.from.0, decode_text(&message.words));
                self.control
                    .fail(SortError::Elsewhere { rank, what }.into());
            }
            LOST => {
                *heard = heard.map(|_| now);
                let word = |at: usize| message.words.get(at).copied().unwrap_or(0);
                let (rank, seconds) = (word(1) as u32, word(2));
                self.control
                    .fail(SortError::Silent { rank, seconds }.into());
            }
            DONE => self.done[message.from.0 as usize] = true,
            _ => {
                *heard = heard.map(|_| now);
                if let Some(progress) = progress::decode(message.words.get(1..).unwrap_or_default())
                {
                    self.control.hear(message.from, progress);
                }
            }
        }
    }
}
