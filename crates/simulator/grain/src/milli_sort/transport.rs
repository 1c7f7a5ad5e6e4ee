//! Sets of words between cores, as one message or several fragments.
//!
//! ```text
//!   head     the number of fragments of the set, and whether the sender requests an ACK
//!   words    pivots, or a record; an empty set is one message without words
//! ```
//!
//! Fragments may overtake each other, so each says how many there are. A step ends when the known
//! number of sets has arrived.
//!
//! **No deadlock.** A core that waits to send receives nothing; if its receive queue then fills,
//! others wait for it in turn. So no core may ever wait to send: its messages on the way out must
//! fit its transmit words. Now and then a message requests an acknowledgement (ACK). Messages leave
//! in order, so an ACK proves that all earlier ones have left. With two requests open a core sends
//! no more and receives: data, requests (answered at once), and at last an ACK.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use node::{MESSAGE_WORDS, Matching, Node, Port, Rank, Reorder, Words};

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Words of a nanoPU core that wait for its NIC (`transmit_words` in its machine file).
const TRANSMIT_WORDS: usize = 1024;

/// Words of a message in addition to its data: its head, its step, and one that the NIC adds.
const FRAME_WORDS: usize = 3;

/// Data words of the longest message.
const MOST_WORDS: usize = MESSAGE_WORDS - 2;

/// Room for ACKs: 42 that have not left.
const ACK_WORDS: usize = 128;

/// ACK requests that may be open.
const MOST_REQUESTS: usize = 2;

/// A message requests an ACK when this many words have left since the last request. The longest
/// message may come on top, and all of that twice.
const REQUEST_WORDS: usize =
    (TRANSMIT_WORDS - ACK_WORDS) / MOST_REQUESTS - (MOST_WORDS + FRAME_WORDS);

/// Data words of a message where steps wait in the NIC: with its head two queue entries, as a
/// record has.
const PORT_WORDS: usize = 15;

/// Entries of such a message.
const PORT_ENTRIES: u64 = 2;

/// Entries of a nanoPU core's receive queue.
const QUEUE_ENTRIES: u64 = 63;

/// Flags of a head; above them is the number of fragments.
const REQUESTS_ACK: u64 = 1;
const ACK: u64 = 2;
const FLAG_BITS: u32 = 2;

/// Data words of the longest fragment.
pub fn most_words(matching: Matching) -> usize {
    match matching {
        Matching::Software => MOST_WORDS,
        Matching::Ports => PORT_WORDS,
    }
}

/// Words as fragments. A `lead` is a number in front of the words: the first fragment carries it
/// and the others 0, so the sum over the fragments is the lead ([`Inbox::led`]).
pub fn fragments(lead: Option<usize>, words: &[u64], matching: Matching) -> Vec<Vec<u64>> {
    let most = most_words(matching) - usize::from(lead.is_some());
    let mut parts: Vec<&[u64]> = words.chunks(most).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    let lead = |at| lead.map(|lead| if at == 0 { lead as u64 } else { 0 });
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, part)| lead(at).into_iter().chain(part.iter().copied()).collect())
        .collect()
}

/// Why `senders` cores could block a core where steps wait in the NIC: each may have a message of a
/// later step on its way. Two more entries are the awaited message's, and one an ACK's.
pub fn objection(senders: u64, matching: Matching) -> Option<String> {
    let entries = senders * PORT_ENTRIES + PORT_ENTRIES + 1;
    (matching == Matching::Ports && entries > QUEUE_ENTRIES).then(|| {
        format!(
            "{entries} entries could wait in one core's receive queue, which has {QUEUE_ENTRIES}, \
             while it waits for another message: ask for --reorder software, or for fewer cores and a \
             larger incast"
        )
    })
}

/// The messages on their way out, and the open ACK requests.
pub struct Window {
    matching: Matching,
    /// Words since the last request.
    words: usize,
    /// The step of each open request, oldest first.
    open: VecDeque<u32>,
}

impl Window {
    pub fn new(matching: Matching) -> Window {
        Window {
            matching,
            words: 0,
            open: VecDeque::new(),
        }
    }

    /// Counts a message; true if it must request an ACK. Where steps wait in the NIC every message
    /// does, so a core has one unreceived message at a time.
    pub fn requests_ack(&mut self, words: usize) -> bool {
        self.words += words + FRAME_WORDS;
        let requests = self.matching == Matching::Ports || self.words >= REQUEST_WORDS;
        if requests {
            self.words = 0;
        }
        requests
    }

    fn is_full(&self) -> bool {
        let most = match self.matching {
            Matching::Software => MOST_REQUESTS,
            Matching::Ports => 1,
        };
        self.open.len() >= most
    }

    fn acknowledged(&mut self, step: u32) {
        let at = self.open.iter().position(|open| *open == step);
        self.open.remove(at.expect("an ACK was requested"));
    }
}

/// The sets that arrived in a step.
pub struct Inbox {
    step: u32,
    /// Messages without their heads.
    pub messages: Vec<(Rank, Words)>,
    /// Senders of whole sets, except those that [`Transport::receive_from`] returned.
    whole: BTreeSet<Rank>,
    /// Whole sets.
    sets: u32,
    /// Fragments that arrived of sets that are not whole.
    arrived: BTreeMap<Rank, u64>,
}

impl Inbox {
    pub fn new(step: u32) -> Inbox {
        Inbox {
            step,
            messages: Vec::new(),
            whole: BTreeSet::new(),
            sets: 0,
            arrived: BTreeMap::new(),
        }
    }

