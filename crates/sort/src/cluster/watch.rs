//! Watching the others: MPI does not notice that a link is cut, so ranks tell each other that they are alive.
//!
//! ```text
//! every second    I am here   > all others; rank 0 hears how far, too
//! at a failure    I failed: … > all others, whose runs end with that
//! at the end      I am done   > all others, who wait for me no more
//! ```
//!
//! Whoever is silent for too long has failed.

use node::{Address, Message, Node, Panic, Port, Rank, Ticket, Time};
use pipeline::{Control, Failure};

use crate::error::SortError;

use super::pace;

/// Where ranks hear from each other.
const WATCH: Port = Port(102);

/// How often a rank tells that it is alive.
const BEAT_S: f64 = 1.0;

/// A rank is silent when so many beats did not come: long enough for a machine that is very busy, and short
/// enough for a sort to end within half a minute.
const SILENT_BEATS: u64 = 15;

/// Bytes of a failure's text that are told: a message has not much more.
const TOLD_BYTES: usize = 1900;

/// Who shows how far all are.
const FIRST: Rank = Rank(0);

/// What is told.
const HERE: u64 = 0;
const FAILED: u64 = 1;
const DONE: u64 = 2;
/// To oneself: the run has ended.
const END: u64 = 3;

/// A task that watches.
pub(super) struct Watch {
    task: Ticket<Result<(), Panic>>,
}

impl Watch {
    /// Begins to watch, for a run that `control` watches here.
    pub(super) fn start(node: &Node, control: &Control) -> Result<Watch, Failure> {
        let control = control.clone();
        let task = node.try_spawn("watch", async move |node: Node| {
            Others::new(&node, control).watch(&node).await;
        });
        Ok(Watch { task: task.map_err(|cause| Failure::NoThread { stage: "watch", cause })? })
    }

    /// Tells all others that this one has failed, if they do not know: what they have agreed on, each finds itself.
    pub(super) async fn alarm(&self, node: &Node, failure: &Failure) {
        let of = |error: &SortError| {
            use SortError::{Checkpoint, Different, Elsewhere, PartGone};
            matches!(
                error,
                Elsewhere { .. } | Different { .. } | Checkpoint { .. } | PartGone { .. }
            )
        };
        let is_known = match failure {
            Failure::Program(error) => error.downcast_ref().is_some_and(of),
            _ => false,
        };
        if !is_known {
            tell_others(node, &words(FAILED, &failure.to_string())).await;
        }
    }

    /// Says good-bye.
    pub(super) async fn end(self, node: &Node) {
        tell_others(node, &[DONE]).await;
        node.send(Address { rank: node.rank(), port: WATCH }, &[END]).await;
        self.task.wait(node).await.expect("the watch does not panic");
    }
}

async fn tell_others(node: &Node, words: &[u64]) {
    for rank in others(node) {
        node.send(Address { rank, port: WATCH }, words).await;
    }
}

fn others(node: &Node) -> impl Iterator<Item = Rank> {
    let own = node.rank();
    (0..node.nodes()).map(Rank).filter(move |&rank| rank != own)
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
    let bytes: Vec<u8> = words.iter().skip(2).flat_map(|word| word.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes[..length.min(bytes.len())]).into_owned()
}

/// What is known of the others.
struct Others {
    control: Control,
    /// When each was heard, as long as it is waited for.
    heard: Vec<Option<Time>>,
    beat: u64,
    next: Time,
}

impl Others {
    fn new(node: &Node, control: Control) -> Others {
        let now = node.now();
        let heard = (0..node.nodes()).map(|rank| (Rank(rank) != node.rank()).then_some(now));
        let beat = (BEAT_S / node.seconds(1)) as u64;
        Others { control, heard: heard.collect(), beat, next: now }
    }

    async fn watch(&mut self, node: &Node) {
        let port = node.bind(WATCH);
        loop {
            if node.now() >= self.next {
                self.beat(node).await;
            }
            let Some(message) = port.next_until(node, self.next).await else { continue };
            if message.words.first() == Some(&END) && message.from == node.rank() {
                return;
            }
            self.hear(node.now(), &message);
        }
    }

    /// Tells the others, and looks for those who did not.
    async fn beat(&mut self, node: &Node) {
        let now = node.now();
        // Who was stopped (Ctrl-Z) cannot say that others were silent.
        if now.since(self.next) > 2 * self.beat {
            self.heard.iter_mut().flatten().for_each(|heard| *heard = now);
        }
        let told: Vec<u64> =
            [HERE].into_iter().chain(pace::told(&self.control.progress())).collect();
        for rank in others(node) {
            let words = if rank == FIRST { &told[..] } else { &[HERE] };
            node.send(Address { rank, port: WATCH }, words).await;
        }
        self.next = now.after(self.beat);
        let silence = SILENT_BEATS * self.beat;
        for (rank, heard) in (0..).zip(&mut self.heard) {
            if heard.is_some_and(|heard| now.since(heard) > silence) {
                *heard = None;
                let seconds = node.seconds(silence).round() as u64;
                let failure = Failure::from(SortError::Silent { rank, seconds });
                tell_others(node, &words(FAILED, &failure.to_string())).await;
                self.control.fail(failure);
            }
        }
    }

    fn hear(&mut self, now: Time, message: &Message) {
        let heard = &mut self.heard[message.from.0 as usize];
        match message.words.first().copied().unwrap_or(HERE) {
            FAILED => {
                *heard = None;
                let (rank, what) = (message.from.0, text(&message.words));
                self.control.fail(SortError::Elsewhere { rank, what }.into());
            }
            DONE => *heard = None,
            _ => {
                *heard = heard.map(|_| now);
                if let Some(progress) = pace::heard(message.words.get(1..).unwrap_or_default()) {
                    self.control.hear(message.from, progress);
                }
            }
        }
    }
}
