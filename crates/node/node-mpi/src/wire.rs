//! The operations that the engine needs from a message-passing library: to send and receive bytes,
//! and to report the requests that are done. There are two wires: MPI ([`crate::ffi`]), and one
//! within this process for tests ([`local`]).
//!
//! A request works on memory that must not move until the request is done. So a wire *holds* the
//! buffers, and gives access to them only while no request works on them.

pub(crate) mod local;

use std::ops::Range;

use node::Buffer;
pub(crate) use node::backend::NetworkError;

/// The number of a stream between two ranks; each stream arrives in order.
pub(crate) type Tag = u16;

/// A buffer that a wire holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold(pub usize);

/// A request under way. Its number is used again after it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request(pub usize);

/// Reported length of a message that is longer than its receive buffer.
pub(crate) const TOO_LONG: usize = usize::MAX;

/// A request that is done, and the bytes that a receive brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    pub request: Request,
    pub bytes: usize,
}

/// A string to each rank, and room for a string from each rank. Strings are concatenated in the
/// order of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllToAll {
    /// The strings to send, concatenated.
    pub sent: Vec<u8>,
    /// The length of the string to each rank.
    pub sent_bytes: Vec<usize>,
    /// Room for the strings that arrive, concatenated.
    pub received: Vec<u8>,
    /// The length of the string from each rank.
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
        for (strings, lengths) in sides {
            let total: usize = lengths.iter().sum();
            assert_eq!(lengths.len(), ranks, "a length for each rank");
            assert_eq!(total, strings.len(), "the lengths add up");
        }
    }
}

pub(crate) type Wired<T = ()> = Result<T, NetworkError>;

/// Bytes between ranks. One thread makes all calls.
pub(crate) trait Wire {
    /// The rank of this process.
    fn rank(&self) -> u32;
    /// The number of processes.
    fn size(&self) -> u32;
    /// Takes over a buffer.
    fn hold(&mut self, buffer: Buffer) -> Hold;
    /// Gives back a buffer on which no request works.
    fn release(&mut self, hold: Hold) -> Buffer;
    /// A buffer on which no request works.
    fn held(&self, hold: Hold) -> &Buffer;
    /// Begins to send a part of a buffer.
    fn send(&mut self, hold: Hold, part: Range<usize>, to: u32, tag: Tag) -> Wired<Request>;
    /// Begins to receive into a part of a buffer. Several receives into a buffer must begin front
    /// to back.
    fn receive(&mut self, hold: Hold, part: Range<usize>, from: u32, tag: Tag) -> Wired<Request>;
    /// Adds the requests that were done since the last call, in any order.
    fn completed(&mut self, done: &mut Vec<Completed>) -> Wired;
    /// Carries a string from every process to every process; returns when this process has its
    /// strings. Requests go on meanwhile.
    fn all_to_all(&mut self, strings: &mut AllToAll) -> Wired;
    /// Waits until all processes have made this call.
    fn barrier(&mut self) -> Wired;
    /// Ends every process of the run, now.
    fn abort(&mut self, code: i32);
    /// Leaves the run in good order, and cancels receives that no peer answers.
    fn end(&mut self) -> Wired;
}

/// The buffers that a wire holds, and their requests.
#[derive(Default)]
pub(crate) struct Holds {
    slots: Vec<Option<Held>>,
    free: Vec<usize>,
}

struct Held {
    buffer: Buffer,
    requests: usize,
    /// Whether the requests are receives, which write.
    receives: bool,
    /// The end of the parts that receives write to.
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
    /// When a request works on the buffer.
    pub(crate) fn remove(&mut self, hold: Hold) -> Buffer {
        assert_eq!(self.at(hold).requests, 0, "a request works on this buffer");
        self.free.push(hold.0);
        self.slots[hold.0].take().expect("it is held").buffer
    }

    /// # Panics
    /// When a request works on the buffer.
    pub(crate) fn look(&self, hold: Hold) -> &Buffer {
        let held = self.slots[hold.0].as_ref().expect("it is held");
        assert_eq!(held.requests, 0, "a request works on this buffer");
        &held.buffer
    }

    /// Notes a request that reads a part.
    ///
    /// # Panics
    /// When the part exceeds the buffer, or requests write to the buffer.
    pub(crate) fn begin_send(&mut self, hold: Hold, part: &Range<usize>) {
        let held = self.with_part(hold, part);
        assert!(
            held.requests == 0 || !held.receives,
            "a receive works on this buffer"
        );
        held.receives = false;
        held.requests += 1;
    }

    /// Notes a request that writes to a part.
    ///
    /// # Panics
    /// When the part exceeds the buffer, or other requests may work on it.
    pub(crate) fn begin_receive(&mut self, hold: Hold, part: &Range<usize>) {
        let held = self.with_part(hold, part);
        let alone = held.requests == 0;
        assert!(
            alone || held.receives && part.start >= held.untouched,
            "parts must not overlap"
        );
        held.receives = true;
        held.untouched = part.end;
        held.requests += 1;
    }

    fn with_part(&mut self, hold: Hold, part: &Range<usize>) -> &mut Held {
        let held = self.at(hold);
        let is_inside = part.start <= part.end && part.end <= held.buffer.capacity();
        assert!(is_inside, "{part:?}");
        held
    }

    /// A buffer with requests, for a wire that copies the bytes itself.
    pub(crate) fn busy(&mut self, hold: Hold) -> &mut Buffer {
        &mut self.at(hold).buffer
    }

    /// Notes that a request is done.
    pub(crate) fn end(&mut self, hold: Hold) {
        self.at(hold).requests -= 1;
    }

    /// Leaks the buffers that requests may still work on.
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
    fn a_buffer_is_released_when_no_request_works_on_it() {
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
        assert_eq!(holds.add(Buffer::heap(1)), hold, "the slot is used again");
    }

    #[test]
    #[should_panic(expected = "parts must not overlap")]
    fn two_receives_never_write_to_the_same_bytes() {
        let mut holds = Holds::default();
        let hold = holds.add(Buffer::heap(100));
        holds.begin_receive(hold, &(0..50));
        holds.begin_receive(hold, &(49..60));
    }
}
