//! Members: pieces of the contents that are compressed each by itself, on several cores, and follow each
//! other in the file. Every decompressor of these formats reads them as one (RFC 1952, 2.2, of gzip).
//!
//! ```text
//! contents   |.. 0 ..|.. 1 ..|.. 2 ..|.. 3 ..|         the same pieces with any number of workers
//! workers        a       b       a       b
//! file       | 0 | 1  | 2 | 3 |                        in their order
//! ```

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::Stream;

/// Compresses a member.
pub(super) type Compressor = fn(&[u8]) -> io::Result<Vec<u8>>;

/// A compressor of members into `out`.
pub(super) struct Members<W> {
    out: W,
    compress: Compressor,
    /// The contents of the next member, and the most bytes of one.
    open: Vec<u8>,
    most: usize,
    /// By member that has begun and was not written: its compressed bytes.
    waiting: VecDeque<Receiver<io::Result<Vec<u8>>>>,
    workers: Workers,
    /// The last byte of the last member that was written. It is held back until the next member comes: an
    /// output that is given up must not look whole.
    last: Option<u8>,
}

struct Workers {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

struct Job {
    contents: Vec<u8>,
    compressed: SyncSender<io::Result<Vec<u8>>>,
}

impl<W: Write> Members<W> {
    /// Members of at most that many bytes. Without workers they are compressed where they are written.
    pub(super) fn new(
        out: W,
        (compress, most): (Compressor, usize),
        workers: u32,
    ) -> io::Result<Members<W>> {
        Ok(Members {
            out,
            compress,
            open: Vec::with_capacity(most),
            most,
            waiting: VecDeque::new(),
            workers: Workers::start(compress, workers)?,
            last: None,
        })
    }

    fn close_member(&mut self) -> io::Result<()> {
        let Some(jobs) = &self.workers.jobs else {
            let compressed = (self.compress)(&self.open)?;
            self.open.clear();
            return self.put(&compressed);
        };
        let contents = std::mem::replace(&mut self.open, Vec::with_capacity(self.most));
        let (compressed, result) = sync_channel(1);
        let job = Job {
            contents,
            compressed,
        };
        jobs.send(job).map_err(|_| has_ended())?;
        self.waiting.push_back(result);
        if self.waiting.len() > self.workers.threads.len() {
            self.write_first()?;
        }
        Ok(())
    }

    fn write_first(&mut self) -> io::Result<()> {
        match self.waiting.pop_front() {
            Some(first) => {
                let compressed = first.recv().map_err(|_| has_ended())??;
                self.put(&compressed)
            }
            None => Ok(()),
        }
    }

    fn put(&mut self, member: &[u8]) -> io::Result<()> {
        let Some((&last, front)) = member.split_last() else {
            return Ok(());
        };
        self.out.write_all(self.last.as_slice())?;
        self.last = Some(last);
        self.out.write_all(front)
    }
}

impl<W: Write> Write for Members<W> {
    fn write(&mut self, contents: &[u8]) -> io::Result<usize> {
        let taken = contents.len().min(self.most - self.open.len());
        self.open.extend_from_slice(&contents[..taken]);
        if self.open.len() == self.most {
            self.close_member()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Stream<W> for Members<W> {
    fn end(mut self: Box<Self>) -> io::Result<W> {
        let is_first = self.last.is_none() && self.waiting.is_empty();
        if is_first || !self.open.is_empty() {
            self.close_member()?;
        }
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        self.out.write_all(self.last.as_slice())?;
        Ok(self.out)
    }
}

impl Workers {
    fn start(compress: Compressor, count: u32) -> io::Result<Workers> {
        let (jobs, taken) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut workers = Workers {
            jobs: (count > 0).then_some(jobs),
            threads: Vec::new(),
        };
        for _ in 0..count {
            let taken = Arc::clone(&taken);
            let work = move || work(&taken, compress);
            let thread = Builder::new().name("compressor".to_owned()).spawn(work)?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // Its panic was told where its member was waited for.
            let _ = thread.join();
        }
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, compress: Compressor) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        // Nobody waits for it if the file is given up.
        let _ = job.compressed.send(compress(&job.contents));
    }
}

fn has_ended() -> io::Error {
    io::Error::other("a thread that compresses has ended")
}
