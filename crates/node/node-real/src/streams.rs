//! Streams in memory: a thread of this process feeds the standard input of a cluster, or takes from
//! its standard output.
//!
//! ```text
//! Feed::push ------> | buffer of a read request  | ------> reader
//! writer ----------> | buffer of a write request | ------> Take::held
//! ```
//!
//! Each side works in the buffers of the cluster, so bytes are copied once on their way in and not at
//! all on their way out, and a slow side makes the other wait.
//!
//! A process that forks leaves its threads behind, with the locks that they hold. In the child both
//! sides of a stream are over, and touch nothing that the cluster shares.

use std::io;
use std::mem::forget;
use std::ops::Range;
use std::process::id;
use std::sync::{Arc, Condvar, PoisonError};

use node::backend::{Completion, Control, Done, FileHandle, Request};
use node::{Buffer, FileKind, Metadata, Mutex, Time};

/// A request that waits for the other side.
struct Asked {
    buffer: Buffer,
    range: Range<usize>,
    done: Completion<Done>,
}

impl Asked {
    fn complete(self, result: io::Result<()>) {
        self.done.complete((self.buffer, result));
    }
}

/// How a stream ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All bytes have passed.
    Whole,
    /// One side went away before that.
    Cut,
}

#[derive(Default)]
struct State {
    asked: Option<Asked>,
    end: Option<End>,
}

struct Stream {
    state: Mutex<State>,
    changed: Condvar,
    process: u32,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            state: Mutex::default(),
            changed: Condvar::new(),
            process: id(),
        }
    }
}

impl Stream {
    fn is_forked(&self) -> bool {
        self.process != id()
    }

    /// Completes a request of the cluster.
    fn complete(&self, asked: Asked, result: io::Result<()>) {
        if self.is_forked() {
            forget(asked)
        } else {
            asked.complete(result)
        }
    }

