//! Datagrams in rounds (psort): in round i rank r sends all it has for (r+i) mod P, and receives
//! all that (r-i) mod P has for it. Lost datagrams are sent again.
//!
//! ```text
//! receiver -- 0 ------------> sender      it is ready for this round
//! receiver <- datagram 0, 1 - sender      a window, numbered
//! receiver -- 2 ------------> sender      the number that is missing: all before have come
//! receiver <- datagram 3 ---- sender      2 is lost: what comes out of turn is thrown away,
//! receiver -- 2 ------------> sender      told once more,
//! receiver <- datagram 2, 3 - sender      and sent again from there
//! ```
//!
//! The receiver has its own thread: until all ranks have ended it answers a sender that did not
//! hear its last word. psort's poster does not say how it knew of losses.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::Load;
use super::address::{Peer, Sockets, failed};
use super::ranks::{Ranks, mark};
use terminal::ending::failure::CliFailure;

/// Bytes of a datagram: a jumbo frame's. Where frames are smaller the kernel cuts it into six.
const DATAGRAM_BYTES: usize = 8 << 10;

/// In front of it: round, number.
const HEADER_BYTES: usize = 8;

/// Datagrams that may be on their way: with what the kernel counts beside them, half of the buffer
/// that Linux gives a socket (208 KiB).
const WINDOW: u32 = 8;

/// Datagrams after which the receiver reports the missing ones.
const TOLD_EVERY: u32 = 2;

/// After this silence the receiver repeats its request and the sender sends again: some round trips,
/// even of a busy machine.
const SILENCE: Duration = Duration::from_millis(4);

/// A peer that is silent for this long is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// The seconds of an exchange, and how many datagrams were sent again.
///
/// # Errors
/// A socket that fails; a peer that is silent; bytes that did not come as they were sent.
pub fn exchange(
    ranks: &mut Ranks,
    sockets: &Sockets,
    load: Load,
) -> Result<(f64, u64), CliFailure> {
    let set = [&sockets.datagrams, &sockets.answers]
        .into_iter()
        .try_for_each(|socket| socket.set_read_timeout(Some(SILENCE)));
    ranks.agree(set.map_err(failed("set")))?;
    let to: Vec<u32> = ranks.others().collect();
    let from: Vec<u32> = to.iter().rev().copied().collect();
    let plan = Plan::next(sockets, to.len(), load);
    let (is_over, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
    ranks.meet()?;
    let (is_over, datagrams, peers) = (&is_over, &sockets.datagrams, &sockets.peers);
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut receiver = Receiver::new(datagrams, plan, from, peers);
            let received = receiver.receive();
            let is_through = received.is_ok();
            // The caller waits for it.
            let _ = tell.send(received);
            while is_through && !is_over.load(Ordering::Acquire) {
                // Nothing new comes: late words are answered.
                let _ = receiver.next();
            }
        });
        let mut sender = Sender {
            socket: &sockets.answers,
            plan,
            again: 0,
        };
        let sent = (plan.first..).zip(to).try_for_each(|(round, to)| {
            sender.send(round, mark(ranks.own()), peers[to as usize].datagrams)
        });
        let received = told
            .recv()
            .unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()));
        let seconds = begin.elapsed().as_secs_f64();
        let moved = sent.and(received).map(|()| (seconds, sender.again));
        let agreed = ranks.agree(moved.map_err(failed("move datagrams over")));
        is_over.store(true, Ordering::Release);
        agreed
    })
}

/// The datagrams of each round.
#[derive(Clone, Copy)]
struct Plan {
    /// Number of the first round.
    first: u32,
    /// Datagrams of each.
    count: u32,
    load: Load,
}

impl Plan {
    /// The next rounds. Their numbers are never used again, so late datagrams are not mistaken for new
    /// ones.
    fn next(sockets: &Sockets, rounds: usize, load: Load) -> Plan {
        let first = sockets.rounds.get();
        sockets.rounds.set(first + rounds as u32);
        let count = load.bytes().div_ceil(DATAGRAM_BYTES) as u32;
        Plan { first, count, load }
    }
}

/// Two or three numbers in front of a datagram.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(4)) {
        *word = u32::from_le_bytes(bytes.try_into().ok()?);
    }
    (bytes.len() >= 4 * N).then_some(words)
}

fn is_silence(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// The sender of a round, which also reads the answers.
struct Sender<'a> {
    socket: &'a UdpSocket,
    plan: Plan,
    again: u64,
}