    fn add(&mut self, from: Rank, fragments: u64, words: Words) {
        self.messages.push((from, words));
        let arrived = self.arrived.get(&from).map_or(1, |arrived| arrived + 1);
        if arrived < fragments {
            self.arrived.insert(from, arrived);
            return;
        }
        self.arrived.remove(&from);
        self.whole.insert(from);
        self.sets += 1;
    }

    /// The words of sets that have leads, and the sum of the leads.
    pub fn led(&self) -> (Vec<u64>, usize) {
        let (mut all, mut sum) = (Vec::new(), 0);
        for (lead, words) in self.messages.iter().filter_map(|(_, m)| m.split_first()) {
            sum += *lead as usize;
            all.extend(words);
        }
        (all, sum)
    }
}

/// A core's messages to the others, step by step.
pub struct Transport {
    steps: Reorder,
    window: Window,
}

impl Transport {
    pub fn new(node: &Node, matching: Matching) -> Transport {
        Transport {
            steps: Reorder::new(node, FIRST, matching),
            window: Window::new(matching),
        }
    }

    /// Sends a set in the step of `inbox`, which takes the messages that arrive meanwhile.
    pub async fn send(&mut self, node: &Node, to: Rank, set: &[Vec<u64>], inbox: &mut Inbox) {
        for words in set {
            while self.window.is_full() {
                self.receive_ack(node, inbox).await;
            }
            let mut head = (set.len() as u64) << FLAG_BITS;
            if self.window.requests_ack(words.len()) {
                self.window.open.push_back(inbox.step);
                head |= REQUESTS_ACK;
            }
            let framed: Vec<u64> = [head].iter().chain(words).copied().collect();
            self.steps.send(node, to, inbox.step, &framed).await;
        }
    }

    /// Receives until `sets` sets are whole.
    pub async fn receive(&mut self, node: &Node, sets: u32, inbox: &mut Inbox) {
        while inbox.sets < sets {
            self.take(node, inbox).await;
        }
    }

    /// Receives until the set of one core is whole.
    pub async fn receive_from(&mut self, node: &Node, from: Rank, inbox: &mut Inbox) {
        while !inbox.whole.remove(&from) {
            self.take(node, inbox).await;
        }
    }

    /// Receives the open ACKs; a core must not end before.
    pub async fn flush(&mut self, node: &Node, inbox: &mut Inbox) {
        while !self.window.open.is_empty() {
            self.receive_ack(node, inbox).await;
        }
    }

    /// Takes a message of the step of the oldest open request. In an earlier step only ACKs are
    /// left.
    async fn receive_ack(&mut self, node: &Node, inbox: &mut Inbox) {
        match self.window.open.front() {
            Some(&past) if past != inbox.step => self.take(node, &mut Inbox::new(past)).await,
            _ => self.take(node, inbox).await,
        }
    }

    async fn take(&mut self, node: &Node, inbox: &mut Inbox) {
        let mut message = self.steps.next(node, inbox.step).await;
        let head = message.words.take_first();
        let head = head.expect("every message has a head");
        if head & ACK != 0 {
            self.window.acknowledged(inbox.step);
            return;
        }
        if head & REQUESTS_ACK != 0 {
            self.steps
                .send(node, message.from, inbox.step, &[ACK])
                .await;
        }
        inbox.add(message.from, head >> FLAG_BITS, message.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two open requests and the messages before them leave room for ACKs.
    #[test]
    fn no_core_waits_to_send() {
        for words in [0, 13, 100, MOST_WORDS] {
            let mut window = Window::new(Matching::Software);
            let mut most = 0;
            let (mut open, mut out) = (0, 0);
            while open < MOST_REQUESTS {
                open += usize::from(window.requests_ack(words));
                out += words + FRAME_WORDS;
                most = most.max(out);
            }
            assert!(most + ACK_WORDS <= TRANSMIT_WORDS, "{words}: {most}");
            assert!(2 * most > TRANSMIT_WORDS / 2, "requests are rare");
        }
    }

    #[test]
    fn sets_keep_their_words_and_leads() {
        let words: Vec<u64> = (0..600).collect();
        for matching in [Matching::Software, Matching::Ports] {
            for count in [0, 1, 14, 15, 253, 254, 600] {
                let plain = fragments(None, &words[..count], matching);
                assert_eq!(plain.concat(), words[..count]);
                let led = fragments(Some(7), &words[..count], matching);
                assert_eq!(led.iter().map(|part| part[0]).sum::<u64>(), 7);
                let all: Vec<u64> = led.iter().flat_map(|part| &part[1..]).copied().collect();
                assert_eq!(all, words[..count]);
                let longest = plain.iter().chain(&led).map(Vec::len).max().unwrap();
                assert!(longest <= most_words(matching) && !plain.is_empty());
            }
        }
    }

    #[test]
    fn a_set_is_whole_when_all_its_fragments_arrived() {
        let mut inbox = Inbox::new(3);
        let from = [Rank(4), Rank(9)];
        let fragments = [(0, 3), (1, 1), (0, 3), (0, 3), (1, 1)];
        let sets = fragments.map(|(sender, all)| {
            inbox.add(from[sender], all, Words::new());
            inbox.sets
        });
        assert_eq!(sets, [0, 1, 1, 2, 3]);
        assert!(inbox.arrived.is_empty() && inbox.messages.len() == 5);
    }

    #[test]
    fn overflowing_queues_are_refused() {
        assert_eq!(objection(30, Matching::Ports), None);
        assert_eq!(objection(1000, Matching::Software), None);
        let objection = objection(31, Matching::Ports).unwrap();
        assert!(
            objection.contains("65 entries") && objection.contains("has 63"),
            "{objection}"
        );
    }
}
