//! What the tasks of this process hand to its communication thread.
//!
//! A list behind a lock: tasks add to it, the thread takes all of it at once. The number of small
//! messages that have not left is bounded; a task that would send more waits. That ends, since the
//! communication thread of every process always takes over what comes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use node::backend::{Completion, Inboxes};
use node::{Address, Buffer, Words};

use crate::wire::AllToAll;

/// Most small messages that have not left: at 2 KiB each, 16 MiB.
const MOST_MESSAGES: usize = 8192;

/// What the communication thread is to do.
pub(crate) enum Command {
    /// Send a small message.
    Message { to: Address, words: Words },
    /// Tell the receiver of a shipment.
    Ship {
        to: Address,
        buffer: Buffer,
        done: Completion<Buffer>,
    },
    /// Have a shipment that a peer told of sent into a buffer.
    Fetch {
        from: u32,
        shipment: Shipment,
        buffer: Buffer,
        done: Completion<Buffer>,
    },
    /// Carry a string from each process to each; all give this command.
    AllToAll {
        strings: AllToAll,
        done: mpsc::Sender<AllToAll>,
    },
    /// Leave in good order.
    End,
    /// Stop without a word to the peers.
    Quit,
    /// End every process, with that exit code.
    Abort(i32),
}

/// A shipment that waits at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shipment {
    pub number: u32,
    pub bytes: usize,
}

/// The list, and where letters from outside go.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// For the communication thread: there are commands.
    filled: Condvar,
    /// For tasks: messages have left.
    room: Condvar,
    /// Whether there are commands; to be asked without a lock.
    is_filled: AtomicBool,
    inboxes: Mutex<Option<Arc<dyn Inboxes>>>,
}

#[derive(Default)]
struct State {
    commands: Vec<Command>,
    /// Small messages that have not left.
    messages: usize,
    waiting: usize,
    is_asleep: bool,
    is_over: bool,
}

impl Outbox {
    /// Adds a small message, when there is room.
    pub(crate) fn send(&self, to: Address, words: Words) {
        let mut state = self.lock();
        while state.messages >= MOST_MESSAGES && !state.is_over {
            state.waiting += 1;
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.messages += 1;
        self.add(state, Command::Message { to, words });
    }

    /// Adds something else.
    pub(crate) fn push(&self, command: Command) {
        self.add(self.lock(), command);
    }

    fn add(&self, mut state: MutexGuard<'_, State>, command: Command) {
        // After the end one may still give up: then peers that do not come are not waited for.
        if state.is_over && !matches!(command, Command::Abort(_) | Command::Quit) {
            return;
        }
        state.is_over |= matches!(command, Command::End | Command::Abort(_) | Command::Quit);
        state.commands.push(command);
        self.is_filled.store(true, Ordering::Release);
        if state.is_asleep {
            self.filled.notify_one();
        }
    }

    /// Takes all commands; `into` is empty and lends its memory.
    pub(crate) fn take(&self, into: &mut Vec<Command>) {
        if self.is_filled.load(Ordering::Acquire) {
            let mut state = self.lock();
            std::mem::swap(&mut state.commands, into);
            self.is_filled.store(false, Ordering::Release);
        }
    }

    /// So many small messages have left.
    pub(crate) fn left(&self, messages: usize) {
        let mut state = self.lock();
        state.messages -= messages;
        if state.waiting > 0 {
            self.room.notify_all();
        }
    }

    /// Sleeps until there are commands, at most so long.
    pub(crate) fn sleep(&self, most: Duration) {
        let mut state = self.lock();
        if state.commands.is_empty() {
            state.is_asleep = true;
            state = self
                .filled
                .wait_timeout(state, most)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.is_asleep = false;
        }
    }

    /// Adds a last command; whatever comes later is dropped, and nobody waits any more.
    pub(crate) fn close(&self, last: Command) {
        self.push(last);
        self.room.notify_all();
    }

    /// Where letters go from now on.
    pub(crate) fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        *self.inboxes.lock().unwrap_or_else(PoisonError::into_inner) = Some(inboxes);
        self.filled.notify_one();
    }

    /// Where letters go, if that is known.
    pub(crate) fn inboxes(&self) -> Option<Arc<dyn Inboxes>> {
        self.inboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
