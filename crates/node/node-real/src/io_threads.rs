//! Threads that serve data requests, so that several are in flight at once.
//!
//! A disk reaches its full rate only with a few large requests in flight. A thread that sleeps in
//! `pread` costs little compared with a transfer of megabytes.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, PoisonError};
use std::{io, thread};

use node::Mutex;

type Job = Box<dyn FnOnce() + Send>;

/// The most requests that run at a time. Four of megabytes, or sixteen smaller ones, saturate the
/// disks that we have measured.
const THREADS: usize = 16;

/// Stack of a thread, which makes system calls, decompresses and applies views: none of them calls itself.
const STACK_BYTES: usize = 128 << 10;

/// A thread pool. Its threads end when it is dropped and its queue is empty.
pub(crate) struct IoThreads {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    started: usize,
    closed: bool,
}

impl IoThreads {
    pub(crate) fn new() -> IoThreads {
        IoThreads {
            shared: Arc::default(),
        }
    }

    /// Runs `job` on one of the threads. Starts another thread if all are busy.
    pub(crate) fn submit(&self, job: Job) {
        let mut state = self.shared.state.lock();
        state.jobs.push_back(job);
        if state.idle < state.jobs.len() && state.started < THREADS && self.start().is_ok() {
            state.started += 1;
        }
        if state.started == 0 {
            // The system has no thread at all: the caller runs the request.
            let job = state.jobs.pop_back().expect("pushed above");
            drop(state);
            return job();
        }
        drop(state);
        self.shared.changed.notify_one();
    }

    fn start(&self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let builder = thread::Builder::new()
            .name("disk".into())
            .stack_size(STACK_BYTES);
        builder.spawn(move || serve(&shared)).map(drop)
    }
}

impl Drop for IoThreads {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

fn serve(shared: &Shared) {
    let mut state = shared.state.lock();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            // A panic breaks the ticket of the task that waits for this job, so that task panics in
            // turn. The thread continues, because it must serve the other requests.
            let _ = catch_unwind(AssertUnwindSafe(job));
            state = shared.state.lock();
        } else if state.closed {
            return;
        } else {
            state.idle += 1;
            let woken = shared.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    /// A wait that takes longer hangs.
    const TIMEOUT: Duration = Duration::from_secs(30);

    #[track_caller]
    fn wait_until(is_true: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_true() {
            assert!(begin.elapsed() < TIMEOUT, "the wait timed out");
            thread::sleep(Duration::from_millis(1));
        }
    }

    impl IoThreads {
        /// The number of idle threads, and of all threads.
        fn counts(&self) -> (usize, usize) {
            let state = self.shared.state.lock();
            (state.idle, state.started)
        }

        /// Runs a job that signals its begin, and ends on a signal.
        fn hold(&self) -> (Receiver<()>, Sender<()>) {
            let ((begins, begun), (end, ends)) = (channel(), channel());
            self.submit(Box::new(move || {
                begins.send(()).unwrap();
                let _ = ends.recv();
            }));
            (begun, end)
        }
    }

    #[test]
    fn a_thread_is_started_only_while_all_are_busy() {
        let threads = IoThreads::new();
        for _ in 0..3 {
            let (begun, end) = threads.hold();
            begun.recv_timeout(TIMEOUT).unwrap();
            assert_eq!(threads.counts(), (0, 1));
            end.send(()).unwrap();
            wait_until(|| threads.counts() == (1, 1));
        }
        let held: Vec<_> = (0..THREADS).map(|_| threads.hold()).collect();
        for (begun, _) in &held {
            begun.recv_timeout(TIMEOUT).unwrap();
        }
        assert_eq!(threads.counts(), (0, THREADS));
        let (begun, _) = threads.hold();
        assert_eq!(threads.counts(), (0, THREADS));
        drop(held);
        begun.recv_timeout(TIMEOUT).unwrap();
    }

    #[test]
    fn threads_end_with_the_last_file() {
        let threads = IoThreads::new();
        let (begun, end) = threads.hold();
        begun.recv_timeout(TIMEOUT).unwrap();
        end.send(()).unwrap();
        let shared = Arc::downgrade(&threads.shared);
        drop(threads);
        wait_until(|| shared.strong_count() == 0);
    }

    #[test]
    fn a_job_has_a_stack() {
        let threads = IoThreads::new();
        let (sender, receiver) = channel();
        threads.submit(Box::new(move || {
            let bytes = black_box([1_u8; STACK_BYTES / 2]);
            sender.send(bytes.len()).unwrap();
        }));
        assert_eq!(receiver.recv_timeout(TIMEOUT), Ok(64 << 10));
    }
}
