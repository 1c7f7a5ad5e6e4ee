//! The most that a core may send before it receives: the room of messages, transmit words and queues.

use node::MESSAGE_WORDS;

/// Words of keys that fit a message, in addition to its step.
pub const MOST_WORDS: usize = MESSAGE_WORDS - 1;

/// Words that a nanoPU core's NIC takes before it has sent any.
pub const TRANSMIT_WORDS: u32 = 1024;

/// A pivot's message has a step, a key, and a word for its receiver.
pub const MOST_PIVOTS: u32 = TRANSMIT_WORDS / 3;

/// With at most this many records per core, all that a core sends in a step fits its transmit
/// words (1,024, and a value's message has 15), so nothing keeps it from receiving. With more, a
/// core sends only what its receivers have room for.
pub const FEW: u32 = 64;

/// Keys that a core may send in the shuffle before it receives: a quarter of a receive queue.
pub const MOST_BURST: u32 = 16;
