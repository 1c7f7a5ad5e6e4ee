//! Streams over TCP, each with a receive window that bounds it (TritonSort 4.1), by one thread or
//! by many (Figure 9).
//!
//! ```text
//! one thread       visits all peers in turn, moves at most a piece at each, and never waits
//! a thread a peer  waits in the system until its own peer can go on
//! ```
//!
//! Sending and receiving have their own threads, as TritonSort's Sender and Receiver. A pair has a
//! connection for each direction. Connections are made before the clock runs.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::Load;
use super::address::{Sockets, failed};
use super::ranks::{Ranks, mark};
use terminal::ending::failure::CliFailure;

/// A visit moves this at most (TritonSort 3.3: "up to 16 KB").
const PIECE_BYTES: usize = 16 << 10;

/// A peer that moves nothing for this long is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// Rounds of visits without success until a thread leaves the core to others for a moment.
const IDLE_VISITS: u32 = 16;

/// That moment: less than a window lasts on a link of 1 Gbit/s.
const NAP: Duration = Duration::from_micros(20);

/// How many threads serve the peers on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One for all.
    One,
    /// One for each.
    EachPeer,
}

/// The seconds of an exchange with all peers.
///
/// # Errors
/// A connection that fails or is silent; bytes that did not come as they were sent.
pub fn exchange(
    ranks: &mut Ranks,
    sockets: &Sockets,
    (load, threads): (Load, Threads),
) -> Result<f64, CliFailure> {
    let connected = connect(ranks, sockets, (load, threads)).map_err(failed("connect"));
    let (out, into) = ranks.agree(connected)?;
    ranks.meet()?;
    let begin = Instant::now();
    let moved = match threads {
        Threads::One => by_one(out, into),
        Threads::EachPeer => by_each(out, into),
    };
    let seconds = begin.elapsed().as_secs_f64();
    ranks.agree(moved.map(|()| seconds).map_err(failed("move bytes over")))
}

/// A connection in one direction.
struct Line {
    stream: TcpStream,
    /// The byte that it carries.
    mark: u8,
    /// The memory to send from, or to receive into.
    chunk: Vec<u8>,
    done: usize,
    all: usize,
}

impl Line {
    fn new(stream: TcpStream, rank: u32, load: Load) -> Line {
        let mark = mark(rank);
        Line {
            stream,
            mark,
            chunk: vec![mark; load.chunk_bytes],
            done: 0,
            all: load.bytes(),
        }
    }

    /// The part of the chunk that is next, at most so much.
    fn next(&self, most: usize) -> std::ops::Range<usize> {
        let at = self.done % self.chunk.len();
        at..(at + most)
            .min(self.chunk.len())
            .min(at + self.all - self.done)
    }

    /// Sends as much as the socket accepts, up to a limit.
    fn send(&mut self, most: usize) -> io::Result<usize> {
        let part = self.next(most);
        self.stream.write(&self.chunk[part])
    }

    /// Receives the bytes that have arrived, up to a limit.
    fn receive(&mut self, most: usize) -> io::Result<usize> {
        let part = self.next(most);
        let bytes = self.stream.read(&mut self.chunk[part.clone()])?;
        let came = &self.chunk[part][..bytes];
        let is_sound = came.first() == Some(&self.mark) && came.last() == Some(&self.mark);
        if is_sound {
            Ok(bytes)
        } else {
            Err(ErrorKind::InvalidData.into())
        }
    }
}

/// Connections to all peers, and from all.
fn connect(
    ranks: &Ranks,
    sockets: &Sockets,
    (load, threads): (Load, Threads),
) -> io::Result<(Vec<Line>, Vec<Line>)> {
    let own = ranks.own();
    let set = |stream: &TcpStream| {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nonblocking(threads == Threads::One)
    };
    let mut out = Vec::new();
    for rank in ranks.others() {
        let mut stream = TcpStream::connect(sockets.peers[rank as usize].streams)?;
        stream.write_all(&own.to_le_bytes())?;
        set(&stream)?;
        out.push(Line::new(stream, own, load));
    }
    let mut into = Vec::new();
    for _ in ranks.others() {
        let mut stream = accept(&sockets.streams)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut rank = [0; 4];
        stream.read_exact(&mut rank)?;
        set(&stream)?;
        into.push(Line::new(stream, u32::from_le_bytes(rank), load));
    }
    Ok((out, into))
}

/// The next connection, but not for ever: its rank may have failed.
fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let begin = Instant::now();
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Err(cause) if cause.kind() == ErrorKind::WouldBlock && begin.elapsed() < PATIENCE => {
                thread::sleep(NAP);
            }
            accepted => {
                let (stream, _) = accepted?;
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
        }
    }
}

/// Sends or receives, at most that many bytes.
type Move = fn(&mut Line, usize) -> io::Result<usize>;

/// One thread sends to all, and one receives from all.
fn by_one(mut out: Vec<Line>, mut into: Vec<Line>) -> io::Result<()> {
    thread::scope(|scope| {
        let sends = scope.spawn(move || visit(&mut out, Line::send));
        let received = visit(&mut into, Line::receive);
        sends.join().expect("it does not panic").and(received)
    })
}

/// Visits all lines in turn until nothing is left.
fn visit(lines: &mut [Line], go: Move) -> io::Result<()> {
    let (mut idle, mut moved_at) = (0, Instant::now());
    loop {
        let (mut moved, mut left) = (false, false);
        for line in lines.iter_mut().filter(|line| line.done < line.all) {
            left = true;
            match go(line, PIECE_BYTES) {
                Ok(bytes) => {
                    line.done += bytes;
                    moved = true;
                }
                Err(cause) if is_later(&cause) => {}
                Err(cause) => return Err(cause),
            }
        }
        if !left {
            return Ok(());
        }
        if moved {
            (idle, moved_at) = (0, Instant::now());
        } else if moved_at.elapsed() > PATIENCE {
            return Err(ErrorKind::TimedOut.into());
        } else if idle < IDLE_VISITS {
            idle += 1;
            thread::yield_now();
        } else {
            thread::sleep(NAP);
        }
    }
}

fn is_later(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A thread for each line.
fn by_each(out: Vec<Line>, into: Vec<Line>) -> io::Result<()> {
    thread::scope(|scope| {
        let wait = |lines: Vec<Line>, go: Move| -> Vec<_> {
            lines
                .into_iter()
                .map(|line| scope.spawn(move || carry(line, go)))
                .collect()
        };
        let (sends, receives) = (wait(out, Line::send), wait(into, Line::receive));
        let mut ends = sends.into_iter().chain(receives);
        // The scope waits for the others, too.
        ends.try_for_each(|thread| thread.join().expect("it does not panic"))
    })
}

/// Waits for one line until nothing is left; a whole chunk at a time, as blocking calls have it.
fn carry(mut line: Line, go: Move) -> io::Result<()> {
    while line.done < line.all {
        match go(&mut line, usize::MAX / 2) {
            Ok(bytes) => line.done += bytes,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) if is_later(&cause) => return Err(ErrorKind::TimedOut.into()),
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}
