//! The table of envelopes and receives, and how they meet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use node::{Mutex, Rank};

use crate::bulk::Bulk;
use crate::frame::MOST_SLOTS;
use crate::message::{Handler, Region, Returned};

/// An envelope: its number among those of its sender, the tag, the number of bytes, and whether they follow.
pub(super) const ENVELOPE: Handler = Handler(1);
/// The memory for the bytes of an envelope, as a reply or later.
pub(super) const MEMORY: Handler = Handler(2);
/// The sender's buffer is free, as a reply or later.
pub(super) const FREE: Handler = Handler(3);
/// The bytes have come, by bulk.
pub(super) const BYTES: Handler = Handler(4);

/// In place of a region: the receive has too little memory.
pub(super) const TOO_LITTLE: u32 = u32::MAX;

/// The number of an envelope among those of its sender to this node.
pub(super) type Number = u32;

#[derive(Default)]
pub(super) struct Table {
    /// As a sender, by receiver: the number of the next envelope, and whether its buffer there is taken.
    pub next: BTreeMap<Rank, Number>,
    pub taken: BTreeSet<Rank>,
    /// As a sender: the memory for an envelope's bytes.
    pub memory: BTreeMap<(Rank, Number), u32>,
    /// As a receiver, by sender: envelopes that were matched or kept, and those that overtook others.
    pub seen: BTreeMap<Rank, Number>,
    pub early: BTreeMap<(Rank, Number), Envelope>,
    /// Envelopes without a receive, and receives without an envelope, each in their order.
    pub kept: VecDeque<Envelope>,
    pub posted: VecDeque<Posted>,
    pub receives: u64,
    pub met: BTreeMap<u64, Met>,
    /// Envelopes whose bytes have come.
    pub filled: BTreeSet<(Rank, Number)>,
    /// The first message to each node that was returned: envelopes of that pair may be missing.
    pub failed: BTreeMap<Rank, Returned>,
}

#[derive(Debug)]
pub(super) struct Envelope {
    pub from: Rank,
    pub number: Number,
    pub tag: u32,
    pub bytes: usize,
    /// The bytes of a short message, in the sender's buffer.
    pub held: Option<Vec<u8>>,
}

/// An envelope with its receive.
#[derive(Debug)]
pub(super) struct Met {
    pub envelope: Envelope,
    /// Whether its bytes came with it.
    pub is_short: bool,
    pub word: Word,
    /// Whether a handler has replied with the word.
    pub is_said: bool,
}

/// The message to the sender of an envelope that was matched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub handler: Handler,
    pub number: Number,
    pub region: u32,
}

impl Word {
    pub fn args(self) -> [u32; 2] {
        [self.number, self.region]
    }
}

pub(super) struct Posted {
    pub receive: u64,
    pub from: Option<Rank>,
    pub tag: Option<u32>,
    pub region: Region,
    pub memory: Arc<Mutex<Bulk>>,
}

impl Posted {
    pub fn matches(&self, envelope: &Envelope) -> bool {
        self.from.is_none_or(|from| from == envelope.from)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }

    /// Meets an envelope: its bytes go to the memory, if they are here.
    pub fn meet(&self, envelope: Envelope) -> Met {
        let mut memory = self.memory.lock();
        let fits = memory.capacity() >= envelope.bytes;
        if fits {
            memory.set_len(envelope.bytes);
            if let Some(held) = &envelope.held {
                memory.bytes_mut().copy_from_slice(held);
            }
        }
        let is_short = envelope.held.is_some();
        let word = Word {
            handler: if is_short { FREE } else { MEMORY },
            number: envelope.number,
            region: if fits { self.region.0 } else { TOO_LITTLE },
        };
        Met {
            envelope,
            is_short,
            word,
            is_said: false,
        }
    }
}

impl Table {
    /// Takes an envelope, and those that waited for it, in their order. The word to its own sender, if it has met
    /// its receive; of the others the tasks that receive them say theirs.
    pub fn arrive(&mut self, envelope: Envelope) -> Option<Word> {
        let (from, number) = (envelope.from, envelope.number);
        let seen = self.seen.get(&from).copied().unwrap_or_default();
        // A sender has no more envelopes under way than slots: others are not of this protocol.
        if number.wrapping_sub(seen) >= u32::from(MOST_SLOTS) {
            return None;
        }
        self.early.insert((from, number), envelope);
        let mut said = None;
        while let Some(next) = self.next_of(from) {
            let at = self.posted.iter().position(|posted| posted.matches(&next));
            let Some(posted) = at.and_then(|at| self.posted.remove(at)) else {
                self.kept.push_back(next);
                continue;
            };
            let mut met = posted.meet(next);
            met.is_said = met.word.number == number;
            if met.is_said {
                said = Some(met.word);
            }
            self.met.insert(posted.receive, met);
        }
        said
    }

    /// The envelope of a sender whose turn it is.
    fn next_of(&mut self, from: Rank) -> Option<Envelope> {
        let seen = self.seen.entry(from).or_default();
        let next = self.early.remove(&(from, *seen))?;
        *seen = seen.wrapping_add(1);
        Some(next)
    }

    /// Gives up a receive; the envelope that it has met, of which its sender has not heard.
    pub fn forget(&mut self, receive: u64) -> Option<Met> {
        self.posted.retain(|posted| posted.receive != receive);
        self.met.remove(&receive).filter(|met| !met.is_said)
    }

    /// Posts a receive; it ends with an envelope that it matches, the oldest first.
    pub fn post(&mut self, posted: Posted) {
        let at = self.kept.iter().position(|kept| posted.matches(kept));
        match at.and_then(|at| self.kept.remove(at)) {
            Some(envelope) => {
                let met = posted.meet(envelope);
                self.met.insert(posted.receive, met);
            }
            None => self.posted.push_back(posted),
        }
    }
}
