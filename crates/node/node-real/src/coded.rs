//! Files that are decompressed on the way, seen as a view shows them (`seen`), or read with lots.
//!
//! ```text
//! task ---- read request ----> I/O thread: file > decoder > view > lots > the request's buffer ----> task
//! ```
//!
//! The I/O thread that serves a request decompresses into its buffer. The reader of a sequential
//! file has one request in flight, so no other thread and no queue is needed, and the stages behind
//! the reader work meanwhile. A decoder takes memory from the first read to the last. That of a file with
//! several frames has threads of its own.

use std::io::{self, IoSliceMut, Read};
use std::sync::Arc;

use codec::{Decoder, Front, Header, LONGEST_HEADER, OF_PIPE, read_past};
use node::backend::{Coded, Control, FileHandle, Request};
use node::{CodingMemory, Dealer, Decompression, FileKind, Metadata, Mutex, Time, View};

use crate::file::OpenFile;
use crate::io_threads::IoThreads;
use crate::seen::{Seeing, read_seen};

/// The first bytes that tell a compressed file: whole disk blocks, as direct reads need.
pub(crate) const HEADER_BYTES: usize = LONGEST_HEADER;

/// The contents of a file that begins with `begin`, unless they are its own bytes at their offsets;
/// without that, those of a stream.
pub(crate) fn decompressed(
    open: &Arc<OpenFile>,
    threads: &Arc<IoThreads>,
    begin: Option<(&[u8], u64)>,
    reading: Decompression,
) -> io::Result<Option<Coded>> {
    let mut source = Source {
        open: Arc::clone(open),
        offset: begin.map(|(begin, _)| begin.len() as u64),
        end: None,
    };
    let (contents, memory, is_coded) = if let Some((begin, length)) = begin {
        let front = Front::of(
            begin.to_vec(),
            &mut source,
            reading.decompress,
            Source::skip,
        )?;
        let header = header(&front, &reading);
        match (header, &reading.lots, reading.view.clone()) {
            (None, None, None) => return Ok(None),
            (None, None, Some(view)) if view.is_local() => {
                return Ok(Some(seen(open, threads, (view, length))));
            }
            _ => {}
        }
        // Compressed bytes are few, and read in small pieces: the system reads ahead.
        through_cache(open)?;
        let memory = header.map_or(CodingMemory::default(), |header| header.memory);
        let state = match header {
            Some(header) => State::Compressed(Decoder::new(header, front, source)),
            None => {
                // Bytes that are appended later are no part of the contents.
                source.end = Some(length);
                let mut begin = front.bytes;
                begin.truncate(usize::try_from(length).unwrap_or(usize::MAX));
                State::Plain(begin, Some(source))
            }
        };
        (Contents::of(state, &reading), memory, true)
    } else {
        (Contents::new(source, reading), OF_PIPE, false)
    };
    let handle = DecodedFile {
        open: Arc::clone(open),
        contents: Arc::new(Mutex::new(contents)),
        threads: Arc::clone(threads),
    };
    Ok(Some(Coded {
        handle: Arc::new(handle),
        is_coded,
        memory,
    }))
}

fn seen(
    open: &Arc<OpenFile>,
    threads: &Arc<IoThreads>,
    (view, length): (Arc<dyn View>, u64),
) -> Coded {
    let handle = SeenFile {
        open: Arc::clone(open),
        threads: Arc::clone(threads),
        view,
        length,
    };
    Coded {
        handle: Arc::new(handle),
        is_coded: false,
        memory: CodingMemory::default(),
    }
}

/// The format of these contents and the memory of its decoder; none where they are not compressed.
fn header(front: &Front, reading: &Decompression) -> Option<Header> {
    let header = front.header(reading.memory_bytes)?;
    Some(header.on_cores(reading.cores, reading.memory_bytes))
}

/// The bytes of a file from an offset on, or of a pipe.
struct Source {
    open: Arc<OpenFile>,
    offset: Option<u64>,
    /// The offset at which the contents end, if the file may have more.
    end: Option<u64>,
}

/// Makes requests of any length possible.
fn through_cache(open: &OpenFile) -> io::Result<()> {
    if open.is_direct() && !open.falls_back() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(())
}

impl Source {
    /// Goes on behind the next bytes of a file. Returns their number, less only at the end.
    fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        through_cache(&self.open)?;
        let offset = self.offset.expect("a file has offsets");
        let there = self.open.metadata()?.length.saturating_sub(offset);
        let skipped = bytes.min(there);
        self.offset = Some(offset + skipped);
        Ok(skipped)
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.end.zip(self.offset);
        let left = left.map_or(u64::MAX, |(end, at)| end.saturating_sub(at));
        let most = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self
            .open
            .read(self.offset, &mut [IoSliceMut::new(&mut out[..most])])?;
        self.offset = self.offset.map(|offset| offset + read as u64);
        Ok(read)
    }
}

/// The contents of what is read front to back, compressed or not.
pub struct Contents<S> {
    state: State<S>,
    seeing: Option<Seeing>,
    dealer: Option<Dealer>,
}

enum State<S> {
    /// Nothing was read.
    Unknown(S, Decompression),
    Compressed(Decoder<S>),
    /// The first bytes, and the rest, if there is one.
    Plain(Vec<u8>, Option<S>),
    /// The first bytes could not be read, or ask for too much memory.
    Failed,
}

