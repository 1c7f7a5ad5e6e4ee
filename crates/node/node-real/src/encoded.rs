//! Files that are compressed on the way to the disk.
//!
//! ```text
//! task ---- write request ----> I/O thread: contents > encoder > file
//!      ---- sync request -----> I/O thread: end of the data > file > fsync
//! ```
//!
//! The I/O thread that serves a request compresses its contents, as with files that are decompressed
//! (`coded`). zstd has more threads of its own.

use std::io::{self, BufWriter, IoSlice, Write};
use std::sync::Arc;

use codec::{Encoder, encoder_memory};
use node::backend::{Coded, Control, FileHandle, Request};
use node::{Compress, FileKind, Metadata, Mutex, Time};

use crate::coded::refuse_request;
use crate::file::{OpenFile, sync};
use crate::io_threads::IoThreads;

/// Bytes of a write. Encoders write in pieces from a few bytes on.
const OUTPUT_BYTES: usize = 256 << 10;

/// The file, which is empty, as one that compresses what is written to it.
pub(crate) fn compressed(
    open: &Arc<OpenFile>,
    threads: &Arc<IoThreads>,
    how: Compress,
) -> io::Result<Coded> {
    // The data ends anywhere, and direct writes do not.
    if open.is_direct() && !open.falls_back() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let sink = Sink(Arc::clone(open));
    let encoder = Encoder::new(how, BufWriter::with_capacity(OUTPUT_BYTES, sink))?;
    let handle = EncodedFile {
        open: Arc::clone(open),
        encoder: Arc::new(Mutex::new(Some(encoder))),
        threads: Arc::clone(threads),
    };
    Ok(Coded {
        handle: Arc::new(handle),
        is_coded: true,
        memory: encoder_memory(how),
    })
}

struct Sink(Arc<OpenFile>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(None, &mut [IoSlice::new(bytes)])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Encoding = Option<Encoder<BufWriter<Sink>>>;

/// A file that is written front to back.
struct EncodedFile {
    open: Arc<OpenFile>,
    /// None once the data has ended.
    encoder: Arc<Mutex<Encoding>>,
    threads: Arc<IoThreads>,
}

impl FileHandle for EncodedFile {
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
        let (open, encoder) = (Arc::clone(&self.open), Arc::clone(&self.encoder));
        self.threads.submit(Box::new(move || match request {
            Request::Write {
                range,
                buffer,
                done,
                ..
            } => {
                let result = match &mut *encoder.lock() {
                    Some(encoder) => encoder.write(&buffer.bytes()[range]),
                    None => Err(write_only()),
                };
                done.complete((buffer, result));
            }
            Request::Sync { done } => {
                let ended = end(&mut encoder.lock());
                done.complete(ended.and_then(|()| sync(&open.fd)));
            }
            other => refuse_request(other),
        }));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }
}

/// Ends the data, once.
fn end(encoder: &mut Encoding) -> io::Result<()> {
    match encoder.take() {
        Some(encoder) => encoder.end()?.flush(),
        None => Ok(()),
    }
}

/// The refusal of what a compressed file that is being written is not for.
fn write_only() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "compressed files are written front to back, once",
    )
}
