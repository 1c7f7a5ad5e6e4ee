//! Files that are decompressed on the way.
//!
//! ```text
//! task ---- read request ----> I/O thread: file > decoder > the request's buffer ----> task
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
use node::{Decompression, FileKind, Metadata, Mutex, Time};

use crate::file::OpenFile;
use crate::io_threads::IoThreads;

/// The first bytes that tell a compressed file: whole disk blocks, as direct reads need.
pub(crate) const HEADER_BYTES: usize = LONGEST_HEADER;

/// The contents of a file that begins with `begin`, unless they are its own bytes at their offsets;
/// or those of a pipe.
pub(crate) fn decompressed(
    open: &Arc<OpenFile>,
    threads: &Arc<IoThreads>,
    begin: &[u8],
    reading: Decompression,
) -> io::Result<Option<Coded>> {
    let is_pipe = open.metadata()?.kind == FileKind::Sequential;
    let mut source = Source {
        open: Arc::clone(open),
        offset: (!is_pipe).then_some(begin.len() as u64),
    };
    let (contents, memory, is_coded) = if is_pipe {
        (Contents::new(source, reading), OF_PIPE, false)
    } else {
        let front = Front::of(
            begin.to_vec(),
            &mut source,
            reading.decompress,
            Source::skip,
        )?;
        let Some(header) = header(&front, reading) else {
            return Ok(None);
        };
        // Compressed bytes are few, and read in small pieces: the system reads ahead.
        through_cache(open)?;
        let decoder = Decoder::new(header, front, source);
        (Contents(State::Compressed(decoder)), header.memory, true)
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

/// The format of these contents and the memory of its decoder; none where they are not compressed.
fn header(front: &Front, reading: Decompression) -> Option<Header> {
    let header = front.header(reading.memory_bytes)?;
    Some(header.on_cores(reading.cores, reading.memory_bytes))
}

/// The bytes of a file from an offset on, or of a pipe.
struct Source {
    open: Arc<OpenFile>,
    offset: Option<u64>,
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
        let read = self.open.read(self.offset, &mut [IoSliceMut::new(out)])?;
        self.offset = self.offset.map(|offset| offset + read as u64);
        Ok(read)
    }
}

/// The contents of what is read front to back, compressed or not.
pub struct Contents<S>(State<S>);

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
    /// Of a source whose reads fill their buffer, less only at the end.
    pub fn new(source: S, reading: Decompression) -> Contents<S> {
        Contents(State::Unknown(source, reading))
    }

    /// Fills `out`, less only at the end.
    ///
    /// # Errors
    /// When the source fails, is damaged, or asks for too much memory.
    pub fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
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
        let State::Unknown(mut source, reading) = std::mem::replace(&mut self.0, State::Failed)
        else {
            return Ok(());
        };
        let mut begin = vec![0; HEADER_BYTES];
        let read = source.read(&mut begin)?;
        begin.truncate(read);
        let front = Front::of(begin, &mut source, reading.decompress, read_past)?;
        self.0 = match header(&front, reading) {
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
            Request::Write { buffer, done, .. } => done.complete((buffer, Err(read_only()))),
            Request::ReadChain { buffers, done, .. }
            | Request::WriteChain { buffers, done, .. } => {
                done.complete((buffers, Err(read_only())));
            }
            Request::Sync { done } => done.complete(Ok(())),
        }));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }
}

/// The refusal of what contents of a compressed file are not for.
fn read_only() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "compressed files are read front to back",
    )
}
