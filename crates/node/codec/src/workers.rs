//! Threads that work on jobs, any of them on any job. Results come in the order of the jobs.
//!
//! ```text
//! jobs       0   1   2   3
//! workers    a   b   a   b
//! results    0 > 1 > 2 > 3
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Workers, and the jobs whose results were not taken. Dropped, it waits for the jobs under way and no
/// others.
pub(crate) struct Workers<J, O> {
    jobs: Option<Sender<Sent<J, O>>>,
    waiting: VecDeque<Receiver<O>>,
    threads: Vec<JoinHandle<()>>,
    are_given_up: Arc<AtomicBool>,
}

struct Sent<J, O> {
    job: J,
    result: SyncSender<O>,
}

/// A worker has panicked.
#[derive(Debug)]
pub(crate) struct HasEnded;

impl<J: Send + 'static, O: Send + 'static> Workers<J, O> {
    /// That many threads of this name, which do `work`.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub(crate) fn start(
        name: &str,
        count: usize,
        work: impl Fn(J) -> O + Copy + Send + 'static,
    ) -> io::Result<Workers<J, O>> {
        let (jobs, taken) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut workers = Workers {
            jobs: Some(jobs),
            waiting: VecDeque::new(),
            threads: Vec::new(),
            are_given_up: Arc::default(),
        };
        for _ in 0..count {
            let (taken, given_up) = (Arc::clone(&taken), Arc::clone(&workers.are_given_up));
            let run = move || {
                while let Some(sent) = next(&taken).filter(|_| !given_up.load(Ordering::Relaxed)) {
                    // Nobody waits for it if the workers are given up.
                    let _ = sent.result.send(work(sent.job));
                }
            };
            let thread = Builder::new().name(name.to_owned()).spawn(run)?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.threads.len()
    }

    /// Jobs whose results were not taken.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Leaves a job to the next thread that is free.
    ///
    /// # Errors
    /// When no thread is left.
    pub(crate) fn begin(&mut self, job: J) -> Result<(), HasEnded> {
        let (result, waiting) = sync_channel(1);
        let jobs = self.jobs.as_ref().expect("they are not dropped");
        jobs.send(Sent { job, result }).map_err(|_| HasEnded)?;
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Waits for the result of the first job, if there is one.
    ///
    /// # Errors
    /// When its thread has panicked.
    pub(crate) fn next(&mut self) -> Option<Result<O, HasEnded>> {
        let first = self.waiting.pop_front()?;
        Some(first.recv().map_err(|_| HasEnded))
    }
}

impl<J, O> Drop for Workers<J, O> {
    fn drop(&mut self) {
        self.are_given_up.store(true, Ordering::Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // Its panic was told where the result was waited for.
            let _ = thread.join();
        }
    }
}

/// The next job; none if there will be no more.
fn next<T>(jobs: &Mutex<Receiver<T>>) -> Option<T> {
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}