impl Sender<'_> {
    fn send(&mut self, round: u32, mark: u8, to: SocketAddr) -> io::Result<()> {
        let mut datagram = vec![mark; HEADER_BYTES + DATAGRAM_BYTES];
        datagram[..4].copy_from_slice(&round.to_le_bytes());
        let (mut next, mut came, mut gap) = (0, None, None);
        let mut heard_at = Instant::now();
        while came != Some(self.plan.count) {
            // Nothing goes before the receiver is ready.
            let window = came.map_or(0, |came: u32| self.plan.count.min(came + WINDOW));
            while next < window {
                datagram[4..HEADER_BYTES].copy_from_slice(&next.to_le_bytes());
                self.socket.send_to(&datagram, to)?;
                next += 1;
            }
            let back_to = match self.hear(round)? {
                Some((missing, _)) if came.is_none_or(|came| missing > came) => {
                    (came, heard_at) = (Some(missing), Instant::now());
                    next = next.max(missing);
                    None
                }
                // Reports each gap once: later datagrams show the same gap.
                Some((missing, true)) if came == Some(missing) && gap != came => {
                    gap = came;
                    came
                }
                Some(_) => None,
                None if heard_at.elapsed() > PATIENCE => return Err(ErrorKind::TimedOut.into()),
                None => came,
            };
            if let Some(missing) = back_to {
                self.again += u64::from(next - missing);
                next = missing;
            }
        }
        Ok(())
    }

    /// The missing number of a round, and whether a later one has come; `None` after a silence.
    fn hear(&self, round: u32) -> io::Result<Option<(u32, bool)>> {
        let mut answer = [0; 12];
        loop {
            match self.socket.recv(&mut answer) {
                Ok(bytes) => match words(&answer[..bytes]) {
                    Some([of, missing, gap]) if of == round => {
                        return Ok(Some((missing, gap == 1)));
                    }
                    _ => {}
                },
                Err(cause) if is_silence(&cause) => return Ok(None),
                Err(cause) => return Err(cause),
            }
        }
    }
}

/// Receives, and tells what is missing.
struct Receiver<'a> {
    socket: &'a UdpSocket,
    plan: Plan,
    /// The sender of each round.
    from: Vec<u32>,
    peers: &'a [Peer],
    /// Where it is.
    round: u32,
    missing: u32,
    untold: u32,
    /// The last datagram, and all of them.
    datagram: Vec<u8>,
    chunk: Vec<u8>,
}

impl<'a> Receiver<'a> {
    fn new(socket: &'a UdpSocket, plan: Plan, from: Vec<u32>, peers: &'a [Peer]) -> Receiver<'a> {
        Receiver {
            socket,
            plan,
            from,
            peers,
            round: plan.first,
            missing: 0,
            untold: 0,
            datagram: vec![0; HEADER_BYTES + DATAGRAM_BYTES],
            chunk: vec![0; plan.load.chunk_bytes.next_multiple_of(DATAGRAM_BYTES)],
        }
    }

    /// The sender of this round; `None` after the last one.
    fn sender(&self) -> Option<u32> {
        self.from
            .get((self.round - self.plan.first) as usize)
            .copied()
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut came_at = Instant::now();
        self.tell(false)?;
        while self.sender().is_some() {
            if self.next()? {
                came_at = Instant::now();
            } else if came_at.elapsed() > PATIENCE {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    /// Takes the next datagram: whether it was the missing one.
    fn next(&mut self) -> io::Result<bool> {
        let (bytes, from) = match self.socket.recv_from(&mut self.datagram) {
            Ok(came) => came,
            Err(cause) if is_silence(&cause) => {
                self.tell(false)?;
                return Ok(false);
            }
            Err(cause) => return Err(cause),
        };
        let Some([round, number]) = words(&self.datagram[..bytes]) else {
            return Ok(false);
        };
        if round < self.round {
            // It did not hear that the round has ended.
            self.answer([round, self.plan.count, 0], from)?;
            return Ok(false);
        }
        let Some(sender) = self.sender().filter(|_| round == self.round) else {
            return Ok(false);
        };
        if number != self.missing {
            self.tell(number > self.missing)?;
            return Ok(false);
        }
        let payload = &self.datagram[HEADER_BYTES..bytes];
        let is_sound = [payload.first(), payload.last()]
            .iter()
            .all(|&byte| byte == Some(&mark(sender)));
        if !is_sound || payload.len() != DATAGRAM_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
        let at = number as usize * DATAGRAM_BYTES % self.chunk.len();
        self.chunk[at..at + DATAGRAM_BYTES].copy_from_slice(payload);
        (self.missing, self.untold) = (number + 1, self.untold + 1);
        let is_through = self.missing == self.plan.count;
        if self.untold == TOLD_EVERY || is_through {
            self.tell(false)?;
        }
        if is_through {
            (self.round, self.missing) = (self.round + 1, 0);
            self.tell(false)?;
        }
        Ok(true)
    }

    /// Tells the sender of this round the missing number.
    fn tell(&mut self, is_gap: bool) -> io::Result<()> {
        let Some(sender) = self.sender() else {
            return Ok(());
        };
        self.untold = 0;
        let to = self.peers[sender as usize].answers;
        self.answer([self.round, self.missing, u32::from(is_gap)], to)
    }

    fn answer(&self, words: [u32; 3], to: SocketAddr) -> io::Result<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.socket.send_to(&bytes, to).map(drop)
    }
}
