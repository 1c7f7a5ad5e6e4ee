//! The operations that the engine needs of a message-passing library: sending and receiving bytes,
//! and reporting the requests that are done. Two wires exist: MPI ([`crate::ffi`]), and one within
//! this process for tests ([`local`]).
//!
//! A request works on memory that must stay where it is until the request is done. So a wire
//! *holds* the buffers, and lends them out only when no request works on them.

pub(crate) mod local;

use std::ops::Range;

use node::Buffer;
pub(crate) use node::backend::NetworkError;

/// The number of a stream between two ranks; each stream arrives in order.
pub(crate) type Tag = u16;

/// A buffer that a wire holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold(pub usize);

/// A request under way; its number is given again when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request(pub usize);

/// Reported length of a message that is longer than its receive buffer.
pub(crate) const TOO_LONG: usize = usize::MAX;

/// A request that is done, and how much a receive brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    pub request: Request,
    pub bytes: usize,
}

/// A string for each rank, and room for one of each: all of them one behind the other, by rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllToAll {
    /// The strings to send.
    pub sent: Vec<u8>,
    /// The bytes for each rank.
    pub sent_bytes: Vec<usize>,
    /// The strings that arrive.
    pub received: Vec<u8>,
    /// The bytes from each rank.
    pub received_bytes: Vec<usize>,
}

impl AllToAll {
    /// # Panics
    /// When there is not one length for each rank, or they do not add up.
    pub(crate) fn check(&self, ranks: usize) {
        let sides = [
            (&self.sent, &self.sent_bytes),
            (&self.received, &self.received_bytes),
        ];
        for (bytes, lengths) in sides {
            assert_eq!(lengths.len(), ranks, "a length for each rank");
            assert_eq!(
                lengths.iter().sum::<usize>(),
                bytes.len(),
                "all of them one behind the other"
            );
        }
    }
}

/// Whether a call to a wire went well.
pub(crate) type Wired<T = ()> = Result<T, NetworkError>;

/// Bytes between ranks. One thread makes all calls.
pub(crate) trait Wire {
    /// This process.
    fn rank(&self) -> u32;
    /// How many processes there are.
    fn size(&self) -> u32;
    /// Takes a buffer in.
    fn hold(&mut self, buffer: Buffer) -> Hold;
    /// Gives a buffer back on which no request works.
    fn release(&mut self, hold: Hold) -> Buffer;
    /// A buffer on which no request works.
    fn held(&self, hold: Hold) -> &Buffer;
    /// Begins to send that part of a buffer.
    fn send(&mut self, hold: Hold, part: Range<usize>, to: u32, tag: Tag) -> Wired<Request>;
    /// Begins to receive into that part of a buffer. Several such requests go front to back.
    fn receive(&mut self, hold: Hold, part: Range<usize>, from: u32, tag: Tag) -> Wired<Request>;
    /// Adds the requests that were done since, in any order.
    fn completed(&mut self, done: &mut Vec<Completed>) -> Wired;
    /// Carries a string from each process to each; comes back when this one's are here. Nobody
    /// else's requests wait for it.
    fn all_to_all(&mut self, strings: &mut AllToAll) -> Wired;
    /// Waits until all processes are here.
    fn barrier(&mut self) -> Wired;
    /// Ends every process of the run, now.
    fn abort(&mut self, code: i32);
    /// Leaves the run in good order; receives that no peer answers any more are given up.
    fn end(&mut self) -> Wired;
}

/// The buffers that a wire holds, and what requests do with them.
#[derive(Default)]
pub(crate) struct Holds {
    slots: Vec<Option<Held>>,
    free: Vec<usize>,
}

struct Held {
    buffer: Buffer,
    requests: usize,
    /// Whether they write; from here on they may.
    receives: bool,
    untouched: usize,
}

impl Holds {
    pub(crate) fn add(&mut self, buffer: Buffer) -> Hold {
        let held = Held {
            buffer,
            requests: 0,
            receives: false,
            untouched: 0,
        };
        let number = self.free.pop().unwrap_or(self.slots.len());
        if number == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[number] = Some(held);
        Hold(number)
    }

    /// # Panics
    /// When a request works on it.
    pub(crate) fn remove(&mut self, hold: Hold) -> Buffer {
        assert_eq!(self.at(hold).requests, 0, "a request works on this buffer");
        self.free.push(hold.0);
        self.slots[hold.0].take().expect("it is held").buffer
    }

    /// # Panics
    /// When a request works on it.
    pub(crate) fn look(&self, hold: Hold) -> &Buffer {
        let held = self.slots[hold.0].as_ref().expect("it is held");
        assert_eq!(held.requests, 0, "a request works on this buffer");
        &held.buffer
    }

    /// A request begins to read that part.
    ///
    /// # Panics
    /// When the part is not of the buffer, or requests write to it.
    pub(crate) fn begin_send(&mut self, hold: Hold, part: &Range<usize>) {
        let held = self.at(hold);
        assert!(
            part.start <= part.end && part.end <= held.buffer.capacity(),
            "{part:?}"
        );
        assert!(
            held.requests == 0 || !held.receives,
            "a receive works on this buffer"
        );
        held.receives = false;
        held.requests += 1;
    }

    /// A request begins to write to that part.
    ///
    /// # Panics
    /// When the part is not of the buffer, or other requests may work on it.
    pub(crate) fn begin_receive(&mut self, hold: Hold, part: &Range<usize>) {
        let held = self.at(hold);
        assert!(
            part.start <= part.end && part.end <= held.buffer.capacity(),
            "{part:?}"
        );
        let alone = held.requests == 0;
        assert!(
            alone || held.receives && part.start >= held.untouched,
            "parts must not meet"
        );
        held.receives = true;
        held.untouched = part.end;
        held.requests += 1;
    }

    /// For a wire that moves bytes itself, whatever works on them.
    pub(crate) fn busy(&mut self, hold: Hold) -> &mut Buffer {
        &mut self.at(hold).buffer
    }

    /// A request is done.
    pub(crate) fn end(&mut self, hold: Hold) {
        self.at(hold).requests -= 1;
    }

    /// Leaves alone for ever what requests may still work on.
    pub(crate) fn forget_busy(&mut self) {
        for held in self.slots.iter_mut().filter_map(Option::take) {
            if held.requests > 0 {
                std::mem::forget(held.buffer);
            }
        }
    }

    fn at(&mut self, hold: Hold) -> &mut Held {
        self.slots[hold.0].as_mut().expect("it is held")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_lent_out_when_nothing_works_on_it() {
        let mut holds = Holds::default();
        let hold = holds.add(Buffer::heap(100));
        holds.begin_receive(hold, &(0..50));
        holds.begin_receive(hold, &(50..100));
        holds.end(hold);
        let busy = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            holds.remove(hold);
        }));
        assert!(busy.is_err());
        holds.end(hold);
        assert_eq!(holds.remove(hold).capacity(), 100);
        assert_eq!(holds.add(Buffer::heap(1)), hold, "the place is used again");
    }

    #[test]
    #[should_panic(expected = "parts must not meet")]
    fn two_receives_never_write_to_one_place() {
        let mut holds = Holds::default();
        let hold = holds.add(Buffer::heap(100));
        holds.begin_receive(hold, &(0..50));
        holds.begin_receive(hold, &(49..60));
    }
}