    /// The next request of the cluster; none when the stream has ended.
    fn wait(&self) -> Option<Asked> {
        if self.is_forked() {
            return None;
        }
        let mut state = self.state.lock();
        loop {
            if let Some(asked) = state.asked.take() {
                return Some(asked);
            }
            if state.end.is_some() {
                return None;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next request of the cluster, if there is one now.
    fn poll(&self) -> Option<Asked> {
        if self.is_forked() {
            None
        } else {
            self.state.lock().asked.take()
        }
    }

    /// Hands a request to the other side. If that has ended, gives it back with the reason.
    fn ask(&self, asked: Asked) -> Result<(), (Asked, End)> {
        let mut state = self.state.lock();
        if let Some(end) = state.end {
            return Err((asked, end));
        }
        state.asked = Some(asked);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Ends the stream, if it has not ended. Returns a request that nothing will serve.
    fn end(&self, end: End) -> Option<Asked> {
        if self.is_forked() {
            return None;
        }
        let mut state = self.state.lock();
        state.end.get_or_insert(end);
        let left = state.asked.take();
        drop(state);
        self.changed.notify_one();
        left
    }
}

/// The cluster's end of a stream. Its streams end when it is dropped.
struct Handle {
    stream: Arc<Stream>,
    is_input: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.stream.end(End::Whole);
    }
}

impl FileHandle for Handle {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata {
            kind: FileKind::Sequential,
            device: 0,
            identity: 0,
            mode: 0,
            length: 0,
            modified_ns: 0,
            changed_ns: 0,
        })
    }

    fn is_direct(&self) -> bool {
        false
    }

    fn submit(&self, _: Time, request: Request) {
        let (asked, is_input) = match request {
            Request::Read {
                bytes,
                buffer,
                done,
                ..
            } => {
                let range = 0..bytes;
                (
                    Asked {
                        buffer,
                        range,
                        done,
                    },
                    true,
                )
            }
            Request::Write {
                range,
                buffer,
                done,
                ..
            } => (
                Asked {
                    buffer,
                    range,
                    done,
                },
                false,
            ),
            Request::ReadChain { buffers, done, .. }
            | Request::WriteChain { buffers, done, .. } => {
                return done.complete((buffers, Err(io::ErrorKind::Unsupported.into())));
            }
            Request::Sync { done } => return done.complete(Ok(())),
        };
        if is_input != self.is_input {
            return asked.complete(Err(io::ErrorKind::Unsupported.into()));
        }
        match self.stream.ask(asked) {
            Ok(()) => {}
            Err((mut asked, End::Whole)) if is_input => {
                asked.buffer.set_len(0);
                asked.complete(Ok(()));
            }
            Err((asked, _)) => asked.complete(Err(gone(is_input))),
        }
    }

    fn control(&self, _: Control) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The other side of a stream went away.
fn gone(is_input: bool) -> io::Error {
    if is_input {
        io::Error::new(io::ErrorKind::UnexpectedEof, "its writer gave up")
    } else {
        io::ErrorKind::BrokenPipe.into()
    }
}

/// The standard input of a cluster, as the thread sees it that fills it.
pub struct Feed {
    stream: Arc<Stream>,
    /// A read request, and the bytes of it that are filled.
    open: Option<(Asked, usize)>,
}

/// The cluster is gone, and takes no more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl Feed {
    /// A feed, and the file that has its bytes.
    pub fn new() -> (Feed, Arc<dyn FileHandle>) {
        let stream = Arc::new(Stream::default());
        let handle = Handle {
            stream: Arc::clone(&stream),
            is_input: true,
        };
        let open = None;
        (Feed { stream, open }, Arc::new(handle))
    }

    /// Adds bytes, and waits while the cluster has no room for them.
    ///
    /// # Errors
    /// When the run is over.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        if let Some((asked, filled)) = &mut self.open {
            let end = *filled + bytes.len();
            if end < asked.range.len() {
                asked.buffer.bytes_mut()[*filled..end].copy_from_slice(bytes);
                *filled = end;
                return Ok(());
            }
        }
        self.push_on(bytes)
    }

    /// Adds bytes to one request and the next ones.
    fn push_on(&mut self, mut bytes: &[u8]) -> Result<(), Gone> {
        while !bytes.is_empty() {
            let (mut asked, filled) = match self.open.take() {
                Some(open) => open,
                None => (self.stream.wait().ok_or(Gone)?, 0),
            };
            let room = asked.range.len() - filled;
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            asked.buffer.bytes_mut()[filled..filled + now.len()].copy_from_slice(now);
            let filled = filled + now.len();
            if filled == asked.range.len() {
                self.complete(asked, filled)
            } else {
                self.open = Some((asked, filled))
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The bytes that [`Feed::push`] takes without waiting.
    pub fn room(&mut self) -> usize {
        if self.open.is_none() {
            self.open = self.stream.poll().map(|asked| (asked, 0));
        }
        let room = |(asked, filled): &(Asked, usize)| asked.range.len() - filled;
        self.open.as_ref().map_or(0, room)
    }

    fn complete(&self, mut asked: Asked, filled: usize) {
        asked.buffer.set_len(filled);
        self.stream.complete(asked, Ok(()));
    }

    /// Ends the input. A feed that is dropped before that makes the run fail.
    pub fn finish(mut self) {
        self.end(End::Whole);
    }

    fn end(&mut self, end: End) {
        let left = self.stream.end(end).map(|asked| (asked, 0));
        for (asked, filled) in self.open.take().into_iter().chain(left) {
            match end {
                End::Whole => self.complete(asked, filled),
                End::Cut => self.stream.complete(asked, Err(gone(true))),
            }
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.end(End::Cut);
    }
}

/// The standard output of a cluster, as the thread sees it that empties it.
pub struct Take {
    stream: Arc<Stream>,
    held: Option<Asked>,
}

impl Take {
    /// A take, and the file whose bytes it gets.
    pub fn new() -> (Take, Arc<dyn FileHandle>) {
        let stream = Arc::new(Stream::default());
        let handle = Handle {
            stream: Arc::clone(&stream),
            is_input: false,
        };
        let held = None;
        (Take { stream, held }, Arc::new(handle))
    }

    /// Gives the bytes that it holds back to the cluster, and waits for the next ones. False when the
    /// run is over, well or not.
    pub fn advance(&mut self) -> bool {
        self.release(Ok(()));
        self.held = self.stream.wait();
        self.held.is_some()
    }

    /// As [`Take::advance`], but false if it would have to wait.
    pub fn try_advance(&mut self) -> bool {
        self.release(Ok(()));
        self.held = self.stream.poll();
        self.held.is_some()
    }

    /// The bytes that it holds; none before [`Take::advance`] and at the end.
    pub fn held(&self) -> &[u8] {
        match &self.held {
            Some(held) => &held.buffer.bytes()[held.range.clone()],
            None => &[],
        }
    }

    fn release(&mut self, result: io::Result<()>) {
        if let Some(held) = self.held.take() {
            self.stream.complete(held, result);
        }
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        self.release(Err(gone(false)));
        if let Some(left) = self.stream.end(End::Cut) {
            self.stream.complete(left, Err(gone(false)));
        }
    }
}
