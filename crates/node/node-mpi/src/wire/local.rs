//! A wire between engines of one process, to test the protocol without MPI.
//!
//! It is stricter than MPI, which would buffer unexpected messages: here a send without a posted
//! receive is an error. So every test shows that nothing unexpected is ever sent. Requests complete
//! in another order than they began.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Barrier, MutexGuard};

use node::{Buffer, Mutex};

use super::{AllToAll, Completed, Hold, Holds, NetworkError, Request, Tag, Wire, Wired};

/// One process's end of the wire.
pub(crate) struct LocalWire {
    rank: u32,
    exchange: Arc<Exchange>,
    holds: Holds,
    /// By request: the part of a buffer that it works on.
    requests: Vec<Option<(Hold, Range<usize>)>>,
    free: Vec<usize>,
    sent: Vec<Request>,
}

struct Exchange {
    receivers: Vec<Mutex<Receiver>>,
    barrier: Barrier,
    /// Strings of an all-to-all, by sender and receiver.
    strings: Mutex<BTreeMap<(u32, u32), Vec<u8>>>,
}

/// The receives of a process.
#[derive(Default)]
struct Receiver {
    /// Receives that wait for a message, each with its room.
    posted: BTreeMap<(u32, Tag), VecDeque<(Request, usize)>>,
    answered: Vec<(Request, Vec<u8>)>,
    is_over: bool,
}

impl LocalWire {
    pub(crate) fn family(processes: u32) -> Vec<LocalWire> {
        let exchange = Arc::new(Exchange {
            receivers: (0..processes).map(|_| Mutex::default()).collect(),
            barrier: Barrier::new(processes as usize),
            strings: Mutex::default(),
        });
        let end = |rank| LocalWire {
            rank,
            exchange: Arc::clone(&exchange),
            holds: Holds::default(),
            requests: Vec::new(),
            free: Vec::new(),
            sent: Vec::new(),
        };
        (0..processes).map(end).collect()
    }

    fn begin(&mut self, hold: Hold, part: Range<usize>) -> Request {
        let number = self.free.pop().unwrap_or(self.requests.len());
        if number == self.requests.len() {
            self.requests.push(None);
        }
        self.requests[number] = Some((hold, part));
        Request(number)
    }

    fn finish(&mut self, request: Request) -> (Hold, Range<usize>) {
        let (hold, part) = self.requests[request.0].take().expect("it is under way");
        self.free.push(request.0);
        self.holds.end(hold);
        (hold, part)
    }

    fn receiver(&self, rank: u32) -> MutexGuard<'_, Receiver> {
        self.exchange.receivers[rank as usize].lock()
    }

    /// Answers a receive that the peer has posted.
    fn answer(&self, bytes: Vec<u8>, to: u32, tag: Tag) -> Wired {
        let mut receiver = self.receiver(to);
        let posted = receiver.posted.get_mut(&(self.rank, tag));
        let Some((request, room)) = posted.and_then(VecDeque::pop_front) else {
            let what = format!("expects nothing with tag {tag}");
            return Err(NetworkError::of(to, what));
        };
        if bytes.len() > room {
            let what = format!("has no room for {}", bytes.len());
            return Err(NetworkError::of(to, what));
        }
        receiver.answered.push((request, bytes));
        Ok(())
    }
}

impl Wire for LocalWire {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.exchange.receivers.len() as u32
    }

    fn hold(&mut self, buffer: Buffer) -> Hold {
        self.holds.add(buffer)
    }

    fn release(&mut self, hold: Hold) -> Buffer {
        self.holds.remove(hold)
    }

    fn held(&self, hold: Hold) -> &Buffer {
        self.holds.look(hold)
    }

    fn send(&mut self, hold: Hold, part: Range<usize>, to: u32, tag: Tag) -> Wired<Request> {
        let bytes = self.holds.busy(hold).bytes()[part.clone()].to_vec();
        self.holds.begin_send(hold, &part);
        self.answer(bytes, to, tag)?;
        let request = self.begin(hold, part);
        self.sent.push(request);
        Ok(request)
    }

    fn receive(&mut self, hold: Hold, part: Range<usize>, from: u32, tag: Tag) -> Wired<Request> {
        self.holds.begin_receive(hold, &part);
        let room = part.len();
        let request = self.begin(hold, part);
        let mut receiver = self.receiver(self.rank);
        let posted = receiver.posted.entry((from, tag)).or_default();
        posted.push_back((request, room));
        drop(receiver);
        Ok(request)
    }

    fn completed(&mut self, done: &mut Vec<Completed>) -> Wired {
        let (mut answered, is_over) = {
            let mut receiver = self.receiver(self.rank);
            (std::mem::take(&mut receiver.answered), receiver.is_over)
        };
        if is_over {
            return Err(NetworkError::new("another process ended the run"));
        }
        while let Some((request, bytes)) = answered.pop() {
            let (hold, part) = self.finish(request);
            let into = &mut self.holds.busy(hold).bytes_mut()[part];
            into[..bytes.len()].copy_from_slice(&bytes);
            done.push(Completed {
                request,
                bytes: bytes.len(),
            });
        }
        while let Some(request) = self.sent.pop() {
            self.finish(request);
            done.push(Completed { request, bytes: 0 });
        }
        Ok(())
    }

    fn all_to_all(&mut self, all: &mut AllToAll) -> Wired {
        let strings = || self.exchange.strings.lock();
        let mut rest = &all.sent[..];
        for (to, bytes) in (0..).zip(&all.sent_bytes) {
            let string = rest.split_off(..*bytes).expect("lengths were checked");
            strings().insert((self.rank, to), string.to_vec());
        }
        self.exchange.barrier.wait();
        let mut rest = &mut all.received[..];
        for (from, bytes) in (0..).zip(&all.received_bytes) {
            let string = strings().remove(&(from, self.rank));
            let string = string.expect("all processes are past the barrier");
            let room = rest.split_off_mut(..*bytes).expect("lengths were checked");
            room.copy_from_slice(&string);
        }
        self.exchange.barrier.wait();
        Ok(())
    }

    fn barrier(&mut self) -> Wired {
        self.exchange.barrier.wait();
        Ok(())
    }

    fn abort(&mut self, _: i32) {
        for rank in 0..self.size() {
            self.receiver(rank).is_over = true;
        }
    }

    fn end(&mut self) -> Wired {
        let receiver = self.receiver(self.rank);
        assert!(receiver.answered.is_empty(), "all messages are received");
        Ok(())
    }
}
