//! What cores tell each other in a step of MilliSort: sets of words, in as many messages as it
//! takes.
//!
//! ```text
//!   head     how many messages the set has, whether the sender asks for an answer
//!   words    pivots, or a key and its value; a set may be empty and is one message then
//! ```
//!
//! Messages may overtake each other, so each says how many there are. A step ends when as many sets
//! came as are known to come.
//!
//! **Nothing stands still.** A core that waits to send takes no messages; if its receive queue is
//! full then, others wait for it, and so on around. So nobody ever waits to send: what a core has
//! on its way out fits the words that it may have there. Now and then a message asks for an answer;
//! messages leave in order, so the answer says that all before are out. With two questions open a
//! core sends no more and takes what comes, which is data, questions (answered at once) and at last
//! an answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use node::{MESSAGE_WORDS, Matching, Node, Port, Rank, Reorder, Words};

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Words of a nanoPU core that wait for its NIC (`transmit_words` in its machine's file).
const TRANSMIT_WORDS: usize = 1024;

/// What a message has beside its words: its head, its step, and one that the NIC adds.
const FRAME_WORDS: usize = 3;

/// The most words of a message beside its head and its step.
const MOST_WORDS: usize = MESSAGE_WORDS - 2;

/// Room for answers: 42 that nobody took.
const ANSWER_WORDS: usize = 128;

/// Questions that may be open.
const QUESTIONS: usize = 2;

/// A message asks when so many words have left since the last one did. The longest message may come
/// on top, and all of that twice.
const ASK_WORDS: usize = (TRANSMIT_WORDS - ANSWER_WORDS) / QUESTIONS - (MOST_WORDS + FRAME_WORDS);

/// Words of a message where steps wait in the NIC, beside its head: two entries of its queue, as an
/// item has.
const PORT_WORDS: usize = 15;

/// Entries of such a message.
const PORT_ENTRIES: u64 = 2;

/// Entries of a nanoPU core's receive queue.
const QUEUE_ENTRIES: u64 = 63;

/// Flags of a head; above them is the number of messages.
const ASKS: u64 = 1;
const ANSWERS: u64 = 2;
const FLAGS: u32 = 2;

/// The most words of a message of a set.
pub fn most_words(matching: Matching) -> usize {
    match matching {
        Matching::Software => MOST_WORDS,
        Matching::Ports => PORT_WORDS,
    }
}

/// Words as a set of messages; `first` goes before the words of the first, and 0 before those of
/// the others: so a sum over the messages finds it.
pub fn set_of(first: Option<usize>, words: &[u64], matching: Matching) -> Vec<Vec<u64>> {
    let most = most_words(matching) - usize::from(first.is_some());
    let mut parts: Vec<&[u64]> = words.chunks(most).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    let lead = |at| first.map(|first| if at == 0 { first as u64 } else { 0 });
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, part)| lead(at).into_iter().chain(part.iter().copied()).collect())
        .collect()
}

/// Why messages could stand still where steps wait in the NIC: each of so many cores has a message
/// of a later step on its way to one that waits for something else. Two more entries are what it
/// waits for, and one an answer.
pub fn objection(senders: u64, matching: Matching) -> Option<String> {
    let entries = senders * PORT_ENTRIES + PORT_ENTRIES + 1;
    (matching == Matching::Ports && entries > QUEUE_ENTRIES).then(|| {
        format!(
            "{entries} entries could wait in one core's receive queue, which has {QUEUE_ENTRIES}, while \
             it waits for another message: ask for --reorder software, or for fewer cores and a larger \
             incast"
        )
    })
}

/// What is on its way out, and which questions are open.
pub struct Window {
    matching: Matching,
    /// Words since the last question.
    since: usize,
    /// The step of each open question, oldest first.
    open: VecDeque<u32>,
}

impl Window {
    pub fn new(matching: Matching) -> Window {
        Window {
            matching,
            since: 0,
            open: VecDeque::new(),
        }
    }

    /// Notes a message of so many words: whether it asks. Where steps wait in the NIC each does, so
    /// a core has one message on its way that nobody took.
    pub fn asks(&mut self, words: usize) -> bool {
        self.since += words + FRAME_WORDS;
        let asks = self.matching == Matching::Ports || self.since >= ASK_WORDS;
        if asks {
            self.since = 0;
        }
        asks
    }

    fn is_full(&self) -> bool {
        let most = if self.matching == Matching::Ports {
            1
        } else {
            QUESTIONS
        };
        self.open.len() >= most
    }

    fn answered(&mut self, step: u32) {
        let at = self.open.iter().position(|open| *open == step);
        self.open.remove(at.expect("an answer comes to a question"));
    }
}

/// What came in a step.
pub struct Inbox {
    step: u32,
    /// Messages that nobody looked at, without their heads.
    pub messages: Vec<(Rank, Words)>,
    /// Who sent a whole set; not those that were waited for by name.
    whole: BTreeSet<Rank>,
    /// How many whole sets came.
    sets: u32,
    /// How many messages came of sets that are not whole.
    parts: BTreeMap<Rank, u64>,
}

impl Inbox {
    pub fn new(step: u32) -> Inbox {
        let (messages, whole, parts) = Default::default();
        Inbox {
            step,
            messages,
            whole,
            sets: 0,
            parts,
        }
    }