impl<S: Read + Send + 'static> Contents<S> {
    /// Of a source whose reads fill their buffer, less only at the end, as those of [`Whole`] do.
    pub fn new(source: S, reading: Decompression) -> Contents<S> {
        let state = State::Unknown(source, reading.clone());
        Contents::of(state, &reading)
    }

    fn of(state: State<S>, reading: &Decompression) -> Contents<S> {
        Contents {
            state,
            seeing: reading.view.clone().map(Seeing::new),
            dealer: reading.lots.clone().map(Dealer::new),
        }
    }

    /// Fills `out`, less only at the end.
    ///
    /// # Errors
    /// When the source fails, is damaged, asks for too much memory, or has bytes that have no such view.
    pub fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (state, seeing) = (&mut self.state, &mut self.seeing);
        let mut seen = |out: &mut [u8]| match seeing {
            Some(seeing) => seeing.fill(out, |out| state.fill(out)),
            None => state.fill(out),
        };
        match &mut self.dealer {
            Some(dealer) => dealer.fill(out, seen),
            None => seen(out),
        }
    }
}

impl<S: Read + Send + 'static> State<S> {
    fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            State::Unknown(..) => {
                self.begin()?;
                self.fill(out)
            }
            State::Failed => Err(io::ErrorKind::InvalidData.into()),
            State::Compressed(decoder) => decoder.fill(out),
            State::Plain(begin, rest) => {
                let seen = begin.len().min(out.len());
                let (front, out) = out.split_at_mut(seen);
                front.copy_from_slice(&begin[..seen]);
                begin.drain(..seen);
                let more = rest.as_mut().map_or(Ok(0), |rest| rest.read(out));
                Ok(seen + more?)
            }
        }
    }

    /// Reads the first bytes, which tell whether it is compressed.
    fn begin(&mut self) -> io::Result<()> {
        let State::Unknown(mut source, reading) = std::mem::replace(self, State::Failed) else {
            return Ok(());
        };
        let mut begin = vec![0; HEADER_BYTES];
        let read = source.read(&mut begin)?;
        begin.truncate(read);
        let front = Front::of(begin, &mut source, reading.decompress, read_past)?;
        *self = match header(&front, &reading) {
            Some(header) => {
                let header = header.of_pipe(reading.memory_bytes)?;
                State::Compressed(Decoder::new(header, front, source))
            }
            // A terminal would ask for more after its end.
            None => State::Plain(front.bytes, (read == HEADER_BYTES).then_some(source)),
        };
        Ok(())
    }
}

impl<S: Read + Send + 'static> Read for Contents<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.fill(out)
    }
}

/// A source whose reads fill their buffer: a pipe gives less at a time.
pub struct Whole<S>(pub S);

impl<S: Read> Read for Whole<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (most, mut filled) = (out.len(), 0);
        while filled < most {
            match self.0.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// The contents of a file, front to back.
struct DecodedFile {
    open: Arc<OpenFile>,
    contents: Arc<Mutex<Contents<Source>>>,
    threads: Arc<IoThreads>,
}

impl FileHandle for DecodedFile {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata {
            kind: FileKind::Sequential,
            ..self.open.metadata()?
        })
    }

    fn is_direct(&self) -> bool {
        false
    }

    fn submit(&self, _: Time, request: Request) {
        let contents = Arc::clone(&self.contents);
        self.threads.submit(Box::new(move || match request {
            Request::Read {
                bytes,
                mut buffer,
                done,
                ..
            } => {
                let result = contents.lock().fill(&mut buffer.bytes_mut()[..bytes]);
                let result = result.map(|read| buffer.set_len(read));
                done.complete((buffer, result));
            }
            other => refuse_request(other),
        }));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }
}

/// A file that can be read at any offset, with a view that is local.
struct SeenFile {
    open: Arc<OpenFile>,
    threads: Arc<IoThreads>,
    view: Arc<dyn View>,
    /// Its length when it was opened: what others append since is not part of the contents.
    length: u64,
}

impl FileHandle for SeenFile {
    fn metadata(&self) -> io::Result<Metadata> {
        self.open.metadata()
    }

    fn is_direct(&self) -> bool {
        self.open.is_direct()
    }

    fn submit(&self, _: Time, request: Request) {
        let (open, view, length) = (Arc::clone(&self.open), Arc::clone(&self.view), self.length);
        self.threads.submit(Box::new(move || match request {
            Request::Read {
                offset: Some(offset),
                bytes,
                mut buffer,
                done,
            } => {
                let out = &mut buffer.bytes_mut()[..bytes];
                let fill = |at, out: &mut [u8]| open.read(Some(at), &mut [IoSliceMut::new(out)]);
                let read = read_seen(&*view, (offset, length), out, fill);
                let result = read.map(|read| buffer.set_len(read));
                done.complete((buffer, result));
            }
            other => refuse_request(other),
        }));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }
}

/// Refuses requests that the contents of a file are not for: they are read or written one stretch at a time.
pub(crate) fn refuse_request(request: Request) {
    let refused = || {
        let what = "the contents of a file take no such request";
        Err(io::Error::new(io::ErrorKind::Unsupported, what))
    };
    match request {
        Request::Read { buffer, done, .. } | Request::Write { buffer, done, .. } => {
            done.complete((buffer, refused()));
        }
        Request::ReadChain { buffers, done, .. } | Request::WriteChain { buffers, done, .. } => {
            done.complete((buffers, refused()));
        }
        Request::Sync { done } => done.complete(Ok(())),
    }
}
