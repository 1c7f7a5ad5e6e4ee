//! The reorder buffer: messages matched by the step of the program they belong to.
//!
//! Nodes run ahead of each other, so a message of a later step may arrive while a node still works
//! on an earlier one; it is set aside until its step comes (NanoSort, section 5.2). Setting aside
//! is a copy, and is charged as one.

use std::collections::{BTreeMap, VecDeque};

use crate::guarded::Closed;
use crate::{Address, Message, MessagePort, Node, Time, Work};

/// Bytes of the step number in front of each message.
const STEP_BYTES: usize = 4;

/// A port whose messages are taken by step.
pub struct Reorder {
    port: MessagePort,
    early: BTreeMap<u32, VecDeque<Message>>,
}

impl Reorder {
    /// Takes over a port; all its messages were sent by [`Reorder::send`].
    pub fn new(port: MessagePort) -> Reorder {
        Reorder { port, early: BTreeMap::new() }
    }

    /// Sends `bytes` as a message of `step`.
    pub fn send(node: &Node, to: Address, step: u32, bytes: &[u8]) {
        let mut framed = Vec::with_capacity(STEP_BYTES + bytes.len());
        framed.extend_from_slice(&step.to_le_bytes());
        framed.extend_from_slice(bytes);
        node.send(to, &framed);
    }

    /// The next message of `step`; `None` at the deadline.
    pub async fn next(
        &mut self,
        node: &Node,
        step: u32,
        deadline: Option<Time>,
    ) -> Result<Option<Message>, Closed> {
        if let Some(message) = self.early.get_mut(&step).and_then(VecDeque::pop_front) {
            node.work(Work::Copy { bytes: message.bytes.len() as u64 });
            return Ok(Some(message));
        }
        while let Some(framed) = self.port.next(node, deadline).await? {
            let (of, message) = unframe(&framed);
            if of == step {
                return Ok(Some(message));
            }
            node.work(Work::Copy { bytes: message.bytes.len() as u64 });
            self.early.entry(of).or_default().push_back(message);
        }
        Ok(None)
    }
}

fn unframe(framed: &Message) -> (u32, Message) {
    let (step, bytes) =
        framed.bytes.split_first_chunk::<STEP_BYTES>().expect("every message names its step");
    (u32::from_le_bytes(*step), Message { from: framed.from, bytes: bytes.into() })
}