    fn add(&mut self, from: Rank, all: u64, words: Words) {
        self.messages.push((from, words));
        let came = self.parts.get(&from).map_or(1, |came| came + 1);
        if came < all {
            self.parts.insert(from, came);
            return;
        }
        self.parts.remove(&from);
        self.whole.insert(from);
        self.sets += 1;
    }
}

/// A core's way to the others, in steps.
pub struct Post {
    steps: Reorder,
    window: Window,
}

impl Post {
    pub fn new(node: &Node, matching: Matching) -> Post {
        Post {
            steps: Reorder::new(node, FIRST, matching),
            window: Window::new(matching),
        }
    }

    /// Sends a set of messages; what comes meanwhile goes to `inbox`, whose step it is.
    pub async fn send(&mut self, node: &Node, to: Rank, set: &[Vec<u64>], inbox: &mut Inbox) {
        for words in set {
            while self.window.is_full() {
                self.hear_answer(node, inbox).await;
            }
            let asks = self.window.asks(words.len());
            if asks {
                self.window.open.push_back(inbox.step);
            }
            let head = (set.len() as u64) << FLAGS | if asks { ASKS } else { 0 };
            let framed: Vec<u64> = [head].iter().chain(words).copied().collect();
            self.steps.send(node, to, inbox.step, &framed).await;
        }
    }

    /// Takes messages until so many sets are whole.
    pub async fn hear(&mut self, node: &Node, sets: u32, inbox: &mut Inbox) {
        while inbox.sets < sets {
            self.take(node, inbox).await;
        }
    }

    /// Takes messages until the set of one core is whole.
    pub async fn hear_from(&mut self, node: &Node, from: Rank, inbox: &mut Inbox) {
        while !inbox.whole.remove(&from) {
            self.take(node, inbox).await;
        }
    }

    /// Takes the answers that are open: whoever asked them must not end before.
    pub async fn settle(&mut self, node: &Node, inbox: &mut Inbox) {
        while !self.window.open.is_empty() {
            self.hear_answer(node, inbox).await;
        }
    }

    /// Takes a message of the step of the oldest open question. In a step that is over for this
    /// core there are answers alone.
    async fn hear_answer(&mut self, node: &Node, inbox: &mut Inbox) {
        match self.window.open.front() {
            Some(&past) if past != inbox.step => self.take(node, &mut Inbox::new(past)).await,
            _ => self.take(node, inbox).await,
        }
    }

    async fn take(&mut self, node: &Node, inbox: &mut Inbox) {
        let message = self.steps.next(node, inbox.step).await;
        let head = message.words[0];
        if head & ANSWERS != 0 {
            self.window.answered(inbox.step);
            return;
        }
        if head & ASKS != 0 {
            self.steps
                .send(node, message.from, inbox.step, &[ANSWERS])
                .await;
        }
        inbox.add(message.from, head >> FLAGS, message.words.skip(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two open questions and the messages before them leave of the words that may wait.
    #[test]
    fn nobody_waits_to_send() {
        for words in [0, 13, 100, MOST_WORDS] {
            let mut window = Window::new(Matching::Software);
            let mut most = 0;
            let (mut open, mut out) = (0, 0);
            while open < QUESTIONS {
                open += usize::from(window.asks(words));
                out += words + FRAME_WORDS;
                most = most.max(out);
            }
            assert!(most + ANSWER_WORDS <= TRANSMIT_WORDS, "{words}: {most}");
            assert!(2 * most > TRANSMIT_WORDS / 2, "questions are rare");
        }
    }

    #[test]
    fn sets_keep_their_words_and_their_sums() {
        let words: Vec<u64> = (0..600).collect();
        for matching in [Matching::Software, Matching::Ports] {
            for count in [0, 1, 14, 15, 253, 254, 600] {
                let plain = set_of(None, &words[..count], matching);
                assert_eq!(plain.concat(), words[..count]);
                let led = set_of(Some(7), &words[..count], matching);
                assert_eq!(led.iter().map(|part| part[0]).sum::<u64>(), 7);
                let all: Vec<u64> = led.iter().flat_map(|part| &part[1..]).copied().collect();
                assert_eq!(all, words[..count]);
                let longest = plain.iter().chain(&led).map(Vec::len).max().unwrap();
                assert!(longest <= most_words(matching) && !plain.is_empty());
            }
        }
    }

    #[test]
    fn a_set_is_whole_when_all_its_messages_came() {
        let mut inbox = Inbox::new(3);
        let from = [Rank(4), Rank(9)];
        let came = [(0, 3), (1, 1), (0, 3), (0, 3), (1, 1)];
        let sets = came.map(|(sender, all)| {
            inbox.add(from[sender], all, Words::new());
            inbox.sets
        });
        assert_eq!(sets, [0, 1, 1, 2, 3]);
        assert!(inbox.parts.is_empty() && inbox.messages.len() == 5);
    }

    #[test]
    fn what_could_fill_a_queue_is_refused() {
        assert_eq!(objection(30, Matching::Ports), None);
        assert_eq!(objection(1000, Matching::Software), None);
        let told = objection(31, Matching::Ports).unwrap();
        assert!(
            told.contains("65 entries") && told.contains("has 63"),
            "{told}"
        );
    }
}
