//! Watching the others: MPI does not notice that a link is cut, so ranks tell each other that they
//! are alive.
//!
//! ```text
//! every beat      I am here      > all others; rank 0 hears how far, too
//! at a failure    I failed: …    > all others, whose runs end with that
//! at silence      that one is    > all others, whose runs end with that
//!                 silent
//! at the end      I am done      > all others; who has all that waits for nobody any more
//! ```
//!
//! Whoever is silent for too long has failed. Who is done stays until the others are, for they may
//! still have to fetch what it has sent; who has failed does not.

use crate::protocol::{HERE, WATCH};
use node::{Address, Message, Node, Panic, Port, Rank, Ticket, Time};
use pipeline::{Control, Failure};

use crate::error::SortError;

use crate::ranks::progress;

/// Seconds between beats, at least: so few that rank 0 knows early how much all have to do. And at
/// most: who was just lost must be missed when the launcher ends the others.
const LEAST_BEAT_S: f64 = 0.25;
const MOST_BEAT_S: f64 = 1.0;

/// Between the two a rank sends so many in a second, to all others together.
const BEATS_PER_S: f64 = 256.0;

/// A rank is silent that was not heard for so many seconds: long enough for a machine that is very
/// busy, and short enough for a sort to end within half a minute.
const SILENT_S: f64 = 15.0;

/// Whose beat comes so much late stood still, and has heard nobody.
const STOOD_STILL_S: f64 = 2.0;

/// Bytes of a failure's text that are told: a message has not much more.
const TOLD_BYTES: usize = 1900;

/// Who shows how far all are.
const FIRST: Rank = Rank(0);

const FAILED: u64 = 1;
const DONE: u64 = 2;
const LOST: u64 = 3;
/// To oneself: the run has ended, and others are waited for; or it has failed.
const END: u64 = 4;
const LEAVE: u64 = 5;

/// How often each of so many ranks tells the others that it is alive: so many seconds apart.
fn beat_s(ranks: u32) -> f64 {
    (f64::from(ranks) / BEATS_PER_S).clamp(LEAST_BEAT_S, MOST_BEAT_S)
}

/// Where, and from when on it is watched.
#[derive(Clone, Copy)]
pub(crate) struct Hours {
    pub port: Port,
    /// So much longer than usual others may be silent before their first word.
    pub coming_s: f64,
}

/// A task that watches.
pub(crate) struct Watch {
    /// None where there is one rank.
    task: Option<Ticket<Result<(), Panic>>>,
    port: Port,
}

impl Watch {
    /// Begins to watch, for a sort that `control` watches here.
    pub(crate) fn start(node: &Node, control: &Control) -> Result<Watch, Failure> {
        Watch::during(
            node,
            control,
            Hours {
                port: WATCH,
                coming_s: 0.0,
            },
        )
    }

    /// The same beside the sort.
    pub(crate) fn during(node: &Node, control: &Control, hours: Hours) -> Result<Watch, Failure> {
        let (control, port) = (control.clone(), hours.port);
        if node.nodes() == 1 {
            return Ok(Watch { port, task: None });
        }
        let task = node.try_spawn("watch", async move |node: Node| {
            Others::new(&node, control, hours).watch(&node).await;
        });
        let stage = "watch";
        let task = task.map_err(|cause| Failure::NoThread { stage, cause })?;
        Ok(Watch {
            port,
            task: Some(task),
        })
    }

    /// Tells all others that this one has failed, if nobody has told them: what they have agreed
    /// on, each finds itself.
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
            tell_others(node, self.port, &words(FAILED, &failure.to_string())).await;
        }
    }

    /// Says good-bye: after a success with the others, else at once.
    pub(crate) async fn end(self, node: &Node, is_success: bool) {
        let Some(task) = self.task else { return };
        tell_others(node, self.port, &[DONE]).await;
        let word = if is_success { END } else { LEAVE };
        node.send(
            Address {
                rank: node.rank(),
                port: self.port,
            },
            &[word],
        )
        .await;
        task.wait(node).await.expect("the watch does not panic");
    }
}

async fn tell_others(node: &Node, port: Port, words: &[u64]) {
    for rank in others(node) {
        node.send(Address { rank, port }, words).await;
    }
}

fn others(node: &Node) -> impl Iterator<Item = Rank> {
    let own = node.rank();
    (0..node.nodes()).map(Rank).filter(move |&rank| rank != own)
}

fn ticks(node: &Node, seconds: f64) -> u64 {
    (seconds / node.seconds(1)) as u64
}

/// What is told, with a text.
fn words(what: u64, text: &str) -> Vec<u64> {
    let bytes = &text.as_bytes()[..text.len().min(TOLD_BYTES)];
    let each = bytes.chunks(8).map(|part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    });
    [what, bytes.len() as u64].into_iter().chain(each).collect()
}

/// The text of what was told.
fn text(words: &[u64]) -> String {
    let length = words.get(1).map_or(0, |&length| length as usize);
    let bytes: Vec<u8> = words
        .iter()
        .skip(2)
        .flat_map(|word| word.to_le_bytes())
        .collect();
    String::from_utf8_lossy(&bytes[..length.min(bytes.len())]).into_owned()
}

/// What is known of the others.
struct Others {
    control: Control,
    port: Port,
    /// When each was heard, as long as it is waited for.
    heard: Vec<Option<Time>>,
    /// Who is done.
    done: Vec<bool>,
    next: Time,
}

impl Others {
    fn new(node: &Node, control: Control, hours: Hours) -> Others {
        let now = node.now();
        let first = now.after(ticks(node, hours.coming_s));
        let heard = (0..node.nodes()).map(|rank| (Rank(rank) != node.rank()).then_some(first));
        let done = (0..node.nodes())
            .map(|rank| Rank(rank) == node.rank())
            .collect();
        Others {
            control,
            port: hours.port,
            heard: heard.collect(),
            done,
            next: now,
        }
    }

    async fn watch(&mut self, node: &Node) {
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

    /// Whether nobody is waited for: all others are done, or lost.
    fn is_alone(&self) -> bool {
        self.heard
            .iter()
            .zip(&self.done)
            .all(|(heard, done)| *done || heard.is_none())
    }

    /// Tells the others, and looks for those who did not.
    async fn beat(&mut self, node: &Node) {
        let now = node.now();
        // Who was stopped (Ctrl-Z) cannot say that others were silent.
        if now.since(self.next) > ticks(node, STOOD_STILL_S) {
            self.heard
                .iter_mut()
                .flatten()
                .for_each(|heard| *heard = now);
        }
        let told: Vec<u64> = [HERE]
            .into_iter()
            .chain(progress::told(&self.control.progress()))
            .collect();
        for rank in others(node) {
            let words = if rank == FIRST { &told[..] } else { &[HERE] };
            node.send(
                Address {
                    rank,
                    port: self.port,
                },
                words,
            )
            .await;
        }
        self.next = now.after(ticks(node, beat_s(node.nodes())));
        let silence = ticks(node, SILENT_S);
        for (rank, heard) in (0..).zip(&mut self.heard) {
            if heard.is_some_and(|heard| now.since(heard) > silence) {
                *heard = None;
                let seconds = SILENT_S as u64;
                tell_others(node, self.port, &[LOST, u64::from(rank), seconds]).await;
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
                let (rank, what) = (message.from.0, text(&message.words));
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
                if let Some(progress) = progress::heard(message.words.get(1..).unwrap_or_default())
                {
                    self.control.hear(message.from, progress);
                }
            }
        }
    }
}
