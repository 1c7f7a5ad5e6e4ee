//! Windows: all blocks simulate the same stretch of time, exchange their packets, and go on.
//!
//! ```text
//!   thread 0:  blocks 0 2 4 ...  | exchange |         | blocks 0 2 4 ... |
//!   thread 1:  blocks 1 3 5 ...  | exchange | barrier | blocks 1 3 5 ... |
//!                window [t, t + latency)               the next window begins at the earliest
//!                                                      event of any block
//! ```
//!
//! A block stays on its thread, since its tasks are not `Send`. Windows and their events are the
//! same for any number of threads.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use node::{Mutex, Panic};

use crate::cluster::block::Block;
use crate::cluster::exchange::Exchange;
use crate::network::fabric::Scratch;
use crate::network::layout::Layout;
use crate::report::{RunError, Watch};
use crate::schedule::{Mailbox, Ticks};

/// The state that the threads of a run share.
pub struct Engine {
    pub layout: Arc<Layout>,
    pub mailboxes: Vec<Arc<Mailbox>>,
    pub watch: Arc<Watch>,
    threads: usize,
    exchange: Exchange,
    barrier: Barrier,
    /// The next event of each thread's blocks, for this window and the one before.
    next: [Vec<AtomicU64>; 2],
    /// When the last task of each thread resumed; `Ticks::NEVER` if one will resume.
    last_resumed: [Vec<AtomicU64>; 2],
    /// If no task resumes for longer, none ever will.
    longest_idle: Ticks,
    /// Whether this window, or the one before, ends the run.
    stop: [AtomicBool; 2],
    failed: Mutex<Option<RunError>>,
}

/// A message is sent again after at most 64 timeouts. If 64 tries of all messages resume no task,
/// none will.
const IDLE_TIMEOUTS: u64 = 64 * 64;

/// When the last task of these blocks resumed; `Ticks::NEVER` if one will resume.
fn idle_since(blocks: &[(u32, Block)]) -> Ticks {
    let since = |block: &Block| block.shared.state.borrow().idle_since();
    let since = blocks.iter().map(|(_, block)| since(block));
    since
        .map(|since| since.unwrap_or(Ticks::NEVER))
        .max()
        .unwrap_or_default()
}

fn next_event(blocks: &[(u32, Block)]) -> Ticks {
    let next = |block: &Block| block.shared.state.borrow().next();
    let next = blocks.iter().map(|(_, block)| next(block));
    next.min().unwrap_or(Ticks::NEVER)
}

/// The values that the threads stored in a window.
fn load(stored: &[AtomicU64]) -> impl Iterator<Item = Ticks> {
    stored
        .iter()
        .map(|ticks| Ticks(ticks.load(Ordering::Acquire)))
}

impl Engine {
    pub fn new(layout: &Arc<Layout>, mailboxes: &[Arc<Mailbox>], watch: &Arc<Watch>) -> Engine {
        let threads = layout.setting.threads.clamp(1, layout.blocks() as usize);
        let next = || (0..threads).map(|_| AtomicU64::new(u64::MAX)).collect();
        Engine {
            layout: Arc::clone(layout),
            mailboxes: mailboxes.to_vec(),
            watch: Arc::clone(watch),
            threads,
            exchange: Exchange::new(layout, threads),
            barrier: Barrier::new(threads),
            next: [next(), next()],
            last_resumed: [next(), next()],
            longest_idle: layout.profile.nic.timeout_cycles * IDLE_TIMEOUTS + layout.slowest(),
            stop: [AtomicBool::new(false), AtomicBool::new(false)],
            failed: Mutex::new(None),
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs the blocks of one thread, prepared by `make`, to the end of the run, and passes them to
    /// `end`.
    pub fn run_thread<R>(
        &self,
        thread: usize,
        make: impl Fn(&mut Block),
        end: impl FnOnce(Vec<(u32, Block)>) -> R,
    ) -> R {
        let mut blocks = self.make_blocks(thread, make);
        let mut begin = Ticks(0);
        let mut scratch = Scratch::new(&self.layout, self.threads);
        for window in (0..2).cycle() {
            let until = begin + self.layout.window;
            self.guard(window, || {
                self.run_window(&mut blocks, &mut scratch, window, begin..until)
            });
            let sent = self.exchange.hand_on(thread, &mut scratch.outbox, window);
            scratch.trim(sent);
            let first = std::mem::replace(&mut scratch.outbox.first, Ticks::NEVER);
            let stored = [&self.next, &self.last_resumed].map(|all| &all[window][thread]);
            stored[0].store(next_event(&blocks).min(first).0, Ordering::Release);
            stored[1].store(idle_since(&blocks).0, Ordering::Release);
            if thread == 0 {
                self.watch_window(window, until);
            }
            self.barrier.wait();
            match self.next_window(window) {
                Some(next) => begin = next,
                None => break,
            }
        }
        end(blocks)
    }

    fn make_blocks(&self, thread: usize, make: impl Fn(&mut Block)) -> Vec<(u32, Block)> {
        let numbers =
            (0..self.layout.blocks()).filter(|block| *block as usize % self.threads == thread);
        let block = |number| {
            let mut block = Block::new(&self.layout, number, &self.mailboxes[number as usize]);
            self.guard(0, || make(&mut block));
            (number, block)
        };
        numbers.map(block).collect()
    }

    /// Shows observers how far the run is, and ends it if they ask for that.
    fn watch_window(&self, window: usize, until: Ticks) {
        self.watch.ticks.store(until.0, Ordering::Relaxed);
        if self.watch.stop.load(Ordering::Relaxed) {
            self.fail(window, RunError::Stopped);
        }
    }

    /// The start of the window after this one; `None` at the end of the run.
    fn next_window(&self, window: usize) -> Option<Ticks> {
        let begin = load(&self.next[window]).min()?;
        let last_resumed = load(&self.last_resumed[window]).max()?;
        let is_stuck = begin.since(last_resumed) > self.longest_idle;
        let is_over =
            begin == Ticks::NEVER || is_stuck || self.stop[window].load(Ordering::Acquire);
        (!is_over).then_some(begin)
    }

    /// The error of the run, if it failed.
    pub fn failure(&self) -> Option<RunError> {
        self.failed.lock().take()
    }

    fn run_window(
        &self,
        blocks: &mut [(u32, Block)],
        scratch: &mut Scratch,
        window: usize,
        ticks: Range<Ticks>,
    ) {
        let mut received = 0;
        for (number, block) in blocks.iter_mut() {
            block.swap_scratch(scratch);
            self.exchange.take(*number, block, 1 - window);
            block.run(ticks.clone());
            self.exchange.hand_on_parcels(block, window);
            block.swap_scratch(scratch);
            received += block.received_since();
        }
        self.watch.received.fetch_add(received, Ordering::Relaxed);
    }

    /// Ends the run if a program panics.
    fn guard(&self, window: usize, run: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.fail(window, RunError::Panic(Panic::of(&*payload).0));
        }
    }

    /// Ends the run after this window: all threads see it behind the same barrier.
    fn fail(&self, window: usize, error: RunError) {
        self.failed.lock().get_or_insert(error);
        self.stop[window].store(true, Ordering::Release);
    }
}
